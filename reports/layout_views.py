"""An operand's layout as tables of text: by elements, or by what each holder has in which register."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..spec.element_table import ElementTable
from .element_grids import cell_text, grid_name, grids, owner_text, runs


@dataclass(frozen=True)
class Cell:
    """What stands in a cell, and whose it is: the number of the owner, or nobody's."""

    text: str
    owner: int | None


@dataclass(frozen=True)
class View:
    """A table.

    Attributes
    ----------
    name : str
        What tells it from others of the same operand; of an only one empty.
    corner : str
        What the titles of the columns count.
    titles : tuple of str
        Of the columns.
    rows : tuple of (str, tuple of Cell)
        The name of each row, and its cells.
    """

    name: str
    corner: str
    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def by_elements(table: ElementTable) -> Iterator[View]:
    """Yield a matrix of holders; neighbours of one owner are one cell."""
    first, second = table.axes[-2:]
    owner = table.owners.name
    for leading, grid in grids(table).items():
        cuts = runs(grid, owner, first.extent, second.extent)
        titles = [f"{start}" if end == start + 1 else f"{start}-{end - 1}" for start, end in cuts]
        rows = []
        for row in range(first.extent):
            held = [[h for column in range(*run) for h in grid.get((row, column), [])] for run in cuts]
            cells = (Cell(cell_text(table, cell), cell[0][owner] if cell else None) for cell in held)
            rows.append((f"{first.name} {row}", tuple(cells)))
        yield View(grid_name(table, leading), f"{second.name}:", tuple(titles), tuple(rows))


def by_registers(table: ElementTable) -> Iterator[View]:
    """Yield what each owner holds: the elements in each of its registers, from the lowest bit on.

    Of registers that belong to no lane, of blocks and of lines, the columns count their elements.
    """
    owner, *within = table.holders
    column = "register" if "register" in within else within[0] if within else owner
    counted = column != "register"
    found: dict[int, dict[int, list[dict[str, int]]]] = {}
    for row in table.rows():
        held = found.setdefault(row[owner], {})
        held.setdefault(len(held) if counted else row[column], []).append(row)
    numbers = sorted({number for held in found.values() for number in held})
    order = "bit" if "bit" in within else column
    rows = []
    for each in range(table.owners.extent):
        of_owner = found.get(each, {})
        cells = (
            Cell(_places(table, sorted(of_owner.get(number, []), key=lambda row: row[order])), each)
            for number in numbers
        )
        rows.append((owner_text(table, each), tuple(cells)))
    coordinates = ",".join(axis.name for axis in table.axes)
    yield View(f"{coordinates} of what is held", f"{column}:", tuple(map(str, numbers)), tuple(rows))


def _places(table: ElementTable, rows: Sequence[dict[str, int]]) -> str:
    """Write where elements are; of neighbours in a row the first and the last column."""
    *leading, last = (axis.name for axis in table.axes)
    runs_of: list[tuple[tuple[int, ...], list[int]]] = []
    for row in rows:
        front = tuple(row[name] for name in leading)
        if runs_of and runs_of[-1][0] == front and runs_of[-1][1][-1] + 1 == row[last]:
            runs_of[-1][1].append(row[last])
        else:
            runs_of.append((front, [row[last]]))
    shown = []
    for front, columns in runs_of:
        end = f"-{columns[-1]}" if len(columns) > 1 else ""
        shown.append(f"{','.join(map(str, (*front, columns[0])))}{end}")
    return " ".join(shown)
