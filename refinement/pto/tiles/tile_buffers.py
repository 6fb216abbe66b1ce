"""Tiles of a running kernel: a type, a valid region, and bytes of a buffer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....spec.pto.buffers import elements_of
from ....spec.pto.fractal import SCALE_FRACTAL
from ....spec.pto.sizes import Extents
from ....spec.pto.tile import Location, Order, Tile
from ...machine.memory import ABSENT, ByteLanes, Offsets
from ...terms.store import TermStore
from ..pipes.access_history import AccessHistory

UNUSED = (1 << 62, -1)
"""First and last access of what nobody accesses."""

Elements = NDArray[np.int64]
"""Numbers of elements in the order of a buffer."""


class TileMemory:
    """Bytes of an on-chip buffer.

    Attributes
    ----------
    lanes : ByteLanes
        The bytes.
    history : AccessHistory
        Who accessed them.
    used : (int, int)
        The first and the last instruction, in the order of the run, that accessed them; none if the first is
        behind the last.
    """

    def __init__(self, store: TermStore, size: int) -> None:
        self.lanes = ByteLanes(store, size)
        self.history = AccessHistory(size)
        self.used = UNUSED

    def use(self, instruction: int) -> None:
        """Note an access by an instruction, by its number in the order of the run."""
        self.used = min(self.used[0], instruction), max(self.used[1], instruction)

    def hold(self, size: int) -> None:
        """Have so many bytes at least: a tile beyond the end of a buffer is a finding of its own."""
        more = size - len(self.lanes)
        if more > 0:
            lanes = self.lanes
            lanes.terms = np.concatenate([lanes.terms, np.full(more, ABSENT, dtype=np.int32)])
            lanes.lows = np.concatenate([lanes.lows, np.zeros(more, dtype=np.uint8)])
            self.history.grow(size)


@dataclass(eq=False)
class TileBuffer:
    """A tile.

    Attributes
    ----------
    name : str
        As the kernel calls it.
    tile : Tile
        Its type, with run-time extents open.
    valid : Extents
        The valid region, of now.
    memory : TileMemory
        Where it is.
    address : int
        Bytes from the beginning of that.
    line : int
        Where it was allocated.
    """

    name: str
    tile: Tile
    valid: Extents
    memory: TileMemory
    address: int
    line: int

    @property
    def actual(self) -> Tile:
        """Its type with the valid region of now."""
        return replace(self.tile, valid_rows=self.valid.rows, valid_columns=self.valid.columns)

    @property
    def buffer(self) -> Location:
        """The buffer that it is in."""
        return buffer_of(self.tile)

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return elements_of(self.tile)

    @property
    def width(self) -> int:
        """Bytes of an element."""
        return self.tile.element.storage_bytes

    def offsets(self, elements: Elements) -> Offsets:
        """Return where elements (n,) lie in its memory."""
        return self.address + elements.astype(np.int64) * self.width

    def lanes(self, elements: Elements) -> Offsets:
        """Return the bytes of elements (n,), all of them."""
        return (self.offsets(elements)[:, None] + np.arange(self.width)).reshape(-1)

    @property
    def _bytes(self) -> range:
        return range(self.address, self.address + self.elements * self.width)

    def shares_bytes(self, other: TileBuffer) -> bool:
        """Whether there is a byte that is in both."""
        one, two = self._bytes, other._bytes
        return self.memory is other.memory and one.start < two.stop and two.start < one.stop

    def lies_as(self, other: TileBuffer) -> bool:
        """Whether each element lies where the other tile has that of the same row and column."""

        def order(each: TileBuffer) -> tuple[object, ...]:
            tile = each.tile
            return tile.rows, tile.columns, each.width, tile.blocks, tile.inner, tile.fractal, tile.compact

        return self.overlaps(other) and order(self) == order(other)

    def overlaps(self, other: TileBuffer) -> bool:
        """Whether it is in the very place of another one."""
        return self.memory is other.memory and self.address == other.address


def buffer_of(tile: Tile) -> Location:
    """Return the buffer of a tile: scale factors of A and of B have one keyword, and a buffer each."""
    if tile.location is not Location.SCALING or tile.fractal != SCALE_FRACTAL:
        return tile.location
    return Location.SCALE_LEFT if tile.inner is Order.ROW_MAJOR else Location.SCALE_RIGHT
