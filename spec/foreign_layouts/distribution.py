"""What an instruction set specifies, as maps that layouts of other tools can be compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from operator import mul

import numpy as np

from ..algebra import Array
from ..element_table import ElementTable
from ..layout import Axis, Digit, Layout
from ..layout_terms import log2

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
    layout : Layout
        (owner, number) to the coordinates of an element; of a buffer to its offset.
    order : tuple of int
        The coordinates from the fastest to the slowest of CuTe's column-major index.
    per_register : int
        Neighbouring numbers that share a register; 1 where that is of no concern.
    convention : str
        How it counts, where that is not the instruction set's own way.
    """

    title: str
    holders: tuple[str, str]
    layout: Layout
    order: tuple[int, ...]
    per_register: int = 1
    convention: str = ""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The coordinates of an element."""
        return self.layout.target

    @cached_property
    def coordinates(self) -> Array:
        """The element that is held, (owners, numbers, axes)."""
        return self.layout.images()

    @property
    def domain(self) -> tuple[int, int]:
        """How many owners there are, and how many elements each holds."""
        owners, numbers = self.layout.source
        return owners.extent, numbers.extent

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

    def indexed(self) -> Layout:
        """Return the map to the column-major index of elements: what CuTe's layouts map to."""
        steps, weight = [0] * len(self.axes), 1
        for place in self.order:
            steps[place], weight = weight, weight * self.axes[place].extent
        digits = (replace(digit, image=(sum(map(mul, digit.image, steps)),)) for digit in self.layout.digits)
        index = (Axis("index", self.size),)
        return replace(self.layout, target=index, digits=tuple(digits), carries=True)

    def at_index(self, index: Array) -> Array:
        """Return the coordinates (…, axes) of column-major indices; the slowest has no upper bound."""
        coordinates, rest = np.zeros((*index.shape, len(self.axes)), dtype=np.int64), index
        for place in self.order[:-1]:
            rest, coordinates[..., place] = np.divmod(rest, self.axes[place].extent)
        coordinates[..., self.order[-1]] = rest
        return coordinates


UNCOMPRESSED = "equal, counting the uncompressed K"
"""How CUTLASS counts what belongs to a sparse A: every element of A before half of them were left out."""


def distributions(table: ElementTable, *, by_columns: bool, convention: str = "") -> Iterator[Distribution]:
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
    convention : str
        What it means to spread scale factors or metadata over the elements along K that they serve.
    """
    full = _whole(table, by_columns)
    if len(table.axes) > 2:
        yield from _matrices(full, table.served, convention)
    elif "offset" in table.holders:
        yield _buffer(full)
    yield full


def _whole(table: ElementTable, by_columns: bool) -> Distribution:
    rank = len(table.axes)
    last = (rank - 1, rank - 2) if by_columns else (rank - 2, rank - 1)
    owner, number, *_ = (*table.holders, "element")
    shared = 1
    if owner != "register" and "register" in table.holders:
        owners, registers = table.holders[owner], table.holders["register"]
        shared = int(np.sum((owners == owners[0]) & (registers == registers[0])))
    return Distribution(
        table.title, (owner, number), table.layout, (*last, *reversed(range(rank - 2))), shared
    )


def _buffer(full: Distribution) -> Distribution:
    """Read a buffer the other way: each (row, column) has an offset."""
    offset = Axis("offset", full.layout.points)
    first, second = full.axes
    return Distribution(
        full.title, (first.name, second.name), full.layout.inverted.regrouped(target=(offset,)), (0,)
    )


def uncompressed(stored: Distribution) -> Distribution:
    """Return the distribution of a sparse A as if it were whole: of two neighbours, one is stored."""
    return _spread(stored, len(stored.axes) - 1, 2, UNCOMPRESSED)


def _matrices(full: Distribution, served: int, convention: str) -> Iterator[Distribution]:
    """Read the last two coordinates alone, of what lies at the first point of the others in an owner."""
    leading = len(full.axes) - 2

    def counts(digit: Digit) -> bool:
        return any(digit.image[:leading])

    alike = replace(
        full,
        layout=_restricted(full.layout, lambda digit: digit.axis == 0 or not counts(digit), leading),
        order=tuple(place - leading for place in full.order[:2]),
    )
    yield alike
    for place, axis in enumerate(alike.axes):
        if axis.name == "chunk":
            yield _spread(alike, place, served, convention)
    if any(digit.axis == 0 and counts(digit) for digit in full.layout.digits):
        group = _restricted(full.layout, lambda digit: not counts(digit), leading)
        title = f"{full.title} (the {group.source[0].extent} lanes of one group)"
        yield replace(alike, title=title, holders=("thread", full.holders[1]), layout=group)


def _restricted(layout: Layout, keeps: Callable[[Digit], bool], leading: int) -> Layout:
    """Return what the kept bits alone do, counted without the others, but for the leading coordinates."""
    extents = [1] * len(layout.source)
    digits = []
    for digit in filter(keeps, layout.digits):
        digits.append(replace(digit, weight=extents[digit.axis], image=digit.image[leading:]))
        extents[digit.axis] *= digit.extent
    source = tuple(Axis(axis.name, extent) for axis, extent in zip(layout.source, extents, strict=True))
    return Layout(layout.name, source, layout.target[leading:], tuple(digits))


def _spread(full: Distribution, place: int, count: int, convention: str) -> Distribution:
    """Repeat what is held for each of the `count` elements along K that it serves."""
    scales = [count if at == place else 1 for at in range(len(full.axes))]
    served = (
        tuple(1 << bit if at == place else 0 for at in range(len(scales))) for bit in range(log2(count))
    )
    digits = [Digit(1, max(image), 2, image) for image in served]
    for digit in full.layout.digits:
        image = tuple(step * scale for step, scale in zip(digit.image, scales, strict=True))
        digits.append(replace(digit, weight=digit.weight * (count if digit.axis else 1), image=image))
    owners, numbers = full.layout.source
    axes = tuple(Axis("k", a.extent * count) if at == place else a for at, a in enumerate(full.axes))
    source = (owners, Axis(numbers.name, numbers.extent * count))
    layout = Layout(full.layout.name, source, axes, tuple(digits))
    return replace(full, layout=layout, per_register=1, convention=convention)
