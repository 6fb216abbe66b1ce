"""Every rule that a finding may cite: those of the instruction sets, of layouts and of the gate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..spec.findings import Cause
from ..spec.instruction_set import instruction_set
from .layout_rows import layout_rules
from .table_rules import GATE_RULES


def rule_book(isas: Iterable[str]) -> Mapping[str, Cause]:
    """Return the rules by id, those of the named instruction sets among them."""
    found = [
        Cause(isa, row["rule"], row["reason"], row["source"], row["reason"])
        for isa in isas
        for row in instruction_set(isa).tables["rules"]()
    ]
    return {rule.id: rule for rule in (*found, *layout_rules(), *GATE_RULES)}
