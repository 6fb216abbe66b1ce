"""Rules and contradictions as rows of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .legality import Contradiction, Rule


def rule_rows(rules: Sequence[Rule[Any, Any]]) -> list[dict[str, str]]:
    """Return the rules as table rows."""
    return [
        {
            "rule": rule.id,
            "reason": rule.reason,
            "source": rule.source,
            "contradictions": ", ".join(contradiction.id for contradiction in rule.contradictions),
        }
        for rule in rules
    ]


def contradiction_rows(contradictions: Sequence[Contradiction]) -> list[dict[str, str]]:
    """Return contradictions as table rows, one for each claim."""
    return [
        {
            "contradiction": contradiction.id,
            "who": who,
            "says": what,
            "taken here": contradiction.side,
            "source": contradiction.source,
        }
        for contradiction in contradictions
        for who, what in contradiction.claims
    ]
