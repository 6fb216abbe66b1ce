"""All rules, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from . import conditions, elementary, extrema, floats, integers, words
from .rule import Rule

RULES: tuple[Rule, ...] = (
    *elementary.RULES,
    *extrema.RULES,
    *conditions.RULES,
    *integers.RULES,
    *words.RULES,
    *floats.RULES,
)

BY_NAME: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in RULES})

GROUPS: Mapping[str, str] = MappingProxyType(
    {
        "elementary": "powers of two, logarithms, roots and reciprocals",
        "extrema": "greatest and least numbers",
        "conditions": "comparisons and what is combined of them",
        "choices": "choices by conditions",
        "integers": "integers, and words read as integers",
        "bits": "words whose bits are moved, masked, combined and added",
        "floats": "bits of floats, conversions and infinities",
    }
)
"""What the rules of a group are about."""
