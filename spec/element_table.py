"""Who holds which element of an operand, one row for each element."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from .algebra import Array
from .errors import InputError
from .fragment import Fragment
from .layout import Axis, Layout

_FEW = 4096
"""Elements up to which a table is computed with Python's integers where NumPy is not imported yet: that
takes longer."""


class Columns(Mapping[str, Array]):
    """Columns of integers by name, which are arrays where they are asked for.

    Parameters
    ----------
    rows : iterable of mapping of str to int
        One at least.
    """

    def __init__(self, rows: Iterable[Mapping[str, int]]) -> None:
        (self._names, *_), values = zip(*((tuple(row), tuple(row.values())) for row in rows), strict=True)
        self._values: tuple[tuple[int, ...], ...] = tuple(zip(*values, strict=True))

    def __getitem__(self, name: str) -> Array:
        return np.array(self.integers(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def integers(self, name: str) -> Sequence[int]:
        """Return a column as Python's integers."""
        try:
            return self._values[self._names.index(name)]
        except ValueError:
            raise KeyError(name) from None


@dataclass(frozen=True)
class ElementTable:
    """An operand's elements in the order of their holders.

    Attributes
    ----------
    title : str
        Instruction and operand.
    format : str
        Element type.
    bits : int
        Width of an element's encoding.
    layout : Layout
        (owner, number of an element that it holds) ↔ the operand's coordinates: (row, column), perhaps
        with a leading axis that counts matrices.
    formula : str
        The layout in the direction that the instruction set states.
    owners : Axis
        What the owner is called, and how many there are.
    holders : mapping of str to array
        Who holds each element: first the owner (a lane, or a register that belongs to no lane), then
        which one of the owner's elements it is, then where its bits are.
    coordinates : mapping of str to array
        Where each element is, by axis.
    served : int
        How many elements along K of the product an element is for: a scale factor or metadata are for a
        chunk, an element that is stored of a sparse operand for those that are not as well.
    swizzled : str
        The layout in CuTe's notation, of operands in shared memory, whose layout is swizzled.
    """

    title: str
    format: str
    bits: int
    layout: Layout
    formula: str
    owners: Axis
    holders: Mapping[str, Array]
    coordinates: Mapping[str, Array]
    served: int = 1
    swizzled: str = ""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The operand's coordinates."""
        return self.layout.target

    def __len__(self) -> int:
        return len(_integers(self.holders, next(iter(self.holders))))

    def rows(self) -> list[dict[str, int]]:
        """Return one row for each element: holder, then coordinates."""
        columns = {
            name: _integers(found, name) for found in (self.holders, self.coordinates) for name in found
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def held_by(self, owner: str, number: int) -> ElementTable:
        """Return the elements of one owner: ``held_by("lane", 5)``.

        Raises
        ------
        InputError
            If the elements have owners of another kind, or there is no such owner.
        """
        if owner != self.owners.name:
            raise InputError(f"{self.title} is held by {self.owners.name}s; there is no {owner} {number}")
        if number not in range(self.owners.extent):
            raise InputError(f"there is no {owner} {number}; {owner}s are 0 to {self.owners.extent - 1}")
        return self._where(self.holders[owner] == number)

    def at(self, *coordinates: int) -> ElementTable:
        """Return the holders of one element; leading axes that are not given are free.

        Raises
        ------
        InputError
            If a coordinate is out of range.
        """
        named = self.axes[len(self.axes) - len(coordinates) :]
        if len(coordinates) not in (2, len(self.axes)):
            raise InputError(f"an element has the coordinates {', '.join(axis.name for axis in self.axes)}")
        chosen = np.ones(len(self), dtype=bool)
        for axis, coordinate in zip(named, coordinates, strict=True):
            if not 0 <= coordinate < axis.extent:
                raise InputError(
                    f"there is no {axis.name} {coordinate}; {axis.name}s are 0 to {axis.extent - 1}"
                )
            chosen &= self.coordinates[axis.name] == coordinate
        return self._where(chosen)

    def _where(self, chosen: Array) -> ElementTable:
        return replace(
            self,
            holders={name: column[chosen] for name, column in self.holders.items()},
            coordinates={name: column[chosen] for name, column in self.coordinates.items()},
        )


def element_table(
    title: str,
    fmt: str,
    bits: int,
    layout: Layout,
    holders: Callable[[Any, Any], Mapping[str, Any]],
    *,
    formula: str | None = None,
    owners: Axis | None = None,
) -> ElementTable:
    """Return the table of a layout.

    Parameters
    ----------
    title : str
        Instruction and operand.
    fmt : str
        Element type.
    bits : int
        Width of an element's encoding.
    layout : Layout
        (owner, number) ↔ coordinates.
    holders : callable
        Maps an owner and a number, or arrays (n,) of them, to the columns that say who holds an element, and
        where.
    formula : str, optional
        The layout's, where it is stated in the other direction.
    owners : Axis, optional
        All owners, where some hold nothing.
    """
    extents, names = [axis.extent for axis in layout.source], [axis.name for axis in layout.target]
    held: Mapping[str, Array]
    images: Mapping[str, Array]
    if layout.points <= _FEW and "numpy.linalg" not in sys.modules:
        pairs = list(product(*map(range, extents)))
        held = Columns(holders(*pair) for pair in pairs)
        images = Columns(dict(zip(names, layout.forward(*pair), strict=True)) for pair in pairs)
    else:
        points = np.indices(extents).reshape(2, -1)
        held, images = holders(*points), dict(zip(names, layout.forward(*points), strict=True))
    stated = layout.formula if formula is None else formula
    return ElementTable(title, fmt, bits, layout, stated, owners or layout.source[0], held, images)


def fragment_table(
    title: str, fragment: Fragment, *, number: str = "element", formula: str | None = None
) -> ElementTable:
    """Return who holds which element of a fragment, and where in its registers.

    Parameters
    ----------
    title : str
        Instruction and operand.
    fragment : Fragment
        The operand.
    number : str
        What counts the elements of a holder.
    formula : str, optional
        The layout's, where it is stated in the other direction.
    """
    layout, packing = fragment.layout, fragment.packing

    def holders(owners: Any, numbers: Any) -> dict[str, Any]:
        return {layout.source[0].name: owners, number: numbers, **packing.places(numbers)}

    return element_table(title, str(packing.format), packing.format.bits, layout, holders, formula=formula)


def _integers(columns: Mapping[str, Array], name: str) -> Sequence[int]:
    if isinstance(columns, Columns):
        return columns.integers(name)
    found: list[int] = columns[name].tolist()
    return found
