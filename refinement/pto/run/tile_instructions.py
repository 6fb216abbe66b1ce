"""Products and moves: the specification's meaning on the terms of tiles and arrays.

Which elements an instruction reads and writes comes from the spec too: it is executed on buffers that hold
the numbers of their elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ....spec.errors import InputError, UnsupportedError
from ....spec.formats import FloatFormat, Format
from ....spec.pto import cube, movers
from ....spec.pto.buffers import require_whole_units, write
from ....spec.pto.catalogue import Operation, OperationKind
from ....spec.pto.global_memory import contiguous
from ....spec.pto.placement import operand_placement, source_placement
from ....spec.pto.products import formats_of, product
from ....spec.pto.sizes import SCALE_GROUP, executed_rows, sizes
from ....spec.pto.text.statements import InstructionStatement, TextualForm
from ....spec.pto.tile import Location
from ...findings.finding import Kind
from ...terms.interning import Ids
from ..pipes.access_history import Pipe, Stamp
from ..text.errors import EndedError, illegal, unsupported
from ..tiles.element_arithmetic import BINARY, clamped_below
from ..tiles.tile_buffers import Elements, TileBuffer
from ..tiles.unit_flags import phase_of
from ..tiles.values import View
from ..tiles.view_orders import require_modelled
from .execution import Execution
from .judging import Judge, Operands, in_role

SCALE_SHARE = 16
"""Bytes of a matrix to one of its scale factors' buffer."""

NOWHERE = -1
"""In a buffer of numbers of elements: none."""

_IGNORED = frozenset(
    {"accphase", "stphase", "candidates", "layout", "operandsegmentsizes", "loop_depth", "tags", "tail"}
)
"""Attributes, in lower case, that say nothing of values."""


def execute(execution: Execution, judge: Judge, statement: InstructionStatement, operands: Operands) -> None:
    """Judge an instruction on its actual extents, and hand it to its pipe.

    Parameters
    ----------
    execution : Execution
        The core.
    judge : Judge
        Applies the rules.
    statement : InstructionStatement
        The instruction.
    operands : Operands
        What its operands are, by role.

    Raises
    ------
    EndedError
        If it is not modelled, or has an operand that is none.
    """
    operation = statement.operation
    if statement.form is not TextualForm.F3:
        raise unsupported(f"{operation} of {statement.form}; kernels are in {TextualForm.F3}")
    if "quantisation" in operands.tiles or "quantisation" in statement.operands():
        raise unsupported(f"{operation} with a quantisation")
    atomic, relu = _attributes(statement)
    operands = judge.apply(execution, statement, operands)
    tiles = operands.tiles
    for role, tile in tiles.items():
        try:
            require_whole_units(role, tile.tile)
        except UnsupportedError as error:
            raise unsupported(str(error)) from None
    if operation.kind is not OperationKind.MOVE:
        phase, line = phase_of(statement.attributes, "accphase"), execution.line
        phase = phase if execution.profile.cube else None
        execution.unit_flags.before_product(tiles["d"], phase, line)
        _multiply(execution, operation, tiles)
        execution.unit_flags.after_product(tiles["d"], phase, line)
        return
    if operation.name == "tload":
        _load(execution, operation, operands.view, tiles["target"])
        return
    source, line = tiles["source"], execution.line
    leaves = execution.profile.cube and source.tile.location is Location.ACC
    phase = phase_of(statement.attributes, "stphase") if leaves else None
    execution.unit_flags.before_store(source, phase, line)
    if operation.name == "tstore":
        _store(execution, operation, source, operands.view, atomic=atomic, relu=relu)
    else:
        _move(execution, operation, source, tiles["target"], operands.indices, relu=relu)
    execution.unit_flags.after_store(source, phase, line)


def adds_to_memory(statement: InstructionStatement) -> bool:
    """Tell whether a store adds to what memory holds."""
    return any(
        name.lower() == "atomictype" and "atomic_add" in value.lower() for name, value in statement.attributes
    )


def _attributes(statement: InstructionStatement) -> tuple[bool, bool]:
    """Return whether a store adds to memory, and whether negative elements become zeros on the way."""
    relu = False
    for name, value in statement.attributes:
        key, plain = name.lower(), value.lower()
        if key in _IGNORED or key.startswith("pto."):
            continue
        if key == "atomictype" and ("atomic_add" in plain or "atomic_none" in plain):
            continue
        if key == "relupremode":
            if "normal_relu" in plain or "normalrelu" in plain:
                relu = True
                continue
            if "no_relu" in plain or "norelu" in plain:
                continue
        raise unsupported(f"{statement.operation} with {name} = {value}")
    return adds_to_memory(statement), relu


# -- products


def _multiply(execution: Execution, operation: Operation, tiles: Mapping[str, TileBuffer]) -> None:
    profile, choices = execution.profile, execution.choices
    types = {role: in_role(role, tile.tile) for role, tile in tiles.items()}
    size = sizes(operation, profile, {role: tiles[role].valid for role in ("a", "b")})
    if operation.microscaled and profile.cube:
        for factors, scales in ((tiles["a"], tiles["scale_a"]), (tiles["b"], tiles["scale_b"])):
            _require_tied(execution, factors, scales)
    if operation.microscaled and size.k % SCALE_GROUP:
        raise unsupported(f"{operation} of k = {size.k}, not a multiple of {SCALE_GROUP}")
    if 0 in size:
        raise unsupported(f"{operation} of m = {size.m}, k = {size.k}, n = {size.n}")
    formats = formats_of(types)
    sources = dict(tiles)
    if operation.accumulates and cube.accumulator_role(choices) == "d":
        sources["c"] = tiles["d"]
    numbers = {role: np.arange(tile.elements) for role, tile in tiles.items()}
    read = _inside(cube.operand_matrices, operation, profile, types, numbers, size, choices)
    rows = executed_rows(operation, profile, size.m)
    block = np.arange(rows * size.n).reshape(rows, size.n)
    nothing = np.full(tiles["d"].elements, NOWHERE)
    place = operand_placement(operation, profile, "d", types["d"], size)
    held = _inside(write, "d", nothing, place, block)
    written = np.flatnonzero(held != NOWHERE)
    execution.counts.products += 1
    execution.counts.multiply_adds += rows * size.k * size.n

    def run(stamp: Stamp) -> None:
        matrices = {role: execution.read_tile(sources[role], read[role], stamp) for role in read}
        result = product(execution.algebra, operation, **matrices, formats=formats, choices=choices)
        terms = np.asarray(result, dtype=np.int32).reshape(-1)
        execution.write_tile(tiles["d"], written, terms[held[written]], stamp)

    execution.issue(Pipe.M, operation.name, run)


def _require_tied(execution: Execution, factors: TileBuffer, scales: TileBuffer) -> None:
    """Report scale factors that are not where the matrix unit takes them from: it is told no address of them.

    Source: pto-isa headers at 3186c381 (TGET_SCALE_ADDR); Ascend C documentation (``asc_copy_l12l0a_mx``).
    """
    if factors in execution.unplaced or scales in execution.unplaced:
        return
    if (at := factors.address // SCALE_SHARE) != scales.address:
        execution.report(
            Kind.ILLEGAL,
            f"the scale factors of {factors.name} at {factors.address} are taken from byte {at} of their "
            f"buffer, but {scales.name} is at {scales.address}",
            execution.line,
            what=scales.name,
        )


# -- moves


def _move(
    execution: Execution,
    operation: Operation,
    source: TileBuffer,
    target: TileBuffer,
    indices: tuple[int, int],
    *,
    relu: bool,
) -> None:
    formats = formats_of({"source": source.tile, "target": target.tile})
    fmt = formats["source"]
    found = _inside(
        movers.insert if operation.name == "tinsert" else movers.move,
        execution.algebra,
        operation,
        execution.profile,
        (source.tile, target.tile),
        (fmt, fmt),
        (np.arange(source.elements), np.full(target.elements, NOWHERE)),
        (source.valid, target.valid),
        execution.choices,
        *indices,
    )
    in_place = source.lies_as(target) and not any(indices)
    if source.shares_bytes(target) and not in_place:
        raise unsupported(
            f"{operation} from {source.name} into {target.name}, which overlap: no document specifies the "
            "order of elements"
        )
    _transfer(execution, operation, source, target, found, _beyond(execution, operation, source), relu=relu)


def _beyond(execution: Execution, operation: Operation, source: TileBuffer) -> Elements:
    """Return the elements of a source outside of its valid region that nobody says a move takes as they are.

    Movers out of L1 move whole blocks; the others are told the valid region.
    """
    if source.tile.location is Location.MAT:
        return np.empty(0, dtype=np.int64)
    place = _inside(source_placement, operation, execution.profile, source.tile, source.valid)
    valid = np.asarray(place.offset(*np.indices(tuple(source.valid)))).reshape(-1)
    return np.setdiff1d(np.arange(source.elements), valid)


def _transfer(
    execution: Execution,
    operation: Operation,
    source: TileBuffer,
    target: TileBuffer,
    found: Elements,
    beyond: Elements,
    *,
    relu: bool,
) -> None:
    """Move elements, given by the number that each element of the target comes from; `beyond` are unknown."""
    written = np.flatnonzero(found != NOWHERE)
    read = found[written]
    unknown = np.isin(read, beyond)
    outside = read[unknown]
    formats = formats_of({"source": source.tile, "target": target.tile})

    def run(stamp: Stamp) -> None:
        terms = execution.read_tile(source, read, stamp).copy()
        terms[unknown] = execution.undefined.fresh(
            len(outside),
            8 * source.width,
            stamp.line,
            lambda number: f"element {int(outside[number])} of {source.name}, outside of its valid region",
        )
        moved = _converted(execution, terms, formats["source"], formats["target"], relu=relu)
        execution.write_tile(target, written, moved, stamp)

    execution.counts.moves += 1
    execution.issue(move_pipe(source.buffer, target.buffer), operation.name, run)


def _load(execution: Execution, operation: Operation, view: View, target: TileBuffer) -> None:
    if view.element != target.tile.element:
        raise EndedError(
            Kind.ILLEGAL, f"{operation} of {view.element} elements into a tile of {target.tile.element}"
        )
    require_modelled(execution.profile, view, target.tile)
    rows, columns = target.valid
    fmt = formats_of({"target": target.tile})["target"]
    offsets = _offsets(view, rows, columns)
    found = _inside(
        movers.load,
        execution.algebra,
        execution.profile,
        contiguous(rows, columns),
        FIRST + np.arange(rows * columns),
        target.tile,
        fmt,
        np.full(target.elements, NOWHERE),
        target.valid,
        execution.choices,
    )
    written = np.flatnonzero(found != NOWHERE)
    numbers = found[written]

    def run(stamp: Stamp) -> None:
        terms = execution.read_global(view.pointer.array, offsets, view.element.bits // 8, stamp)
        loaded = np.where(numbers >= FIRST, terms[np.maximum(numbers - FIRST, 0)], numbers)
        execution.write_tile(target, written, loaded.astype(np.int32), stamp)

    execution.counts.moves += 1
    execution.issue(Pipe.MTE2, operation.name, run)


FARTHEST = 1 << 60
"""Bits from the beginning of an array, by far more than any memory has."""

FIRST = 1 << 30
"""Added to the number of an element of memory, to tell it from the term of a pad value."""


def _store(
    execution: Execution, operation: Operation, source: TileBuffer, view: View, *, atomic: bool, relu: bool
) -> None:
    require_modelled(execution.profile, view, source.tile)
    rows, columns = source.valid
    formats = formats_of({"source": source.tile})
    target = view.element.format
    if target is None:
        raise unsupported(f"a store of {view.element}")
    found = _inside(
        movers.store,
        execution.algebra,
        operation,
        execution.profile,
        source.tile,
        (formats["source"],) * 2,
        np.arange(source.elements),
        source.valid,
        contiguous(rows, columns),
        np.full(rows * columns, NOWHERE),
        execution.choices,
    )
    offsets = _offsets(view, rows, columns)
    execution.unordered |= atomic and isinstance(target, FloatFormat)

    def added(before: Ids, stored: Ids) -> Ids:
        return BINARY["add"](execution.store, target, before, stored)

    adding = added if atomic else None

    def run(stamp: Stamp) -> None:
        terms = execution.read_tile(source, found, stamp)
        stored = _converted(execution, terms, formats["source"], target, relu=relu)
        execution.write_global(view.pointer.array, offsets, stored, stamp, adding)

    execution.counts.moves += 1
    pipe = Pipe.FIX if source.tile.location is Location.ACC else Pipe.MTE3
    execution.issue(pipe, operation.name, run)


def _offsets(view: View, rows: int, columns: int) -> Elements:
    """Return the bytes, from the beginning of the array, at which elements of a view begin."""
    if view.element.bits % 8:
        raise unsupported(f"elements of {view.element} in memory")
    spans = (abs(stride) * size for stride, size in zip(view.strides, view.shape, strict=True))
    if abs(view.pointer.offset) + sum(spans) * view.element.bits > FARTHEST:
        raise illegal(f"a view of {view} with strides {list(view.strides)}, larger than any memory")
    within = np.asarray(view.matrix.offset(*np.indices((rows, columns))), dtype=np.int64).reshape(-1)
    return view.pointer.offset + within * (view.element.bits // 8)


def _converted(execution: Execution, terms: Ids, source: Format, target: Format, *, relu: bool) -> Ids:
    shown = clamped_below(execution.store, source, terms) if relu else terms
    try:
        found = movers.converted(execution.algebra, shown, source, target, execution.choices)
    except UnsupportedError as error:
        raise unsupported(str(error)) from None
    return np.asarray(found, dtype=np.int32)


def _inside(compute: Callable[..., Any], *arguments: Any) -> Any:
    """Compute which elements an instruction accesses; what the spec refuses ends the run."""
    try:
        return compute(*arguments)
    except UnsupportedError as error:
        raise unsupported(str(error)) from None
    except InputError as error:
        raise EndedError(Kind.ILLEGAL, str(error)) from None


def move_pipe(source: Location, target: Location) -> Pipe:
    """Return the pipe of a move between two buffers.

    Source: pto-isa headers at 3186c381 (TMov); Ascend C documentation (``asc_copy_l12l0a_mx``: MTE1).
    """
    if source is Location.MAT:
        return Pipe.FIX if target is Location.SCALING else Pipe.V if target is Location.VEC else Pipe.MTE1
    if (source, target) == (Location.VEC, Location.VEC):
        return Pipe.V
    return Pipe.FIX
