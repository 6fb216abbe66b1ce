"""The threads of some blocks, side by side, and their special registers as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..registers.threads import WARP, Launch, Threads

Lanes = Any
"""Which threads act: ``slice(None)`` for all, or indices in increasing order."""

EVERY: slice = slice(None)


class BlockThreads:
    """The threads of some blocks, without those that only fill a warp.

    Parameters
    ----------
    launch : Launch
        What they belong to.
    blocks : sequence of int
        Linear numbers of the blocks.

    Attributes
    ----------
    block : array (n,)
        Index into `blocks`, for each thread.
    number : array (n,)
        Linear number in its block.
    warp : array (n,)
        Number of its warp, over all blocks.
    """

    def __init__(self, launch: Launch, blocks: Sequence[int]) -> None:
        self._padded = Threads(launch, np.asarray(blocks, dtype=np.intp))
        self.exist = np.flatnonzero(self._padded.exist)
        self.launch, self.blocks = launch, list(blocks)
        self.block = self._padded.block[self.exist]
        self.number = self._padded.number[self.exist]
        self.lane = self.number % WARP
        self.warp = self.exist // WARP

    def __len__(self) -> int:
        return len(self.exist)

    def name(self, thread: int) -> str:
        """Return block and thread for a message."""
        return self._padded.name(int(self.exist[thread]))

    def special_registers(self) -> dict[str, NDArray[Any]]:
        """Return the special registers that say who a thread is, and some that say nothing."""
        count = len(self)
        found = {
            name: np.broadcast_to(np.asarray(value.numbers), (len(self._padded),))[self.exist].astype(
                np.uint32 if value.width <= 32 else np.uint64
            )
            for name, value in self._padded.special_registers().items()
            if value.is_known
        }
        found["%warpid"] = (self.number // WARP).astype(np.uint32)
        found["%nwarpid"] = np.full(count, -(-self.launch.threads // WARP), dtype=np.uint32)
        return found
