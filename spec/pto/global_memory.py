"""Global memory as the movers see it: a view of five dimensions, which a matrix is folded into.

Element (d0, …, d4) is at offset ``sum of d_i * stride_i``. Source: pto-isa headers at 3186c381 and
cpu/TLoad.hpp.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from math import prod
from operator import add
from typing import Any

import numpy as np

from ..algebra import Array
from ..errors import InputError
from .sizes import Extents
from .tile import DYNAMIC, Extent

Five = tuple[int, int, int, int, int]


class ViewOrder(StrEnum):
    """``Layout`` of a global tensor: how rows and columns of a matrix become five indices."""

    ND = "ND"
    DN = "DN"
    NZ = "NZ"


@dataclass(frozen=True)
class GlobalView:
    """A view of global memory.

    Attributes
    ----------
    shape, strides : tuple of int
        Of five dimensions; strides in elements.
    order : ViewOrder
        ND: rows fill dimension 3 and carry into 2, 1, 0; columns are dimension 4. DN: rows are dimension
        3; columns fill dimension 4 and carry into 2, 1, 0. NZ: columns fill dimension 4 and carry into 1
        and 0, rows fill dimension 3 and carry into 2.
    """

    shape: Five
    strides: Five
    order: ViewOrder = ViewOrder.ND

    @property
    def extents(self) -> Extents:
        """Rows and columns of the whole view."""
        rows, columns = _AXES[self.order]
        return Extents(*(prod(self.shape[axis] for axis in axes) for axes in (rows, columns)))

    def offset(self, row: Any, column: Any) -> Any:
        """Return the element offset of (row, column); terms where no carry needs a division."""
        return reduce(
            add,
            (
                digit * self.strides[axis]
                for index, axes in zip((row, column), _AXES[self.order], strict=True)
                for axis, digit in zip(axes, self._digits(index, axes), strict=False)
            ),
        )

    def _digits(self, index: Any, axes: Sequence[int]) -> list[Any]:
        """Split an index over dimensions, the fastest first, as far as there are more than one of them."""
        digits = []
        while any(self.shape[axis] > 1 for axis in axes[1:]):
            digits.append(index % self.shape[axes[0]])
            index, axes = index // self.shape[axes[0]], axes[1:]
        return [*digits, index]

    def read(self, memory: Array, rows: int, columns: int) -> Array:
        """Return the matrix (…, rows, columns) at the beginning of the view.

        Raises
        ------
        InputError
            If it exceeds the view, or the view leaves memory.
        """
        return memory[..., self._offsets(memory, rows, columns)]

    def write(self, memory: Array, elements: Array) -> Array:
        """Return memory (…, n) with a matrix (…, rows, columns) at the beginning of the view.

        Raises
        ------
        InputError
            If it exceeds the view, or the view leaves memory.
        """
        offsets = self._offsets(memory, *elements.shape[-2:])
        batch = np.broadcast_shapes(memory.shape[:-1], elements.shape[:-2])
        written = np.broadcast_to(memory, (*batch, memory.shape[-1])).copy()
        written[..., offsets] = elements
        return written

    def _offsets(self, memory: Array, rows: int, columns: int) -> Any:
        if rows > self.extents.rows or columns > self.extents.columns:
            raise InputError(f"{rows}x{columns} elements exceed the view of {'x'.join(map(str, self.shape))}")
        offsets = self.offset(*np.indices((rows, columns)))
        if offsets.size and offsets.max() >= memory.shape[-1]:
            raise InputError(
                f"the view reaches element {int(offsets.max())} of a memory of {memory.shape[-1]} elements"
            )
        return offsets


_AXES = {
    ViewOrder.ND: ((3, 2, 1, 0), (4,)),
    ViewOrder.DN: ((3,), (4, 2, 1, 0)),
    ViewOrder.NZ: ((3, 2), (4, 1, 0)),
}
"""The dimensions that rows and columns are folded into, the fastest first."""


def view_extents(shape: Sequence[Extent]) -> list[tuple[Extent, Extent]]:
    """Return rows and columns of a view in each order its dimensions may have, which its type does not say.

    ND is the first. Of fewer than two dimensions, or more than five, it is no view of a matrix.
    """
    if not 2 <= len(shape) <= 5:
        return []
    whole = five_dimensions(shape)
    orders = _AXES.values() if len(shape) > 2 else [_AXES[ViewOrder.ND]]
    return [
        (_product([whole[axis] for axis in rows]), _product([whole[axis] for axis in columns]))
        for rows, columns in orders
    ]


def five_dimensions(shape: Sequence[Extent]) -> tuple[Extent, ...]:
    """Return the shape of a view of at most five dimensions with those in front that its type leaves out."""
    return (*(1,) * (5 - len(shape)), *shape)


_LAYOUT = re.compile(r"#pto\.layout<\s*(\w+)\s*>|#pto<layout\s+(\w+)\s*>|(\w+)", re.IGNORECASE)


def written_layout(attributes: Iterable[tuple[str, str]]) -> str | None:
    """Return the layout that attributes name of a view, a name in capitals; None where they name none."""
    for name, value in attributes:
        if name == "layout":
            found = _LAYOUT.fullmatch(value.strip())
            return next(filter(None, found.groups())).upper() if found else value
    return None


def _product(extents: Sequence[Extent]) -> Extent:
    known = [extent for extent in extents if isinstance(extent, int)]
    return prod(known) if len(known) == len(extents) else DYNAMIC


def contiguous(rows: int, columns: int) -> GlobalView:
    """Return the view of a row-major matrix without gaps."""
    size = rows * columns
    return GlobalView((1, 1, 1, rows, columns), (size, size, size, columns, 1))
