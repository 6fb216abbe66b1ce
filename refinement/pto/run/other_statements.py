"""Statements that the spec keeps as text: core and launch queries, calls, pointers, extents, ``memref``.

A ``memref`` of an on-chip buffer says no layout: it has that of the profile's alias. Source: PTO IR manual.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from ....spec.formats import FloatFormat
from ....spec.pto.sizes import Extents
from ....spec.pto.targets import alias
from ....spec.pto.text.module import Other
from ....spec.pto.text.syntax import Region
from ....spec.pto.text.type_reader import read_type
from ....spec.pto.text.types import OtherType
from ....spec.pto.tile import Location
from ..pipes.access_history import Pipe, Stamp
from ..pipes.synchronisation import pipe_named, waits_for_all
from ..text.cores import SECTIONS, called_by
from ..text.errors import illegal, unsupported
from ..text.operand_text import text_of, values_of
from ..tiles.tile_buffers import TileBuffer, TileMemory
from ..tiles.values import Data, Pointer, View
from .core_pairs import EXCHANGE_HANDLERS
from .scalar_unit import LARGEST_TILE, Names, ScalarUnit, require_inside
from .vector_instructions import VECTOR_HANDLERS

_MARK = re.compile(r"<\s*(\w+)\s*>", re.ASCII)
_SPACE = re.compile(r"#pto\.address_space<\s*(\w+)\s*>|#pto<address_space\s+(\w+)\s*>", re.ASCII)

WITHOUT_EFFECT = frozenset({"memref.dealloc", "pto.print", "pto.tprint", "pto.tprefetch", "pto.comment"})
"""Operations that change no value."""


def run_other(unit: ScalarUnit, statement: Other, names: Names) -> None:
    """Run a statement.

    Raises
    ------
    EndedError
        If it is not modelled.
    """
    name = statement.name.strip('"')
    if name in SECTIONS:
        with unit.only_on(SECTIONS[name]) as runs:
            for piece in statement.pieces:
                if runs and isinstance(piece, Region):
                    unit.run(piece, names.new_child())
        return
    if name in WITHOUT_EFFECT:
        return
    if (handler := HANDLERS.get(name)) is None:
        raise unsupported(name)
    if name in VECTOR_HANDLERS or name in EXCHANGE_HANDLERS:
        unit.require_one_core(name)
    handler(unit, statement, names)


def _launch_number(read: Callable[[ScalarUnit], int]) -> Callable[[ScalarUnit, Other, Names], None]:
    def handler(unit: ScalarUnit, statement: Other, names: Names) -> None:
        unit.define(statement.results, [read(unit)], names)

    return handler


def _call(unit: ScalarUnit, statement: Other, names: Names) -> None:
    found = called_by(statement)
    if found is None or found[0] not in unit.functions:
        raise unsupported(f"a call of {found[0] if found else 'no function'}, which is not in the file")
    arguments = [unit.value(each, names) for each in found[1]]
    unit.define(statement.results, unit.call(unit.functions[found[0]], arguments), names)


def _barrier(unit: ScalarUnit, statement: Other, names: Names) -> None:
    """Wait for all pipes, or in the one that a kind of operation runs on."""
    if (found := _MARK.search(text_of(statement))) is not None:
        if waits_for_all(found[1]):
            unit.execution.pipes.barrier()
        else:
            unit.execution.pipes.settle(pipe_named(found[1]), statement.line)


def _valid_shape(unit: ScalarUnit, statement: Other, names: Names) -> None:
    values = values_of(text_of(statement))
    if len(values) != 3:
        raise illegal(f"pto.set_validshape of {len(values)} operands")
    tile = unit.tile(values[0], names)
    tile.valid = Extents(*unit.numbers(values[1:], names, "the valid extent"))
    require_inside(tile)


def _dimension(unit: ScalarUnit, statement: Other, names: Names) -> None:
    name, place = _two(unit, statement, names)
    view = unit.value(name, names)
    if not isinstance(view, View) or not 0 <= place < len(view.shape):
        raise illegal(f"dimension {place} of {name}")
    found = view.shape if statement.name.endswith("dim") else view.strides
    unit.define(statement.results, [found[place]], names)


def _pointer(unit: ScalarUnit, statement: Other, names: Names) -> None:
    unit.define(statement.results, [_moved(unit, *_two(unit, statement, names), names)], names)


def _load_scalar(unit: ScalarUnit, statement: Other, names: Names) -> None:
    pointer = _moved(unit, *_two(unit, statement, names), names)
    assert pointer.element is not None
    element, execution = pointer.element, unit.execution
    if element.format is None or element.bits % 8:
        raise unsupported(f"a scalar {element} of memory")
    found: list[int] = []

    def run(stamp: Stamp) -> None:
        at = np.array([pointer.offset], dtype=np.int64)
        found.append(int(execution.read_global(pointer.array, at, element.bits // 8, stamp)[0]))

    execution.issue(Pipe.S, "load_scalar", run)
    if not found:
        raise unsupported("a scalar of memory that the scalar unit waits for")
    unit.define(statement.results, [execution.scalars.known(Data(found[0], element.format))], names)


def _store_scalar(unit: ScalarUnit, statement: Other, names: Names) -> None:
    values = values_of(text_of(statement).replace("[", ", "))
    if len(values) != 3:
        raise illegal(f"pto.store_scalar of {len(values)} operands")
    places = sorted(values, key=lambda name: not isinstance(unit.value(name, names), Pointer))
    rest = [name for name in values if name != places[0]]
    at, stored = (rest[0], rest[1]) if values[0] == places[0] else (rest[1], rest[0])
    pointer = _moved(unit, places[0], unit.number(at, names, "the offset"), names)
    assert pointer.element is not None
    fmt, execution = pointer.element.format, unit.execution
    if fmt is None or fmt.bits % 8:
        raise unsupported(f"a scalar {pointer.element} in memory")
    number = unit.scalar(stored, names)
    if isinstance(number, Data) and number.format.bits != fmt.bits:
        raise illegal(f"a store of {number.format} to {pointer.element}")
    if isinstance(number, int) and isinstance(fmt, FloatFormat):
        raise illegal(f"a store of an integer to {pointer.element}")
    term = execution.scalars.term(number, fmt)

    def run(stamp: Stamp) -> None:
        at = np.array([pointer.offset], dtype=np.int64)
        execution.write_global(pointer.array, at, np.array([term], dtype=np.int32), stamp)

    execution.issue(Pipe.S, "store_scalar", run)


def _allocate(unit: ScalarUnit, statement: Other, names: Names) -> None:
    text = text_of(statement)
    written = read_type(text.partition(" : ")[2])
    extents = [each for each in getattr(written, "extents", ()) if isinstance(each, int)]
    if not isinstance(written, OtherType) or written.element is None or len(extents) != 2:
        raise unsupported(f"memref.alloc of {written}")
    found = _SPACE.search(written.text)
    name = next(filter(None, found.groups()), "") if found else ""
    if name not in tuple(Location):
        raise unsupported(f"memref.alloc in {name or 'no address space'}")
    execution = unit.execution
    tile = alias(execution.profile, Location(name), written.element, (extents[0], extents[1]))
    if not 0 < tile.size <= LARGEST_TILE:
        raise illegal(f"a tile of {tile.rows}x{tile.columns} {tile.element}")
    memory = TileMemory(execution.store, tile.size)
    (result,) = statement.results
    buffer = TileBuffer(result, tile, Extents(tile.rows, tile.columns), memory, 0, statement.line)
    unit.judge.allocated(execution, buffer, placed=False)
    execution.unplaced.append(buffer)
    names[result] = buffer


def _two(unit: ScalarUnit, statement: Other, names: Names) -> tuple[str, int]:
    values = values_of(text_of(statement).replace("[", ", "))
    if len(values) != 2:
        raise illegal(f"{statement.name} of {len(values)} operands")
    return values[0], unit.number(values[1], names, "the index")


def _moved(unit: ScalarUnit, name: str, index: int, names: Names) -> Pointer:
    """Return a pointer so many elements on."""
    pointer = unit.value(name, names)
    if not isinstance(pointer, Pointer) or pointer.element is None:
        raise illegal(f"{name} is not a pointer to elements")
    return Pointer(pointer.array, pointer.offset + index * pointer.element.bits // 8, pointer.element)


HANDLERS: Mapping[str, Callable[[ScalarUnit, Other, Names], None]] = MappingProxyType(
    {
        "pto.get_block_idx": _launch_number(lambda unit: unit.launch.block),
        "pto.get_block_num": _launch_number(lambda unit: unit.launch.blocks),
        "pto.barrier_sync": _barrier,
        "func.call": _call,
        "call": _call,
        **EXCHANGE_HANDLERS,
        "pto.set_validshape": _valid_shape,
        "pto.get_tensor_view_dim": _dimension,
        "pto.get_tensor_view_stride": _dimension,
        "pto.addptr": _pointer,
        "pto.load_scalar": _load_scalar,
        "pto.store_scalar": _store_scalar,
        "memref.alloc": _allocate,
        **VECTOR_HANDLERS,
    }
)
"""What becomes of each operation, by its name."""
