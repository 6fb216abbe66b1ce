"""The clocks of a batch: the interval that each warp is in, and those of others that it knows to be over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..registers.threads import WARP, Indices, Threads
from .snapshots import Snapshot


class Clocks:
    """The clocks of the warps of a batch, as the barriers of their blocks move them.

    Parameters
    ----------
    threads : Threads
        The batch.
    """

    def __init__(self, threads: Threads) -> None:
        blocks, warps = len(threads.blocks), threads.warps
        self.per_block = warps * WARP
        self.names = threads.blocks[threads.block] * self.per_block + threads.number
        """Number in the grid of every thread of the batch."""
        self._time = np.ones((blocks, warps), dtype=np.int32)
        # [block, warp, other]: intervals of the other below this are over, as far as the warp knows.
        self._over = np.zeros((blocks, warps, warps), dtype=np.int32)
        self._over[:, np.arange(warps), np.arange(warps)] = 1
        self._slowest = self._over.min(axis=2)
        self._peers = threads.peers
        self._exist = threads.exist.reshape(-1, WARP).sum(axis=1)

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`; `_slowest` follows from `_over`, and only decides sooner what others tell."""
        own = np.arange(self._time.shape[1])
        snapshot.intervals(own, self._time)
        snapshot.intervals(own, self._over)
        snapshot.rest(self, "_time", "_over", "_slowest")

    def times(self, threads: Indices) -> NDArray[np.int32]:
        """Return the interval that each thread is in."""
        return self._time.reshape(-1)[threads // WARP]

    def same_block(self, threads: Indices, others: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell whether threads (by number in the grid) are of the same blocks."""
        found: NDArray[np.bool_] = self.names[threads] // self.per_block == others // self.per_block
        return found

    def over_for_all(self, threads: Indices, times: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell whether accesses in intervals up to `times` of any warp of the block are in order before."""
        found: NDArray[np.bool_] = times < self._slowest.reshape(-1)[threads // WARP]
        return found

    def column_in_cluster(self, threads: Indices) -> Indices:
        """Return the warp of each thread, by its number in the cluster."""
        warps, count = threads // WARP, self._time.shape[1]
        block, own = np.divmod(warps, count)
        found: Indices = (self._peers[block] == block[:, None]).argmax(axis=1) * count + own
        return found

    @property
    def cluster_warps(self) -> int:
        """Warps of a cluster."""
        return int(self._time.shape[1] * self._peers.shape[1])

    def block_of(self, others: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return which block of the batch threads (by number in the grid) are of."""
        first = int(self.names[0]) // self.per_block
        return others // self.per_block - first

    def slowest(self, blocks: NDArray[np.intp]) -> NDArray[np.int32]:
        """Return the interval of each block before which all is over for all of its warps."""
        found: NDArray[np.int32] = self._slowest.reshape(len(self._time), -1).min(axis=1)[blocks]
        return found
