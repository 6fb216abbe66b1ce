"""Floating-point arithmetic.

Sums and products are the spec's, rounded once. Without a rounding modifier they round to nearest, but a
product and a sum may become one fused multiply-add: that the assembler may contract them is told here.

Source: PTX ISA 9.1 sections 9.7.3 to 9.7.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ....spec.formats import BF16, F16, F32, F64, FloatFormat
from ....spec.rounding import Rounding
from ....spec.word_algebra import Field, Fill
from ...terms import operations
from ...terms.store import Operation, TermStore
from ...terms.truth_tables import A, B, C
from ..registers.bit_moves import moved, moving
from ..registers.value_operations import applied, combined, constant, joined, lanewise
from ..registers.values import KNOWN, Rule, Value
from ..state.execution import Decoders
from ..state.handlers import Modifiers, pointwise
from ..text.module import Function, InstructionStatement

Plan = tuple[Sequence[int], Rule]


class Floats(NamedTuple):
    """A floating-point type of an instruction, of one or two lanes."""

    format: FloatFormat
    lanes: int = 1

    @property
    def bits(self) -> int:
        """Bits of all lanes."""
        return self.format.bits * self.lanes


TYPES: MappingProxyType[str, Floats] = MappingProxyType(
    {
        **{fmt.name: Floats(fmt) for fmt in (F16, BF16, F32, F64)},
        **{f"{fmt.name}x2": Floats(fmt, 2) for fmt in (F16, BF16, F32)},
    }
)
"""Types by PTX's name."""

HALVES = ("f16", "f16x2", "bf16", "bf16x2")
SINGLE_AND_DOUBLE = ("f32", "f64")
_ALL = (*HALVES, "f32", "f64")

ROUNDINGS: MappingProxyType[str, Rounding] = MappingProxyType(
    {
        "rn": Rounding.NEAREST_EVEN,
        "rz": Rounding.TOWARD_ZERO,
        "rm": Rounding.DOWNWARD,
        "rp": Rounding.UPWARD,
    }
)
"""Roundings by PTX's name."""


def one(fmt: FloatFormat) -> int:
    """Return the encoding of 1."""
    return fmt.bias << fmt.fraction_bits << fmt.padding_bits


def flushed(store: TermStore, value: Value, fmt: FloatFormat) -> Value:
    """Return values with zeros of the same sign for subnormals."""
    return applied(store, operations.fused(fmt, (), (fmt,), flush=True), value)


def saturated(store: TermStore, value: Value, fmt: FloatFormat) -> Value:
    """Clamp to 0 … 1; a NaN becomes 0."""
    positive = rectified(store, value, fmt, nan=False)
    return applied(store, operations.extremum(fmt, "min"), positive, constant(one(fmt), fmt.bits, value))


def rectified(store: TermStore, value: Value, fmt: FloatFormat, *, nan: bool = True) -> Value:
    """Clamp negative values to 0; a NaN stays one, or becomes 0."""
    zero = constant(0, fmt.bits, value)
    return applied(store, operations.extremum(fmt, "max", nan=nan), value, zero)


def negated(store: TermStore, value: Value, fmt: FloatFormat) -> Value:
    """Change signs."""
    return applied(store, operations.negate(fmt), value)


def absolute(store: TermStore, value: Value, fmt: FloatFormat) -> Value:
    """Return magnitudes: the greater of a value and its negation."""
    greater = operations.extremum(fmt, "max", nan=True)
    return applied(store, greater, value, negated(store, value, fmt))


# -- sums and products


class _Arithmetic(NamedTuple):
    """What the modifiers of a sum or product say."""

    type: Floats
    narrow: FloatFormat
    rounding: Rounding
    flush: bool
    saturate: bool
    relu: bool


def _arithmetic(modifiers: Modifiers, *, mixes: bool, default: str | None = "rn") -> _Arithmetic:
    """Take the modifiers of a sum or product; in a mixed one the first operands are of a narrow type."""
    if mixes and modifiers.count_types() == 2:
        wide, narrow = modifiers.types(("f32",), ("f16", "bf16"))
        rounding = ROUNDINGS[modifiers.one_of(ROUNDINGS, default)]
        saturate = modifiers.flag("sat")
        return _Arithmetic(TYPES[wide], TYPES[narrow].format, rounding, False, saturate, False)
    name = modifiers.type((*_ALL, "f32x2"))
    kind = TYPES[name]
    rounding = ROUNDINGS[modifiers.one_of(("rn",) if name in HALVES else ROUNDINGS, default)]
    flush = kind.format in (F16, F32) and modifiers.flag("ftz")
    saturate = name in ("f16", "f16x2", "f32") and modifiers.flag("sat")
    relu = modifiers.instruction.opcode == "fma" and name in HALVES and modifiers.flag("relu")
    return _Arithmetic(kind, kind.format, rounding, flush, saturate, relu)


def _rounded(how: _Arithmetic, operation: Operation) -> Rule:
    """Return the rule of a fused operation with what follows it."""
    fmt = how.type.format

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        result = applied(store, operation, *values)
        if how.saturate:
            return saturated(store, result, fmt)
        return rectified(store, result, fmt) if how.relu else result

    return rule


def _sum(modifiers: Modifiers, *, subtracts: bool) -> Plan:
    how = _arithmetic(modifiers, mixes=True)
    fmt = how.type.format
    add = _rounded(how, operations.fused(fmt, (), (how.narrow, fmt), how.rounding, flush=how.flush))

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        a, b = values
        return add(store, [a, negated(store, b, fmt) if subtracts else b])

    return (how.narrow.bits * how.type.lanes, how.type.bits), lanewise(how.type.lanes, rule)


def _product(modifiers: Modifiers) -> Plan:
    how = _arithmetic(modifiers, mixes=False)
    fmt = how.type.format
    rule = _rounded(how, operations.fused(fmt, ((fmt, fmt),), (), how.rounding, flush=how.flush))
    return (how.type.bits,) * 2, lanewise(how.type.lanes, rule)


def _product_sum(modifiers: Modifiers) -> Plan:
    """Decode ``fma`` and ``mad``."""
    is_mad = modifiers.instruction.opcode == "mad"
    how = _arithmetic(modifiers, mixes=not is_mad, default=None)
    fmt, narrow = how.type.format, how.narrow
    if is_mad and (fmt not in (F32, F64) or how.type.lanes > 1):
        raise modifiers.unsupported("is for .f32 and .f64")
    operation = operations.fused(fmt, ((narrow, narrow),), (fmt,), how.rounding, flush=how.flush)
    narrow_bits = narrow.bits * how.type.lanes
    return (narrow_bits, narrow_bits, how.type.bits), lanewise(how.type.lanes, _rounded(how, operation))


# -- sign and order


def _sign_change(modifiers: Modifiers, change: Callable[[TermStore, Value, FloatFormat], Value]) -> Plan:
    """Decode ``neg`` and ``abs``."""
    kind = TYPES[modifiers.type(_ALL)]
    flush = kind.format in (F16, F32) and modifiers.flag("ftz")

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        (a,) = values
        return change(store, flushed(store, a, kind.format) if flush else a, kind.format)

    return (kind.bits,), lanewise(kind.lanes, rule)


def _extremum(modifiers: Modifiers, which: str) -> Plan:
    name = modifiers.type(_ALL)
    kind = TYPES[name]
    fmt = kind.format
    flush = fmt in (F16, F32) and modifiers.flag("ftz")
    nan = fmt != F64 and modifiers.flag("NaN")
    signs = fmt != F64 and modifiers.flag("xorsign")
    magnitudes = fmt != F64 and modifiers.flag("abs")
    count = len(modifiers.instruction.operands) - 1
    if (signs and not magnitudes) or (magnitudes and not signs and count != 3):
        raise modifiers.unsupported(".xorsign stands with .abs; .abs alone is for three operands")
    if count == 3 and (name != "f32" or signs):
        raise modifiers.unsupported("three operands are for .f32 without .xorsign")
    operation = operations.extremum(fmt, which, nan=nan, flush=flush)

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        given = [absolute(store, value, fmt) for value in values] if magnitudes else values
        found = applied(store, operation, *given[:2])
        if len(given) == 3:
            found = applied(store, operation, found, given[2])
        return _signed(store, found, values) if signs else found

    return (kind.bits,) * max(count, 2), lanewise(kind.lanes, rule)


def _signed(store: TermStore, magnitude: Value, values: Sequence[Value]) -> Value:
    """Give magnitudes the product of the signs of two values."""
    top = magnitude.width - 1
    sign = combined(store, A ^ B, *(moved(store, [Field(top, 1)], value) for value in values))
    return joined(store, [moved(store, [Field(0, top)], magnitude), sign])


def _copysign(modifiers: Modifiers) -> Plan:
    width = TYPES[modifiers.type(SINGLE_AND_DOUBLE)].bits
    return (width, width), moving(lambda: [Field(0, width - 1, 1), Field(width - 1, 1, 0)])


_TESTS: MappingProxyType[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "finite": (("lt", "infinity"),),
        "infinite": (("eq", "infinity"),),
        "number": (("num", "infinity"),),
        "notanumber": (("nan", "infinity"),),
        "normal": (("lt", "infinity"), ("ge", "normal"), ("eq", "zero")),
        "subnormal": (("gt", "zero"), ("lt", "normal")),
    }
)
"""Comparisons of the magnitude with a limit: the first two must hold, or a third. Zeros count as normal."""


def _unsigned(store: TermStore, value: Value, fmt: FloatFormat) -> Value:
    """Return values without their signs; computed NaNs stay what they are, of which no bits are known."""
    found = moved(store, [Field(0, fmt.bits - 1), Fill(0, 1)], value)
    if value.terms is None:
        return found
    data = np.flatnonzero(value.terms != KNOWN)
    nans = data[store.are_computed_nans(value.terms[data], fmt)]
    return found.updated(nans, value.at(nans)) if len(nans) else found


def _testp(modifiers: Modifiers) -> Plan:
    fmt = TYPES[modifiers.type(SINGLE_AND_DOUBLE)].format
    tests = _TESTS[modifiers.one_of(_TESTS)]
    limits = {"infinity": (fmt.infinity or 0), "normal": 1 << fmt.fraction_bits, "zero": 0}

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        magnitude = _unsigned(store, values[0], fmt)
        answers = []
        for relation, limit in tests:
            bound = constant(limits[limit], fmt.bits, magnitude)
            answers.append(applied(store, operations.compare(fmt, relation), magnitude, bound))
        table = {1: A, 2: A & B, 3: A & B | C}[len(answers)]
        return combined(store, table, *answers)

    return (fmt.bits,), rule


FLOATING: Decoders = MappingProxyType(
    {
        "add": pointwise(partial(_sum, subtracts=False)),
        "sub": pointwise(partial(_sum, subtracts=True)),
        "mul": pointwise(_product),
        "mad": pointwise(_product_sum),
        "neg": pointwise(partial(_sign_change, change=negated)),
        "abs": pointwise(partial(_sign_change, change=absolute)),
        "min": pointwise(partial(_extremum, which="min")),
        "max": pointwise(partial(_extremum, which="max")),
    }
)
"""Decoders of floating-point forms of the opcodes that also have integer forms."""

HANDLERS: Decoders = MappingProxyType(
    {
        "fma": pointwise(_product_sum),
        "copysign": pointwise(_copysign),
        "testp": pointwise(_testp),
    }
)
"""Decoders of the opcodes that are floating-point only."""


def may_be_contracted(function: Function) -> bool:
    """Tell whether a function has both a product and a sum of floats that spell no rounding."""
    opcodes = {instruction.opcode for instruction in function.body if _is_open(instruction)}
    return "mul" in opcodes and bool(opcodes & {"add", "sub"})


def _is_open(instruction: InstructionStatement) -> bool:
    floats = any(name in TYPES or name == "f32x2" for name in instruction.types)
    return floats and instruction.one_of(ROUNDINGS) is None
