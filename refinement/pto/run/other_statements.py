"""Statements that the spec keeps as text: core and launch queries, pointers, calls, extents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ....spec.pto.text.module import Other
from ....spec.pto.text.syntax import Region
from ..pipes.synchronisation import waits_for_all
from ..text.cores import SECTIONS, called_by
from ..text.errors import unsupported
from ..text.operand_text import text_of
from .core_pairs import EXCHANGE_HANDLERS
from .memory_statements import MEMORY_HANDLERS
from .scalar_unit import Names, ScalarUnit
from .vector_instructions import VECTOR_HANDLERS

_MARK = re.compile(r"<\s*(\w+)\s*>", re.ASCII)

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
