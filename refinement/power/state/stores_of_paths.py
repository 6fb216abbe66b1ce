"""Stores of one path, kept apart from memory until the paths meet."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...machine.memory import ByteLanes, Offsets
from ...terms.interning import Ids


def _nowhere() -> Offsets:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Stores:
    """Bytes that one path has stored.

    Attributes
    ----------
    lanes : array (n,)
        Which, in increasing order.
    terms, lows, lines : array (n,)
        See `storage.Storage`.
    """

    lanes: Offsets = field(default_factory=_nowhere)
    terms: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    lows: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))
    lines: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))


class StoreLog:
    """Memory with stores that can be undone.

    Parameters
    ----------
    lanes : ByteLanes
        Every byte.
    lines : array
        The line of the last store to each.
    """

    def __init__(self, lanes: ByteLanes, lines: NDArray[np.int32]) -> None:
        self._lanes = lanes
        self._lines = lines
        self._logs: list[list[Stores]] = []

    def note(self, lanes: Offsets) -> None:
        """Note that bytes are about to be stored to."""
        if self._logs:
            self._logs[-1].append(self.held(lanes))

    def begin(self, stores: Stores) -> None:
        """Go on from what a way has stored."""
        self._logs.append([])
        self.put(stores)

    def end(self) -> Stores:
        """Take back what has been stored since the beginning, and return it."""
        log = self._logs.pop()
        lanes = np.unique(np.concatenate([_nowhere(), *(each.lanes for each in log)]))
        found = self.held(lanes)
        for each in reversed(log):
            self._write(each)
        return found

    def put(self, stores: Stores) -> None:
        """Store."""
        self.note(stores.lanes)
        self._write(stores)

    def held(self, lanes: Offsets) -> Stores:
        """Return what bytes hold."""
        return Stores(lanes, self._lanes.terms[lanes], self._lanes.lows[lanes], self._lines[lanes])

    def _write(self, stores: Stores) -> None:
        at = stores.lanes
        self._lanes.terms[at], self._lanes.lows[at], self._lines[at] = stores.terms, stores.lows, stores.lines

    def widened(self, stores: Stores, lanes: Offsets) -> Stores:
        """Return what more bytes hold with some stores made."""
        found = self.held(lanes)
        at = np.searchsorted(lanes, stores.lanes)
        for mine, theirs in (
            (found.terms, stores.terms),
            (found.lows, stores.lows),
            (found.lines, stores.lines),
        ):
            mine[at] = theirs
        return found
