"""The operations of terms, one constructor each: a kernel's scalar code on data.

Moving bits makes no operation (`bit_slices`). Floating-point sums and products of every kind are one
operation, `fused`; integer sums and products modulo a power of two are one, `ring`; a matrix unit's
accumulation is `dot`. Everything else is opaque to the comparison of polynomials, but can be evaluated.
"""

from __future__ import annotations

from typing import NamedTuple

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..rules.relations import EXTREMES, OPPOSITE_EXTREMES, OPPOSITES, OUTCOMES, SIGNS
from .store import Operation, bits

__all__ = ["EXTREMES", "OPPOSITE_EXTREMES", "OUTCOMES", "SIGNS"]


class Sum(NamedTuple):
    """How the arguments of `fused` and `ring` are combined: products first, each of two, then addends."""

    products: int
    addends: int
    rounding: Rounding = Rounding.NEAREST_EVEN
    flush: bool = False

    def __str__(self) -> str:
        terms = [f"a{2 * i}·a{2 * i + 1}" for i in range(self.products)]
        terms += [f"a{2 * self.products + i}" for i in range(self.addends)]
        return " + ".join(terms) + (" flushed" if self.flush else "")


FUSED = "fused"
RING = "ring"
NEGATE = "negate"
EXTEND = "extend"
DOT = "dot"
SCALED_DOT = "scaled_dot"
CONVERT = "convert"
COMPARE = "compare"
SELECT = "select"
EXTREMUM = "extremum"
FUNCTION = "function"
QUOTIENT = "quotient"
BITWISE = "bitwise"


def fused(
    result: FloatFormat,
    products: tuple[tuple[FloatFormat, FloatFormat], ...] = (),
    addends: tuple[FloatFormat, ...] = (),
    rounding: Rounding = Rounding.NEAREST_EVEN,
    *,
    flush: bool = False,
) -> Operation:
    """Return the exact sum of products and addends, rounded once: add, mul, fma, float conversion.

    ``flush`` takes subnormal inputs and results for zeros (``.ftz``).
    """
    operands = (*(factor for product in products for factor in product), *addends)
    return Operation(FUSED, result, operands, Sum(len(products), len(addends), rounding, flush))


def ring(width: int, products: int, addends: int) -> Operation:
    """Return the sum of products and addends modulo ``2**width``."""
    return Operation(RING, bits(width), (bits(width),) * (2 * products + addends), Sum(products, addends))


def negate(fmt: Format) -> Operation:
    """Return the sign flip of a float, or the two's complement of an integer."""
    return Operation(NEGATE, fmt, (fmt,))


class Accumulation(NamedTuple):
    """How a matrix unit sums products.

    Attributes
    ----------
    order : str
        Names the order and rounding; terms of one name are one function. ``exact`` for integers.
    length : int
        How many products.
    saturate : bool
        Whether an integer is clamped instead of wrapped.
    """

    order: str
    length: int
    saturate: bool = False


def dot(result: Format, left: Format, right: Format, addend: Format, how: Accumulation) -> Operation:
    """Return an addend plus the products of two vectors: arguments (vector, vector, term).

    Integers are summed exactly, then wrapped or clamped; floats as the accumulation says.
    """
    return Operation(DOT, result, (left, right, addend), how)


def scaled_dot(
    result: Format, left: Format, right: Format, addend: Format, scale: Format, how: Accumulation
) -> Operation:
    """Return `dot` with scale factors: arguments (vector, vector, vector of addend and two scale vectors).

    The scale vectors are terms that stand for vectors of G elements, each serving K / G neighbours.
    """
    return Operation(SCALED_DOT, result, (left, right, addend, scale, scale), how)


def convert(
    result: Format, operand: Format, rounding: Rounding | None, *, saturate: bool = False, flush: bool = False
) -> Operation:
    """Return a conversion in which one side, or both, is an integer, or which saturates.

    Without a rounding it is to nearest with ties away from zero (``.rna``), between floats. A float always
    saturates to an integer.
    """
    saturate |= isinstance(result, IntegerFormat) and isinstance(operand, FloatFormat)
    return Operation(CONVERT, result, (operand,), (rounding, saturate, flush))


def compare(fmt: Format, relation: str) -> Operation:
    """Return a comparison (PTX's name of it: ``lt``, ``geu``, ``num``, …) as one bit."""
    return Operation(COMPARE, bits(1), (fmt, fmt), relation)


def compare_as(fmt: Format, sign: str, *, holds: bool = True) -> Operation:
    """Return the comparison that a mathematical sign stands for, or its opposite.

    As IEEE 754 has it, of comparisons with a NaN ``!=`` holds alone, and what does not hold has an opposite
    that does.
    """
    relation = SIGNS[sign] if holds else OPPOSITES[SIGNS[sign]]
    unordered = isinstance(fmt, FloatFormat) and (sign == "!=") == holds
    return compare(fmt, f"{relation}u" if unordered else relation)


def select(width: int) -> Operation:
    """Return the choice of the second argument where the first (one bit) is 1, else of the third."""
    return Operation(SELECT, bits(width), (bits(1), bits(width), bits(width)))


def extremum(fmt: Format, which: str, *, nan: bool = False, flush: bool = False) -> Operation:
    """Return ``max`` or ``min``; with `nan`, a NaN operand gives a NaN, else the other operand."""
    return Operation(EXTREMUM, fmt, (fmt, fmt), (which, nan, flush))


UNSIGNED_RELATIONS = ("lo", "ls", "hi", "hs")
"""Names of comparisons that are of unsigned integers only."""


def function(name: str, result: Format, *operands: Format) -> Operation:
    """Return a function about which nothing is assumed but that it is one."""
    return Operation(FUNCTION, result, operands, name)


INTEGRAL = ("rint", "trunc", "floor", "ceil")
"""Functions that round to an integer, which stays a float."""


def quotient(name: str, fmt: FloatFormat) -> Operation:
    """Return a function that divides by its second argument, a constant.

    Over the reals that is the product with the reciprocal, rounded.
    """
    return Operation(QUOTIENT, fmt, (fmt, fmt), name)


CORRECTLY_ROUNDED_QUOTIENTS = ("div", "div.rn.ftz")
"""Names of quotients that are rounded once, to nearest."""


def divides(operation: Operation) -> bool:
    """Tell whether an operation is a quotient of floats, rounded or approximated."""
    name = str(operation.attribute).partition(".")[0]
    return operation.name == FUNCTION and name == "div" and isinstance(operation.result, FloatFormat)


def flushes(operation: Operation) -> bool:
    """Tell whether an operation takes subnormal numbers for zeros."""
    how = operation.attribute
    match operation.name:
        case "fused":
            return isinstance(how, Sum) and how.flush
        case "extremum" | "convert":
            return isinstance(how, tuple) and bool(how[2]) and isinstance(operation.operands[0], FloatFormat)
        case "function" | "quotient":
            return ".ftz" in str(how)
    return False


def equates_floats(operation: Operation) -> bool:
    """Tell whether an operation compares floats for equality, which a rounding may turn."""
    relation = str(operation.attribute).removesuffix("u")
    compares = operation.name == COMPARE and isinstance(operation.operands[0], FloatFormat)
    return compares and relation in ("eq", "ne")


def orders_integers(operation: Operation) -> bool:
    """Tell whether an operation is the comparison of two integers, which are not modular, by their order."""
    if operation.name != COMPARE or operation.attribute not in EXTREMES:
        return False
    fmt = operation.operands[0]
    if not isinstance(fmt, IntegerFormat) or fmt == bits(fmt.bits):
        return False
    return not (fmt.signed and operation.attribute in UNSIGNED_RELATIONS)


def signed(width: int) -> IntegerFormat:
    """Return the two's complement format of a width."""
    return IntegerFormat(f"s{width}", width, signed=True)


def unsigned(width: int) -> IntegerFormat:
    """Return the unsigned format of a width."""
    return IntegerFormat(f"u{width}", width, signed=False)


def extend(result: int, operand: int) -> Operation:
    """Return sign extension between widths."""
    return Operation(EXTEND, signed(result), (signed(operand),))
