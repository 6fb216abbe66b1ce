"""Interval arithmetic: least and greatest numbers, of Python's integers or of arrays of float64."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import S32, S64, U32, U64, Format, IntegerFormat
from ..terms.operations import signed

Truths = NDArray[np.bool_]


class Interval(NamedTuple):
    """Least and greatest number, both included.

    Integers are exact. Floats are rounded to nearest: `outward` moves ends so that nothing is left out, and
    an end that is a NaN, as that of 0 times an infinity is, stays one until then.
    """

    low: Any
    high: Any

    @staticmethod
    def of(fmt: Format) -> Interval:
        """Return all numbers of an integer format."""
        assert isinstance(fmt, IntegerFormat)
        return Interval(fmt.minimum, fmt.maximum)

    @staticmethod
    def of_rows(rows: NDArray[np.float64]) -> Interval:
        """Return ends (…) that are the rows of an array (…, 2)."""
        return Interval(rows[..., 0], rows[..., 1])

    @property
    def rows(self) -> NDArray[np.float64]:
        """Both ends (…, 2)."""
        return np.stack(np.broadcast_arrays(*self), axis=-1)

    def __add__(self, other: Interval) -> Interval:  # type: ignore[override]
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval) -> Interval:  # type: ignore[override]
        return self.combined(_product, other)

    def __truediv__(self, other: Interval) -> Interval:
        """Return quotients by numbers that have one sign."""
        return self.combined(_quotient, other)

    def combined(self, function: Callable[[Any, Any], Any], other: Interval) -> Interval:
        """Return the least and the greatest that a function of two ends gives."""
        corners = [function(x, y) for x in self for y in other]
        return Interval(_least(*corners), _greatest(*corners))

    def union(self, *others: Interval) -> Interval:
        """Return the least interval that has all of several."""
        lows, highs = zip(self, *others, strict=True)
        return Interval(_least(*lows), _greatest(*highs))

    def extremum(self, which: str, other: Interval) -> Interval:
        """Return what ``max`` or ``min`` of two numbers is between."""
        choose = _greatest if which == "max" else _least
        return Interval(choose(self.low, other.low), choose(self.high, other.high))

    def outward(self, exact: Truths | bool = False) -> Interval:
        """Return ends moved outward by a step of float64, unless they are `exact`; NaNs are no ends."""
        low = np.where(np.isnan(self.low), -np.inf, self.low)
        high = np.where(np.isnan(self.high), np.inf, self.high)
        return Interval(
            np.where(exact | (low == 0), low, np.nextafter(low, -np.inf)),
            np.where(exact | (high == 0), high, np.nextafter(high, np.inf)),
        )

    def unless(self, unknown: Truths) -> Interval:
        """Return the interval with everything in it in some places."""
        return Interval(np.where(unknown, -np.inf, self.low), np.where(unknown, np.inf, self.high))

    @property
    def is_of_one_sign(self) -> Truths:
        """Where all numbers are above 0, or all below."""
        found: Truths = (self.low > 0) | (self.high < 0)
        return found

    def within(self, fmt: IntegerFormat) -> Any:
        """Tell whether a format has all of it."""
        return (fmt.minimum <= self.low) & (self.high <= fmt.maximum)

    # -- of Python's integers
    def word(self) -> IntegerFormat | None:
        """Return the first of s32, u32, s64 and u64 that has all of it."""
        return next((fmt for fmt in (S32, U32, S64, U64) if self.within(fmt)), None)

    def narrowest(self) -> IntegerFormat:
        """Return the signed format of the fewest bits that has all of it."""
        return signed(max((each if each >= 0 else ~each).bit_length() for each in (self.low, self.high)) + 1)


def _least(*numbers: Any) -> Any:
    return min(numbers) if all(isinstance(number, int) for number in numbers) else reduce(np.minimum, numbers)


def _greatest(*numbers: Any) -> Any:
    return max(numbers) if all(isinstance(number, int) for number in numbers) else reduce(np.maximum, numbers)


def _product(x: Any, y: Any) -> Any:
    """Return products; one that underflows is no 0."""
    return x * y if isinstance(x, int) and isinstance(y, int) else _nonzero(x * y, (x != 0) & (y != 0), x, y)


def _quotient(x: Any, y: Any) -> Any:
    """Return quotients; one that underflows is no 0, but by an infinity it is."""
    return _nonzero(x / y, (x != 0) & np.isfinite(y), x, y)


def _nonzero(found: Any, wanted: Truths, x: Any, y: Any) -> Any:
    lost = wanted & (found == 0)
    if not np.any(lost):
        return found
    least = np.copysign(np.finfo(np.float64).smallest_subnormal, np.sign(x) * np.sign(y))
    return np.where(lost, least, found)
