"""What the gate demands of tables itself, besides the rules of the instruction sets and of layouts."""

from __future__ import annotations

from ..spec.findings import Cause

OWNER = "gate"


def _rule(name: str, reason: str, source: str = "docs/gate.md") -> Cause:
    return Cause(OWNER, name, reason, source, reason)


SYNTAX = _rule("syntax", "what a table lists can be spelled as an instruction")
ALLOWED = _rule("allowed", "what a table forbids violates a rule")
NO_FORM = _rule("no-form", "an instruction of the ISA has the columns that a row states")
MISSING = _rule("missing", "a complete table has every legal form of the instructions that it lists")
LOCK_CHANGED = _rule("lock-changed", "a locked row is as the spec has it")
LOCK_REMOVED = _rule("lock-removed", "the spec has every locked row")
LOCK_ADDED = _rule("lock-added", "the lock has every row of the spec")
LOCK_COLUMN = _rule("lock-column", "a lock and its table have the same columns")
REPEATED = _rule("repeated", "every row says something that no other row says")
EXPIRED = _rule("allowance-expired", "an accepted difference is looked at again before its date")
UNUSED = _rule("allowance-unused", "an accepted difference still exists")
UNDECIDED = _rule("undecided", "the spec decides what a row says")

GATE_RULES = (
    SYNTAX, ALLOWED, NO_FORM, MISSING, LOCK_CHANGED, LOCK_REMOVED, LOCK_ADDED, LOCK_COLUMN, REPEATED, EXPIRED,
    UNUSED, UNDECIDED,
)  # fmt: skip
"""All of them."""
