"""The threads of a batch of blocks, side by side: numbering, activity, registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...terms.interning import Ids
from .clusters import cluster_registers, ranks_of
from .values import Value, known

WARP = 32

Indices = NDArray[np.intp]
"""Threads of a batch, as indices in increasing order."""


@dataclass(frozen=True)
class Launch:
    """The number of threads of a launch.

    Attributes
    ----------
    grid, block : (int, int, int)
        Extents along x, y and z.
    dynamic_shared : int, optional
        Bytes of shared memory beyond what the kernel declares; None where nobody said, so that the kernel
        must not need any.
    cluster : (int, int, int), optional
        Extents of a cluster in blocks; None where nobody asks for clusters, so that each block is one.
    variables : mapping of str to (array, array)
        What the host put into variables of the module: term and lowest bit of each byte, from the first on.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int | None = 0
    cluster: tuple[int, int, int] | None = None
    variables: Mapping[str, tuple[Ids, NDArray[np.uint8]]] = field(default_factory=dict)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return prod(self.grid)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.block)

    @property
    def cluster_extents(self) -> tuple[int, int, int]:
        """Extents of a cluster, 1 along each axis where nobody asks for more."""
        return self.cluster or (1, 1, 1)

    @property
    def cluster_blocks(self) -> int:
        """Blocks of a cluster."""
        return prod(self.cluster_extents)


class Threads:
    """The threads of some blocks, those of a block together, whole warps each.

    Attributes
    ----------
    launch : Launch
        What they belong to.
    blocks : array (b,)
        Linear numbers of the blocks, those of a cluster together, in the order of their ranks.
    warps : int
        Warps of a block.
    block : array (n,)
        Index into `blocks`, for each thread.
    number : array (n,)
        Linear number in its block; threads that only fill a warp have numbers from ``launch.threads`` up.
    exist : array (n,)
        Which threads do not only fill a warp.
    ranks : array (b,)
        Rank in its cluster of each block.
    peers : array (b, blocks of a cluster)
        Indices into `blocks` of those of each block's cluster, by rank.
    """

    def __init__(self, launch: Launch, blocks: Indices) -> None:
        self.launch = launch
        self.blocks = blocks
        self.warps = -(-launch.threads // WARP)
        per_block = self.warps * WARP
        self.block = np.repeat(np.arange(len(blocks)), per_block)
        self.number = np.tile(np.arange(per_block), len(blocks))
        self.exist = self.number < launch.threads
        self.ranks, self.peers = np.zeros(len(blocks), dtype=np.intp), np.arange(len(blocks))[:, None]
        if launch.cluster_blocks > 1:
            self.ranks = ranks_of(blocks, launch.grid, launch.cluster_extents)
            if len(blocks) % launch.cluster_blocks == 0:
                size = launch.cluster_blocks
                self.peers = np.repeat(np.arange(len(blocks)).reshape(-1, size), size, axis=0)

    def __len__(self) -> int:
        return len(self.number)

    @property
    def lane(self) -> Indices:
        """Lane in the warp, for each thread."""
        return self.number % WARP

    @property
    def warp(self) -> Indices:
        """Number of the warp in the batch, for each thread."""
        return np.arange(len(self)) // WARP

    def name(self, thread: int) -> str:
        """Return block and thread for a message."""
        block = _coordinates(int(self.blocks[self.block[thread]]), self.launch.grid)
        own = _coordinates(int(self.number[thread]), self.launch.block)
        return f"block {_spelled(block)}, thread {_spelled(own)}"

    def name_in_grid(self, number: int) -> str:
        """Return block and thread, of any batch, by ``block * warps * WARP + thread``."""
        block, own = divmod(number, self.warps * WARP)
        places = _coordinates(block, self.launch.grid), _coordinates(own, self.launch.block)
        return "block {}, thread {}".format(*map(_spelled, places))

    def special_registers(self) -> Mapping[str, Value]:
        """Return the special registers that say who a thread is."""
        found: dict[str, NDArray[Any]] = {}
        own = np.unravel_index(np.minimum(self.number, self.launch.threads - 1), self.launch.block[::-1])
        block = np.unravel_index(self.blocks[self.block], self.launch.grid[::-1])
        for axis, place in zip("xyz", (2, 1, 0), strict=True):
            found[f"%tid.{axis}"], found[f"%ctaid.{axis}"] = own[place], block[place]
            extent = "xyz".index(axis)
            found[f"%ntid.{axis}"] = np.full(len(self), self.launch.block[extent])
            found[f"%nctaid.{axis}"] = np.full(len(self), self.launch.grid[extent])
        lane = self.lane.astype(np.uint64)
        one = np.uint64(1) << lane
        found |= {
            "%laneid": lane,
            "%lanemask_eq": one,
            "%lanemask_lt": one - np.uint64(1),
            "%lanemask_le": (one << np.uint64(1)) - np.uint64(1),
            "%lanemask_gt": ~((one << np.uint64(1)) - np.uint64(1)),
            "%lanemask_ge": ~(one - np.uint64(1)),
        }
        values = {name: known(numbers, 32) for name, numbers in found.items()}
        of_cluster = cluster_registers(
            self.blocks,
            self.launch.grid,
            self.launch.cluster_extents,
            explicit=self.launch.cluster is not None,
        )
        return values | {name: known(told[self.block], bits) for name, (told, bits) in of_cluster.items()}


def _coordinates(number: int, extents: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = extents
    return number % x, number // x % y, number // (x * y)


def _spelled(coordinates: tuple[int, int, int]) -> str:
    return f"({', '.join(map(str, coordinates))})" if any(coordinates[1:]) else str(coordinates[0])
