"""Reads by asynchronous copies that are over for who knows a phase of a barrier object to be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..registers.threads import Indices
from .ordering import Ordering


class HandedReads:
    """The copies that read granules of memory, each until a phase of a barrier object is over."""

    def __init__(self) -> None:
        self._copies: list[tuple[NDArray[np.int64], int, int, int]] = []

    def note(self, places: NDArray[np.int64], agent: int, phase: int, line: int) -> None:
        """Note that a copy of a phase reads places."""
        self._copies.append((np.unique(places), agent, phase, line))

    def open_lines(
        self, ordering: Ordering, places: NDArray[np.int64], threads: Indices
    ) -> NDArray[np.int32]:
        """Return the lines of copies that may read places (n,) still when threads (n,) write; 0 for none."""
        found = np.zeros(len(places), dtype=np.int32)
        for copied, agent, phase, line in self._copies:
            some = np.flatnonzero(np.isin(places, copied))
            if len(some):
                others, times = np.full(len(some), agent), np.full(len(some), phase, dtype=np.int32)
                over = ordering.over(threads[some], others, times)
                over |= ordering.over_as_read(threads[some], others, times)
                found[some[~over]] = line
        return found
