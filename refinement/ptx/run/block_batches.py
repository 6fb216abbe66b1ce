"""Which blocks of a grid run together."""

from __future__ import annotations

from collections.abc import Iterator

from ..registers.clusters import whole_clusters
from ..registers.threads import WARP, Indices, Launch
from ..state.cluster_launches import ClusterLaunches

THREADS = 4096
"""Threads that run at once, at least as far as whole blocks make so many."""

BYTES = 1 << 27
"""Bytes of variables that are held at once."""


def batches(
    launch: Launch, blocks: Indices, block_bytes: int, launches: ClusterLaunches | None
) -> Iterator[Indices]:
    """Yield the blocks of each batch, whole clusters of them.

    Parameters
    ----------
    launch : Launch
        Their grid.
    blocks : array
        The blocks that run, by their numbers in the grid.
    block_bytes : int
        Bytes of a block's own variables.
    launches : ClusterLaunches, optional
        Which clusters are launched, where blocks may cancel launches.
    """
    per_block = -(-launch.threads // WARP) * WARP
    length = max(1, min(THREADS // per_block, BYTES // max(1, block_bytes)) // launch.cluster_blocks)
    clusters = whole_clusters(blocks, launch.grid, launch.cluster_extents)
    for some in [clusters] if launches is None else launches.launched():
        for start in range(0, len(some), length):
            yield some[start : start + length].reshape(-1)
