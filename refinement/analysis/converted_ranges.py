"""Ranges of the integers that floats are converted to, for what is added to them behind the conversion.

A quantised number is a rounded quotient plus a zero point: the sum wraps nowhere if the quotient is bounded.
Ranges of floats suppose that inputs are finite; an integer is bounded by them only where that makes no
difference, as NaNs are converted to numbers that may lie anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..terms import operations
from ..terms.domains import Domain, Reading
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, Operation, TermStore
from .integer_intervals import Magnitudes
from .intervals import Interval
from .real_ranges import RealRanges

_FOLLOWED = (
    operations.FUSED,
    operations.NEGATE,
    operations.CONVERT,
    operations.FUNCTION,
    operations.EXTREMUM,
    operations.SELECT,
)
"""Operations that make numbers within their ranges of such numbers."""


def magnitudes(store: TermStore) -> Magnitudes:
    """Return the intervals of a store's integers, those among them that floats are converted to."""
    found = Magnitudes(store)
    found.conversions = ConvertedRanges(RealRanges(store, found))
    return found


class ConvertedRanges(Domain):
    """Whether floats are numbers within their ranges, or infinities at the ends of these, whatever the data.

    Parameters
    ----------
    ranges : RealRanges
        Ranges of floats, which suppose that inputs are numbers.
    """

    dtype, unknown = bool, False

    def __init__(self, ranges: RealRanges) -> None:
        super().__init__(ranges.store)
        self._ranges = ranges

    def of(self, operation: Operation, terms: Ids) -> Interval:
        """Return the exact integers (n,) that conversions of floats round to; without bounds if unknown."""
        (source,) = operation.operands
        numbers = self.store.arguments(terms)[:, 0]
        self._ranges.fill(numbers)
        certain = self.values(numbers, source)
        low, high = self._ranges.read(numbers, source).T
        return Interval(np.floor(low), np.ceil(high)).unless(~certain)

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[Reading]:
        """Return the floats that an operation computes with, or chooses from."""
        arguments = self.store.arguments(terms)
        return [(arguments[:, index], fmt) for index, fmt in self._reads(operation, read)]

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        """Return which terms of one operation are within their ranges."""
        assert isinstance(read, FloatFormat)
        arguments = self.store.arguments(terms)
        if operation.name == INPUT:
            ends = self.store.ends.get(str(operation.attribute))
            if ends is None or operation.result != read:
                return False
            places = arguments[:, 0]
            return np.isfinite(ends.low[places]) & np.isfinite(ends.high[places])
        if operation.name == CONSTANT:
            return np.isfinite(self._ranges.read(terms, read)).all(axis=1)
        if operation.name not in _FOLLOWED or (
            operation.name != operations.SELECT and operation.result != read
        ):
            return False
        reads = self._reads(operation, read)
        given = [self.table(fmt)[arguments[:, index]] for index, fmt in reads]
        if operation.name == operations.EXTREMUM:
            return self._of_extrema(operation, arguments, given)
        certain = np.logical_and.reduce([np.full(len(terms), True), *given], axis=0, dtype=bool)
        if operation.name != operations.SELECT:  # what is computed of infinities may be NaN
            for index, fmt in reads:
                certain &= np.isfinite(self._ranges.read(arguments[:, index], fmt)).all(axis=1)
        if operation.name == operations.FUNCTION:  # of which nothing is known where it has no value
            certain &= ~np.isinf(self._ranges.read(terms, read)).all(axis=1)
        return certain

    def _reads(self, operation: Operation, read: Format | None) -> list[tuple[int, Format]]:
        if operation.name == operations.SELECT:
            return [(1, read), (2, read)] if read is not None else []
        if operation.name not in _FOLLOWED or operation.result != read:
            return []
        return [
            (index, fmt) for index, fmt in enumerate(operation.operands) if not isinstance(fmt, IntegerFormat)
        ]

    def _of_extrema(
        self, operation: Operation, arguments: Ids, given: list[NDArray[np.bool_]]
    ) -> NDArray[np.bool_]:
        """Return which extrema are within their ranges: a number stands for a NaN that it is limited to.

        What is limited may be any number, so that infinities are within its range, too.
        """
        assert isinstance(operation.attribute, tuple)
        found = given[0] & given[1]
        if operation.attribute[1]:  # a NaN stays one
            return found
        for side in (0, 1):
            fmt = operation.operands[side]
            low, high = self._ranges.read(arguments[:, side], fmt).T
            found |= given[1 - side] & np.isneginf(low) & np.isposinf(high)
        return found
