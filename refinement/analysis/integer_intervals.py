"""Integer intervals: bounds of integer terms for all data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..terms import operations
from ..terms.domains import Domain, Reading
from ..terms.evaluation import integers
from ..terms.interning import Ids
from ..terms.operations import Accumulation, Sum
from ..terms.slices import fields
from ..terms.store import CONCATENATION, CONSTANT, INPUT, Operation, TermStore
from ..terms.traversal import by_operation
from .intervals import Interval

_EXACT = 2.0**53
"""f64 has all integers below."""

_NARROW = 8
"""Bits of integers of which any product is far below the ends of what they are summed in."""

Intervals = NDArray[np.float64]
"""Least and greatest value (n, 2), exact where it matters: below 2**53."""


def full_range(fmt: Format) -> Interval:
    """Return all numbers of an integer format."""
    return Interval(*map(float, Interval.of(fmt)))


def _within(interval: Interval, fmt: IntegerFormat) -> NDArray[np.bool_]:
    """Tell which ranges (n,) a format has, and f64 without a gap."""
    exact = (np.abs(interval.low) < _EXACT) & (np.abs(interval.high) < _EXACT)
    return np.asarray(interval.within(fmt) & exact)


def _summed(ranges: Intervals) -> Interval:
    """Return sums (n,) of ranges (n, k, 2), without ends where not every sum of some is surely exact."""
    most = np.abs(ranges).max(axis=-1).sum(axis=-1)
    return Interval.of_rows(ranges.sum(axis=-2)).unless(most >= _EXACT)


def _is_of_integers(operation: Operation) -> bool:
    """Tell whether an operation makes an integer of one: what a float's bits are is another number."""
    return all(isinstance(fmt, IntegerFormat) for fmt in (operation.result, *operation.operands))


def _is_whole(operation: Operation, fmt: Format) -> bool:
    """Tell whether an operation rounds floats to integers of a format."""
    return operation.result == fmt and all(isinstance(operand, FloatFormat) for operand in operation.operands)


def _within_or_all(interval: Interval, fmt: Format) -> Interval:
    """Return ranges (n,), those that leave a format replaced by all that it has."""
    assert isinstance(fmt, IntegerFormat)
    ends, inside = full_range(fmt), _within(interval, fmt)
    return Interval(np.where(inside, interval.low, ends.low), np.where(inside, interval.high, ends.high))


def _saturated(interval: Interval, fmt: Format) -> Interval:
    """Return the numbers of a format next to those of an interval."""
    ends = full_range(fmt)
    low, high = (np.clip(each, ends.low, ends.high) for each in interval)
    return Interval(low, high)


class Conversions(Protocol):
    """Tells between which integers floats are rounded to such."""

    def of(self, operation: Operation, terms: Ids) -> Interval:
        """Return the exact integers (n,) that conversions of floats round to; without bounds if unknown."""


class Magnitudes(Domain):
    """Intervals of the integer terms of a store, computed on demand.

    Attributes
    ----------
    conversions : Conversions, optional
        Of floats to integers; without it such integers may be all that their format has.
    """

    dtype, unknown = np.dtype((np.float64, 2)), np.nan

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self.conversions: Conversions | None = None

    def fit(self, terms: Any, fmt: IntegerFormat, read: Format | None = None) -> bool:
        """Tell whether the exact value of each integer term lies in the range of a format.

        For an operation modulo a power of two the exact value is the one without the modulus, its
        operands read in ``read`` (by default in `fmt`).
        """
        for operation, members in by_operation(self.store, np.unique(np.asarray(terms))):
            for each, own in self.depends(operation, members, read or fmt):
                self.fill(each, own)
            if not _within(self._of_operation(operation, read or fmt, members), fmt).all():
                return False
        return True

    def intervals(self, terms: Any, fmt: Format) -> Intervals:
        """Return the ranges (n, 2) of terms (n,) read in an integer format."""
        return self.values(np.asarray(terms, dtype=np.int32), fmt)

    def lie_below(self, terms: Ids, bits: int) -> bool:
        """Tell whether all bits of inputs (n,) of one width are 0, from one above the lowest on.

        What is computed of large numbers has intervals that are rounded, maybe across 0.
        """
        width, *others = np.unique(self.store.widths(terms)).tolist()
        if others or not bits or not self.store.are(INPUT, terms).all():
            return False
        intervals = self.intervals(terms, operations.signed(width))
        return bool((intervals[:, 0] >= 0).all() and (intervals[:, 1] < 2.0**bits).all())

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[Reading]:
        """Return the arguments whose ranges count, and how they are read."""
        assert read is not None
        arguments = self.store.arguments(terms)
        for index, fmt in self._reads(operation, read):
            yield arguments[:, index], fmt
        for index, fmt in _wide_factors(operation):
            yield self.store.elements(np.unique(arguments[:, index])), fmt

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Intervals:
        """Return the ranges of terms of one operation: all of the format where the exact ones leave it."""
        assert isinstance(read, IntegerFormat)
        exact = self._of_operation(operation, read, terms)
        return np.where(np.reshape(_within(exact, read), (-1, 1)), exact.rows, full_range(read))

    def _reads(self, operation: Operation, fmt: Format) -> list[tuple[int, Format]]:
        """Return which arguments count, and in which formats."""
        match operation.name:
            case operations.RING:
                return [(index, fmt) for index in range(len(operation.operands))]
            case operations.NEGATE if isinstance(operation.result, IntegerFormat):
                return [(0, fmt)]
            case operations.DOT if isinstance(operation.result, IntegerFormat):
                return [(2, operation.operands[2])]
            case operations.EXTEND if fmt == operation.result:
                return [(0, operation.operands[0])]
            case operations.CONVERT if _is_of_integers(operation):
                return [(0, operation.operands[0])]
            case operations.SELECT:
                return [(1, fmt), (2, fmt)]
            case operations.EXTREMUM if fmt == operation.result:
                return [(0, fmt), (1, fmt)]
        return []

    def _of_operation(self, operation: Operation, fmt: Format, terms: Ids) -> Interval:
        arguments = self.store.arguments(terms)
        reads = self._reads(operation, fmt)
        read = [Interval.of_rows(self.table(each)[arguments[:, index]]) for index, each in reads]
        match operation.name:
            case name if name == CONSTANT:
                values = integers(self.store.constant_values(terms), fmt).astype(np.float64)
                return Interval(values, values)
            case name if name == INPUT and operation.result == fmt:
                return self._of_inputs(str(operation.attribute), fmt, terms)
            case name if name == CONCATENATION and isinstance(fmt, IntegerFormat):
                return self._of_fields(operation, fmt, arguments[:, 0])
            case operations.RING:
                assert isinstance(operation.attribute, Sum)
                pairs = 2 * operation.attribute.products
                parts = [*(read[i] * read[i + 1] for i in range(0, pairs, 2)), *read[pairs:]]
                return _summed(np.stack([each.rows for each in parts], axis=-2))
            case operations.NEGATE if read:
                return -read[0]
            case operations.DOT if read:
                wide = dict(_wide_factors(operation))
                x, y = (
                    Interval.of_rows(self.table(each)[self.store.elements(arguments[:, index])])
                    if index in wide
                    else full_range(each)
                    for index, each in enumerate(operation.operands[:2])
                )
                assert isinstance(operation.attribute, Accumulation)
                shape = (len(terms), operation.attribute.length, 2)
                products = np.broadcast_to((x * y).rows, shape)
                return _summed(np.concatenate([products, read[0].rows[:, None]], axis=1))
            case operations.CONVERT if read:
                assert isinstance(operation.attribute, tuple)
                return _saturated(read[0], operation.result) if operation.attribute[1] else read[0]
            case operations.CONVERT if self.conversions is not None and _is_whole(operation, fmt):
                return _within_or_all(self.conversions.of(operation, terms), operation.result)
            case operations.EXTEND if read:
                return read[0]
            case operations.EXTREMUM if read:
                assert isinstance(operation.attribute, tuple)
                return read[0].extremum(str(operation.attribute[0]), read[1])
            case operations.SELECT if read:
                return read[0].union(read[1])
        return full_range(fmt)

    def _of_inputs(self, name: str, fmt: Format, terms: Ids) -> Interval:
        found = np.tile(np.array(full_range(fmt), dtype=np.float64), (len(terms), 1))
        if (ends := self.store.ends.get(name)) is not None:
            places = self.store.arguments(terms)[:, 0]
            found = Interval(ends.low[places], ends.high[places]).rows
        bounded = self.store.bounded
        for place in np.flatnonzero(np.isin(terms, list(bounded))) if bounded else ():
            found[place] = bounded[int(terms[place])]
        return Interval.of_rows(found)

    def _of_fields(self, operation: Operation, fmt: IntegerFormat, vectors: Ids) -> Interval:
        """Return the range of words from their constant upper field down."""
        top = fields(operation)[-1]
        below = operation.result.bits - top.width
        if not top.constant or fmt.bits < operation.result.bits:
            return full_range(fmt)
        upper = integers(self.store.constant_values(self.store.elements(vectors)[:, -1]), _top(fmt, below))
        least = upper.astype(np.float64) * 2.0**below
        return Interval(least, least + (2.0**below - 1))


def _wide_factors(operation: Operation) -> list[tuple[int, Format]]:
    """Return which vectors of a dot product have elements that may be far below the ends of their format."""
    if operation.name != operations.DOT or not isinstance(operation.result, IntegerFormat):
        return []
    return [(index, each) for index, each in enumerate(operation.operands[:2]) if each.bits > _NARROW]


def _top(fmt: IntegerFormat, below: int) -> IntegerFormat:
    return IntegerFormat(fmt.name, fmt.bits - below, fmt.signed)
