"""Where a tile's element lies in its buffer: ND, DN, Nz, Zz, Zn, Nn, each one formula.

The capital is the order of blocks (Z by rows, N by columns), the small letter the order inside a block.
Extents and coordinates may be ints, numpy arrays or Z3 terms: blocks have powers of two rows and
columns, so shifts and masks divide. Source: pto-isa headers at 3186c381 (`pto_tile.hpp`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..layout import Axis, Layout
from ..rearrangement import rearranged
from .tile import LAYOUT_NAMES, Order, Tile

SCALE_FRACTAL = 32
"""Bytes of a box of scale factors."""


@dataclass(frozen=True)
class FractalLayout:
    """An order of elements in a buffer.

    Attributes
    ----------
    blocks, inner : Order
        Order of the blocks, and inside a block.
    box : tuple of int
        Rows and columns of a block, powers of two.
    """

    blocks: Order
    inner: Order
    box: tuple[int, int]

    @property
    def name(self) -> str:
        """ND, DN, Nz, Zz, Zn or Nn."""
        return LAYOUT_NAMES[self.blocks, self.inner]

    @property
    def by_rows(self) -> bool:
        """Whether blocks follow each other along a row (Z)."""
        return self.blocks is Order.ROW_MAJOR

    def pitch(self, rows: Any, columns: Any) -> Any:
        """Return the distance, in elements, between neighbouring rows (Z) or columns (N) of blocks."""
        box_rows, box_columns = self.box
        return columns * box_rows if self.by_rows else rows * box_columns

    def offset(self, row: Any, column: Any, pitch: Any) -> Any:
        """Return the element offset of (row, column) in a buffer of a pitch."""
        row_bits, column_bits = (extent.bit_length() - 1 for extent in self.box)
        block_row, inner_row = row >> row_bits, row & (self.box[0] - 1)
        block_column, inner_column = column >> column_bits, column & (self.box[1] - 1)
        major, minor = (block_row, block_column) if self.by_rows else (block_column, block_row)
        within = (
            (inner_column << row_bits) + inner_row
            if self.inner is Order.COL_MAJOR
            else (inner_row << column_bits) + inner_column
        )
        return major * pitch + (minor << (row_bits + column_bits)) + within

    def formula(self, rows: int, columns: int) -> str:
        """Return `offset` as text for one extent, divisions and remainders spelled out."""
        (box_rows, box_columns), pitch = self.box, self.pitch(rows, columns)

        def split(name: str, size: int) -> tuple[str, str]:
            return (f"({name}/{size})", f"{name}%{size}") if size > 1 else (name, "")

        (block_row, inner_row), (block_column, inner_column) = split("r", box_rows), split("c", box_columns)
        major, minor = (block_row, block_column) if self.by_rows else (block_column, block_row)
        slow, fast, run = (
            (inner_column, inner_row, box_rows)
            if self.inner is Order.COL_MAJOR
            else (inner_row, inner_column, box_columns)
        )
        size = box_rows * box_columns
        terms = [f"{major}*{pitch}", f"{minor}*{size}" if size > 1 else minor]
        terms += [f"({slow})*{run}"] if slow else []
        terms += [fast] if fast else []
        return " + ".join(terms)


def layout_of(tile: Tile) -> FractalLayout:
    """Return the order of a tile's elements: a single row in boxes by rows is linear.

    Of A the headers' movers say so; of scale factors it is a reading of the open point ``one-row-scales``:
    see `is_row_of_scales`.
    """
    if tile.boxed and tile.rows == 1 and tile.inner is Order.ROW_MAJOR:
        return FractalLayout(Order.ROW_MAJOR, Order.NONE_BOX, (1, 1))
    return FractalLayout(tile.blocks, tile.inner, tile.box)


def is_row_of_scales(tile: Tile) -> bool:
    """Tell whether a tile is one row of more scale factors than a row of a box has."""
    by_rows = tile.boxed and tile.rows == 1 and tile.inner is Order.ROW_MAJOR
    return by_rows and tile.fractal == SCALE_FRACTAL and tile.columns > tile.box[1]


def buffer_layout(tile: Tile) -> Layout:
    """Return the bijection of a tile's (row, column) onto the offsets of its buffer.

    Raises
    ------
    InputError
        If the extent is not whole blocks: the formula then leaves the buffer.
    """
    order, (box_rows, box_columns) = layout_of(tile), layout_of(tile).box
    if tile.rows % box_rows or tile.columns % box_columns:
        raise InputError(
            f"{tile.rows}x{tile.columns} {tile.element} is not whole blocks of {box_rows}x{box_columns}"
        )
    blocks = "R C" if order.by_rows else "C R"
    within = "c r" if order.inner is Order.COL_MAJOR else "r c"
    return rearranged(
        f"{order.name} {tile.rows}x{tile.columns} {tile.element}",
        (Axis("row", tile.rows), Axis("column", tile.columns)),
        (Axis("offset", tile.rows * tile.columns),),
        f"R r C c -> {blocks} {within}",
        R=tile.rows // box_rows,
        r=box_rows,
        C=tile.columns // box_columns,
        c=box_columns,
    )
