"""Comparisons of two numbers as tables: by the sign of their difference, opposites, what they choose."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SIGNS: Mapping[str, str] = MappingProxyType(
    {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
)
"""The relations that signs stand for, of numbers."""

OPPOSITES: Mapping[str, str] = MappingProxyType(
    {"lt": "ge", "le": "gt", "eq": "ne", "ge": "lt", "gt": "le", "ne": "eq"}
)
"""What holds of two numbers where a relation does not."""

OUTCOMES: Mapping[str, tuple[bool, bool, bool]] = MappingProxyType(
    {
        "lt": (True, False, False),
        "le": (True, True, False),
        "gt": (False, False, True),
        "ge": (False, True, True),
        "eq": (False, True, False),
        "ne": (True, False, True),
        "lo": (True, False, False),
        "ls": (True, True, False),
        "hi": (False, False, True),
        "hs": (False, True, True),
    }
)
"""Whether a comparison holds where the difference of the two numbers is negative, 0, positive."""

EXTREMES: Mapping[str, str] = MappingProxyType(
    {
        relation: which
        for relations, which in ((("gt", "ge", "hi", "hs"), "max"), (("lt", "le", "lo", "ls"), "min"))
        for relation in relations
    }
)
"""Which of two numbers is chosen by the comparison of the first with the second, if it holds."""

OPPOSITE_EXTREMES: Mapping[str, str] = MappingProxyType({"max": "min", "min": "max"})
"""Of which numbers an extremum is, where all are negated."""
