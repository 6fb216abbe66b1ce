"""Which exceptions a float update raises: the sticky bits of FPSCR that it sets.

A bit is set if an operation of an enabled element raises its exception; those of disabled elements are not
performed (Power ISA 3.1 section 7.2.1.3; Moreira et al. section II-C). OX and UX are not told apart:
with their traps disabled, either raises XX as well, so what is exact neither overflows nor underflows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Algebra, Array, Operand, Product
from ..formats import B1, FloatFormat
from ..matrix_product import Step
from ..rounding import Rounding
from .catalogue import RankKUpdate
from .choices import Choices
from .rank_k_update import Live, float_sum

FX, VX = 0x80000000, 0x20000000
"""The summaries: any exception, any invalid operation."""


class Exceptions(NamedTuple):
    """Conditions, by exception.

    Attributes
    ----------
    inexact : array
        XX: a result is rounded.
    signaling : array
        VXSNAN: an operand is a signaling NaN.
    infinities : array
        VXISI: infinities are subtracted.
    infinity_by_zero : array
        VXIMZ: an infinity is multiplied by a zero.
    """

    inexact: Array
    signaling: Array
    infinities: Array
    infinity_by_zero: Array


BITS = Exceptions(0x02000000, 0x01000000, 0x00800000, 0x00100000)  # type: ignore[arg-type]
"""Their bits in the low half of FPSCR."""


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

    def watched(step: Step) -> Step:
        def watching(fmt: FloatFormat, products: Sequence[Product], addends: Sequence[Operand]) -> Operand:
            seen.append(_of_step(alg, fmt, products, addends))
            return step(fmt, products, addends)

        return watching

    float_sum(alg, update, x, y, acc, live, rounding, choices, watched)
    return Exceptions(*(live.elements & reduce(or_, some) for some in zip(*seen, strict=True)))


def _of_step(
    alg: Algebra, fmt: FloatFormat, products: Sequence[Product], addends: Sequence[Operand]
) -> Exceptions:
    """Return what one fused multiply-add or conversion raises."""
    upward, downward = (
        Operand(alg.fused(fmt, direction, products, addends), fmt)
        for direction in (Rounding.UPWARD, Rounding.DOWNWARD)
    )
    operands = [*(factor for product in products for factor in product), *addends]
    nan = reduce(or_, (alg.is_nan(each) for each in operands))
    never = nan & ~nan
    by_zero = reduce(or_, (_infinity_by_zero(alg, *product) for product in products), never)
    zero = alg.is_zero(upward) & alg.is_zero(downward)  # an exact zero has the sign of the direction
    return Exceptions(
        ~alg.same(upward.bits, downward.bits) & ~zero,
        reduce(or_, (_is_signaling(alg, each) for each in operands)),
        alg.is_nan(upward) & ~nan & ~by_zero,
        by_zero,
    )


def _infinity_by_zero(alg: Algebra, x: Operand, y: Operand) -> Array:
    found: Array = (alg.is_infinite(x) & alg.is_zero(y)) | (alg.is_zero(x) & alg.is_infinite(y))
    return found


def _is_signaling(alg: Algebra, x: Operand) -> Array:
    quiet = alg.extract(x.bits, x.format.fraction_bits - 1 + x.format.padding_bits, B1)
    return alg.is_nan(x) & alg.same(quiet, alg.constant(0, B1))


def sticky_bits(exceptions: Exceptions) -> int:
    """Return the bits of FPSCR that concrete exceptions set, with the summaries FX and VX."""
    invalid = sum(BITS[1:])
    bits = sum(bit for some, bit in zip(exceptions, BITS, strict=True) if np.any(some))
    return int(bits | (VX if bits & invalid else 0) | (FX if bits else 0))
