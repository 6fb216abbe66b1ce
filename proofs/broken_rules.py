"""Which rules the specification finds broken by an instruction's text: what legality theorems compare."""

from __future__ import annotations

from ..spec.errors import InputError
from ..spec.instruction_set import instruction_set

UNREADABLE = "text"
"""Stands for the rules of a text that can't be read."""


def broken_rules(isa: str, text: str, target: str) -> frozenset[str]:
    """Return the ids of the rules that a text breaks on a target; `UNREADABLE` of one that can't be read."""
    try:
        judgement = instruction_set(isa).read(text).legal(target)
    except InputError:
        return frozenset({UNREADABLE})
    return frozenset(violation.rule.id for violation in judgement.violations)
