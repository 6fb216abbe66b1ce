"""Who holds which element of an operand, one row for each element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from .algebra import Array
from .errors import InputError
from .layout import Axis


@dataclass(frozen=True)
class ElementTable:
    """An operand's elements in the order of their holders.

    Attributes
    ----------
    title : str
        Instruction and operand.
    format : str
        Element type.
    formula : str
        The map from holder to coordinates.
    axes : tuple of Axis
        The operand's coordinates: (row, column), or with a leading axis that counts matrices.
    holders : mapping of str to array
        Who holds each element: lane, element number, register, lowest bit.
    coordinates : mapping of str to array
        Where each element is, by axis.
    bits : int
        Width of an element's encoding.
    lanes : int
        How many lanes there are.
    """

    title: str
    format: str
    formula: str
    axes: tuple[Axis, ...]
    holders: Mapping[str, Array]
    coordinates: Mapping[str, Array]
    bits: int
    lanes: int

    def __len__(self) -> int:
        return len(next(iter(self.holders.values())))

    def rows(self) -> list[dict[str, int]]:
        """Return one row for each element: holder, then coordinates."""
        columns = {**self.holders, **self.coordinates}
        return [dict(zip(columns, map(int, row), strict=True)) for row in zip(*columns.values(), strict=True)]

    def held_by(self, lane: int) -> ElementTable:
        """Return the elements of one lane.

        Raises
        ------
        InputError
            If there is no such lane.
        """
        if lane not in range(self.lanes):
            raise InputError(f"there is no lane {lane}; lanes are 0 to {self.lanes - 1}")
        return self._where(self.holders["lane"] == lane)

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
