"""Statements that the spec keeps as text: what core and launch are, pointers, calls, run-time extents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...spec.pto.sizes import Extents
from ...spec.pto.text.module import Module, Other
from ...spec.pto.text.syntax import Region
from .errors import illegal, unsupported
from .operand_text import text_of, values_of
from .scalar_unit import Names, ScalarUnit
from .values import Pointer, View
from .vector_instructions import VECTOR_HANDLERS

_CALLED = re.compile(r'@("?)([\w.$-]+)\1\s*\(([^)]*)\)', re.ASCII)

SECTIONS = ("pto.section.cube", "pto.section.vector")
"""Operations whose region only says which core runs it."""

WITHOUT_EFFECT = frozenset({"pto.print", "pto.tprint", "pto.tprefetch", "pto.comment"})
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
        for piece in statement.pieces:
            if isinstance(piece, Region):
                unit.run(piece, names.new_child())
        return
    if name in WITHOUT_EFFECT:
        return
    if (handler := HANDLERS.get(name)) is None:
        raise unsupported(name)
    handler(unit, statement, names)


def _launch_number(read: Callable[[ScalarUnit], int]) -> Callable[[ScalarUnit, Other, Names], None]:
    def handler(unit: ScalarUnit, statement: Other, names: Names) -> None:
        unit.define(statement.results, [read(unit)], names)

    return handler


def _valid_shape(unit: ScalarUnit, statement: Other, names: Names) -> None:
    tile, *extents = values_of(text_of(statement))
    if len(extents) != 2:
        raise illegal(f"pto.set_validshape with {len(extents)} extents")
    unit.tile(tile, names).valid = Extents(*unit.numbers(extents, names, "the valid extent"))


def _call(unit: ScalarUnit, statement: Other, names: Names) -> None:
    found = called_by(statement)
    if found is None or found[0] not in unit.functions:
        raise unsupported(f"a call of {found[0] if found else 'no function'}, which is not in the file")
    arguments = [unit.value(each, names) for each in found[1]]
    unit.define(statement.results, unit.call(unit.functions[found[0]], arguments), names)


def _dimension(unit: ScalarUnit, statement: Other, names: Names) -> None:
    name, index = values_of(text_of(statement))
    view = unit.value(name, names)
    place = unit.number(index, names, "the index")
    if not isinstance(view, View) or not 0 <= place < len(view.shape):
        raise illegal(f"dimension {place} of {name}")
    unit.define(statement.results, [view.shape[place]], names)


def _pointer(unit: ScalarUnit, statement: Other, names: Names) -> None:
    name, index = values_of(text_of(statement))
    pointer = unit.value(name, names)
    if not isinstance(pointer, Pointer) or pointer.element is None:
        raise illegal(f"{name} is no pointer to elements")
    moved = unit.number(index, names, "the offset") * pointer.element.bits // 8
    unit.define(statement.results, [Pointer(pointer.array, pointer.offset + moved, pointer.element)], names)


HANDLERS: Mapping[str, Callable[[ScalarUnit, Other, Names], None]] = MappingProxyType(
    {
        "pto.get_block_idx": _launch_number(lambda unit: unit.launch.block),
        "pto.get_block_num": _launch_number(lambda unit: unit.launch.blocks),
        "pto.set_validshape": _valid_shape,
        "pto.get_tensor_view_dim": _dimension,
        "pto.addptr": _pointer,
        "func.call": _call,
        "call": _call,
        **VECTOR_HANDLERS,
    }
)
"""What becomes of each operation, by its name."""


def called_by(statement: Other) -> tuple[str, list[str]] | None:
    """Return the function that a statement calls, and the names of its arguments; None of no call."""
    if statement.name not in ("func.call", "call"):
        return None
    if (found := _CALLED.search(text_of(statement))) is None:
        return None
    return found[2], [each.strip() for each in found[3].split(",") if each.strip()]


def called_functions(module: Module) -> set[str]:
    """Return the names of the functions that a file calls."""
    others = (each for each in module.walk() if isinstance(each, Other))
    return {found[0] for each in others if (found := called_by(each)) is not None}
