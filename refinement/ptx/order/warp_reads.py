"""The last read of each place of shared memory by each warp of a block.

Where warps come together only in part, at barrier objects, one moment for all who read a place tells too
little: whoever overwrites it must be in order behind each of them. What products of warpgroups read is kept
apart: that they are done, each thread of a warp knows that has waited for them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....spec.ptx.variant import WARPGROUP_WARPS
from ..registers.threads import Indices
from .ordering import NOBODY, Ordering
from .snapshots import Snapshot

_NEVER = -1

WAITED_BY_ONE = (
    "a group of wgmma is complete, with all that its warpgroup reads, when one warp has waited for it "
    "(PTX ISA: one wgmma-group per warpgroup)"
)
"""What is assumed where not all warps of a warpgroup tell that they have waited."""


class WarpReads:
    """The last reads of each granule of memory, by the warps of the cluster of the block that it belongs to.

    Parameters
    ----------
    count : int
        Granules.
    warps : int
        Warps of a cluster.
    of_cluster : bool
        Whether that is more than a block.
    """

    def __init__(self, count: int, warps: int, *, of_cluster: bool) -> None:
        self.of_cluster = of_cluster
        self._times = np.full((count, warps), _NEVER, dtype=np.int32)
        self._products: NDArray[np.int32] | None = None
        self.assumed = False
        """Whether accesses are in order for what `WAITED_BY_ONE` says."""

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`."""
        for table in (self._times, self._products):
            snapshot.take(table is None)
            if table is not None:
                columns = np.arange(table.shape[1])
                snapshot.intervals(np.where(table == _NEVER, NOBODY, columns % snapshot.warps), table)
        snapshot.rest(self, "_times", "_products")

    def note(
        self, ordering: Ordering, places: NDArray[np.int64], threads: Indices, *, by_products: bool
    ) -> None:
        """Note that threads (n,) read places (n,), or products of their warps do."""
        table = self._times
        if by_products:
            if self._products is None:
                self._products = np.full(self._times.shape, _NEVER, dtype=np.int32)
            table = self._products
        table[places, ordering.column_in_cluster(threads)] = ordering.times(threads)

    def are_over(self, ordering: Ordering, places: NDArray[np.int64], threads: Indices) -> NDArray[np.bool_]:
        """Tell whether all reads of places (n,) are in order before what threads (n,) do, by their warps."""
        times = self._times[places]
        found: NDArray[np.bool_] = ((times == _NEVER) | (times < ordering.over_of_warps(threads))).all(axis=1)
        if self._products is not None and found.any():
            found[found] = self._products_are_over(ordering, self._products[places[found]], threads[found])
        return found

    def _products_are_over(
        self, ordering: Ordering, times: NDArray[np.int32], threads: Indices
    ) -> NDArray[np.bool_]:
        """Tell whether products that warps waited for at times (n, warps) are over for threads (n,)."""
        over = times < ordering.waited_of_warps(threads)
        every: NDArray[np.bool_] = (over | (times == _NEVER)).all(axis=1)
        groups = range(0, times.shape[1], WARPGROUP_WARPS)
        of_groups = [slice(first, first + WARPGROUP_WARPS) for first in groups]
        known = [
            (over[:, group] & (times[:, group] != _NEVER)).any(axis=1)
            | (times[:, group] == _NEVER).all(axis=1)
            for group in of_groups
        ]
        found: NDArray[np.bool_] = np.all(known, axis=0)
        self.assumed |= bool((found & ~every).any())
        return found
