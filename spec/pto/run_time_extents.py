"""The valid extents of tiles in one execution: those of the type, or what the arrays say where it is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra import Array
from ..drawn_arrays import DrawnArrays
from ..errors import InputError
from ..operand_arrays import missing, of_shape, shown
from .sizes import Extents
from .tile import Tile


def of_matrix(role: str, tile: Tile, arrays: Mapping[str, Array], operation: str) -> Extents:
    """Return the valid extent of a tile from the array of its valid region; without a shape, the whole.

    Parameters
    ----------
    role : str
        The array's name, or the array's without ``_bits``.
    tile : Tile
        Its type.
    arrays : mapping
        What is given.
    operation : str
        Who takes it, for messages.

    Raises
    ------
    InputError
        If there is no such array, or its extent is not that of the type, or exceeds the tile.
    """
    if isinstance(arrays, DrawnArrays):
        extents = ((tile.valid_rows, tile.rows), (tile.valid_columns, tile.columns))
        return Extents(*(valid if isinstance(valid, int) else whole for valid, whole in extents))
    given = next((arrays[name] for name in (role, f"{role}_bits") if name in arrays), None)
    extent = (str(tile.valid_rows), str(tile.valid_columns))
    if given is None:
        raise InputError(
            f"{missing(arrays, role)}; {operation} takes (…, {', '.join(extent)}) {tile.element}"
        )
    if given.ndim < 2:
        raise InputError(f"{role} has shape {given.shape}; it must be (…, {', '.join(extent)})")
    return checked(role, tile, given.shape[-2:])


def of_arrays(role: str, tile: Tile, arrays: Mapping[str, Array], operation: str) -> Extents:
    """Return the valid extent of a tile, from the array ``valid_<role>`` where the type leaves it open.

    Raises
    ------
    InputError
        If the array is missing or wrong, or its extent exceeds the tile.
    """
    if isinstance(tile.valid_rows, int) and isinstance(tile.valid_columns, int):
        return Extents(tile.valid_rows, tile.valid_columns)
    name = f"valid_{role}"
    if name not in arrays:
        raise InputError(
            f"the valid region of {role} is {tile.valid_rows}x{tile.valid_columns}: {operation} takes "
            f"{name}, its rows and columns"
        )
    given = of_shape(name, arrays[name], (2,))
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise InputError(f"{name} must be two integers, rows and columns")
    return checked(name, tile, [int(extent) for extent in given])


def checked(name: str, tile: Tile, extent: Sequence[int]) -> Extents:
    """Return an extent that a tile may have as its valid one.

    Raises
    ------
    InputError
        If it is not the type's, negative, or exceeds the tile.
    """
    physical = (tile.rows, tile.columns)
    for size, static, limit in zip(extent, (tile.valid_rows, tile.valid_columns), physical, strict=True):
        if isinstance(static, int) and size != static:
            valid = f"{tile.valid_rows}x{tile.valid_columns}"
            raise InputError(f"{name} is {shown(extent)}; the valid region of the tile is {valid}")
        if not 0 <= size <= limit:
            raise InputError(f"{name} is {shown(extent)}; the tile has {tile.rows}x{tile.columns}")
    return Extents(*extent)
