"""The elements of an operand as grids of rows and columns, and what a cell says of who holds it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..spec.element_table import ElementTable

Holders = Sequence[dict[str, int]]
"""The rows of a table that are about one cell."""

Grid = dict[tuple[int, int], list[dict[str, int]]]
"""The rows of a table by (row, column)."""

MARKS = {"lane": "T", "thread": "T", "register": "R", "block": "B", "line": "L"}
"""How a cell names who holds its elements; T is a thread."""


def grids(table: ElementTable) -> dict[tuple[int, ...], Grid]:
    """Return the holders of every (row, column), for each value of the leading axes, in their order."""
    names = [axis.name for axis in table.axes]
    found: dict[tuple[int, ...], Grid] = {}
    for row in table.rows():
        leading = tuple(row[name] for name in names[:-2])
        place = (row[names[-2]], row[names[-1]])
        found.setdefault(leading, {}).setdefault(place, []).append(row)
    return dict(sorted(found.items()))


def grid_name(table: ElementTable, leading: Sequence[int]) -> str:
    """Return which grid it is: the values of the leading axes."""
    return ", ".join(f"{axis.name} {value}" for axis, value in zip(table.axes, leading, strict=False))


def runs(grid: Grid, owner: str, rows: int, columns: int) -> list[tuple[int, int]]:
    """Cut the columns where some row's owner changes."""
    owners = [
        tuple(tuple(h[owner] for h in grid.get((row, column), [])) for row in range(rows))
        for column in range(columns)
    ]
    cuts = [0, *(c for c in range(1, columns) if owners[c] != owners[c - 1]), columns]
    return list(pairwise(cuts))


def owner_text(table: ElementTable, owner: int) -> str:
    """Return how cells name an owner."""
    return f"{MARKS[table.owners.name]}{owner}"


def cell_text(table: ElementTable, held: Holders) -> str:
    """Return what a cell says: its owner, and which of the owner's elements it has."""
    if not held:
        return ""
    owner, *within = table.holders
    shown = owner_text(table, held[0][owner])
    if not within:
        return shown
    numbers = [h[within[0]] for h in held]
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 0
    if step > 0 and numbers == list(range(numbers[0], numbers[-1] + 1, step)):
        if step == 1:
            return f"{shown}:{numbers[0]}-{numbers[-1]}"
        if len(numbers) > 4:
            return f"{shown}:{numbers[0]},{numbers[1]}..{numbers[-1]}"
    return f"{shown}:{','.join(map(str, numbers))}"
