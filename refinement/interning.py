"""Hash-consing of rows of integers, a whole array of rows at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
"""Numbers of rows, terms or vectors."""

_MULTIPLIERS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], dtype=np.uint64
)
_FREE = np.int32(-1)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ (words >> np.uint64(32))) * _MULTIPLIERS[0]
    return words ^ (words >> np.uint64(29))


class RowTable:
    """A set of distinct rows, each with the number of its first insertion.

    An open-addressing hash table whose probes advance for all rows of a call at once.

    Parameters
    ----------
    columns : int
        Length of a row.
    """

    def __init__(self, columns: int, capacity: int = 1024) -> None:
        self.columns = columns
        self._rows = np.empty((capacity, columns), dtype=np.int32)
        self._slots = np.full(2 * capacity, _FREE, dtype=np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> NDArray[np.int32]:
        """All rows (count, columns) in the order of their numbers; a view."""
        return self._rows[: self._count]

    def numbers(self, rows: NDArray[np.int32]) -> Ids:
        """Return the numbers (n,) of rows (n, columns), inserting those that are new."""
        if not len(rows):
            return np.empty(0, dtype=np.int32)
        rows = np.ascontiguousarray(rows, dtype=np.int32)
        self._reserve(len(rows))
        hashes = self._hashes(rows)
        mask = np.uint64(len(self._slots) - 1)
        found = np.empty(len(rows), dtype=np.int32)
        first = self._count
        # Pending rows lie beyond the table's end until it is known which of them are new.
        self._rows[first : first + len(rows)] = rows
        pending = np.arange(len(rows), dtype=np.int32)
        slots = hashes & mask
        winners = np.zeros(len(rows), dtype=bool)
        while len(pending):
            here = slots[pending]
            occupant = self._slots[here]
            free = occupant == _FREE
            claimed = pending[free]
            self._slots[here[free]] = first + claimed
            occupant = self._slots[here]
            winners[claimed] = occupant[free] == first + claimed
            same = (self._rows[occupant] == rows[pending]).all(axis=1)
            found[pending[same]] = occupant[same]
            pending = pending[~same]
            slots[pending] = (slots[pending] + np.uint64(1)) & mask
        return self._admit(found, winners, first, slots)

    def _admit(self, found: Ids, winners: NDArray[np.bool_], first: int, slots: NDArray[np.uint64]) -> Ids:
        """Give the new rows the next numbers."""
        new = np.flatnonzero(winners)
        if not len(new):
            return found
        numbers = np.empty(len(winners), dtype=np.int32)
        numbers[new] = first + np.arange(len(new), dtype=np.int32)
        self._rows[first : first + len(new)] = self._rows[first + new]
        self._slots[slots[new]] = numbers[new]
        self._count += len(new)
        return np.where(found >= first, numbers[np.maximum(found - first, 0)], found)

    def _hashes(self, rows: NDArray[np.int32]) -> NDArray[np.uint64]:
        words = rows.view(np.uint32).astype(np.uint64)
        hashes = np.zeros(len(rows), dtype=np.uint64)
        for column in range(self.columns):
            hashes = _mixed(hashes * _MULTIPLIERS[1] + words[:, column] * _MULTIPLIERS[2] + _MULTIPLIERS[3])
        return hashes

    def _reserve(self, more: int) -> None:
        needed = self._count + more
        if needed > len(self._rows):
            grown = np.empty((max(needed, 2 * len(self._rows)), self.columns), dtype=np.int32)
            grown[: self._count] = self.rows
            self._rows = grown
        if 2 * needed > len(self._slots):
            self._slots = np.full(1 << (4 * needed - 1).bit_length(), _FREE, dtype=np.int32)
            self._reinsert()

    def _reinsert(self) -> None:
        mask = np.uint64(len(self._slots) - 1)
        slots = self._hashes(self.rows) & mask
        pending = np.arange(self._count, dtype=np.int32)
        while len(pending):
            here = slots[pending]
            free = self._slots[here] == _FREE
            self._slots[here[free]] = pending[free]
            pending = pending[self._slots[here] != pending]
            slots[pending] = (slots[pending] + np.uint64(1)) & mask
