"""Conversions between formats.

Source: PTX ISA 9.1 sections 9.7.9.21 (cvt) and 9.7.9.22 (cvt.pack).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ....spec.float_encoding import decode, encode
from ....spec.formats import BF16, F16, F32, F64, FORMATS, UE8M0, FloatFormat, IntegerFormat
from ....spec.ptx.operands import Register
from ....spec.ptx.scalar.rows import ElementType
from ....spec.rounding import Rounding
from ....spec.word_algebra import Field
from ...analysis.quantisation import NARROW
from ...terms import operations
from ...terms.evaluation import Words
from ...terms.store import TermStore
from ..registers.bit_moves import moved
from ..registers.threads import Indices
from ..registers.value_operations import applied, chosen, constant, joined, lanes, widened
from ..registers.values import Value, compute
from ..state.execution import Decoders, Execution, Step
from ..state.handlers import Modifiers
from ..text.module import TYPE_BITS, InstructionStatement
from .floating import ROUNDINGS, absolute, flushed, rectified, saturated

_INTEGERS = tuple(f"{sort}{width}" for sort in "us" for width in (8, 16, 32, 64))
_FLOATS = MappingProxyType({fmt.name: fmt for fmt in (F16, BF16, F32, F64)})

_TO_INTEGRAL: MappingProxyType[str, Rounding] = MappingProxyType(
    {f"{name}i": rounding for name, rounding in ROUNDINGS.items()}
)

Conversion = Callable[[TermStore, Value], Value]


# -- one number


def _integer_to_integer(source: IntegerFormat, target: IntegerFormat, *, saturate: bool) -> Conversion:
    if not saturate:
        return lambda store, a: widened(store, a, target.bits, signed=source.signed)
    clamp = operations.convert(target, source, Rounding.NEAREST_EVEN, saturate=True)
    return lambda store, a: applied(store, clamp, a)


def _float_to_integer(
    source: FloatFormat, target: IntegerFormat, rounding: Rounding, *, flush: bool
) -> Conversion:
    operation = operations.convert(target, source, rounding, flush=flush)
    if source != F64 and target.bits < 64:
        return lambda store, a: applied(store, operation, a)
    is_nan = operations.compare(source, "nan")

    def convert(store: TermStore, a: Value) -> Value:
        of_nan = constant(1 << (target.bits - 1), target.bits, a)
        return chosen(store, applied(store, is_nan, a, a), of_nan, applied(store, operation, a))

    return convert


def _integral(fmt: FloatFormat, name: str) -> Conversion:
    """Round to an integer that stays a floating-point number."""
    rounded = _ROUNDED[name]
    operation = operations.function(rounded.__name__, fmt, fmt)

    def on_numbers(words: Words) -> Any:
        return encode(rounded(decode(words.astype(fmt.storage), fmt)), fmt, Rounding.NEAREST_EVEN)

    def convert(store: TermStore, a: Value) -> Value:
        return compute(store, fmt.bits, [a], on_numbers, partial(store.apply, operation))

    return convert


_ROUNDED: MappingProxyType[str, Callable[[Any], Any]] = MappingProxyType(
    {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
)


def _float_to_float(
    source: FloatFormat, target: FloatFormat, rounding: Rounding | None, *, satfinite: bool = False
) -> Conversion:
    """Convert between floats; without a rounding, to nearest with ties away from zero."""
    if source == target:
        return lambda store, a: a
    if satfinite or rounding is None or target.bits <= NARROW:
        operation = operations.convert(target, source, rounding, saturate=satfinite)
    else:
        operation = operations.fused(target, (), (source,), rounding)
    return lambda store, a: applied(store, operation, a)


def _single(modifiers: Modifiers) -> tuple[str, str, Conversion]:
    """Decode a conversion of one number: types and function."""
    numbers = (*_INTEGERS, *_FLOATS, "tf32")
    to, of = modifiers.types(numbers, numbers)
    if to == "tf32" or (to in ("f16", "bf16") and of == "f32" and modifiers.instruction.has("satfinite")):
        return to, of, _rounded(modifiers, to, of)
    rounding = modifiers.one_of((*ROUNDINGS, *_TO_INTEGRAL), default="")
    flush = "f32" in (of, to) and modifiers.flag("ftz")
    saturate = modifiers.flag("sat")
    relu = (of, to) in (("f32", "f16"), ("f32", "bf16")) and modifiers.flag("relu")
    if of == "tf32":
        raise modifiers.unsupported("a conversion from .tf32")
    if of in _INTEGERS and to in _INTEGERS:
        if rounding or flush:
            raise modifiers.unsupported(f".{rounding or 'ftz'} is not for integers")
        source, target = (ElementType(name).format for name in (of, to))
        return to, of, _integer_to_integer(source, target, saturate=saturate)
    if to in _INTEGERS:
        if rounding not in _TO_INTEGRAL:
            raise modifiers.unsupported("needs one of .rni, .rzi, .rmi, .rpi")
        target = ElementType(to).format  # values are clamped with .sat and without
        return to, of, _float_to_integer(_FLOATS[of], target, _TO_INTEGRAL[rounding], flush=flush)
    fmt = _FLOATS[to]
    if of in _INTEGERS:
        if rounding not in ROUNDINGS:
            raise modifiers.unsupported("needs one of .rn, .rz, .rm, .rp")
        source = ElementType(of).format
        to_float = operations.convert(fmt, source, ROUNDINGS[rounding])
        steps: list[Conversion] = [lambda store, a: applied(store, to_float, a)]
    else:
        steps = _between_floats(modifiers, _FLOATS[of], fmt, rounding, flush=flush)
    if relu:
        steps.append(lambda store, a: rectified(store, a, fmt))
    if saturate:
        steps.append(lambda store, a: saturated(store, a, fmt))
    return to, of, partial(_in_turn, steps)


def _between_floats(
    modifiers: Modifiers, source: FloatFormat, target: FloatFormat, rounding: str, *, flush: bool
) -> list[Conversion]:
    if rounding in _TO_INTEGRAL:
        if source != target:
            raise modifiers.unsupported(f".{rounding} is for one floating-point type, or to an integer")
        steps = [_integral(source, rounding)]
    else:
        if target.contains(source):
            if rounding:
                raise modifiers.unsupported("takes no rounding")
        elif source.contains(target) and not rounding:  # between f16 and bf16, ptxas takes none for .rn
            raise modifiers.unsupported("needs one of .rn, .rz, .rm, .rp")
        steps = [_float_to_float(source, target, ROUNDINGS.get(rounding, Rounding.NEAREST_EVEN))]
    if flush:  # of single precision only
        before = [partial(flushed, fmt=source)] if source == F32 else []
        after = [partial(flushed, fmt=target)] if target == F32 and source != F32 else []
        steps = [*before, *steps, *after]
    return steps


def _in_turn(steps: Sequence[Conversion], store: TermStore, value: Value) -> Value:
    for step in steps:
        value = step(store, value)
    return value


def _rounded(modifiers: Modifiers, to: str, of: str) -> Conversion:
    """Decode a conversion to a narrower format, perhaps clamped to its finite numbers."""
    target, source = FORMATS[to], FORMATS[of]
    assert isinstance(target, FloatFormat) and isinstance(source, FloatFormat)
    if not source.contains(target):
        raise modifiers.unsupported(f"a conversion from .{of} to .{to}")
    name = modifiers.one_of(_NARROWING.get(to, ("rn",)))
    satfinite, relu = modifiers.flag("satfinite"), name != "rna" and modifiers.flag("relu")
    if target.bits <= NARROW and not satfinite:
        raise modifiers.unsupported("needs .satfinite")
    convert = _float_to_float(source, target, ROUNDINGS.get(name), satfinite=satfinite)
    return (lambda store, a: rectified(store, convert(store, a), target)) if relu else convert


_NARROWING = MappingProxyType({"f16": ("rn", "rz"), "bf16": ("rn", "rz"), "tf32": ("rn", "rz", "rna")})
"""Roundings of conversions to narrower formats, other than to nearest only."""


# -- several numbers

_ELEMENTS = MappingProxyType(
    {f"{name}x2": name for name in ("f16", "bf16", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8m0")}
)
"""Formats of packed types."""


def _packed(modifiers: Modifiers) -> tuple[Sequence[int], Callable[[TermStore, Sequence[Value]], Value]]:
    """Decode a conversion whose result is two numbers: of two f32, the first on top, or of another pair."""
    to, of = modifiers.types(_ELEMENTS, (*_ELEMENTS, "f32"))
    target, source = (FORMATS[_ELEMENTS.get(name, name)] for name in (to, of))
    assert isinstance(target, FloatFormat) and isinstance(source, FloatFormat)
    if source == UE8M0 and target != BF16:
        raise modifiers.unsupported(f"a conversion from .{of} to .{to}")
    lane = TYPE_BITS[to] // 2
    if target == UE8M0:
        convert = _scale(modifiers, source)
    elif target.contains(source) and source.bits < target.bits:
        modifiers.one_of(("rn",))
        relu = source != UE8M0 and modifiers.flag("relu")
        exact = _float_to_float(source, target, Rounding.NEAREST_EVEN)
        convert = (lambda store, a: rectified(store, exact(store, a), target)) if relu else exact
    else:
        convert = _rounded(modifiers, target.name, source.name)

    def element(store: TermStore, value: Value) -> Value:
        field = moved(store, [Field(0, source.bits)], value)
        return widened(store, convert(store, field), lane, signed=False)

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        given = [values[1], values[0]] if len(values) == 2 else lanes(store, values[0], 2)
        return joined(store, [element(store, value) for value in given])

    return ((32, 32) if of == "f32" else (TYPE_BITS[of],)), rule


def _scale(modifiers: Modifiers, source: FloatFormat) -> Conversion:
    """Decode a conversion to a scale factor: of the magnitude, which counts as at least the smallest one.

    Source: ``cuda_fp8.hpp`` of CUDA 13.0, which states what the instruction does in C.
    """
    if source not in (F32, BF16):
        raise modifiers.unsupported(f"a conversion from .{source} to .ue8m0")
    rounding = ROUNDINGS[modifiers.one_of(("rz", "rp"))]
    convert = _float_to_float(source, UE8M0, rounding, satfinite=modifiers.flag("satfinite"))
    smallest = 1 << (source.fraction_bits - 1)
    assert source.exact(smallest) == UE8M0.exact(0)
    greater = operations.extremum(source, "max", nan=True)

    def scale(store: TermStore, a: Value) -> Value:
        least = constant(smallest, source.bits, a)
        return convert(store, applied(store, greater, absolute(store, a, source), least))

    return scale


_CLAMPED = ("u4", "s4", "u8", "s8", "u16", "s16")


def _pack(modifiers: Modifiers) -> tuple[Sequence[int], Callable[[TermStore, Sequence[Value]], Value]]:
    """Decode ``cvt.pack``: two clamped integers, the first on top, before the low bits of a third operand."""
    modifiers.one_of(("sat",))
    shifts = modifiers.count_types() == 3
    to, *_ = modifiers.types(_CLAMPED, ("s32",), *([("b32",)] if shifts else []))
    target = ElementType(to).format
    if shifts is (target.bits == 16):
        raise modifiers.unsupported("takes a third operand, of type .b32, for all but 16-bit integers")
    clamp = _integer_to_integer(operations.signed(32), target, saturate=True)

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        a, b = (clamp(store, value) for value in values[:2])
        rest = [moved(store, [Field(0, 32 - 2 * target.bits)], value) for value in values[2:]]
        return joined(store, [b, a, *rest])

    return (32,) * (3 if shifts else 2), rule


def _cvt(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    signed = False
    if modifiers.flag("pack"):
        widths, rule = _pack(modifiers)
    elif instruction.types and instruction.types[0] in _ELEMENTS:
        widths, rule = _packed(modifiers)
    else:
        to, of, convert = _single(modifiers)
        signed = to[0] == "s"
        widths, rule = (TYPE_BITS[of],), lambda store, values: convert(store, *values)
    modifiers.finish()
    destination, *sources = modifiers.operands(1 + len(widths))
    declared = TYPE_BITS.get(destination.type or "", 0) if isinstance(destination, Register) else 0

    def step(execution: Execution, active: Indices) -> None:
        values = [execution.read(each, width, active) for each, width in zip(sources, widths, strict=True)]
        result = rule(execution.store, values)
        wider = max(declared, result.width)
        execution.write(destination, widened(execution.store, result, wider, signed=signed), active)

    return step


HANDLERS: Decoders = MappingProxyType({"cvt": _cvt})
"""Decoders of this module's instructions."""
