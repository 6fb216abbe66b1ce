"""Buffers of elements, arrays (…, n) of encodings: those given, and rectangles read and written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import Array
from ..errors import InputError, UnsupportedError
from ..formats import Format
from ..operand_arrays import Words
from .placement import Placement
from .tile import Tile


def elements_of(tile: Tile) -> int:
    """Return how many elements a tile's buffer holds."""
    return tile.rows * tile.columns


def buffer_words(tile: Tile, fmt: Format, absent: str = "") -> Words:
    """Return a tile's buffer (…, elements) of encodings as an operand; see `Words`."""
    return Words((elements_of(tile),), fmt.storage, absent)


def require_whole_units(role: str, tile: Tile) -> None:
    """Refuse 4-bit elements, whose fractal the headers and the A5 movers disagree on.

    Raises
    ------
    UnsupportedError
        For such a tile.
    """
    if tile.element.per_unit > 1:
        raise UnsupportedError(
            f"the order of {tile.element} elements in a buffer is not known, {role} has them; "
            "use the matrix view"
        )


def read(
    role: str, buffer: Array, placement: Placement, rows: int, columns: int, *, row: int = 0, column: int = 0
) -> Array:
    """Return a rectangle (…, rows, columns) of a buffer, from (row, column) on.

    Raises
    ------
    InputError
        If it leaves the buffer.
    """
    return buffer[..., _offsets(role, buffer, placement, (rows, columns), (row, column), "read")]


def write(
    role: str, buffer: Array, placement: Placement, elements: Array, *, row: int = 0, column: int = 0
) -> Array:
    """Return a buffer with elements (…, rows, columns) from (row, column) on; leading axes broadcast.

    Raises
    ------
    InputError
        If they leave the buffer.
    """
    rows, columns = elements.shape[-2:]
    offsets = _offsets(role, buffer, placement, (rows, columns), (row, column), "written")
    batch = np.broadcast_shapes(buffer.shape[:-1], elements.shape[:-2])
    written = np.broadcast_to(buffer, (*batch, buffer.shape[-1])).copy()
    written[..., offsets] = elements
    return written


def _offsets(
    role: str,
    buffer: Array,
    placement: Placement,
    extent: tuple[int, int],
    origin: tuple[int, int],
    done: str,
) -> Any:
    row, column = np.indices(extent)
    offsets = placement.offset(row + origin[0], column + origin[1])
    beyond = np.argwhere(offsets >= buffer.shape[-1])
    if beyond.size:
        i, j = map(int, beyond[0])
        raise InputError(
            f"{role}[{i + origin[0]}, {j + origin[1]}] is {done} at element {int(offsets[i, j])} "
            f"of a buffer of {buffer.shape[-1]} ({placement.layout.name}, pitch {placement.pitch})"
        )
    return offsets
