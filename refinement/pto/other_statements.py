"""Statements that the spec keeps as text: what core and launch are, pointers, calls, run-time extents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...spec.pto.text.module import Module, Other
from ...spec.pto.text.syntax import Region
from .core_pairs import EXCHANGE_HANDLERS
from .errors import unsupported
from .memory_statements import MEMORY_HANDLERS
from .operand_text import text_of
from .scalar_unit import Names, ScalarUnit
from .synchronisation import waits_for_all
from .vector_instructions import VECTOR_HANDLERS

_MARK = re.compile(r"<\s*(\w+)\s*>", re.ASCII)
_CALLED = re.compile(r'@("?)([\w.$-]+)\1\s*\(([^)]*)\)', re.ASCII)

SECTIONS = ("pto.section.cube", "pto.section.vector")
"""Operations whose region only says which core runs it."""

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
        if unit.section not in ("", name):
            raise unsupported(f"{unit.section} and {name} in one function: what orders the cores is not told")
        unit.section = name
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


def _call(unit: ScalarUnit, statement: Other, names: Names) -> None:
    found = called_by(statement)
    if found is None or found[0] not in unit.functions:
        raise unsupported(f"a call of {found[0] if found else 'no function'}, which is not in the file")
    arguments = [unit.value(each, names) for each in found[1]]
    unit.define(statement.results, unit.call(unit.functions[found[0]], arguments), names)


def _barrier(unit: ScalarUnit, statement: Other, names: Names) -> None:
    """Order nothing: a barrier of what one kind of operation runs on."""
    if (found := _MARK.search(text_of(statement))) is not None and waits_for_all(found[1]):
        unit.execution.pipes.barrier()


HANDLERS: Mapping[str, Callable[[ScalarUnit, Other, Names], None]] = MappingProxyType(
    {
        "pto.get_block_idx": _launch_number(lambda unit: unit.launch.block),
        "pto.get_block_num": _launch_number(lambda unit: unit.launch.blocks),
        "pto.barrier_sync": _barrier,
        "func.call": _call,
        "call": _call,
        **EXCHANGE_HANDLERS,
        **MEMORY_HANDLERS,
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
