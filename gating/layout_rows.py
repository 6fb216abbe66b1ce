"""Rows that state layouts, as `mmaproof.spec.foreign_layouts` judges them."""

from __future__ import annotations

import json
from typing import Any

from ..spec.errors import InputError, UnsupportedError
from ..spec.findings import Cause, Finding, Standing
from ..spec.foreign_layouts.against import compare_layout
from ..spec.foreign_layouts.comparison import Comparison, Verdict
from . import table_rules
from .judging import undecided
from .rows import LayoutRow

OWNER = "layout"

SOURCE = "mmaproof layout INSTR --operand NAME"
"""Where the specified layout can be read."""


_SHOWN = 300
"""Characters of a layout that reports show."""


def layout_rules() -> list[Cause]:
    """Return a rule for each way in which a layout may be wrong."""
    return [_rule(verdict) for verdict in Verdict if verdict is not Verdict.EQUAL]


def judge_layout(row: LayoutRow, file: str) -> Finding | None:
    """Compare the layout of a row with the spec.

    Raises
    ------
    InputError
        If the layout can't be read, or there is no such instruction or operand.
    """
    text = _text(row.layout)
    they_say = ("" if row.legal else "not ") + (text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
    try:
        found = compare_layout(row.instruction, row.operand, text, row.target)
    except UnsupportedError as reason:
        return undecided(file, row.at, row.subject, they_say, str(reason))
    if found.equal == row.legal:
        return None
    if found.equal:
        cause, spec_says = table_rules.ALLOWED.saying(found.witness), "it is its layout"
    else:
        cause, spec_says = _rule(found.verdict).saying(_message(found)), found.expected or "another layout"
    return Finding(Standing.DRIFT, file, row.at, row.subject, (cause,), they_say, spec_says)


def _message(found: Comparison) -> str:
    more = (("permutation", found.permutation), ("repair", found.repair))
    return "; ".join([found.witness, *(f"{title}: {text}" for title, text in more if text), *found.notes])


def layout_key(row: LayoutRow) -> tuple[str, ...]:
    """Return what two rows have in common that state the same, or the opposite."""
    return (row.instruction, row.operand, row.target or "", json.dumps(row.layout))


def _rule(verdict: Verdict) -> Cause:
    reason = f"a layout is not so: {verdict.meaning}"
    return Cause(OWNER, verdict.value, reason, SOURCE, reason)


def _text(layout: Any) -> str:
    """Return a layout as text: an object of basis vectors, or rows, as JSON."""
    if isinstance(layout, str):
        return layout
    if isinstance(layout, dict) and set(layout) == {"shape", "stride"}:
        return f"{_nested(layout['shape'])}:{_nested(layout['stride'])}"
    if isinstance(layout, dict | list):
        return json.dumps(layout)
    raise InputError(f"a layout is text, an object or rows, not {layout!r}")


def _nested(value: Any) -> str:
    """Return nested lists of numbers as CuTe writes them."""
    if isinstance(value, list):
        return f"({','.join(map(_nested, value))})"
    if type(value) is not int:
        raise InputError(f"a shape or a stride is made of integers, not {value!r}")
    return str(value)
