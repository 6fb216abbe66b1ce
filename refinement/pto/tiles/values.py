"""Values of names in a running kernel: numbers, data, pointers, views, tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ....spec.errors import InputError
from ....spec.formats import Format
from ....spec.pto.element_types import ElementType
from ....spec.pto.global_memory import GlobalView, ViewOrder
from ....spec.pto.view_layouts import Orders, five
from .global_arrays import GlobalArray
from .tile_buffers import TileBuffer

_DIMENSIONS = 5
"""Of a view of global memory, as the movers see it."""


class Data(NamedTuple):
    """A symbolic number.

    Attributes
    ----------
    term : int
        Its encoding.
    format : Format
        Its type.
    """

    term: int
    format: Format


@dataclass(frozen=True)
class Pointer:
    """An address in an array.

    Attributes
    ----------
    array : GlobalArray
        The array.
    offset : int
        Bytes from its beginning.
    element : ElementType, optional
        What it is declared to point to.
    """

    array: GlobalArray
    offset: int
    element: ElementType | None

    def __str__(self) -> str:
        return f"{self.array.name}+{self.offset}" if self.offset else self.array.name


@dataclass(frozen=True)
class View:
    """A tensor view, or a partition of one.

    Attributes
    ----------
    pointer : Pointer
        Where its first element is.
    element : ElementType
        Of its elements.
    shape, strides : tuple of int
        Extents, and distances of neighbours in elements.
    orders : tuple of ViewOrder
        How it may be a matrix, see `GlobalView`: several where ptoas's releases, or a tile, decide.
    """

    pointer: Pointer
    element: ElementType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    orders: Orders

    @property
    def order(self) -> ViewOrder:
        """How it is a matrix, of a view that has one layout."""
        (order,) = self.orders
        return order

    def window(self, offsets: tuple[int, ...], sizes: tuple[int, ...]) -> View:
        """Return the block of it at some offsets.

        Raises
        ------
        InputError
            If there are not as many offsets and sizes as dimensions.
        """
        if not len(offsets) == len(sizes) == len(self.shape):
            raise InputError(
                f"{len(offsets)} offsets and {len(sizes)} sizes of a view of {len(self.shape)} dimensions"
            )
        moved = sum(offset * stride for offset, stride in zip(offsets, self.strides, strict=True))
        at = self.pointer.offset + moved * self.element.bits // 8
        pointer = Pointer(self.pointer.array, at, self.pointer.element)
        return View(pointer, self.element, sizes, self.strides, self.orders)

    @property
    def matrix(self) -> GlobalView:
        """The view as rows and columns."""
        outer = _DIMENSIONS - len(self.shape)
        shape = (*(1,) * outer, *self.shape)
        strides = (*(0,) * outer, *self.strides)
        return GlobalView(five(shape), five(strides), self.order)

    def __str__(self) -> str:
        return f"{'x'.join(map(str, self.shape))} of {self.pointer}"


Value = int | Data | Pointer | View | TileBuffer
