"""``mmaproof layout``: who holds which element of an operand."""

from __future__ import annotations

import csv
import os
import sys
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

import typer

from ..spec.errors import InputError
from .exit_codes import ExitCode
from .layout_comparison import compare
from .output import json_line, say

if TYPE_CHECKING:
    from ..spec.element_table import ElementTable

LAYOUT_SCHEMA = 1

_CELL, _MARGIN = 46, 40
"""Pixels of the SVG."""

_COLOURS = (31, 32, 33, 34, 35, 36, 91, 92, 93, 94, 95, 96)
"""Foreground colours of a terminal; lanes or registers take them in turn."""

_MARKS = {"lane": "T", "register": "R", "block": "B", "line": "L"}
"""How a cell names who holds its elements; T is a thread."""


class LayoutFormat(StrEnum):
    """How a layout is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    SVG = "svg"
    HTML = "html"
    CUTE = "cute"
    LINEAR = "linear"


_WHOLE = (LayoutFormat.CUTE, LayoutFormat.LINEAR)
"""What writes no single elements."""


def layout(
    instruction: Annotated[str, typer.Argument(metavar="INSTR", help="With or without operands.")],
    operand: Annotated[
        str,
        typer.Option(
            help="a, b, c, d, metadata, scale_a or scale_b; registers or addresses of a matrix move; "
            "x, y or acc of a Power rank-k update."
        ),
    ],
    lane: Annotated[int | None, typer.Option(metavar="LANE", help="Only what this lane holds.")] = None,
    element: Annotated[
        str | None, typer.Option(metavar="R,C", help="Only who holds this element (row, column).")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The processor, where layouts depend on it: A2A3, A5 or CPU of PTO.")
    ] = None,
    layout_format: Annotated[
        LayoutFormat, typer.Option("--format", help="How to write the layout.")
    ] = LayoutFormat.TABLE,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="LAYOUT",
            help="Compare with another tool's: CuTe's shape:stride, Triton's vectors of registers and lanes, "
            "rows (CSV, JSON), LDMATRIX <- shared memory; or @FILE. Status 1 where it differs.",
        ),
    ] = None,
) -> ExitCode:
    """Say who holds which element of an operand: a lane or a register, and in which bits."""
    from ..spec.instruction_set import read

    whole = lane is None and element is None
    if not whole and (against is not None or layout_format in _WHOLE):
        what = "--against compares" if against is not None else f"{layout_format.value} describes"
        raise InputError(f"{what} whole layouts: --lane and --element are not for it")
    if against is not None:
        return compare(instruction, operand, target, against, layout_format.value)
    table = read(instruction).layout(operand, target)
    if lane is not None:
        table = table.held_by("lane", lane)
    if element is not None:
        table = table.at(*_coordinates(element))
    match layout_format:
        case LayoutFormat.TABLE if whole:
            _print_grids(table)
        case LayoutFormat.TABLE:
            _print_rows(table)
        case LayoutFormat.CSV:
            _print_csv(table)
        case LayoutFormat.CUTE | LayoutFormat.LINEAR:
            from ..spec.foreign_layouts.against import Notation, written_layout

            say(written_layout(instruction, operand, Notation(layout_format.value), target))
        case LayoutFormat.JSON:
            print(json_line(_document(instruction, operand, table)))
        case LayoutFormat.SVG:
            say(_svg(table))
        case LayoutFormat.HTML:
            from html import escape

            say(
                f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(table.title)}</title>'
                f"<h1>{escape(table.title)}</h1><p>{escape(table.formula)}</p>{_svg(table)}</html>"
            )
    return ExitCode.HOLDS


def _coordinates(element: str) -> list[int]:
    try:
        return [int(part) for part in element.split(",")]
    except ValueError:
        raise InputError(f"--element {element!r} is not two numbers R,C") from None


def _document(instruction: str, operand: str, table: ElementTable) -> dict[str, object]:
    return {
        "schema": LAYOUT_SCHEMA,
        "instr": instruction,
        "operand": operand,
        "format": table.format,
        "bits": table.bits,
        "formula": table.formula,
        "axes": {axis.name: axis.extent for axis in table.axes},
        "elements": table.rows(),
    }


def _heading(table: ElementTable) -> None:
    say(table.title, "bold")
    say(table.formula)


def _print_rows(table: ElementTable) -> None:
    from .output import print_table

    _heading(table)
    titles = [*table.holders, *table.coordinates]
    cells = [[str(row[title]) for title in titles] for row in table.rows()]
    print_table(titles, cells, numbers=range(len(titles)))


def _print_csv(table: ElementTable) -> None:
    writer = csv.DictWriter(sys.stdout, [*table.holders, *table.coordinates], lineterminator="\n")
    writer.writeheader()
    writer.writerows(table.rows())


def _cells(table: ElementTable) -> dict[tuple[int, ...], dict[tuple[int, int], list[dict[str, int]]]]:
    """Return the holders of every (row, column), for each value of the leading axes."""
    names = [axis.name for axis in table.axes]
    grids: dict[tuple[int, ...], dict[tuple[int, int], list[dict[str, int]]]] = {}
    for row in table.rows():
        leading = tuple(row[name] for name in names[:-2])
        place = (row[names[-2]], row[names[-1]])
        grids.setdefault(leading, {}).setdefault(place, []).append(row)
    return grids


def _print_grids(table: ElementTable) -> None:
    """Print a matrix of ``owner:elements``, neighbours of one owner in one cell, coloured by owner."""
    _heading(table)
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    first, second = table.axes[-2:]
    for leading, grid in sorted(_cells(table).items()):
        print()
        names = [axis.name for axis in table.axes[: len(leading)]]
        if leading:
            print(", ".join(f"{name} {value}" for name, value in zip(names, leading, strict=True)))
        runs = _runs(grid, table.owners.name, first.extent, second.extent)
        titles = [f"{start}" if end == start + 1 else f"{start}-{end - 1}" for start, end in runs]
        lines = []
        for row in range(first.extent):
            held = [[h for column in range(*run) for h in grid.get((row, column), [])] for run in runs]
            lines.append([(_cell(table, cell), cell[0][table.owners.name] if cell else -1) for cell in held])
        widths = [
            max(len(title), *(len(line[place][0]) for line in lines)) for place, title in enumerate(titles)
        ]
        head = f"{second.name}:"
        margin = max(len(head), len(f"{first.name} {first.extent - 1}"))
        heads = [title.rjust(width) for title, width in zip(titles, widths, strict=True)]
        print("  ".join([head.rjust(margin), *heads]))
        for row, line in enumerate(lines):
            shown = [f"{first.name} {row}".rjust(margin)]
            for (text, holder), width in zip(line, widths, strict=True):
                padded = text.rjust(width)
                shown.append(
                    f"\x1b[{_COLOURS[holder % len(_COLOURS)]}m{padded}\x1b[0m" if coloured else padded
                )
            print("  ".join(shown))


def _runs(
    grid: dict[tuple[int, int], list[dict[str, int]]], owner: str, rows: int, columns: int
) -> list[tuple[int, int]]:
    """Cut the columns where some row's owner changes."""
    owners = [
        tuple(tuple(h[owner] for h in grid.get((row, column), [])) for row in range(rows))
        for column in range(columns)
    ]
    cuts = [0, *(c for c in range(1, columns) if owners[c] != owners[c - 1]), columns]
    return list(pairwise(cuts))


def _cell(table: ElementTable, held: list[dict[str, int]]) -> str:
    if not held:
        return ""
    owner, *within = table.holders
    shown = f"{_MARKS[owner]}{held[0][owner]}"
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


def _svg(table: ElementTable) -> str:
    """Draw one grid beneath another, a square for each element, coloured by owner."""
    from html import escape

    first, second = table.axes[-2:]
    grids = sorted(_cells(table).items())
    height_of_one = first.extent * _CELL + 2 * _MARGIN
    width = second.extent * _CELL + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height_of_one * len(grids)}" '
        f'font-family="monospace" font-size="11"><title>{escape(table.title)}</title>'
    ]
    for place, (leading, grid) in enumerate(grids):
        top = place * height_of_one + _MARGIN
        label = ", ".join(
            [table.title, *(f"{a.name} {v}" for a, v in zip(table.axes, leading, strict=False))]
        )
        parts.append(f'<text x="{_MARGIN}" y="{top - 22}">{escape(label)}</text>')
        parts += [
            f'<text x="{_MARGIN + column * _CELL + _CELL // 2}" y="{top - 6}">{column}</text>'
            for column in range(second.extent)
        ]
        for row in range(first.extent):
            parts.append(f'<text x="4" y="{top + row * _CELL + _CELL // 2}">{row}</text>')
        for (row, column), held in sorted(grid.items()):
            x, y = _MARGIN + column * _CELL, top + row * _CELL
            hue = held[0][table.owners.name] * 360 // table.owners.extent
            fill = f'fill="hsl({hue},70%,82%)" stroke="#555"'
            middle = f'x="{x + _CELL // 2}" y="{y + _CELL // 2 + 4}" text-anchor="middle"'
            parts.append(
                f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" {fill}/>'
                f"<text {middle}>{_cell(table, held)}</text>"
            )
    return "".join([*parts, "</svg>"])
