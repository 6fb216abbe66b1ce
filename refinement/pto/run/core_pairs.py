"""Kernels of two functions, for the cube and the vector core, and the tiles that they exchange.

Source: PTO IR manual (aic_initialize_pipe, tpush_to_aiv, tpop_from_aic, tfree_from_aic).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from ....spec.pto.movers import converted
from ....spec.pto.placement import mover_placement
from ....spec.pto.sizes import Extents
from ....spec.pto.text.module import Function, Other
from ....spec.pto.text.type_reader import read_type
from ....spec.pto.tile import Location
from ...findings.finding import Kind
from ..pipes.access_history import Pipe, Stamp
from ..pipes.channels import Key, Pushed
from ..text.cores import CUBE, PEERS, VECTOR, kind_of
from ..text.errors import EndedError, illegal, unsupported
from ..text.operand_text import text_of, values_of
from ..tiles.tile_buffers import Elements, TileBuffer, TileMemory
from .scalar_unit import Names, ScalarUnit, require_inside

_SPLIT = re.compile(r"\bsplit\s*=\s*(\d+)", re.ASCII)
_SIZE = re.compile(r"\bsize\s*=\s*(\d+)", re.ASCII)
_BASE = re.compile(r"\bbase\s*=\s*(\d+)", re.ASCII)
_SPACE = re.compile(r"address_space<\s*(\w+)\s*>", re.ASCII)
_ID = re.compile(r"\bid\s*=\s*(\d+)", re.ASCII)


def peer_of(function: Function, functions: Mapping[str, Function]) -> Function | None:
    """Return the function of the other core of a kernel, if tiles are pushed between the two."""
    wanted = PEERS.get(kind_of(function) or "")
    found = [
        each
        for each in functions.values()
        if kind_of(each) == wanted
        and each.body is not None
        and [str(one.type) for one in each.parameters] == [str(one.type) for one in function.parameters]
    ]
    if wanted is None or not found or not _exchanges(function):
        return None
    close = [each for each in found if _stem(each.name) == _stem(function.name)]
    return (close or found)[0] if len(close or found) == 1 else None


def _stem(name: str) -> str:
    return re.sub(r"_(aic|aiv|cube|vector)(?=_|$)", "", name)


def _exchanges(function: Function) -> bool:
    if function.body is None:
        return False
    others = (node for node in function.body.walk() if isinstance(node, Other))
    return any(other.name in EXCHANGE_HANDLERS for other in others)


def _channel(statement: Other, to: str) -> Key:
    text = text_of(statement)
    if (split := _SPLIT.search(text)) is not None and int(split[1]):
        raise unsupported(f"{statement.name} that splits tiles between two vector cores")
    return to, found[1] if (found := _ID.search(text)) is not None else "0"


def _elements(tile: TileBuffer, unit: ScalarUnit) -> Elements:
    place = mover_placement(unit.execution.profile, tile.tile, tile.valid)
    numbers = np.asarray(place.offset(*np.indices(tuple(tile.valid))), dtype=np.int64)
    if numbers.size and numbers.max() >= tile.elements:
        raise illegal(f"{tile.name} reaches element {int(numbers.max())} of {tile.elements}")
    return numbers


def _push(to: str) -> Callable[[ScalarUnit, Other, Names], None]:
    def handler(unit: ScalarUnit, statement: Other, names: Names) -> None:
        execution, key = unit.execution, _channel(statement, to)
        if execution.pipes.explicit:
            raise unsupported(f"{statement.name} in a text that synchronises pipes itself")
        (name,) = values_of(text_of(statement).partition("(")[2])[:1]
        tile = unit.tile(name, names)
        numbers, fmt = _elements(tile, unit), tile.tile.element.format
        if fmt is None:
            raise unsupported(f"{statement.name} of {tile.tile.element}")

        def run(stamp: Stamp) -> None:
            pushed = Pushed(execution.read_tile(tile, numbers, stamp), fmt, stamp.line)
            execution.channels.push(key, pushed)

        execution.issue(Pipe.FIX if to == VECTOR else Pipe.MTE3, statement.name, run)

    return handler


def _pop(to: str) -> Callable[[ScalarUnit, Other, Names], None]:
    def handler(unit: ScalarUnit, statement: Other, names: Names) -> None:
        execution, key = unit.execution, _channel(statement, to)
        if execution.pipes.explicit:
            raise unsupported(f"{statement.name} in a text that synchronises pipes itself")
        tile = unit.tile_type(read_type(text_of(statement).partition("->")[2].strip()))
        fmt = tile.element.format
        rows, columns = (
            each if isinstance(each, int) else extent
            for each, extent in ((tile.valid_rows, tile.rows), (tile.valid_columns, tile.columns))
        )
        (result,) = statement.results
        memory = TileMemory(execution.store, tile.rows * tile.columns * tile.element.storage_bytes)
        buffer = TileBuffer(result, tile, Extents(rows, columns), memory, 0, statement.line)
        require_inside(buffer)
        if fmt is None or tile.element.per_unit > 1:
            raise unsupported(f"{statement.name} of {tile.element}")
        unit.judge.allocated(execution, buffer, placed=False)
        numbers = _elements(buffer, unit).reshape(-1)

        def run(stamp: Stamp) -> None:
            pushed = execution.channels.pop(key)
            if pushed.elements.shape != (rows, columns):
                shape = "x".join(map(str, pushed.elements.shape))
                message = f"{statement.name} of {rows}x{columns} elements takes {shape}"
                raise EndedError(Kind.ILLEGAL, f"{message}, pushed in line {pushed.line}", stamp.line)
            found = converted(execution.algebra, pushed.elements, pushed.format, fmt, execution.choices)
            execution.write_tile(buffer, numbers, np.asarray(found, dtype=np.int32).reshape(-1), stamp)

        execution.issue(Pipe.MTE2, statement.name, run, lambda: execution.channels.has(key))
        names[result] = buffer

    return handler


def _reserve(unit: ScalarUnit, statement: Other, names: Names) -> None:
    """Keep memory for the tiles that are pushed here."""
    text = text_of(statement)
    size, base = (int(found[1]) if (found := each.search(text)) else 0 for each in (_SIZE, _BASE))
    location = _SPACE.search(text)
    if location is not None and location[1] in tuple(Location):
        unit.execution.reserved.append((Location(location[1]), base, base + size, statement.line))
    _nothing(unit, statement, names)


def _nothing(unit: ScalarUnit, statement: Other, names: Names) -> None:
    """Define what only says where channels are."""
    unit.define(statement.results, [0 for _ in statement.results], names)


EXCHANGE_HANDLERS: Mapping[str, Callable[[ScalarUnit, Other, Names], None]] = MappingProxyType(
    {
        "pto.tpush_to_aiv": _push(VECTOR),
        "pto.tpush_to_aic": _push(CUBE),
        "pto.tpop_from_aic": _pop(VECTOR),
        "pto.tpop_from_aiv": _pop(CUBE),
        "pto.reserve_buffer": _reserve,
        **dict.fromkeys(
            (
                "pto.tfree_from_aic", "pto.tfree_from_aiv", "pto.aic_initialize_pipe",
                "pto.aiv_initialize_pipe", "pto.import_reserved_buffer",
            ),
            _nothing,
        ),
    }
)  # fmt: skip
"""The statements of this module, by name."""
