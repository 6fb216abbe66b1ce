"""The loops of a kernel: their heads, and the comparisons that decide their exits."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..text.operands import register_names
from .program import Program, Sort

_TRUTHS = frozenset({"setp", "and", "or", "xor", "not", "selp", "mov", "cvt"})
"""What makes a predicate, perhaps by way of other registers."""


@dataclass(frozen=True)
class Loop:
    """A loop: its head and its instructions.

    Attributes
    ----------
    head, last : int
        Indices of the first, and of the last that leads back to it.
    deciding : frozenset of int
        Lines that make the predicates by which it is left, or goes on.
    """

    head: int
    last: int
    deciding: frozenset[int]


def loops(program: Program) -> dict[int, Loop]:
    """Return the loops of a kernel, by where they begin; an outer one comes before those within."""
    last: dict[int, int] = {}
    for index, decoded in enumerate(program.steps):
        if decoded.sort is Sort.BRANCH and decoded.target <= index:
            last[decoded.target] = max(index, last.get(decoded.target, 0))
    return {head: Loop(head, last[head], _deciding(program, head, last[head])) for head in sorted(last)}


def outermost(found: Collection[Loop]) -> frozenset[int]:
    """Return where the loops begin that are in no other one."""
    return frozenset(
        loop.head
        for loop in found
        if not any(other.head < loop.head and loop.last <= other.last for other in found)
    )


def _deciding(program: Program, head: int, last: int) -> frozenset[int]:
    """Return the lines within a loop that make the predicates of branches out of it and back."""
    wanted = set[str]()
    for index in range(head, last + 1):
        decoded = program.steps[index]
        leaves = decoded.sort is Sort.EXIT or not head < decoded.target <= last
        if decoded.guard is not None and decoded.sort in (Sort.BRANCH, Sort.EXIT) and leaves:
            wanted.add(decoded.guard.name)
    lines = set[int]()
    before = -1
    while len(lines) != before:
        before = len(lines)
        for index in range(head, last + 1):
            instruction = program.steps[index].instruction
            if instruction.opcode in _TRUTHS and wanted & set(register_names(instruction.operands[:1])):
                lines.add(instruction.line)
                if instruction.opcode != "setp":
                    wanted |= set(register_names(instruction.operands[1:]))
    return frozenset(lines)
