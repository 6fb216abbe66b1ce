"""The gate: tables of third parties, compared with the spec file by file."""

from __future__ import annotations

import datetime
from pathlib import Path

from ..spec.errors import InputError
from ..spec.findings import Checked, Finding
from .allowances import apply_allowances, read_allowances
from .completeness import missing
from .documents import read_document
from .judging import judge_row, undecided
from .layout_rows import judge_layout
from .locks import compare_lock
from .repetition import repetitions
from .row_reading import read_rows
from .rows import AnyRow, LayoutRow, Row, Undecidable
from .settings import GateSettings, GivenTable


def compare(settings: GateSettings, today: datetime.date) -> list[Checked]:
    """Compare every table with the spec.

    Parameters
    ----------
    settings : GateSettings
        What to compare.
    today : date
        The day on which accepted differences are valid.

    Raises
    ------
    InputError
        If a file is malformed; it names file and line.
    """
    allowances = read_allowances(settings.allow) if settings.allow else ()
    checked = [compare_table(table) for table in settings.tables]
    return apply_allowances(settings.allow, allowances, checked, today) if settings.allow else checked


def compare_table(table: GivenTable) -> Checked:
    """Compare one table with the spec.

    Raises
    ------
    InputError
        If it is malformed; it names file and line.
    """
    document = read_document(table.path)
    if document.is_lock:
        return compare_lock(document)
    rows = list(read_rows(document, table.defaults))
    if not rows:
        raise InputError("the table has no rows: nothing would be compared", f"{table.path}:1")
    file = table.path.as_posix()
    repeated = repetitions(rows, table.path)
    judged = (repeated.get(row.at) or _judged(row, file, table.path) for row in rows)
    findings = [finding for finding in judged if finding is not None]
    if table.complete:
        findings += missing([row for row in rows if isinstance(row, Row)], file)
    return Checked(file, "table", tuple((row.at, row.subject) for row in rows), tuple(findings))


def _judged(row: AnyRow, file: str, path: Path) -> Finding | None:
    try:
        match row:
            case Row():
                return judge_row(row, file)
            case LayoutRow():
                return judge_layout(row, file)
            case Undecidable(at, subject, verdict, because):
                return undecided(file, at, subject, verdict, because)
    except InputError as reason:
        raise InputError(str(reason), f"{path}:{row.at}") from None
