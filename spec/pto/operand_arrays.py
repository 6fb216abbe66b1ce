"""Execute one product or move on named arrays, as `mmaproof run` does.

Matrix view: the valid regions, ``a`` (…, m, k), ``b`` (…, k, n), ``c`` (…, m, n), ``bias`` (…, 1, n),
``scale_a`` (…, m, ceil(k/32)), ``scale_b`` (…, ceil(k/32), n) as values, or (``a_bits``, …) as encodings;
results ``d`` and ``d_bits`` (…, m, n). A move takes ``source`` and gives ``target`` and ``target_bits``,
matrices too. Where the text leaves an extent to run time, the arrays have it.

Register view: encodings (…, rows·columns) in the order of the tiles' buffers, under the same names, and
``d`` or ``target`` before the instruction where it does not write all of it; executed as the matrix unit and
the movers of the profile do. Global memory is a row-major matrix (…, rows·columns). Run-time extents come as
``valid_a``, ``valid_b``, ``valid_source``, ``valid_target``: two integers, rows and columns.

Where the accumulator read (``cIn``) is another tile than the destination and the product accumulates in
place, it is ``d`` that is given, not ``c``. Indices of ``textract`` that the text does not spell as numbers
come as ``row`` and ``column``. Batch axes come first and broadcast.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from .. import operand_arrays
from ..algebra import Algebra, Array
from ..errors import InputError
from ..formats import Format
from ..operand_arrays import ALGEBRA, IntegerArray, Matrix, Observer, common_batch, refuse_unknown
from . import cube, move_arrays
from .buffers import buffer_words, elements_of
from .catalogue import OperationKind
from .choices import BOXES, IN_PLACE, UNSPECIFIED, Choices
from .fractal import is_row_of_scales
from .products import formats_of, product
from .resolution import Resolved
from .run_time_extents import of_arrays, of_matrix
from .sizes import Extents, Sizes, executed_rows, operand_extents, sizes
from .text.statements import TextualForm
from .tile import Tile


def execute(
    resolved: Resolved,
    arrays: Mapping[str, Array],
    choices: Choices,
    *,
    as_registers: bool = False,
    observer: Observer | None = None,
) -> dict[str, Array]:
    """Execute an instruction on arrays.

    Parameters
    ----------
    resolved : Resolved
        A product or a move whose tiles are all known.
    arrays : mapping
        The operands by name, see the module.
    choices : Choices
        Readings of what the documents leave open.
    as_registers : bool
        Register view instead of matrix view.
    observer : Observer, optional
        Told what is executed, if it is a product of matrices.

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape, type or value, or an element is outside its
        buffer.
    UnsupportedError
        For elements whose encoding, or order in a buffer, no public document gives.
    """
    if UNSPECIFIED in (choices.accumulation, choices.conversion):
        raise InputError(
            f"an {UNSPECIFIED} function has no value to compute; --list-choices prints those that have"
        )
    if as_registers and choices.one_row_scales == BOXES:
        _refuse_rows_of_scales(resolved.tiles)
    formats = formats_of(resolved.tiles)
    if resolved.operation.kind is OperationKind.MOVE:
        return move_arrays.execute(ALGEBRA, resolved, formats, arrays, choices, as_registers=as_registers)
    if as_registers:
        return _multiply_buffers(resolved, formats, arrays, choices)
    return _multiply_matrices(resolved, formats, arrays, choices, observer)


def _refuse_rows_of_scales(tiles: Mapping[str, Tile]) -> None:
    for role, tile in tiles.items():
        if is_row_of_scales(tile):
            raise InputError(
                f"one-row-scales={BOXES}: the {tile.columns} scale factors of {role} in one row leave its "
                "buffer; give matrices, or 16 rows"
            )


def _multiply_matrices(
    resolved: Resolved,
    formats: Mapping[str, Format],
    arrays: Mapping[str, Array],
    choices: Choices,
    observer: Observer | None,
) -> dict[str, Array]:
    operation = resolved.operation
    names = _arrays_read(resolved, arrays, choices)
    refuse_unknown(arrays, [*names.values(), *(f"{name}_bits" for name in names.values())], operation.name)
    valid = {role: of_matrix(role, resolved.tiles[role], arrays, operation.name) for role in ("a", "b")}
    size = _sizes(resolved, valid)
    used = operand_extents(*size)
    _require_inside(valid, used)

    def compute(alg: Algebra, given: Mapping[str, Array]) -> dict[str, Array]:
        matrices = {
            role: given[name][..., : used[role].rows, : used[role].columns] for role, name in names.items()
        }
        return {"d": product(alg, operation, **matrices, formats=formats, choices=choices)}

    return operand_arrays.execute(
        operation.name,
        {name: Matrix(valid.get(role, used[role]), formats[role]) for role, name in names.items()},
        {"d": Matrix(used["d"], formats["d"])},
        compute,
        arrays,
        as_registers=False,
        work=prod(size),
        observer=observer,
    )


def _multiply_buffers(
    resolved: Resolved, formats: Mapping[str, Format], arrays: Mapping[str, Array], choices: Choices
) -> dict[str, Array]:
    operation, profile, tiles = resolved.operation, resolved.profile, resolved.tiles
    names = _arrays_read(resolved, arrays, choices)
    destination = "c" if operation.accumulates and not _apart(resolved) else "d"
    unread = {destination: IntegerArray(), "valid_a": IntegerArray((2,)), "valid_b": IntegerArray((2,))}
    refuse_unknown(arrays, list(dict.fromkeys((*names.values(), *unread))), operation.name)
    size = _sizes(resolved, {r: of_arrays(r, tiles[r], arrays, operation.name) for r in ("a", "b")})
    buffers = {name: buffer_words(tiles[role], formats[role]) for role, name in names.items()}
    size_of_d, written = elements_of(tiles["d"]), executed_rows(operation, profile, size.m) * size.n
    if destination in arrays or written < size_of_d:
        buffers.setdefault(destination, buffer_words(tiles["d"], formats["d"], "not all of it is written: "))
    given = operand_arrays.read(operation.name, buffers, arrays, unread)
    common_batch(given, dict.fromkeys(given, 1))
    held = {role: given[name] for role, name in names.items()}
    held["d"] = given.get(destination, np.zeros(size_of_d, dtype=formats["d"].storage))
    return {"d": cube.multiply(ALGEBRA, operation, profile, tiles, held, size, choices)}


def _arrays_read(resolved: Resolved, arrays: Mapping[str, Array], choices: Choices) -> dict[str, str]:
    """Return the name of the array that holds each operand read, by role."""
    operation = resolved.operation
    names = {role: role for role in operation.inputs}
    if operation.accumulates and _apart(resolved) and choices.accumulator_read == IN_PLACE:
        names["c"] = "d"
        if "c" in arrays or "c_bits" in arrays:
            raise InputError(
                f"{operation} accumulates in place on {resolved.profile}: c is another tile than d and never "
                "read; give the destination's contents as d"
            )
    return names


def _apart(resolved: Resolved) -> bool:
    """Tell whether the accumulator read is written as another buffer than the destination."""
    operands = resolved.instruction.operands()
    return resolved.instruction.form is TextualForm.F3 and operands["c"].name != operands["d"].name


def _sizes(resolved: Resolved, valid: Mapping[str, Extents]) -> Sizes:
    """Return m, k and n, none of which may be 0 but on the CPU simulator, without scale factors."""
    operation, profile = resolved.operation, resolved.profile
    found = sizes(operation, profile, valid)
    if 0 in found and (profile.cube or operation.microscaled):
        m, k, n = found
        raise InputError(f"m = {m}, k = {k}, n = {n}: none may be 0 for {operation} on {profile}")
    return found


def _require_inside(valid: Mapping[str, Extents], used: Mapping[str, Extents]) -> None:
    """Refuse a product that reads beyond a valid region: what is there is unspecified."""
    for role, (rows, columns) in valid.items():
        if used[role].rows > rows or used[role].columns > columns:
            raise InputError(
                f"the product reads {used[role].rows}x{used[role].columns} elements of {role}, whose valid "
                f"region is {rows}x{columns}"
            )
