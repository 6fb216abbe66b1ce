"""Cutting and joining bit-vector terms so that what is taken apart and put together is the same term."""

from __future__ import annotations

from typing import Any

import z3


def cut(high: int, low: int, term: Any) -> Any:
    """Return bits `high` to `low` of a term; parts of a concatenation and nested cuts are looked through."""
    if low == 0 and high == term.size() - 1:
        return term
    if z3.is_app_of(term, z3.Z3_OP_EXTRACT):
        offset = term.params()[1]
        return cut(high + offset, low + offset, term.arg(0))
    if z3.is_app_of(term, z3.Z3_OP_CONCAT):
        position = term.size()
        for part in term.children():
            position -= part.size()
            if position <= low and high < position + part.size():
                return cut(high - position, low - position, part)
    return z3.Extract(high, low, term)


def join(*parts: Any) -> Any:
    """Return the concatenation of terms; neighbouring cuts of one term become one cut."""
    joined = [parts[0]]
    for part in parts[1:]:
        before = _source(joined[-1])
        base, high, low = _source(part)
        if base.eq(before[0]) and before[2] == high + 1:
            joined[-1] = cut(before[1], low, base)
        else:
            joined.append(part)
    return joined[0] if len(joined) == 1 else z3.Concat(*joined)


def _source(term: Any) -> tuple[Any, int, int]:
    if z3.is_app_of(term, z3.Z3_OP_EXTRACT):
        high, low = term.params()
        return term.arg(0), high, low
    return term, term.size() - 1, 0
