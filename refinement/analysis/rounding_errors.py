"""Error propagation through one rounding, and through products of inexact numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat
from ...spec.rounding import Rounding
from ...spec.rounding_bound import unit_roundoff

Reals = NDArray[np.float64]
Column = tuple[Reals, Reals, Reals]
"""Values, errors, and sums of magnitudes."""

_EXACT_ZERO = 4096
"""The exponent of the unit of 0, above every other."""


def unit_of(values: Reals) -> NDArray[np.int64]:
    """Return the exponent of the lowest bit of numbers."""
    mantissas, exponents = np.frexp(np.where(np.isfinite(values), values, 0.0))
    whole = np.abs(mantissas * 2.0**53).astype(np.int64)
    lowest = np.log2((whole & -whole).astype(np.float64), where=whole != 0, out=np.zeros(whole.shape))
    return np.where(whole == 0, _EXACT_ZERO, exponents - 53 + lowest.astype(np.int64))


def coarseness(fmt: FloatFormat, rounding: object = Rounding.NEAREST_EVEN) -> float:
    """Return the unit roundoff, twice as much for what is not to nearest."""
    nearest = rounding in (Rounding.NEAREST_EVEN, None)
    return float(unit_roundoff(fmt)) * (1 if nearest else 2)


def least(fmt: FloatFormat, *, flush: bool = False) -> float:
    """Return how far underflow takes a number: its unit, or all of what is flushed."""
    return float(2.0 ** (fmt.minimum_exponent if flush else fmt.quantum))


def is_exact(fmt: FloatFormat, magnitude: Reals, unit: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which multiples of ``2**unit`` (n,), of magnitudes up to some, a format has: rounding is exact."""
    with np.errstate(over="ignore"):
        most = np.ldexp(1.0, np.clip(unit + fmt.precision, -2000, 2000).astype(np.int32))
    return (unit >= fmt.quantum) & (magnitude <= most)


def compounded(fmt: FloatFormat, count: int) -> float:
    """Return (1 + u)^count - 1: by what part so many roundings to nearest are off."""
    return float(np.expm1(count * np.log1p(coarseness(fmt))))


def rounded_sum(
    fmt: FloatFormat, coarse: float, values: Reals, magnitude: Reals, unit: NDArray[np.int64]
) -> Reals:
    """Return the error of one rounding of sums of multiples of a power of two.

    The values are those that the sums are rounded to: the greatest that is exact may be a greater sum's.
    """
    above = np.nextafter(np.abs(values), np.inf)
    return np.where(is_exact(fmt, above, unit) | (magnitude == 0), 0.0, coarse * above + least(fmt))


def times(left: Column, right: Column) -> tuple[Column, NDArray[np.int64]]:
    """Return exact products, and the exponents of their units."""
    (x, ex, sx), (y, ey, sy) = left, right
    errors = scaled(np.abs(x), ey) + scaled(np.abs(y), ex) + scaled(ex, ey)
    zero = (x * y) == 0
    return (x * y, errors, sx * sy), np.where(zero, _EXACT_ZERO, unit_of(x) + unit_of(y))


def scaled(factor: Reals, error: Reals) -> Reals:
    """Return a product in which 0 times an unknown error is 0."""
    return np.where((factor == 0) | (error == 0), 0.0, factor * error)


def flushed(values: Reals, errors: Reals, sizes: Reals, limit: float) -> Column:
    """Return numbers with 0 for those below a limit."""
    lost = np.abs(values) < limit
    return np.where(lost, 0.0, values), errors + np.where(lost, np.abs(values), 0.0), sizes
