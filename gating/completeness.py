"""What the spec allows and a table misses, among the instructions and targets that the table lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_

from ..spec.findings import NOWHERE, Finding, Standing
from . import table_rules
from .columns import INSTRUCTION, is_pattern
from .judging import JudgedPlace, answer, places
from .matching import Index, combinations, index
from .rows import Row
from .vocabulary import Point, Vocabulary

_SHOWN = 6
"""How many places where a missing form is legal are listed."""


def missing(rows: Sequence[Row], file: str) -> Iterator[Finding]:
    """Yield one finding for each legal form that no row is about.

    Forms are told apart by the columns that the table has. They are judged on each target that the table
    names, in the newest version that it names with it; on every target, where it names none.
    """
    by_set: dict[Vocabulary, list[Row]] = {}
    for row in rows:
        by_set.setdefault(row.statement.vocabulary, []).append(row)
    for words, of_set in by_set.items():
        yield from _missing_of(words, of_set, file)


def _missing_of(words: Vocabulary, rows: Sequence[Row], file: str) -> Iterator[Finding]:
    known = index(words)
    covered: dict[str | None, int] = {}
    newest: dict[str | None, str | None] = {}
    masks = {id(row): _covered(known, row) for row in rows}
    for row in rows:
        for place in places(row).known:
            covered[place.target] = covered.get(place.target, 0) | masks[id(row)]
            last = newest.get(place.target)
            newest[place.target] = max(filter(None, (last, place.version)), key=_ordered, default=None)
    columns = _columns(words, rows)
    names = {point.cells[INSTRUCTION] for mask in masks.values() for point in known.listed(mask)}
    everywhere = covered.pop(None, 0)
    if not covered:
        covered = dict.fromkeys(words.isa.targets, 0)
        newest = dict.fromkeys(words.isa.targets, newest.get(None))
    gaps: dict[str, list[JudgedPlace]] = {}
    for target, mask in covered.items():
        have = {_projected(point, columns) for point in known.listed(mask | everywhere)}
        place = JudgedPlace(target, newest.get(target))
        for point in known.points:
            form = _projected(point, columns)
            if point.cells[INSTRUCTION] in names and form not in have and _is_legal(words, point, place):
                have.add(form)
                gaps.setdefault(form, []).append(place)
    for form, listed in gaps.items():
        cause = table_rules.MISSING.saying(f"no row is about it; it is legal on {_spelled(listed)}")
        yield Finding(Standing.DRIFT, file, NOWHERE, form, (cause,))


def _spelled(listed: Sequence[JudgedPlace]) -> str:
    """Return places in words, those of a version together."""
    targets: dict[str | None, list[str]] = {}
    for place in listed:
        targets.setdefault(place.version, []).append(str(place.target))
    words = []
    for version, names in targets.items():
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        words.append(", ".join(names[:_SHOWN]) + more + (f" (PTX {version})" if version else ""))
    return "; ".join(words)


def _ordered(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _covered(known: Index, row: Row) -> int:
    stated, words = row.statement, row.statement.vocabulary
    if stated.text is not None:
        read = words.read(stated.text)
        return known.matching(read) if read else 0
    completed = map(words.completed, combinations(stated.cells))
    return reduce(or_, map(known.matching, completed), 0)


def _columns(words: Vocabulary, rows: Sequence[Row]) -> tuple[str, ...] | None:
    """Return the columns by which the table tells forms apart; None where it writes them in full."""
    statements = [row.statement for row in rows]
    if any(s.text is not None or any(map(is_pattern, s.cells.get(INSTRUCTION, ()))) for s in statements):
        return None
    stated = dict.fromkeys(column for statement in statements for column in statement.cells)
    known = index(words)
    return (INSTRUCTION, *(column for column in stated if column != INSTRUCTION and known.has(column)))


def _projected(point: Point, columns: Iterable[str] | None) -> str:
    if columns is None:
        return point.text
    cells: Mapping[str, str] = point.cells
    name, *rest = (column for column in columns if column in cells)
    return " ".join(
        [cells[name], *(f"{column}={cells[column]}" for column in rest if cells[column] != "none")]
    )


def _is_legal(words: Vocabulary, point: Point, place: JudgedPlace) -> bool:
    target = str(place.target)
    text = words.as_of(point.text, target, place.version)
    return bool(answer(words, text, target, place.version).legal)
