"""Registers that decide loop exits, and pure loop counters."""

from __future__ import annotations

from collections.abc import Sequence

from ..text.module import InstructionStatement
from ..text.operands import register_names
from .descents import read, written

_STEPS = ("mov", "add", "sub")


def deciding_registers(loop: Sequence[InstructionStatement]) -> frozenset[str]:
    """Return the registers on which the loop's branches depend, from turn to turn.

    Parameters
    ----------
    loop : sequence of InstructionStatement
        The instructions of the loop; none writes memory, or reads the condition code.
    """
    found = {name for instruction in loop if instruction.opcode == "bra" for name in _guard(instruction)}
    while True:
        more = {
            name for instruction in loop if found & _results(instruction) for name in _sources(instruction)
        }
        if more <= found:
            return frozenset(found)
        found |= more


def counting_registers(loop: Sequence[InstructionStatement]) -> frozenset[str]:
    """Return the registers to which a turn adds the same, which only comparisons with what stays read.

    Parameters
    ----------
    loop : sequence of InstructionStatement
        The instructions of the loop.
    """
    changing = frozenset(name for instruction in loop for name in _results(instruction))
    found = changing - {
        name for instruction in loop if instruction.opcode not in _STEPS for name in _results(instruction)
    }
    while True:
        wrong = {
            name
            for instruction in loop
            for name in (_results(instruction) | _sources(instruction)) & found
            if not _counts(instruction, found, changing)
        }
        if not wrong:
            return found
        found -= wrong


def _counts(instruction: InstructionStatement, counting: frozenset[str], changing: frozenset[str]) -> bool:
    """Tell whether an instruction makes counts of counts, or compares one with what stays."""
    sources = _sources(instruction)
    if instruction.opcode == "setp":
        return sources & changing <= counting
    return (
        instruction.opcode in _STEPS
        and not _guard(instruction)
        and len(sources & changing) == 1
        and sources & changing <= counting
        and _results(instruction) <= counting
    )


def _guard(instruction: InstructionStatement) -> set[str]:
    return set() if instruction.predicate is None else {instruction.predicate.name}


def _results(instruction: InstructionStatement) -> set[str]:
    return set(written(instruction))


def _sources(instruction: InstructionStatement) -> set[str]:
    return {*register_names(read(instruction)), *_guard(instruction)}
