"""Rows of a table that repeat another, or contradict it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path

from ..spec.errors import InputError
from ..spec.findings import Finding, Position, Standing
from . import table_rules
from .judging import claim_keys
from .layout_rows import layout_key
from .rows import AnyRow, LayoutRow, Row


def repetitions(rows: Sequence[AnyRow], path: Path) -> dict[Position, Finding]:
    """Return a warning about each row that says what an earlier one says, by its position.

    Raises
    ------
    InputError
        If a row contradicts an earlier one; it names both.
    """
    first: dict[Hashable, AnyRow] = {}
    found: dict[Position, Finding] = {}
    for row in rows:
        keys = _keys(row, path)
        earlier = [other for key in keys if (other := first.setdefault(key, row)) is not row]
        for other in earlier:
            if _verdict(other) != _verdict(row):
                raise InputError(
                    f"{row.subject} contradicts line {other.at}, which says {_verdict(other)}",
                    f"{path}:{row.at}",
                )
        if len(earlier) == len(keys) and len(set(map(id, earlier))) == 1:
            found[row.at] = _repeated(row, earlier[0], path.as_posix())
    return found


def _repeated(row: AnyRow, other: AnyRow, file: str) -> Finding:
    verdict = _verdict(row)
    cause = table_rules.REPEATED.saying(f"line {other.at} says so already")
    return Finding(Standing.WARNING, file, row.at, row.subject, (cause,), verdict, verdict)


def _verdict(row: AnyRow) -> str:
    return ("the layout" if row.legal else "not the layout") if isinstance(row, LayoutRow) else row.verdict


def _keys(row: AnyRow, path: Path) -> Sequence[Hashable]:
    """Return what a row makes claims about."""
    match row:
        case Row():
            try:
                return claim_keys(row)
            except InputError as reason:
                raise InputError(str(reason), f"{path}:{row.at}") from None
        case LayoutRow():
            return [layout_key(row)]
        case _:  # two rows of which nothing is known do not contradict each other
            return [(row.subject, row.verdict)]
