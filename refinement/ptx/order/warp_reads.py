"""The last read of each place of shared memory by each warp of a block.

Where warps come together only in part, at barrier objects, one moment for all who read a place tells too
little: whoever overwrites it must be in order behind each of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..registers.threads import Indices
from .ordering import Ordering

_NEVER = -1


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

    def note(self, ordering: Ordering, places: NDArray[np.int64], threads: Indices) -> None:
        """Note that threads (n,) read places (n,)."""
        self._times[places, ordering.column_in_cluster(threads)] = ordering.times(threads)

    def are_over(self, ordering: Ordering, places: NDArray[np.int64], threads: Indices) -> NDArray[np.bool_]:
        """Tell whether all reads of places (n,) are in order before what threads (n,) do, by their warps."""
        times = self._times[places]
        found: NDArray[np.bool_] = ((times == _NEVER) | (times < ordering.over_of_warps(threads))).all(axis=1)
        return found
