"""Statements that the spec keeps as text: what core and launch are, pointers, calls, run-time extents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...spec.pto.sizes import Extents
from ...spec.pto.text.module import Module, Other
from ...spec.pto.text.syntax import Region
from .errors import illegal, unsupported
from .scalar_unit import Core, Names
from .values import Pointer, View

_VALUE = re.compile(r"%(?:[\w$.]|-(?!>))+(?:#\d+)?|-?\b\d+\b", re.ASCII)
_CALLED = re.compile(r'@("?)([\w.$-]+)\1\s*\(([^)]*)\)', re.ASCII)

SECTIONS = ("pto.section.cube", "pto.section.vector")
"""Operations whose region only says which core runs it."""

WITHOUT_EFFECT = frozenset({"pto.print", "pto.tprint", "pto.tprefetch", "pto.comment"})
"""Operations that change no value."""


def text_of(statement: Other) -> str:
    """Return what stands behind the name of an operation without regions."""
    return " ".join(piece for piece in statement.pieces if isinstance(piece, str))


def operands_of(text: str) -> list[str]:
    """Return the values and literals in front of a type."""
    return _VALUE.findall(text.partition(" : ")[0].partition("{")[0])


def run_other(core: Core, statement: Other, names: Names) -> None:
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
                core.run(piece, names.new_child())
        return
    if name in WITHOUT_EFFECT:
        return
    if (handler := HANDLERS.get(name)) is None:
        raise unsupported(name)
    handler(core, statement, names)


def _launch_number(read: Callable[[Core], int]) -> Callable[[Core, Other, Names], None]:
    def handler(core: Core, statement: Other, names: Names) -> None:
        core.define(statement.results, [read(core)], names)

    return handler


def _valid_shape(core: Core, statement: Other, names: Names) -> None:
    tile, *extents = operands_of(text_of(statement))
    if len(extents) != 2:
        raise illegal(f"pto.set_validshape with {len(extents)} extents")
    core.tile(tile, names).valid = Extents(*core.numbers(extents, names, "the valid extent"))


def _call(core: Core, statement: Other, names: Names) -> None:
    found = _CALLED.search(text_of(statement))
    if found is None or found[2] not in core.functions:
        raise unsupported(f"a call of {found[2] if found else 'no function'}, which is not in the file")
    arguments = [core.value(each.strip(), names) for each in found[3].split(",") if each.strip()]
    core.define(statement.results, core.call(core.functions[found[2]], arguments), names)


def _dimension(core: Core, statement: Other, names: Names) -> None:
    name, index = operands_of(text_of(statement))
    view = core.value(name, names)
    place = core.number(index, names, "the index")
    if not isinstance(view, View) or not 0 <= place < len(view.shape):
        raise illegal(f"dimension {place} of {name}")
    core.define(statement.results, [view.shape[place]], names)


def _pointer(core: Core, statement: Other, names: Names) -> None:
    name, index = operands_of(text_of(statement))
    pointer = core.value(name, names)
    if not isinstance(pointer, Pointer) or pointer.element is None:
        raise illegal(f"{name} is no pointer to elements")
    moved = core.number(index, names, "the offset") * pointer.element.bits // 8
    core.define(statement.results, [Pointer(pointer.array, pointer.offset + moved, pointer.element)], names)


HANDLERS: Mapping[str, Callable[[Core, Other, Names], None]] = MappingProxyType(
    {
        "pto.get_block_idx": _launch_number(lambda core: core.launch.block),
        "pto.get_block_num": _launch_number(lambda core: core.launch.blocks),
        "pto.set_validshape": _valid_shape,
        "pto.get_tensor_view_dim": _dimension,
        "pto.addptr": _pointer,
        "func.call": _call,
        "call": _call,
    }
)
"""What becomes of each operation, by its name."""


def called_functions(module: Module) -> set[str]:
    """Return the names of the functions that a file calls."""
    calls = (each for each in module.walk() if isinstance(each, Other) and each.name in ("func.call", "call"))
    return {found[2] for each in calls if (found := _CALLED.search(text_of(each)))}
