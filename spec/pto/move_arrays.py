"""Execute one ``tload``, ``tmov``, ``textract`` or ``tstore`` on named arrays; see `operand_arrays`."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from ..algebra import Algebra, Array
from ..errors import InputError, UnsupportedError
from ..formats import Bits, Format
from ..operand_arrays import ArrayOperand, IntegerArray, Matrix, Words, common_batch, read, refuse_unknown
from . import movers
from .buffers import elements_of, require_whole_units
from .choices import Choices
from .global_memory import contiguous
from .resolution import Resolved
from .rules.move_types import quantised
from .run_time_extents import checked, of_arrays, of_matrix
from .sizes import Extents
from .text.types import OtherType


def execute(
    alg: Algebra,
    resolved: Resolved,
    formats: Mapping[str, Format],
    arrays: Mapping[str, Array],
    choices: Choices,
    *,
    as_registers: bool,
) -> dict[str, Array]:
    """Execute a move; returns ``target`` and, in matrix view, ``target_bits``.

    Parameters
    ----------
    alg : Algebra
        What the encodings are.
    resolved : Resolved
        The move.
    formats : mapping of str to Format
        Of the tiles by role.
    arrays : mapping
        The operands by name.
    choices : Choices
        Readings of what the documents leave open.
    as_registers : bool
        Register view instead of matrix view.

    Raises
    ------
    InputError
        If an array is missing, unknown or wrong, or an index is refused.
    UnsupportedError
        For a quantisation, and for 4-bit elements in buffers.
    """
    name = resolved.operation.name
    if name == "tinsert":
        raise UnsupportedError("tinsert is judged, not executed")
    if quantised(resolved):
        raise UnsupportedError(f"{name} with a quantisation is not modelled")
    indices = [role for role in resolved.operation.inputs if role != "source"]
    views = ["target", "valid_source"] if as_registers else ["source_bits"]
    refuse_unknown(arrays, ["source", *views, *indices, "valid_target"], name)
    pair = (
        formats.get("source") or _format_in_memory(resolved, "source", formats["target"]),
        formats.get("target") or _format_in_memory(resolved, "target", formats["source"]),
    )
    if as_registers:
        for role, tile in resolved.tiles.items():
            require_whole_units(role, tile)
        return {"target": _move_buffers(alg, resolved, pair, arrays, choices)}
    moved = _move_matrix(alg, resolved, pair, arrays, choices)
    return Matrix(moved.shape[-2:], pair[1]).written("target", moved)


def _move_matrix(
    alg: Algebra,
    resolved: Resolved,
    formats: tuple[Format, Format],
    arrays: Mapping[str, Array],
    choices: Choices,
) -> Bits:
    operation, profile, tiles = resolved.operation, resolved.profile, resolved.tiles
    source, target = tiles.get("source"), tiles.get("target")
    held = _in_memory(resolved, "source") if source is None else None
    if held is None:
        tile = source or tiles["target"]
        held = of_matrix("source", tile, arrays, operation.name)
    taken = _moved(resolved, held, arrays)
    given = _read_with_indices(resolved, {"source": Matrix(held, formats[0])}, arrays)
    row, column = _indices(resolved, given)
    if operation.name == "textract":
        assert source is not None
        assert target is not None
        movers.require_block(profile, source, target, row, column, (held, taken))
    return movers.converted(alg, movers.block(given["source"], row, column, taken), *formats, choices)


def _move_buffers(
    alg: Algebra,
    resolved: Resolved,
    formats: tuple[Format, Format],
    arrays: Mapping[str, Array],
    choices: Choices,
) -> Bits:
    operation, profile, tiles = resolved.operation, resolved.profile, resolved.tiles
    valid = {role: of_arrays(role, tile, arrays, operation.name) for role, tile in tiles.items()}
    source, target = tiles.get("source"), tiles.get("target")
    if source is None:
        assert target is not None
        view = contiguous(*(_in_memory(resolved, "source") or valid["target"]))
        whole = prod(valid["target"]) == elements_of(target) or choices.load_fill == "buffer"
        memory, before = _sides(resolved, formats, (prod(view.extents), elements_of(target)), arrays, whole)
        return movers.load(
            alg, profile, view, memory, target, formats[1], before, valid["target"], choices
        )  # fmt: skip
    if target is None:
        view = contiguous(*(_in_memory(resolved, "target") or valid["source"]))
        whole = view.extents == valid["source"]
        held, memory = _sides(resolved, formats, (elements_of(source), prod(view.extents)), arrays, whole)
        return movers.store(
            alg, operation, profile, source, formats, held, valid["source"], view, memory, choices
        )  # fmt: skip
    whole = prod(valid["target"]) == elements_of(target)
    return movers.move(
        alg,
        operation,
        profile,
        (source, target),
        formats,
        _sides(resolved, formats, (elements_of(source), elements_of(target)), arrays, whole),
        (valid["source"], valid["target"]),
        choices,
        *_indices(resolved, arrays),
    )


def _sides(
    resolved: Resolved,
    formats: tuple[Format, Format],
    sizes: tuple[int, int],
    arrays: Mapping[str, Array],
    whole: bool,
) -> tuple[Bits, Bits]:
    """Return the source, and the target before the move, which may be left out if all of it is written."""
    name = resolved.operation.name
    source = Words((sizes[0],), formats[0].storage).read("source", arrays, name)
    if whole and "target" not in arrays:
        return source, np.zeros(sizes[1], dtype=formats[1].storage)
    before = Words((sizes[1],), formats[1].storage, "not all of the target is written: ")
    target = before.read("target", arrays, name)
    common_batch({"source": source, "target": target}, {"source": 1, "target": 1})
    return source, target


def _moved(resolved: Resolved, held: Extents, arrays: Mapping[str, Array]) -> Extents:
    """Return the extent that is moved: the target's valid region, of a whole move as open as the source's."""
    operation, target = resolved.operation, resolved.tiles.get("target")
    if target is None:
        return held
    static = isinstance(target.valid_rows, int) and isinstance(target.valid_columns, int)
    if static or "valid_target" in arrays or operation.name == "textract":
        return of_arrays("target", target, arrays, operation.name)
    return checked("target", target, held)


def _read_with_indices(
    resolved: Resolved, operands: Mapping[str, ArrayOperand], arrays: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the arrays of operands, and the indices that the text leaves open."""
    spelled = _spelled_indices(resolved)
    open_ones = {role: IntegerArray() for role, number in spelled.items() if number is None}
    others = {role: IntegerArray() for role in spelled} | {"valid_target": IntegerArray((2,))}
    return read(resolved.operation.name, {**operands, **open_ones}, arrays, others)


def _indices(resolved: Resolved, arrays: Mapping[str, Array]) -> tuple[int, int]:
    """Return where the block of a ``textract`` begins, (0, 0) for the other moves."""
    if "row" not in resolved.operation.inputs:
        return 0, 0
    row, column = (
        int(IntegerArray().read(role, arrays, resolved.operation.name)) if number is None else number
        for role, number in _spelled_indices(resolved).items()
    )
    return row, column


def _spelled_indices(resolved: Resolved) -> dict[str, int | None]:
    """Return the row and the column of a ``textract``, None where the text does not spell a number."""
    if "row" not in resolved.operation.inputs:
        return {}
    operands = resolved.instruction.operands()
    spelled = {role: operands[role].name if role in operands else "" for role in ("row", "column")}
    return {role: int(text) if text.lstrip("-").isdecimal() else None for role, text in spelled.items()}


def _in_memory(resolved: Resolved, role: str) -> Extents | None:
    """Return the extent of a tensor view as rows and columns, None where its type does not say."""
    written = resolved.type_of(role)
    if not isinstance(written, OtherType) or not written.extents:
        return None
    sizes = [extent for extent in written.extents if isinstance(extent, int)]
    if len(sizes) < len(written.extents):
        return None
    return Extents(prod(sizes[:-1]), sizes[-1])


def _format_in_memory(resolved: Resolved, role: str, default: Format) -> Format:
    """Return the format of the elements of a tensor view, those of the tile where its type does not say.

    Raises
    ------
    InputError
        If a load has elements of another type than the tile's.
    """
    written = resolved.type_of(role)
    if not isinstance(written, OtherType) or written.element is None:
        return default
    fmt = written.element.format or default
    if role == "source" and fmt != default:
        raise InputError(f"{resolved.operation} of {written.element} elements into a tile of {default}")
    return fmt
