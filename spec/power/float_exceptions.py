"""Which exceptions a float update raises: the sticky bits of FPSCR that it sets.

A bit is set if an operation of an enabled element raises its exception; those of disabled elements are not
performed (Power ISA 3.1 section 7.2.1.3; Moreira et al. section II-C). All traps are disabled: underflow is
a loss of accuracy below the normal numbers, which is told before rounding (section 7.4.4), and an overflow
is inexact (section 7.4.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Algebra, Array, Operand, Product
from ..formats import B1, F64, FloatFormat, IntegerFormat
from ..matrix_product import Step
from ..rounding import Rounding
from .catalogue import RankKUpdate
from .choices import Choices
from .rank_k_update import SIGNIFICAND_24, Live, float_sum

FX, VX = 0x80000000, 0x20000000
"""The summaries: any exception, any invalid operation."""


class Exceptions(NamedTuple):
    """Conditions, by exception.

    Attributes
    ----------
    overflow : array
        OX: the result, if exponents had no bound, is beyond the largest number.
    underflow : array
        UX: a result is inexact, and below the least normal number before it is rounded.
    inexact : array
        XX: a result is rounded.
    signaling : array
        VXSNAN: an operand is a signaling NaN.
    infinities : array
        VXISI: infinities are subtracted.
    infinity_by_zero : array
        VXIMZ: an infinity is multiplied by a zero.
    """

    overflow: Array
    underflow: Array
    inexact: Array
    signaling: Array
    infinities: Array
    infinity_by_zero: Array


BITS = MappingProxyType(
    {
        "overflow": 0x10000000,
        "underflow": 0x08000000,
        "inexact": 0x02000000,
        "signaling": 0x01000000,
        "infinities": 0x00800000,
        "infinity_by_zero": 0x00100000,
    }
)
"""Their bits in the low half of FPSCR."""

INVALID = ("signaling", "infinities", "infinity_by_zero")
"""The invalid operations, which VX summarises."""


def raised(
    alg: Algebra,
    update: RankKUpdate,
    x: Array,
    y: Array,
    acc: Array,
    live: Live,
    rounding: Rounding | Any,
    choices: Choices,
) -> Exceptions:
    """Return what the operations of each element (…, 4, n) raise, of the parameters of `rank_k_update`."""
    seen: list[Exceptions] = []
    negated = update.negative_product and update.family.rank == 1 and choices.negation == "before-rounding"
    towards = rounding.mirrored if negated else rounding

    def watched(step: Step) -> Step:
        def watching(fmt: FloatFormat, products: Sequence[Product], addends: Sequence[Operand]) -> Operand:
            seen.append(_of_step(alg, fmt, towards, products, addends))
            return step(fmt, products, addends)

        return watching

    float_sum(alg, update, x, y, acc, live, rounding, choices, watched)
    return Exceptions(*(live.elements & reduce(or_, some) for some in zip(*seen, strict=True)))


def _of_step(
    alg: Algebra,
    fmt: FloatFormat,
    rounding: Rounding | Any,
    products: Sequence[Product],
    addends: Sequence[Operand],
) -> Exceptions:
    """Return what one fused multiply-add or conversion raises."""
    upward, downward = (
        Operand(alg.fused(fmt, direction, products, addends), fmt)
        for direction in (Rounding.UPWARD, Rounding.DOWNWARD)
    )
    operands = [*(factor for product in products for factor in product), *addends]
    nan = reduce(or_, (alg.is_nan(operand) for operand in operands))
    never = nan & ~nan
    by_zero = reduce(or_, (_infinity_by_zero(alg, *product) for product in products), never)
    zero = alg.is_zero(upward) & alg.is_zero(downward)  # an exact zero has the sign of the direction
    inexact = ~alg.same(upward.bits, downward.bits) & ~zero
    tiny = _has_exponent(alg, upward, 0) | _has_exponent(alg, downward, 0)
    beyond = _overflows(alg, fmt, rounding, products, addends)
    return Exceptions(
        reduce(lambda some, each: some & ~alg.is_infinite(each), operands, beyond),
        inexact & tiny,
        inexact,
        reduce(or_, (_is_signaling(alg, operand) for operand in operands)),
        alg.is_nan(upward) & ~nan & ~by_zero,
        by_zero,
    )


def _overflows(
    alg: Algebra,
    fmt: FloatFormat,
    rounding: Rounding | Any,
    products: Sequence[Product],
    addends: Sequence[Operand],
) -> Array:
    """Tell where a sum of finite terms, rounded with exponents of any size, is beyond the largest number."""
    if fmt == F64:
        # No wider exponents are carried: half of the sum is looked at. An operand whose half is not exact is
        # so small that, near the largest number, all of it that counts is its sign, which the half keeps.
        halved = [(_half(alg, x), y) for x, y in products], [_half(alg, addend) for addend in addends]
        half = Operand(alg.fused(fmt, rounding, *halved), fmt)
        return _has_exponent(alg, half, (1 << fmt.exponent_bits) - 2) | alg.is_infinite(half)
    wide = Operand(alg.fused(SIGNIFICAND_24, rounding, products, addends), SIGNIFICAND_24)
    rounded = (
        Operand(alg.fused(fmt, direction, (), [wide]), fmt)
        for direction in (Rounding.UPWARD, Rounding.DOWNWARD)
    )
    return reduce(or_, (alg.is_infinite(each) for each in rounded)) & ~alg.is_infinite(wide)


def _half(alg: Algebra, x: Operand) -> Operand:
    """Return half of a number, rounded where it is not exact, but not to zero."""
    half = Operand(alg.constant((x.format.bias - 1) << x.format.fraction_bits, x.format), x.format)
    upward, downward = (
        Operand(alg.fused(x.format, direction, [(x, half)]), x.format)
        for direction in (Rounding.UPWARD, Rounding.DOWNWARD)
    )
    return Operand(alg.where(alg.is_zero(upward), downward.bits, upward.bits), x.format)


def _has_exponent(alg: Algebra, x: Operand, field: int) -> Array:
    """Tell which encodings have an exponent field; all ones are infinities and NaNs."""
    exponent = IntegerFormat("exponent", x.format.exponent_bits, signed=False)
    found = alg.extract(x.bits, x.format.fraction_bits + x.format.padding_bits, exponent)
    return alg.same(found, alg.constant(field, exponent))


def _infinity_by_zero(alg: Algebra, x: Operand, y: Operand) -> Array:
    return (alg.is_infinite(x) & alg.is_zero(y)) | (alg.is_zero(x) & alg.is_infinite(y))


def _is_signaling(alg: Algebra, x: Operand) -> Array:
    quiet = alg.extract(x.bits, x.format.fraction_bits - 1 + x.format.padding_bits, B1)
    return alg.is_nan(x) & alg.same(quiet, alg.constant(0, B1))


def sticky_bits(exceptions: Exceptions) -> int:
    """Return the bits of FPSCR that concrete exceptions set, with the summaries FX and VX."""
    invalid = sum(BITS[name] for name in INVALID)
    bits = sum(BITS[name] for name, some in exceptions._asdict().items() if np.any(some))
    return int(bits | (VX if bits & invalid else 0) | (FX if bits else 0))
