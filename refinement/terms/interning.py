"""Hash-consing of rows of integers, whole arrays of rows at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
"""Numbers of rows, terms or vectors."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_FREE = np.int32(-1)

_Words = NDArray[np.uint64]
"""Rows (n, words), two columns in each word; the last is padded with a zero."""


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
        self._width = -(-columns // 2)
        self._words = np.empty((capacity, self._width), dtype=np.uint64)
        self._slots = np.full(2 * capacity, _FREE, dtype=np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> NDArray[np.int32]:
        """All rows (count, columns) in the order of their numbers; a view."""
        return self._words[: self._count].view(np.int32)[:, : self.columns]

    def numbers(self, rows: NDArray[np.int32]) -> Ids:
        """Return the numbers (n,) of rows (n, columns), inserting those that are new."""
        if not len(rows):
            return np.empty(0, dtype=np.int32)
        words = self._packed(rows)
        self._reserve(len(words))
        mask = len(self._slots) - 1
        found = np.empty(len(words), dtype=np.int32)
        first = self._count
        # Pending rows lie beyond the table's end until it is known which of them are new.
        self._words[first : first + len(words)] = words
        pending = np.arange(len(words), dtype=np.int32)
        slots = _hashes(words) & mask
        winners = np.zeros(len(words), dtype=bool)
        here = slots
        while len(pending):
            occupant = self._slots[here]
            free = occupant == _FREE
            if free.any():
                claimed = pending[free]
                self._slots[here[free]] = first + claimed
                occupant = self._slots[here]
                winners[claimed] = occupant[free] == first + claimed
            same = self._equal(occupant, words)
            if same.all():
                found[pending] = occupant
                break
            found[pending[same]] = occupant[same]
            left = ~same
            pending, words, here = pending[left], words[left], (here[left] + 1) & mask
            slots[pending] = here
        return self._admit(found, winners, first, slots)

    def _packed(self, rows: NDArray[np.int32]) -> _Words:
        if self.columns % 2:
            padded = np.zeros((len(rows), 2 * self._width), dtype=np.int32)
            padded[:, : self.columns] = rows
            rows = padded
        return np.ascontiguousarray(rows, dtype=np.int32).view(np.uint64)

    def _equal(self, numbers: Ids, words: _Words) -> NDArray[np.bool_]:
        """Tell which rows of the table are those that are given."""
        rows = np.take(self._words, numbers, axis=0)
        equal: NDArray[np.bool_] = rows[:, 0] == words[:, 0]
        for column in range(1, self._width):
            equal &= rows[:, column] == words[:, column]
        return equal

    def _admit(self, found: Ids, winners: NDArray[np.bool_], first: int, slots: NDArray[np.int64]) -> Ids:
        """Give the new rows the next numbers."""
        new = np.flatnonzero(winners)
        if not len(new):
            return found
        numbers = np.empty(len(winners), dtype=np.int32)
        numbers[new] = first + np.arange(len(new), dtype=np.int32)
        self._words[first : first + len(new)] = self._words[first + new]
        self._slots[slots[new]] = numbers[new]
        self._count += len(new)
        return np.where(found >= first, numbers[np.maximum(found - first, 0)], found)

    def _reserve(self, more: int) -> None:
        needed = self._count + more
        if needed > len(self._words):
            grown = np.empty((max(needed, 2 * len(self._words)), self._width), dtype=np.uint64)
            grown[: self._count] = self._words[: self._count]
            self._words = grown
        if 2 * needed > len(self._slots):
            self._slots = np.full(1 << (4 * needed - 1).bit_length(), _FREE, dtype=np.int32)
            self._reinsert()

    def _reinsert(self) -> None:
        mask = len(self._slots) - 1
        slots = _hashes(self._words[: self._count]) & mask
        pending = np.arange(self._count, dtype=np.int32)
        while len(pending):
            here = slots[pending]
            free = self._slots[here] == _FREE
            self._slots[here[free]] = pending[free]
            pending = pending[self._slots[here] != pending]
            slots[pending] = (slots[pending] + 1) & mask


def _hashes(words: _Words) -> NDArray[np.int64]:
    """Return numbers (n,) whose low bits scatter rows."""
    hashes = words[:, 0] * _MULTIPLIER
    hashes ^= hashes >> _HALF
    for column in range(1, words.shape[1]):
        hashes ^= words[:, column]
        hashes *= _MULTIPLIER
        hashes ^= hashes >> _HALF
    return hashes.view(np.int64)
