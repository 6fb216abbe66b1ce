"""Overwritten stores that nothing orders before the overwriting one: values and writers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...machine.memory import ABSENT, ByteLanes, Offsets
from ...terms.store import TermStore


class Overwritten:
    """One unordered overwritten store of each byte, the first that was met.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    size : int
        Bytes.

    Attributes
    ----------
    lanes : ByteLanes
        What was stored.
    lines : int32 array (size,)
        The line of the store; 0 where there is none.
    writers : int64 array (size,)
        The thread of it, by its number in the grid; -1 where there is none.
    """

    def __init__(self, store: TermStore, size: int) -> None:
        self.lanes = ByteLanes(store, size)
        self.lines = np.zeros(size, dtype=np.int32)
        self.writers = np.full(size, -1, dtype=np.int64)

    def note(
        self,
        at: Offsets,
        terms: NDArray[np.int32],
        lows: NDArray[np.uint8],
        lines: NDArray[np.int32] | int,
        writers: NDArray[np.int64],
    ) -> None:
        """Note what stores (n,) put into bytes (n, count)."""
        fresh = (self.lines[at] == 0) & (terms != ABSENT)
        own = at[fresh]
        self.lanes.terms[own], self.lanes.lows[own] = terms[fresh], lows[fresh]
        for kept, given in ((self.lines, np.asarray(lines)), (self.writers, writers)):
            kept[own] = np.broadcast_to(given.reshape(-1, 1), at.shape)[fresh]
