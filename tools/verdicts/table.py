"""Tables of tab-separated values, and what differs between two of them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from .measurement import COST_COLUMNS, VERDICT_COLUMNS, Row

VERDICTS, COSTS = "verdicts.tsv", "costs.tsv"
"""The two files of a folder of results."""

RATIO = 1.2
"""Costs that differ by more are told."""

LEAST = {"cpu_seconds": 1.0, "peak_mib": 50.0}
"""What differs by less, in the column's unit, is noise of the machine, whatever the ratio."""


def read(path: Path) -> list[Row]:
    """Return the rows of a table without its heading; none of a file that does not exist."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as lines:
        return [tuple(row) for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]


def write(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a table with its heading."""
    lines = ["\t".join(row) for row in (tuple(columns), *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def of_folder(folder: Path) -> tuple[list[Row], list[Row]]:
    """Return the verdicts and the costs in a folder, of the kernels that have both."""
    verdicts, costs = read(folder / VERDICTS), read(folder / COSTS)
    ended = {row[:2] for row in costs}
    return [row for row in verdicts if row[:2] in ended], costs


def differing_verdicts(old: Iterable[Row], new: Iterable[Row]) -> Iterator[str]:
    """Yield a line for every column of a verdict that differs, and for rows that only one table has."""
    before, after = ({row[:3]: row for row in rows} for rows in (old, new))
    for key in dict.fromkeys([*before, *after]):
        name = "{}: {} ({})".format(*key)
        if key not in after:
            yield f"{name}: no longer there"
        elif key not in before:
            yield f"{name}: new, {after[key][3]}"
        else:
            for column, was, now in zip(VERDICT_COLUMNS, before[key], after[key], strict=True):
                if was != now:
                    yield f"{name}: {column} was {was!r}, is {now!r}"


def differing_costs(old: Iterable[Row], new: Iterable[Row]) -> Iterator[str]:
    """Yield a line for every time or memory of a kernel that differs by more than 20 %."""
    before = {row[:2]: _numbers(row) for row in old}
    for row in new:
        was, now = before.get(row[:2], {}), _numbers(row)
        for column, least in LEAST.items():
            if column in was and column in now and abs(now[column] - was[column]) > least:
                low, high = sorted((was[column], now[column]))
                if high > RATIO * low:
                    yield f"{row[0]}: {row[1]}: {column} was {was[column]:g}, is {now[column]:g}"


def shares(costs: Iterable[Row]) -> Iterator[str]:
    """Yield a line for each corpus, and for all: the share of the checker and of the runs in the time."""
    by_corpus: dict[str, list[Mapping[str, float]]] = {}
    for row in costs:
        by_corpus.setdefault(row[0], []).append(_numbers(row))
    every = [each for some in by_corpus.values() for each in some]
    for name, some in [*by_corpus.items(), ("all", every)]:
        spent, checker, runs = (
            sum(each.get(column, 0.0) for each in some)
            for column in ("cpu_seconds", "checker_seconds", "runs_seconds")
        )
        of_all = [f"{part / spent:.1%}" if spent else "-" for part in (checker, runs)]
        yield f"{name}: {len(some)} kernels, {spent:,.0f} s; checker {of_all[0]}, runs on numbers {of_all[1]}"


def _numbers(row: Row) -> dict[str, float]:
    return {
        column: float(cell)
        for column, cell in zip(COST_COLUMNS[2:], row[2:], strict=True)
        if cell  # a process that was ended has no times
    }
