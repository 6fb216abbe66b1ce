"""Lock files: what ``mmaproof tables`` wrote once, compared with what it writes now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ..spec.errors import InputError
from ..spec.findings import NOWHERE, Checked, Finding, Standing
from ..spec.instruction_set import NAMES, instruction_set
from . import table_rules
from .documents import Document, RawRow

SCHEMA = 1

_WORDING = frozenset({"source"})
"""Columns whose text says nothing about the instructions."""

TableRow = Mapping[str, str]


def compare_lock(document: Document) -> Checked:
    """Compare a lock file with the table as it is now.

    Raises
    ------
    InputError
        If it is no table that this mmaproof knows, or is malformed.
    """
    isa, table = document.header["isa"], document.header["table"]
    if document.header.get("schema") != SCHEMA:
        found = document.header.get("schema")
        raise InputError(
            f"schema {found!r} is not known; this mmaproof reads schema {SCHEMA}", f"{document.path}:1"
        )
    if isa not in NAMES:
        raise InputError(f"unknown ISA {isa!r}; known: {', '.join(NAMES)}", f"{document.path}:1")
    tables = instruction_set(isa).tables
    if table not in tables:
        raise InputError(f"{isa} has no table {table!r}; it has {', '.join(tables)}", f"{document.path}:1")
    current = tables[table]()
    for row in document.rows:
        if wrong := [title for title, cell in row.cells.items() if not isinstance(cell, str)]:
            raise InputError(f"a cell of a locked row is text: {wrong[0]!r}", f"{document.path}:{row.at}")
    name = f"{isa} {table}"
    file = str(document.path)
    subjects = tuple((row.at, _subject(name, row.cells)) for row in document.rows)
    return Checked(file, "lock", subjects, tuple(_differences(file, name, document.rows, current)))


def _differences(
    file: str, name: str, locked: Sequence[RawRow], current: Sequence[TableRow]
) -> list[Finding]:
    known = {title for row in current for title in row}
    titles = (known & {title for row in locked for title in row.cells}) - _WORDING

    def gist(row: TableRow) -> tuple[tuple[str, str], ...]:
        return tuple((title, row[title]) for title in sorted(titles) if row.get(title))

    left = Counter(gist(row) for row in current)
    changed: list[RawRow] = []
    for row in locked:
        if left[gist(row.cells)]:
            left[gist(row.cells)] -= 1
        else:
            changed.append(row)
    new = [dict(each) for each in left.elements()]
    findings = [*_unknown_columns(file, name, locked, known), *_new_columns(file, name, locked, current)]
    for row in changed:
        old = dict(gist(row.cells))
        match = max(new, key=partial(_likeness, old), default=None)
        subject = _subject(name, row.cells)
        if match is None or not _is_same_row(old, match):
            cause = table_rules.LOCK_REMOVED.saying(f"{subject} is gone")
            findings.append(
                Finding(Standing.DRIFT, file, row.at, subject, (cause,), "it exists", "it does not")
            )
            continue
        new.remove(match)
        for title in sorted(titles):
            before, now = old.get(title, ""), match.get(title, "")
            if before != now:
                cause = table_rules.LOCK_CHANGED.saying(f"{title} was {before!r} and is {now!r}")
                about = f"{subject}, {title}"
                findings.append(
                    Finding(Standing.DRIFT, file, row.at, about, (cause,), repr(before), repr(now))
                )
    for each in new:
        subject = _subject(name, each)
        cause = table_rules.LOCK_ADDED.saying(f"{subject} is new")
        findings.append(Finding(Standing.DRIFT, file, NOWHERE, subject, (cause,), "nothing", "it exists"))
    return findings


def _unknown_columns(file: str, name: str, locked: Sequence[RawRow], known: set[str]) -> Iterator[Finding]:
    """Yield drift for each column that the table has not, at the first row that fills it."""
    filled: dict[str, list[RawRow]] = {}
    for row in locked:
        for title in row.cells.keys() - known:
            filled.setdefault(title, []).append(row)
    for title, rows in sorted(filled.items()):
        cause = table_rules.LOCK_COLUMN.saying(
            f"{name} has no column {title!r}; {len(rows)} locked rows have values for it"
        )
        about = f"{name}, column {title}"
        yield Finding(Standing.DRIFT, file, rows[0].at, about, (cause,), "it exists", "it does not")


def _new_columns(
    file: str, name: str, locked: Sequence[RawRow], current: Sequence[TableRow]
) -> Iterator[Finding]:
    """Yield a warning for each column that no locked row fills: what it says is not compared."""
    filled = {title for row in current for title, cell in row.items() if cell}
    for title in sorted(filled - _WORDING - {title for row in locked for title in row.cells}):
        cause = table_rules.LOCK_COLUMN.saying(f"no locked row has a value for {title!r}: it is not compared")
        about = f"{name}, column {title}"
        yield Finding(Standing.WARNING, file, NOWHERE, about, (cause,), "nothing", "it exists")


def _likeness(old: TableRow, new: TableRow) -> tuple[bool, int]:
    first = _first(old)
    return new.get(first) == old.get(first), sum(new.get(title) == cell for title, cell in old.items())


def _is_same_row(old: TableRow, new: TableRow) -> bool:
    """Whether a row is an older state of another: most of it is the same, beginning with its name."""
    named, same = _likeness(old, new)
    return named and 2 * same >= max(len(old), len(new))


_NAMES = ("mnemonic", "operation", "instruction", "rule", "contradiction", "tile", "accumulator")


def _first(row: TableRow) -> str:
    return next((name for name in _NAMES if name in row), next(iter(row), ""))


_TELLING = (
    "shape",
    "A x B",
    "D <- C",
    "moved",
    "modifiers",
    "kind",
    "scale factors",
    "metadata",
    "who",
    "layout",
)


def _subject(name: str, row: TableRow) -> str:
    words = [row.get(_first(row), ""), *(row.get(title, "") for title in _TELLING)]
    return f"{name}: {' '.join(filter(None, words))}"
