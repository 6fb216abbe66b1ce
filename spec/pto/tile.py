"""Tiles: where they live, their physical extent, what of it is valid, and how it is ordered.

Source: pto-isa headers at 3186c381 (`pto_tile.hpp`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType

from .element_types import ElementType


class Location(StrEnum):
    """``TileType``: the buffer a tile lives in, spelled as in ``loc=``."""

    VEC = "vec"
    MAT = "mat"
    LEFT = "left"
    RIGHT = "right"
    ACC = "acc"
    BIAS = "bias"
    SCALING = "scaling"
    SCALE_LEFT = "scale_left"
    SCALE_RIGHT = "scale_right"
    CTRL = "ctrl"


class Order(StrEnum):
    """``BLayout`` (of blocks) and ``SLayout`` (inside a block)."""

    NONE_BOX = "none_box"
    ROW_MAJOR = "row_major"
    COL_MAJOR = "col_major"


LAYOUT_NAMES = MappingProxyType(
    {
        (Order.ROW_MAJOR, Order.NONE_BOX): "ND",
        (Order.COL_MAJOR, Order.NONE_BOX): "DN",
        (Order.COL_MAJOR, Order.ROW_MAJOR): "Nz",
        (Order.ROW_MAJOR, Order.ROW_MAJOR): "Zz",
        (Order.ROW_MAJOR, Order.COL_MAJOR): "Zn",
        (Order.COL_MAJOR, Order.COL_MAJOR): "Nn",
    }
)
"""Names by order of blocks and order inside a block."""


class Pad(IntEnum):
    """``PadVal``: what loads put outside the valid region."""

    NULL = 0
    ZERO = 1
    MAX = 2
    MIN = 3


class Compact(IntEnum):
    """``Compact``: whether movers derive pitches from the valid or from the physical extent."""

    NULL = 0
    NORMAL = 1
    ROW_PLUS_ONE = 2
    ROW_ALIGNED_PADDING = 3


class Dynamic(Enum):
    """The valid extent that is only known at run time, spelled ``?`` or ``-1``."""

    DYNAMIC = "?"

    def __str__(self) -> str:
        return self.value


DYNAMIC = Dynamic.DYNAMIC
Extent = int | Dynamic

FRACTAL_BYTES = (512, 1024, 32)
"""``SFractalSize``: of A and B, of C, of MX scale factors."""

BLOCK_BYTES = 32
"""The unit of C0: a row of an A or B fractal, and the alignment of every tile."""


@dataclass(frozen=True)
class Tile:
    """A tile type with nothing left open but dynamic valid extents.

    Attributes
    ----------
    location : Location
        Its buffer.
    element : ElementType
        Its elements.
    rows, columns : int
        Physical extent, in elements.
    valid_rows, valid_columns : int or DYNAMIC
        Extent of the valid region, the top left corner.
    blocks : Order
        Order of the blocks (``BLayout``); of the elements where there are no boxes.
    inner : Order
        Order inside a block (``SLayout``).
    fractal : int
        Bytes of one block (``SFractalSize``).
    pad : Pad
        What loads put outside the valid region.
    compact : Compact
        Where movers take pitches from.
    """

    location: Location
    element: ElementType
    rows: int
    columns: int
    valid_rows: Extent
    valid_columns: Extent
    blocks: Order = Order.ROW_MAJOR
    inner: Order = Order.NONE_BOX
    fractal: int = 512
    pad: Pad = Pad.NULL
    compact: Compact = Compact.NULL

    @property
    def boxed(self) -> bool:
        """Whether elements are ordered block by block."""
        return self.inner is not Order.NONE_BOX

    @property
    def layout_name(self) -> str:
        """ND, DN, Nz, Zz, Zn or Nn."""
        return LAYOUT_NAMES.get((self.blocks, self.inner), "no layout")

    @property
    def box(self) -> tuple[int, int]:
        """Rows and columns of one block (1 x 1 where there are none)."""
        return (1, 1) if not self.boxed else box(self.fractal, self.inner, self.element)

    @property
    def size(self) -> int:
        """``Rows * Cols * sizeof(DType)``, in bytes, two 4-bit elements to the byte."""
        return self.rows * self.columns * self.element.bits // 8


def c0(element: ElementType) -> int:
    """Return K0 = 32 / sizeof(DType): how many elements of K one fractal row of A has."""
    return BLOCK_BYTES // element.storage_bytes


def box(fractal: int, inner: Order, element: ElementType) -> tuple[int, int]:
    """Return the rows and columns of a block (`pto_tile.hpp`).

    For 4-bit types the headers' formula counts storage units where the A5 movers count elements;
    this is the headers' number, see the contradictions.
    """
    rows, columns = {512: (16, c0(element)), 1024: (16, 16), 32: (16, 2)}[fractal]
    return (rows, columns) if inner is Order.ROW_MAJOR else (columns, rows)
