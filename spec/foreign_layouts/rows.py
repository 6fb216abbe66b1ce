"""Layouts as explicit rows, CSV or JSON: one row for each element, who holds it and where it is.

``mmaproof layout --format csv`` and ``--format json`` write such rows.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..algebra import Array
from ..element_table import ElementTable
from ..errors import InputError
from ..json_text import read_json
from .comparison import Claim, Comparison, Verdict, compare
from .distribution import MAX_ELEMENTS, Distribution

_ALIASES = {
    "thread": "lane", "value": "element", "index": "element", "i": "element", "reg": "register",
    "col": "column",
}  # fmt: skip
_MAX_DIGITS = 10

Row = tuple[str, dict[str, int]]
"""Where a row is written, and its columns."""


def is_rows(text: str) -> bool:
    """Whether a text looks like a table rather than a layout's notation."""
    start = text.lstrip()
    if start.startswith("["):
        return True
    if start.startswith("{"):
        return '"elements"' in start
    return re.match(r"""["']?[A-Za-z][\w "',;.-]*,[\w "',;.-]*\r?\n""", start) is not None


def parse_rows(text: str) -> list[Row]:
    """Read rows.

    Raises
    ------
    InputError
        If it is no table of whole numbers, or absurdly long.
    """
    found = _from_json(text) if text.lstrip()[:1] in "[{" else _from_csv(text)
    rows: list[Row] = []
    for where, row in found:
        if len(rows) == MAX_ELEMENTS:
            raise InputError(f"a layout of more than {MAX_ELEMENTS} rows is not looked at")
        rows.append((where, {_name(title): _number(where, title, cell) for title, cell in row.items()}))
        if rows[-1][1].keys() != rows[0][1].keys():
            raise InputError(f"{where} has the columns {', '.join(row)}, others {', '.join(rows[0][1])}")
    if not rows:
        raise InputError("a layout without rows")
    return rows


def _from_csv(text: str) -> Iterable[tuple[str, Mapping[str, object]]]:
    reader = csv.DictReader(io.StringIO(text.lstrip()), strict=True, skipinitialspace=True)
    try:
        for row in reader:
            where = f"line {reader.line_num} of the layout"
            if None in row or None in row.values():
                raise InputError(f"{where} does not have as many cells as the first")
            yield where, row
    except csv.Error as reason:
        raise InputError(f"line {reader.line_num} of the layout: {reason}") from None


def _from_json(text: str) -> Iterable[tuple[str, Mapping[str, object]]]:
    document = read_json(text, "the layout")
    rows = document.get("elements") if isinstance(document, dict) else document
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(
            'the JSON of a layout is a list of objects such as {"lane", "element", "row", "column"}'
        )
    for number, row in enumerate(rows, 1):
        yield f"row {number} of the layout", row


def _name(title: str) -> str:
    plain = title.strip().lower()
    return _ALIASES.get(plain, plain)


def _number(where: str, title: str, cell: object) -> int:
    text = cell.strip() if isinstance(cell, str) else str(cell)
    if isinstance(cell, bool) or not text.lstrip("-").isdecimal() or len(text) > _MAX_DIGITS:
        raise InputError(f"{where}: {title} is {str(cell)[:40]!r}, not a whole number")
    return int(text)


def compare_rows(rows: Sequence[Row], table: ElementTable, expected: Distribution) -> Comparison:
    """Compare what rows claim with all that a table says.

    A row names the holder by the owner and as many other columns of `mmaproof layout` as tell its
    elements apart: ``lane`` and ``element``, or ``lane``, ``register`` and ``bit``.

    Raises
    ------
    InputError
        If a column is unknown or missing, or two rows are about one holder.
    """
    titles = list(rows[0][1])
    holders = [title for title in titles if title in table.holders]
    axes = [axis.name for axis in table.axes]
    known = [*table.holders, *axes]
    if unknown := [title for title in titles if title not in known]:
        raise InputError(f"the layout has the column {unknown[0]!r}; known are {', '.join(known)}")
    if missing := [title for title in axes if title not in titles]:
        raise InputError(f"the layout lacks the column {missing[0]!r}; needed are {', '.join(axes)}")
    places = _places(table, holders, expected)
    first_seen: dict[tuple[int, ...], str] = {}
    owners, numbers = [], []
    for where, row in rows:
        key = tuple(row[title] for title in holders)
        named = ", ".join(f"{title} {value}" for title, value in zip(holders, key, strict=True))
        if key in first_seen:
            raise InputError(f"{where} is about {named}, as {first_seen[key]} is")
        first_seen[key] = where
        if key not in places:
            return Comparison(Verdict.OUT_OF_RANGE, f"{where}: {table.title} has no {named}")
        owner, number = places[key]
        owners.append(owner)
        numbers.append(number)
    coordinates = np.array([[row[axis] for axis in axes] for _, row in rows], dtype=np.int64)
    return compare(Claim(np.array(owners), np.array(numbers), coordinates), expected)


def _places(
    table: ElementTable, holders: Sequence[str], expected: Distribution
) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return the holders of a table with the numbers that its distribution gives them."""
    columns = list(table.holders.values())
    order: Array = np.lexsort((*reversed(columns[1:]), columns[0]))
    keys = zip(*(table.holders[title][order].tolist() for title in holders), strict=True)
    count = expected.domain[1]
    places = {key: divmod(place, count) for place, key in enumerate(keys)}
    if len(places) != len(table):
        apart = ", ".join(table.holders)
        raise InputError(
            f"{', '.join(holders) or 'no column'} of the layout does not say which element is held; "
            f"columns that do are among {apart}"
        )
    return places
