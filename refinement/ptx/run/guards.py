"""Outcomes of guards by thread, and which guards depend on sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...findings.guard_outcomes import GuardOutcome
from ..outline.control_part import mask_of
from ..outline.outline import numbers_behind
from ..text.module import Function, InstructionStatement


class Guards:
    """Records the outcomes of guards in a run."""

    def __init__(self) -> None:
        self._ways: dict[tuple[int, str], tuple[InstructionStatement, bool, bool]] = {}

    def are_settled(self, instruction: InstructionStatement, condition: str) -> bool:
        """Tell whether a guard is known to have held for some threads, and not for others."""
        found = self._ways.get((instruction.line, condition))
        return found is not None and found[1] and found[2]

    def note(self, instruction: InstructionStatement, condition: str, held: bool, failed: bool) -> None:
        """Note that a guard held for some threads, or did not for some."""
        key = instruction.line, condition
        known = self._ways.get(key, (instruction, False, False))
        self._ways[key] = instruction, known[1] | held, known[2] | failed

    def outcomes(self) -> Iterator[GuardOutcome]:
        """Yield what each guard was."""
        for (line, condition), (instruction, held, failed) in self._ways.items():
            what = "the guard" if instruction.predicate is not None else "the condition"
            predicate = condition.lstrip("@!")
            yield GuardOutcome(line, predicate, f"{what} {condition} of {instruction.mnemonic}", held, failed)


def conditions_on_sizes(function: Function) -> Mapping[str, frozenset[str]]:
    """Return the predicates of a kernel that depend on numbers that it is passed, and the parameters."""
    behind = numbers_behind(function)
    predicates = {each.predicate.name for each in function.body if each.predicate is not None}
    masks = (mask_of(each) for each in function.body)
    predicates |= {mask.name for mask in masks if mask is not None}
    return {predicate: frozenset(found) for predicate in predicates if (found := behind(predicate))}
