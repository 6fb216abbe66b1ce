"""Blocks of a cluster: their ranks, the addresses of their shared memory, and who receives a multicast.

A shared address in the window ``shared::cluster`` has the rank of its block above the 24 bits of the place in
the block. Source: PTX ISA 9.1 sections 9.7.9 (mapa, getctarank) and 9.7.9.25 (multicast); the 24 bits are
of the machine code that ptxas 13.0 makes of mapa for sm_90a.
"""

from __future__ import annotations

from typing import Any

from ...errors import InputError

PLACE_BITS = 24
"""Bits of a shared address that say where in the block it is."""

MOST_BLOCKS = 16
"""Blocks of a cluster that hardware has at most, 8 without opting in; as many bits has a multicast mask."""

_PLACE = (1 << PLACE_BITS) - 1


def cluster_rank(place: tuple[Any, Any, Any], extents: tuple[int, int, int]) -> Any:
    """Return the rank in its cluster of the block at ``%cluster_ctaid``: x + nx * (y + ny * z)."""
    x, y, z = place
    nx, ny, _ = extents
    return x + nx * (y + ny * z)


def mapped(address: Any, rank: Any) -> Any:
    """Return the address as far in the block of a rank as a shared address is in its own: ``mapa``.

    Addresses and ranks are ints, arrays or Z3 terms.
    """
    return (address & _PLACE) | (rank << PLACE_BITS)


def rank_of(address: Any) -> Any:
    """Return the rank of the block that an address in ``shared::cluster`` is in: ``getctarank``."""
    return address >> PLACE_BITS


def receivers(mask: int, blocks: int) -> tuple[int, ...]:
    """Return the ranks of the blocks that receive a multicast copy.

    Parameters
    ----------
    mask : int
        Bit r is the block of rank r.
    blocks : int
        Blocks of the cluster.

    Raises
    ------
    InputError
        If a bit is of no block: the copy is a fault at run time.
    """
    if mask >> blocks:
        raise InputError(f"the multicast mask {mask:#x} names blocks that a cluster of {blocks} lacks")
    return tuple(rank for rank in range(blocks) if mask >> rank & 1)
