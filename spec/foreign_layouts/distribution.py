"""What an instruction set specifies, as maps that layouts of other tools can be compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ..algebra import Array
from ..element_table import ElementTable
from ..errors import UnsupportedError
from ..layout import Axis

MAX_ELEMENTS = 1 << 20
"""Elements of the largest layout that is looked at: more than any register file or shared memory has."""


@dataclass(frozen=True)
class Distribution:
    """Which element each (owner, number) holds.

    Attributes
    ----------
    title : str
        Instruction and operand.
    holders : (str, str)
        What an owner and a number are called: ``("lane", "element")``; of a buffer ``("row", "column")``.
    axes : tuple of Axis
        The coordinates of an element; of a buffer its offset.
    coordinates : array (owners, numbers, axes)
        The element that is held.
    order : tuple of int
        The axes from the fastest to the slowest of CuTe's column-major index.
    per_register : int
        Neighbouring numbers that share a register; 1 where that is of no concern.
    convention : str
        How it counts, where that is not the instruction set's own way.
    """

    title: str
    holders: tuple[str, str]
    axes: tuple[Axis, ...]
    coordinates: Array
    order: tuple[int, ...]
    per_register: int = 1
    convention: str = ""

    @property
    def domain(self) -> tuple[int, int]:
        """How many owners there are, and how many elements each holds."""
        return self.coordinates.shape[0], self.coordinates.shape[1]

    @property
    def size(self) -> int:
        """Elements of the tile."""
        return prod(axis.extent for axis in self.axes)

    @property
    def domain_text(self) -> str:
        """The holders in words."""
        owners, numbers = self.domain
        return f"{self.title} has {owners} {self.holders[0]}s of {numbers} {self.holders[1]}s"

    @property
    def tile_text(self) -> str:
        """The tile in words."""
        return f"tile of {' x '.join(f'{axis.extent} {axis.name}s' for axis in self.axes)}"

    def holder(self, owner: int, number: int) -> str:
        """Name a holder."""
        return f"{self.holders[0]} {owner}, {self.holders[1]} {number}"

    def element(self, coordinates: Sequence[int] | Array) -> str:
        """Name an element."""
        return ", ".join(f"{a.name} {int(c)}" for a, c in zip(self.axes, coordinates, strict=True))

    def element_at(self, flat: int) -> str:
        """Name the element of a number that `flat` gives."""
        return self.element([int(c) for c in np.unravel_index(flat, [axis.extent for axis in self.axes])])

    def flat(self, coordinates: Array) -> Array:
        """Return the numbers of elements (…, axes) that are in range, the last axis fastest."""
        extents = [axis.extent for axis in self.axes]
        numbers: Array = np.ravel_multi_index(tuple(np.moveaxis(coordinates, -1, 0)), extents)
        return numbers

    def index(self, coordinates: Array) -> Array:
        """Return the column-major index of elements (…, axes): what CuTe's layouts map to."""
        total, weight = np.zeros(coordinates.shape[:-1], dtype=np.int64), 1
        for place in self.order:
            total = total + coordinates[..., place] * weight
            weight *= self.axes[place].extent
        return total

    def at_index(self, index: Array) -> Array:
        """Return the coordinates (…, axes) of column-major indices; the slowest has no upper bound."""
        coordinates, rest = np.zeros((*index.shape, len(self.axes)), dtype=np.int64), index
        for place in self.order[:-1]:
            rest, coordinates[..., place] = np.divmod(rest, self.axes[place].extent)
        coordinates[..., self.order[-1]] = rest
        return coordinates


UNCOMPRESSED = "equal, counting the uncompressed K"
"""How CUTLASS counts what belongs to a sparse A: every element of A before half of them were left out."""


def distributions(
    table: ElementTable, *, by_columns: bool, k: int | None = None, convention: str = ""
) -> Iterator[Distribution]:
    """Yield the maps that a table can be read as, the likeliest first.

    A table whose elements have more than two coordinates (computations of ``m8n8k4``, selectors of
    metadata and of scale factors) is also read as one matrix: held by every group of lanes alike, by the
    lanes of one group, and with scale factors spread over the elements they serve.

    Parameters
    ----------
    table : ElementTable
        What the instruction set says.
    by_columns : bool
        Whether CuTe indexes the operand as (columns, rows): the (N, K) tile of B.
    k : int, optional
        The instruction's K, over which scale factors and metadata are spread.
    convention : str
        What such a spread means.

    Raises
    ------
    UnsupportedError
        If the owners do not all hold equally many elements.
    """
    full = _whole(table, by_columns)
    if len(table.axes) > 2:
        yield from _matrices(full, k, convention)
    elif "offset" in table.holders:
        yield _buffer(table)
    yield full


def _whole(table: ElementTable, by_columns: bool) -> Distribution:
    owners, *within = table.holders.values()
    order = np.lexsort((*reversed(within), owners))
    count = len(np.unique(owners))
    if len(table) % count or (np.bincount(owners)[np.unique(owners)] != len(table) // count).any():
        raise UnsupportedError(
            f"the {table.owners.name}s of {table.title} hold different numbers of elements"
        )
    columns = np.stack([table.coordinates[axis.name] for axis in table.axes], axis=-1)
    rank = len(table.axes)
    last = (rank - 1, rank - 2) if by_columns else (rank - 2, rank - 1)
    registers = table.holders.get("register")
    shared = 1
    if registers is not None and table.owners.name != "register":
        shared = int(np.sum((owners == owners[0]) & (registers == registers[0])))
    return Distribution(
        table.title,
        (table.owners.name, next(iter([*table.holders][1:]), "element")),
        table.axes,
        columns[order].reshape(count, -1, rank),
        (*last, *reversed(range(rank - 2))),
        shared,
    )


def _buffer(table: ElementTable) -> Distribution:
    """Read a buffer the other way: each (row, column) has an offset."""
    first, second = table.axes
    offsets = np.zeros((first.extent, second.extent), dtype=np.int64)
    offsets[tuple(table.coordinates[axis.name] for axis in table.axes)] = table.holders["offset"]
    extent = Axis("offset", int(offsets.max()) + 1)
    return Distribution(table.title, (first.name, second.name), (extent,), offsets[..., None], (0,))


def uncompressed(stored: Distribution) -> Distribution:
    """Return the distribution of a sparse A as if it were whole: of two neighbours, one is stored."""
    place = len(stored.axes) - 1
    return _spread(stored, stored.coordinates, stored.axes, stored.order, place, 2, UNCOMPRESSED)


def _matrices(full: Distribution, k: int | None, convention: str) -> Iterator[Distribution]:
    leading, matrix = full.coordinates[..., :-2], full.coordinates[..., -2:]
    axes, order = full.axes[-2:], tuple(place - len(full.axes) + 2 for place in full.order[:2])
    by_number = (leading != leading[:, :1]).any(axis=(0, 1))
    kept = (leading[0][:, by_number] == 0).all(axis=-1)
    alike = matrix[:, kept]
    yield Distribution(full.title, full.holders, axes, alike, order, full.per_register)
    for place, axis in enumerate(axes):
        if axis.name == "chunk" and k is not None:
            yield _spread(full, alike, axes, order, place, k // axis.extent, convention)
    groups = leading[:, 0][:, ~by_number]
    members = [alike[(groups == group).all(axis=-1)] for group in np.unique(groups, axis=0)]
    if len(members) > 1 and all(np.array_equal(members[0], member) for member in members[1:]):
        title = f"{full.title} (the {len(members[0])} lanes of one group)"
        yield Distribution(title, ("thread", full.holders[1]), axes, members[0], order, full.per_register)


def _spread(
    full: Distribution,
    held: Array,
    axes: tuple[Axis, ...],
    order: tuple[int, ...],
    place: int,
    count: int,
    convention: str,
) -> Distribution:
    """Repeat what is held for each of the `count` elements along K that it serves."""
    spread = np.repeat(held, count, axis=1)
    spread[..., place] = spread[..., place] * count + np.arange(spread.shape[1]) % count
    along_k = Axis("k", axes[place].extent * count)
    spread_axes = tuple(along_k if at == place else axis for at, axis in enumerate(axes))
    return Distribution(full.title, full.holders, spread_axes, spread, order, convention=convention)
