"""Whether tiles without addresses fit a buffer under any placement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ....spec.pto.targets import Profile
from ....spec.pto.tile import BLOCK_BYTES, Location
from .tile_buffers import TileBuffer


@dataclass(frozen=True)
class Overflow:
    """Simultaneously live tiles that do not fit a buffer.

    Attributes
    ----------
    location : Location
        The buffer.
    tiles : tuple of TileBuffer
        What is in use.
    size, capacity : int
        Bytes of all of them, and of the buffer.
    """

    location: Location
    tiles: tuple[TileBuffer, ...]
    size: int
    capacity: int

    def __str__(self) -> str:
        names = ", ".join(f"{tile.name} ({_bytes(tile)})" for tile in self.tiles)
        return (
            f"tiles of {self.size} bytes are in use at one time in {self.location}, which has "
            f"{self.capacity}: {names}"
        )


def overflows(profile: Profile, tiles: Iterable[TileBuffer]) -> Iterator[Overflow]:
    """Yield for each buffer the most that is in use at one time, if it does not fit.

    A tile is in use from its first access to its last one, in the order of the run.
    """
    placed: dict[Location, list[TileBuffer]] = {}
    for tile in tiles:
        if tile.memory.used[0] <= tile.memory.used[1]:
            placed.setdefault(tile.buffer, []).append(tile)
    for location, some in placed.items():
        capacity = profile.capacities.get(location, 0)
        most = max(
            (
                [each for each in some if _is_used(each, start)]
                for start in {one.memory.used[0] for one in some}
            ),
            key=lambda among: sum(map(_bytes, among)),
        )
        size = sum(map(_bytes, most))
        if size > capacity and len(most) > 1:
            yield Overflow(location, tuple(most), size, capacity)


def _is_used(tile: TileBuffer, instruction: int) -> bool:
    first, last = tile.memory.used
    return first <= instruction <= last


def _bytes(tile: TileBuffer) -> int:
    return -(-len(tile.memory.lanes) // BLOCK_BYTES) * BLOCK_BYTES
