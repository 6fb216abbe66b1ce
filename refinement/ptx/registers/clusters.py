"""Clusters: which blocks of a grid are one, their ranks in it, and the registers that tell a block so.

Source: PTX ISA 9.1 chapters 2 and 10 (``%clusterid``, ``%cluster_ctarank``, …).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....spec.ptx.asynchronous.clusters import cluster_rank

Extents = tuple[int, int, int]


def place_of(blocks: NDArray[np.intp], grid: Extents) -> tuple[Any, Any, Any]:
    """Return where in a grid the blocks of some numbers are: along x, y and z."""
    z, y, x = np.unravel_index(blocks, grid[::-1])
    return x, y, z


def ranks_of(blocks: NDArray[np.intp], grid: Extents, cluster: Extents) -> NDArray[np.intp]:
    """Return the rank of each block in its cluster."""
    x, y, z = (at % extent for at, extent in zip(place_of(blocks, grid), cluster, strict=True))
    found: NDArray[np.intp] = cluster_rank((x, y, z), cluster)
    return found


def clusters_of(blocks: NDArray[np.intp], grid: Extents, cluster: Extents) -> NDArray[np.intp]:
    """Return the number of the cluster that each block is in."""
    x, y, z = (at // extent for at, extent in zip(place_of(blocks, grid), cluster, strict=True))
    found: NDArray[np.intp] = cluster_rank((x, y, z), _counts(grid, cluster))
    return found


def whole_clusters(blocks: NDArray[np.intp], grid: Extents, cluster: Extents) -> NDArray[np.intp]:
    """Return the blocks of the clusters that some blocks are in, (clusters, ranks), in order of the first."""
    size = int(np.prod(cluster))
    if size == 1:
        return blocks[:, None]
    numbers = clusters_of(blocks, grid, cluster)
    _, first = np.unique(numbers, return_index=True)
    x, y, z = (
        at // extent * extent
        for at, extent in zip(place_of(blocks[np.sort(first)], grid), cluster, strict=True)
    )
    inner = np.unravel_index(np.arange(size), cluster[::-1])
    return np.ravel_multi_index(
        tuple(np.asarray(start)[:, None] + step for start, step in zip((z, y, x), inner, strict=True)),
        grid[::-1],
    ).astype(np.intp)


def cluster_registers(
    blocks: NDArray[np.intp], grid: Extents, cluster: Extents, *, explicit: bool
) -> Mapping[str, tuple[NDArray[Any], int]]:
    """Return the special registers that say where in its cluster each block is, with their bits."""
    found: dict[str, tuple[NDArray[Any], int]] = {}
    counts, size = _counts(grid, cluster), int(np.prod(cluster))
    for axis, at, extent, count in zip("xyz", place_of(blocks, grid), cluster, counts, strict=True):
        found[f"%cluster_ctaid.{axis}"] = at % extent, 32
        found[f"%cluster_nctaid.{axis}"] = np.full(len(blocks), extent), 32
        found[f"%clusterid.{axis}"] = at // extent, 32
        found[f"%nclusterid.{axis}"] = np.full(len(blocks), count), 32
    found["%cluster_ctarank"] = ranks_of(blocks, grid, cluster), 32
    found["%cluster_nctarank"] = np.full(len(blocks), size), 32
    found["%is_explicit_cluster"] = np.full(len(blocks), int(explicit)), 1
    return found


def _counts(grid: Extents, cluster: Extents) -> Extents:
    x, y, z = (-(-blocks // extent) for blocks, extent in zip(grid, cluster, strict=True))
    return x, y, z
