"""What the movers do on matrices and on buffers: ``tload``, ``tmov``, ``textract``, ``tinsert``, ``tstore``.

A mover keeps logical indices and changes the order, see `placement`. Source: pto-isa headers at 3186c381
(TLoad, TMov, TExtract, TInsert, TStore).
"""

from __future__ import annotations

import numpy as np

from ..algebra import Algebra, Array, Operand
from ..errors import InputError, UnsupportedError
from ..formats import FloatFormat, Format, IntegerFormat
from ..rounding import Rounding
from .buffers import read, write
from .catalogue import Operation
from .choices import UNSPECIFIED, Choices
from .global_memory import GlobalView
from .placement import alignment, mover_placement, source_placement
from .sizes import Extents, rounded_up
from .targets import Profile
from .tile import Order, Pad, Tile


def converted(alg: Algebra, elements: Array, source: Format, target: Format, choices: Choices) -> Array:
    """Return elements in the format of the tile or memory they are moved to.

    Raises
    ------
    UnsupportedError
        For quantisation: between integers and floats, or integers of different widths.
    """
    if source == target:
        return elements
    if not (isinstance(source, FloatFormat) and isinstance(target, FloatFormat)):
        raise UnsupportedError(f"a move from {source} to {target} needs a quantisation: not modelled")
    if target.bits < source.bits and choices.conversion == UNSPECIFIED:
        return alg.arbitrary("convert", [(elements[..., None], source)], target)
    return alg.fused(target, Rounding.NEAREST_EVEN, (), [Operand(elements, source)])


def block(elements: Array, row: int, column: int, extent: tuple[int, int]) -> Array:
    """Return the block (…, *extent) of a matrix from (row, column) on; a whole move starts at (0, 0).

    Raises
    ------
    InputError
        If it leaves the matrix, whose extent is that of the source's valid region.
    """
    rows, columns = elements.shape[-2:]
    for name, start, size, held in (("row", row, extent[0], rows), ("column", column, extent[1], columns)):
        if not 0 <= start <= held - size:
            raise InputError(
                f"{name}s {start} to {start + size - 1} of the source are moved; its valid region has {held}"
            )
    return elements[..., row : row + extent[0], column : column + extent[1]]


def require_block(
    profile: Profile,
    source: Tile,
    target: Tile,
    row: int,
    column: int,
    valid: tuple[Extents, Extents],
) -> None:
    """Refuse indices of ``textract`` that its checks refuse: out of bounds, or not aligned.

    Parameters
    ----------
    profile, source, target : Profile, Tile, Tile
        What is moved.
    row, column : int
        Where the block begins in the source.
    valid : pair of Extents
        The valid regions of source and target, which the CPU simulator compares instead of the tiles.

    Raises
    ------
    InputError
        Naming the first index that is refused.
    """
    held, moved = ((tile.rows, tile.columns) for tile in (source, target)) if profile.cube else valid
    for name, start, size, limit in (("row", row, moved[0], held[0]), ("column", column, moved[1], held[1])):
        if start < 0 or start + size > limit:
            raise InputError(
                f"{name} {start} + {size} of the target exceeds the {limit} {name}s of the source"
            )
    if not profile.cube:
        return
    for name, start, granule in zip(("row", "column"), (row, column), alignment(source, target), strict=True):
        if start % granule:
            raise InputError(f"{name} {start} of {source.element} elements must be a multiple of {granule}")


def move(
    alg: Algebra,
    operation: Operation,
    profile: Profile,
    tiles: tuple[Tile, Tile],
    formats: tuple[Format, Format],
    buffers: tuple[Array, Array],
    valid: tuple[Extents, Extents],
    choices: Choices,
    row: int,
    column: int,
) -> Array:
    """Return the target's buffer (…, elements) after ``tmov`` or ``textract``.

    What lies outside the target's valid region keeps its contents.

    Parameters
    ----------
    alg : Algebra
        What the encodings are.
    operation, profile : Operation, Profile
        The move, and who makes it.
    tiles, formats, buffers, valid : pair
        Of the source and the target: types, formats of elements, encodings (…, elements) in the order of
        the buffers (of the target before the move), valid extents.
    choices : Choices
        Readings of what the documents leave open.
    row, column : int
        Where the block begins in the source.

    Raises
    ------
    InputError
        If indices or tiles are refused, or an element is outside its buffer.
    """
    source, target = tiles
    if operation.name == "textract":
        require_block(profile, source, target, row, column, valid)
    found = source_placement(operation, profile, source, valid[0])
    elements = read("source", buffers[0], found, *valid[1], row=row, column=column)
    moved = converted(alg, elements, *formats, choices)
    return write("target", buffers[1], mover_placement(profile, target, valid[1]), moved)


def insert(
    alg: Algebra,
    operation: Operation,
    profile: Profile,
    tiles: tuple[Tile, Tile],
    formats: tuple[Format, Format],
    buffers: tuple[Array, Array],
    valid: tuple[Extents, Extents],
    choices: Choices,
    row: int = 0,
    column: int = 0,
) -> Array:
    """Return the target's buffer (…, elements) after ``tinsert`` of a source's valid region.

    The parameters are those of `move`; the block begins in the target.

    Raises
    ------
    InputError
        If an element is outside its buffer.
    """
    source, target = tiles
    elements = read("source", buffers[0], source_placement(operation, profile, source, valid[0]), *valid[0])
    moved = converted(alg, elements, *formats, choices)
    place = mover_placement(profile, target, valid[1])
    return write("target", buffers[1], place, moved, row=row, column=column)


def load(
    alg: Algebra,
    profile: Profile,
    view: GlobalView,
    memory: Array,
    target: Tile,
    fmt: Format,
    buffer: Array,
    valid: Extents,
    choices: Choices,
) -> Array:
    """Return a tile's buffer (…, elements) after ``tload``.

    Parameters
    ----------
    alg, profile : Algebra, Profile
        What the encodings are, and who loads.
    view : GlobalView
        Where the elements are in memory.
    memory : array (…, elements)
        Encodings.
    target, fmt, buffer, valid : Tile, Format, array, Extents
        The tile, the format of its elements, its buffer before, its valid extent.
    choices : Choices
        Readings of what the documents leave open.
    """
    elements = view.read(memory, *valid)
    if choices.load_fill == "buffer":
        pad = alg.constant(pad_encoding(target.pad, fmt), fmt)
        buffer = np.broadcast_to(pad, buffer.shape)
    elif choices.load_fill == "granule" and target.boxed:
        elements = _with_zero_lanes(alg, elements, target, fmt)
    return write("target", buffer, mover_placement(profile, target, valid), elements)


def _with_zero_lanes(alg: Algebra, elements: Array, target: Tile, fmt: Format) -> Array:
    """Append zeros up to the end of the last C0 group, which runs along a row of Nz, a column of Zn.

    That is a block's line: of scale factors, whose blocks have 32 bytes, two elements.
    """
    axis = -1 if target.inner is Order.ROW_MAJOR else -2
    size = elements.shape[axis]
    shape = list(elements.shape)
    shape[axis] = rounded_up(size, target.box[axis]) - size
    return np.concatenate([elements, np.broadcast_to(alg.constant(0, fmt), shape)], axis=axis)


def store(
    alg: Algebra,
    operation: Operation,
    profile: Profile,
    source: Tile,
    formats: tuple[Format, Format],
    buffer: Array,
    valid: Extents,
    view: GlobalView,
    memory: Array,
    choices: Choices,
) -> Array:
    """Return memory (…, elements) after ``tstore`` of a tile's valid region.

    Parameters
    ----------
    alg, operation, profile : Algebra, Operation, Profile
        What the encodings are, the move, and who stores.
    source, formats, buffer, valid : Tile, pair of Format, array, Extents
        The tile, the formats of its and of memory's elements, its buffer, its valid extent.
    view, memory : GlobalView, array
        Where the elements go, and what is there before.
    choices : Choices
        Readings of what the documents leave open.
    """
    found = source_placement(operation, profile, source, valid)
    elements = read("source", buffer, found, *valid)
    return view.write(memory, converted(alg, elements, *formats, choices))


def pad_encoding(pad: Pad, fmt: Format) -> int:
    """Return the encoding of a pad value; the greatest and the least are infinities where there are any.

    Source: cpu/TLoad.hpp at ffcf6fcc.
    """
    if pad in (Pad.NULL, Pad.ZERO):
        return 0
    if isinstance(fmt, IntegerFormat):
        return (fmt.maximum if pad is Pad.MAX else fmt.minimum) & ((1 << fmt.bits) - 1)
    assert isinstance(fmt, FloatFormat)
    magnitude = fmt.largest if fmt.infinity is None else fmt.infinity
    return (magnitude << fmt.padding_bits) | (fmt.sign_mask if pad is Pad.MIN else 0)
