"""Comparisons of floats whose outcome ranges tell: of inputs that ``[requires]`` bounds, and of constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...spec.float_encoding import decode
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..terms import operations
from ..terms.domains import Domain, Reading
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, Operation, TermStore
from ..terms.traversal import operands
from .exponents_on_path import Numbers, Truth, Truths, combined, compared, extremum
from .integer_intervals import Magnitudes
from .real_ranges import RealRanges

_UNKNOWN = np.nan

_COMPUTED = (operations.FUSED, operations.FUNCTION, operations.QUOTIENT)
"""What ranges are known of: where these end, and those of all arguments, nothing is a NaN."""


class RequiredOutcomes(Domain):
    """Ends of floats that are no NaNs; of bits, whether they may be set, and whether not.

    The ends are NaN where nothing is known.
    """

    dtype = np.dtype((np.float64, 2))

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self._ranges = RealRanges(store, Magnitudes(store))

    def outcomes(self, conditions: Ids) -> tuple[Truths, Truths]:
        """Return which conditions (n,) hold for all inputs, and for which that is known or the contrary."""
        holds, fails = self.values(conditions).astype(bool).T
        return holds & ~fails, holds != fails

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[Reading]:
        """Return the arguments of comparisons, extrema, sums and products, and of combined bits."""
        if not _is_followed(operation):
            return []
        formats = operation.operands if operation.name != operations.BITWISE else (None,) * 3
        return zip(operands(self.store, operation, terms), formats, strict=False)

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        """Return the ends of numbers, or what bits may be."""
        if operation.name == CONSTANT:
            return self._constants(operation, terms, read)
        if operation.name == INPUT and operation.result == read:
            ends, places = self.store.ends.get(str(operation.attribute)), self.store.arguments(terms)[:, 0]
            if ends is None:
                return _UNKNOWN
            both = np.stack([ends.low[places], ends.high[places]], axis=1)
            return np.where(ends.number[places, None], both, _UNKNOWN)
        if operation.name == operations.CONVERT and isinstance(operation.operands[0], IntegerFormat):
            return self._computed(terms, [])
        if not _is_followed(operation) or read not in (None, operation.result):
            return _UNKNOWN if isinstance(read, FloatFormat) else 1.0
        given = [self.table(fmt)[each] for each, fmt in self.depends(operation, terms, read)]
        if operation.name == operations.BITWISE:
            truths = [Truth(*each.astype(bool).T) for each in given]
            return np.stack(combined(operation.attribute, truths), axis=1).astype(float)
        if operation.name in _COMPUTED:
            return self._computed(terms, given)
        sides = [Numbers(each[:, 0], each[:, 1], np.zeros(len(terms), dtype=bool)) for each in given]
        if operation.name == operations.NEGATE:
            return np.stack([-sides[0].high, -sides[0].low], axis=1)
        if operation.name == operations.EXTREMUM:
            assert isinstance(operation.attribute, tuple)
            return np.stack(extremum(str(operation.attribute[0]), *sides, nan=False)[:2], axis=1)
        known = ~np.isnan(given[0] + given[1]).any(axis=1)
        found = np.stack(compared(str(operation.attribute), *sides), axis=1)
        return np.where(known[:, None], found, True).astype(float)

    def _computed(self, terms: Ids, given: Sequence[Any]) -> Any:
        """Return the ends of results, of which none is infinite, of numbers with known ends."""
        self._ranges.fill(terms)
        low, high = self._ranges.table()[terms, 1].T
        known = np.logical_and.reduce(
            [np.isfinite(low), np.isfinite(high), *(~np.isnan(each[:, 0]) for each in given)]
        )
        return np.where(known[:, None], np.stack([low, high], axis=1), _UNKNOWN)

    def _constants(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        words = self.store.constant_values(terms)
        if not isinstance(read, FloatFormat):
            return np.stack([words & np.uint64(1), ~words & np.uint64(1)], axis=1).astype(float)
        return np.repeat(decode(words.astype(read.storage), read)[:, None], 2, axis=1)


def _is_followed(operation: Operation) -> bool:
    """Tell whether an operation is of floats alone, or combines bits."""
    if operation.name == operations.BITWISE:
        return operation.result.bits == 1
    if not operation.operands or not all(isinstance(fmt, FloatFormat) for fmt in operation.operands):
        return False
    if operation.name == operations.EXTREMUM:
        assert isinstance(operation.attribute, tuple)
        return not operation.attribute[2]  # whether it flushes
    return operation.name in (operations.COMPARE, operations.NEGATE, *_COMPUTED)
