"""Calls of functions in PTO text."""

from __future__ import annotations

import re

from ....spec.pto.text.module import Module, Other
from .operand_text import text_of

_CALLED = re.compile(r'@("?)([\w.$-]+)\1\s*\(([^)]*)\)', re.ASCII)


def called_by(statement: Other) -> tuple[str, list[str]] | None:
    """Return the function that a statement calls, and the names of its arguments; None of no call."""
    if statement.name not in ("func.call", "call"):
        return None
    if (found := _CALLED.search(text_of(statement))) is None:
        return None
    return found[2], [each.strip() for each in found[3].split(",") if each.strip()]


def called_functions(module: Module) -> set[str]:
    """Return the names of the functions that a file calls."""
    others = (node for node in module.walk() if isinstance(node, Other))
    return {found[0] for other in others if (found := called_by(other)) is not None}
