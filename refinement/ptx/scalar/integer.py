"""Integer arithmetic.

Source: PTX ISA 9.1 sections 9.7.1 and 9.7.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.formats import IntegerFormat
from ....spec.ptx.open_results import OPEN_QUOTIENT
from ....spec.rounding import Rounding
from ...terms import operations
from ...terms.evaluation import Words, evaluate, integers, ones
from ...terms.interning import Ids
from ...terms.store import TermStore
from ...terms.store import bits as raw
from ..registers.bit_moves import Field, moved
from ..registers.value_operations import applied, constant, lanewise, left_unknown, widened
from ..registers.values import Rule, Value, compute
from ..state.execution import Decoders
from ..state.handlers import Modifiers, pointwise
from ..text.module import TYPE_BITS

_WORDS = [f"{sort}{width}" for width in (16, 32, 64) for sort in "us"]
_SIGNED = ("s16", "s32", "s64")
_PAIRS = ("u16x2", "s16x2")

Plan = tuple[Sequence[int], Rule]


class Integers(NamedTuple):
    """An integer type of an instruction, of one or two lanes."""

    width: int
    signed: bool
    lanes: int = 1

    @property
    def format(self) -> IntegerFormat:
        """Format of a lane."""
        return (operations.signed if self.signed else operations.unsigned)(self.width)

    @property
    def bits(self) -> int:
        """Bits of all lanes."""
        return self.width * self.lanes


def integers_named(name: str) -> Integers:
    """Return the type that PTX names ``s32`` or ``u16x2``."""
    count = 2 if name.endswith("x2") else 1
    return Integers(TYPE_BITS[name] // count, name[0] == "s", count)


# -- sums and products


def add(store: TermStore, *values: Value) -> Value:
    """Add two or three words modulo a power of two."""
    return applied(store, operations.ring(values[0].width, 0, len(values)), *values)


def subtract(store: TermStore, a: Value, b: Value) -> Value:
    """Subtract modulo a power of two."""
    return add(store, a, applied(store, operations.negate(raw(b.width)), b))


def product(store: TermStore, a: Value, b: Value, *addends: Value) -> Value:
    """Multiply, and add, modulo a power of two."""
    return applied(store, operations.ring(a.width, 1, len(addends)), a, b, *addends)


def _add(modifiers: Modifiers, rule: Callable[..., Value], pairs: Sequence[str]) -> Plan:
    kind = integers_named(modifiers.type([*_WORDS, *pairs]))
    if modifiers.flag("sat"):
        if kind != Integers(32, True):
            raise modifiers.unsupported("only .s32 saturates")
        return (32, 32), lambda store, values: _clamped(store, rule, values)
    return (kind.bits,) * 2, lanewise(kind.lanes, lambda store, values: rule(store, *values))


def _clamped(store: TermStore, rule: Callable[..., Value], values: Sequence[Value]) -> Value:
    """Apply a rule to 64 bits, and clamp the result to a signed word."""
    exact = rule(store, *(widened(store, value, 64, signed=True) for value in values))
    clamp = operations.convert(
        operations.signed(32), operations.signed(64), Rounding.NEAREST_EVEN, saturate=True
    )
    return applied(store, clamp, exact)


def _multiplied(modifiers: Modifiers, addends: int) -> Plan:
    """Decode ``mul`` and ``mad``."""
    part = modifiers.one_of(("lo", "hi", "wide"))
    kind = integers_named(modifiers.type(_WORDS))
    width, signed = kind.width, kind.signed
    saturates = modifiers.flag("sat")
    if saturates and (part, addends, kind) != ("hi", 1, Integers(32, True)):
        raise modifiers.unsupported("only mad.hi.s32 saturates")
    if part == "lo":
        return (width,) * (2 + addends), lambda store, values: product(store, *values)
    if part == "hi":

        def high(store: TermStore, values: Sequence[Value]) -> Value:
            upper = high_product(store, kind, *values[:2])
            if saturates:
                return _clamped(store, add, [upper, values[2]])
            return add(store, upper, *values[2:]) if addends else upper

        return (width,) * (2 + addends), high
    if width == 64:
        raise modifiers.unsupported("a product of 128 bits")

    def wide(store: TermStore, values: Sequence[Value]) -> Value:
        factors = (widened(store, value, 2 * width, signed=signed) for value in values[:2])
        return product(store, *factors, *values[2:])

    return (width, width, *(2 * width,) * addends), wide


def high_product(store: TermStore, kind: Integers, a: Value, b: Value) -> Value:
    """Return the upper half of a product."""
    width = kind.width
    if width < 64:
        factors = (widened(store, value, 2 * width, signed=kind.signed) for value in (a, b))
        return moved(store, [Field(width, width)], product(store, *factors))

    def on_terms(*_: Ids) -> Ids:
        raise UnsupportedError("the upper half of a 128-bit product of data")

    return compute(store, 64, [a, b], partial(_high_64, kind.signed), on_terms)


def _high_64(signed: bool, a: Words, b: Words) -> Any:
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    a0, a1, b0, b1 = a & low, a >> shift, b & low, b >> shift
    middle = a1 * b0 + (a0 * b0 >> shift)
    upper = a1 * b1 + (middle >> shift) + ((middle & low) + a0 * b1 >> shift)
    if signed:
        zero, sign = np.uint64(0), np.uint64(63)
        upper -= np.where(a >> sign != 0, b, zero) + np.where(b >> sign != 0, a, zero)
    return upper


def _multiplied_24(modifiers: Modifiers, addends: int) -> Plan:
    """Decode ``mul24`` and ``mad24``: bits 0 to 31 or 16 to 47 of the product of two 24-bit words."""
    low = 0 if modifiers.one_of(("lo", "hi")) == "lo" else 16
    saturates = modifiers.flag("sat")
    kind = integers_named(modifiers.type(("u32", "s32")))
    if saturates and not (kind.signed and addends and low):
        raise modifiers.unsupported("only mad24.hi.s32 saturates")

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        cut = (moved(store, [Field(0, 24)], value) for value in values[:2])
        factors = (widened(store, value, 64, signed=kind.signed) for value in cut)
        part = moved(store, [Field(low, 32)], product(store, *factors))
        if saturates:
            return _clamped(store, add, [part, values[2]])
        return add(store, part, *values[2:]) if addends else part

    return (32,) * (2 + addends), rule


def _sad(modifiers: Modifiers) -> Plan:
    kind = integers_named(modifiers.type(_WORDS))

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        a, b, c = values
        greatest, least = (applied(store, operations.extremum(kind.format, w), a, b) for w in ("max", "min"))
        return add(store, c, subtract(store, greatest, least))

    return (kind.width,) * 3, rule


# -- quotients


def _quotient(modifiers: Modifiers, *, remainder: bool) -> Plan:
    kind = integers_named(modifiers.type(_WORDS))
    name = modifiers.instruction.opcode
    operation = operations.function(name, kind.format, kind.format, kind.format)

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        a, b = values
        power = _power_of_two(b)
        if power is not None and not kind.signed and not a.is_known:
            low, high = ([Field(0, power)], [Field(power, kind.width - power)])
            return widened(store, moved(store, low if remainder else high, a), kind.width, signed=False)
        on_numbers = lambda *numbers: evaluate(operation, numbers)  # noqa: E731
        result = compute(store, kind.width, values, on_numbers, partial(store.apply, operation))
        if not b.is_known:
            return result
        left_open = b.numbers == 0
        if kind.signed and a.is_known:
            left_open |= (b.numbers == ones(kind.width)) & (a.numbers == np.uint64(1) << (kind.width - 1))
        return left_unknown(store, result, left_open, OPEN_QUOTIENT)

    return (kind.width,) * 2, rule


def _power_of_two(value: Value) -> int | None:
    """Return the exponent if a value is one known power of two, greater than 1."""
    if not value.is_known or not len(value) or (value.numbers != value.numbers[0]).any():
        return None
    number = int(value.numbers[0])
    return number.bit_length() - 1 if number > 1 and number & (number - 1) == 0 else None


# -- sign and order


def _negated(modifiers: Modifiers) -> Plan:
    width = integers_named(modifiers.type(_SIGNED)).width
    return (width,), lambda store, values: applied(store, operations.negate(raw(width)), *values)


def _absolute(modifiers: Modifiers) -> Plan:
    kind = integers_named(modifiers.type(_SIGNED))
    greater = operations.extremum(kind.format, "max")

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        (a,) = values
        return applied(store, greater, a, applied(store, operations.negate(raw(kind.width)), a))

    return (kind.width,), rule


def _extremum(modifiers: Modifiers, which: str) -> Plan:
    kind = integers_named(modifiers.type([*_WORDS, *_PAIRS]))
    relu = modifiers.flag("relu")
    if relu and (not kind.signed or kind.bits != 32):
        raise modifiers.unsupported(".relu is for .s32 and .s16x2")

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        found = applied(store, operations.extremum(kind.format, which), *values)
        if not relu:
            return found
        positive = operations.extremum(kind.format, "max")
        return applied(store, positive, found, constant(0, kind.width, found))

    return (kind.bits,) * 2, lanewise(kind.lanes, rule)


# -- dot products of bytes


def _dot(modifiers: Modifiers, length: int) -> Plan:
    """Decode ``dp4a`` and ``dp2a``: two halves times two bytes of the lower or upper half."""
    half = 0 if length == 4 else modifiers.one_of(("lo", "hi")) == "hi"
    kinds = [integers_named(name) for name in modifiers.types(("u32", "s32"), ("u32", "s32"))]
    signed = any(kind.signed for kind in kinds)
    left, right = (
        (operations.signed if kind.signed else operations.unsigned)(width)
        for kind, width in zip(kinds, (32 // length, 8), strict=True)
    )

    result = operations.signed(32) if signed else operations.unsigned(32)
    how = operations.Accumulation("exact", length)
    operation = operations.dot(result, left, right, result, how)

    def on_numbers(a: Words, b: Words, c: Words) -> Any:
        total = integers(c, result).astype(np.int64)
        for index in range(length):
            x = (a >> np.uint64(index * left.bits)) & ones(left.bits)
            y = (b >> np.uint64(8 * (index + 2 * half))) & ones(8)
            total = total + integers(x, left).astype(np.int64) * integers(y, right).astype(np.int64)
        return total

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        def on_terms(a: Ids, b: Ids, c: Ids) -> Ids:
            x = _vectors(store, a, left.bits, range(length))
            y = _vectors(store, b, 8, range(2 * half, 2 * half + length))
            return store.apply(operation, x, y, c)

        return compute(store, 32, values, on_numbers, on_terms)

    return (32,) * 3, rule


def _vectors(store: TermStore, words: Ids, width: int, places: range) -> Ids:
    value = Value(32, np.zeros(len(words), dtype=np.uint64), words)
    fields = [moved(store, [Field(width * place, width)], value).as_terms(store) for place in places]
    return store.vectors(np.stack(fields, axis=-1))


PLANS: MappingProxyType[str, Callable[[Modifiers], Plan]] = MappingProxyType(
    {
        "add": partial(_add, rule=add, pairs=_PAIRS),
        "sub": partial(_add, rule=subtract, pairs=()),
        "mul": partial(_multiplied, addends=0),
        "mad": partial(_multiplied, addends=1),
        "mul24": partial(_multiplied_24, addends=0),
        "mad24": partial(_multiplied_24, addends=1),
        "sad": _sad,
        "div": partial(_quotient, remainder=False),
        "rem": partial(_quotient, remainder=True),
        "neg": _negated,
        "abs": _absolute,
        "min": partial(_extremum, which="min"),
        "max": partial(_extremum, which="max"),
        "dp4a": partial(_dot, length=4),
        "dp2a": partial(_dot, length=2),
    }
)
"""Integer forms by opcode; some opcodes have floating-point forms too."""

HANDLERS: Decoders = MappingProxyType(
    {opcode: pointwise(PLANS[opcode]) for opcode in ("mul24", "mad24", "sad", "rem", "dp4a", "dp2a")}
)
"""Decoders of the opcodes that are integer only; `arithmetic` has the others."""
