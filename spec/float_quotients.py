"""Quotients and square roots rounded once, in every direction.

numpy divides to nearest only. Significands are divided as integers, which leaves a quotient of more bits
than any format and a remainder that says whether it is exact: the sticky bit of `round_significand`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .float_encoding import Reals, encode, encode_special, round_significand
from .formats import F64, Bits, FloatFormat
from .rounding import Rounding

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BITS = 58
"""Of a quotient, at least: two more than double precision has, and below the 62 that can be rounded."""


def quotient(dividend: Reals, divisor: Reals, result: FloatFormat, rounding: Rounding) -> Bits:
    """Return encodings (n,) of quotients of float64 numbers (n,).

    Parameters
    ----------
    dividend, divisor : array (n,)
        Numbers, each exact.
    result : FloatFormat
        What is rounded to.
    rounding : Rounding
        How.
    """

    def divided(place: int) -> tuple[int, int, bool]:
        (x, e), (y, f) = _integer(dividend[place]), _integer(divisor[place])
        shift = max(0, _BITS + y.bit_length() - x.bit_length())
        found, rest = divmod(x << shift, y)
        return found, e - f - shift, rest != 0

    with np.errstate(all="ignore"):
        nearest = np.asarray(np.divide(dividend, divisor))
    ordinary = np.isfinite(dividend) & np.isfinite(divisor) & (dividend != 0) & (divisor != 0)
    return _rounded(nearest, ordinary, divided, np.signbit(dividend) != np.signbit(divisor), result, rounding)


def square_root(argument: Reals, result: FloatFormat, rounding: Rounding) -> Bits:
    """Return encodings (n,) of square roots of float64 numbers (n,), each exact; see `quotient`."""

    def root(place: int) -> tuple[int, int, bool]:
        x, e = _integer(argument[place])
        shift = max(0, 2 * _BITS - x.bit_length())
        shift += (e - shift) % 2
        found = math.isqrt(x << shift)
        return found, (e - shift) // 2, found * found != x << shift

    with np.errstate(all="ignore"):
        nearest = np.asarray(np.sqrt(argument))
    ordinary = np.isfinite(argument) & (argument > 0)
    return _rounded(nearest, ordinary, root, np.zeros(len(argument), dtype=bool), result, rounding)


def _integer(number: float) -> tuple[int, int]:
    """Return the magnitude of a finite number as an integer and a power of two."""
    numerator, denominator = abs(float(number)).as_integer_ratio()
    return numerator, 1 - denominator.bit_length()


def _rounded(
    nearest: Reals,
    ordinary: NDArray[np.bool_],
    exact: Callable[[int], tuple[int, int, bool]],
    negative: NDArray[np.bool_],
    result: FloatFormat,
    rounding: Rounding,
) -> Bits:
    """Round what `exact` gives for ordinary arguments; for the others the result to nearest is exact."""
    found = np.zeros(len(nearest), dtype=result.storage)
    places = np.flatnonzero(ordinary)
    if len(places):
        numbers = [_of_62_bits(*exact(int(place))) for place in places]
        significands = np.array([each for each, _ in numbers], dtype=np.uint64)
        exponents = np.array([each for _, each in numbers], dtype=np.int64)
        found[places] = round_significand(negative[places], significands, exponents, result, rounding)
    others = ~ordinary
    if others.any():
        special = others & ~np.isfinite(nearest)
        found[special] = encode_special(nearest[special], result)
        zeros = others & ~special
        found[zeros] = (
            nearest[zeros].view(np.uint64) if result == F64 else encode(nearest[zeros], result, rounding)
        )
    return found


def _of_62_bits(significand: int, exponent: int, inexact: bool) -> tuple[int, int]:
    """Cut a significand to fewer than 62 bits, the last one sticky."""
    cut = max(0, significand.bit_length() - 60)
    lost = inexact or significand & ((1 << cut) - 1) != 0
    return significand >> cut << 1 | lost, exponent + cut - 1
