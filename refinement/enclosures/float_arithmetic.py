"""Exact products, sums and extrema of enclosed f32 numbers, before rounding."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

import numpy as np

from ..analysis.intervals import Interval
from .affine_numbers import LEAST_NORMAL, Reals, Truths, between, plus, settled, times
from .float_enclosures import Floats, floats, select_floats


def is_exact(factors: Sequence[Floats]) -> Truths:
    """Tell which products of two numbers f32 has: one is a power of two, and the product is normal."""
    found = np.zeros(len(factors[0].nan), dtype=bool)
    for one, other in (factors, factors[::-1]):
        mantissa, _ = np.frexp(one.low)
        power = one.form.is_constant & (np.abs(mantissa) == 0.5)
        grows = np.abs(one.low) >= 1
        with np.errstate(all="ignore"):
            least = other.form.least_magnitude * np.abs(one.low)
        found |= power & (grows | (least >= LEAST_NORMAL))
    return found


def product(one: Floats, other: Floats) -> Floats:
    """Return exact products."""
    with np.errstate(all="ignore"):
        ends = Interval(one.low, one.high).combined(mul, Interval(other.low, other.high))
        form = times(one.form, other.form)
        nan = one.nan | other.nan
        for first, second in ((one, other), (other, one)):
            zero = first.number & (first.low <= 0) & (first.high >= 0)
            nan |= zero & second.number & np.isinf(second.form.magnitude)
        lost = np.isnan(ends.low)
    low, high = ends.unless(lost)
    negative = (one.negative & other.positive) | (one.positive & other.negative)
    positive = (one.negative & other.negative) | (one.positive & other.positive)
    return Floats(
        settled(form._replace(low=low, high=high)),
        negative | lost,
        positive | lost,
        nan,
        one.number & other.number,
    )


def sum_of(one: Floats, other: Floats) -> Floats:
    """Return exact sums."""
    with np.errstate(all="ignore"):
        nan = one.nan | other.nan
        nan |= (one.high == np.inf) & (other.low == -np.inf)
        nan |= (one.low == -np.inf) & (other.high == np.inf)
        low, high = _directed(one.low, other.low, -np.inf), _directed(one.high, other.high, np.inf)
        form = plus(one.form, other.form)
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    return Floats(
        settled(form._replace(low=low, high=high)),
        one.negative | other.negative,
        one.positive | other.positive,
        nan,
        one.number & other.number,
    )


def _directed(one: Reals, other: Reals, toward: float) -> Reals:
    """Return sums of numbers of f64, rounded towards an infinity where f64 does not have them."""
    total = one + other
    part = total - one
    lost = (one - (total - part)) + (other - part)
    beyond = lost < 0 if toward < 0 else lost > 0
    return np.asarray(np.where(beyond, np.nextafter(total, toward), total))


def greater(one: Floats, other: Floats, *, propagates: bool) -> Floats:
    """Return the greater of two numbers, and of a number and a NaN the one that an instruction gives."""
    plain = one.number & other.number
    nans = one.nan | other.nan
    first = plain & ~nans & (one.low > other.high)
    second = plain & ~nans & (other.low > one.high)
    if propagates:
        number, nan = plain, nans
        low, high = np.maximum(one.low, other.low), np.maximum(one.high, other.high)
    else:
        number, nan = one.number | other.number, one.nan & other.nan
        first |= ~other.number & ~one.nan
        second |= ~one.number & ~other.nan
        loose = [np.where(each.nan, np.inf, each.low) for each in (one, other)]
        both = np.where(one.nan | other.nan, np.minimum(*loose), np.maximum(*loose))
        both = np.where(one.nan & other.nan, np.minimum(one.low, other.low), both)
        low, high = both, np.maximum(one.high, other.high)
    either = floats(
        between(low, high), one.negative | other.negative, one.positive | other.positive, nan, number
    )
    return _picked(first, one, _picked(second, other, either))


def _picked(first: Truths, one: Floats, other: Floats) -> Floats:
    return select_floats((first, ~first), one, other)
