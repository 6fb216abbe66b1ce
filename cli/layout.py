"""``mmaproof layout``: who holds which element of an operand."""

from __future__ import annotations

import csv
import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ..spec.errors import InputError
from .exit_codes import ExitCode
from .layout_comparison import compare
from .output import json_line, say

if TYPE_CHECKING:
    from ..spec.element_table import ElementTable

_COLOURS = (31, 32, 33, 34, 35, 36, 91, 92, 93, 94, 95, 96)
"""Foreground colours of a terminal; lanes or registers take them in turn."""


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
    from ..api import instructions

    whole = lane is None and element is None
    if not whole and (against is not None or layout_format in _WHOLE):
        what = "--against compares" if against is not None else f"{layout_format.value} describes"
        raise InputError(f"{what} whole layouts: --lane and --element are not for it")
    if against is not None:
        return compare(instruction, operand, target, against, layout_format.value)
    answer = instructions.layout(instruction, operand, target)
    if lane is not None:
        answer = answer.held_by("lane", lane)
    if element is not None:
        answer = answer.at(*_coordinates(element))
    table = answer.table
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
            print(json_line(answer.document()))
        case LayoutFormat.SVG:
            from ..reports.layout_drawing import svg

            print(svg(table), end="")
        case LayoutFormat.HTML:
            print(answer.page(), end="")
    return ExitCode.HOLDS


def _coordinates(element: str) -> list[int]:
    try:
        return [int(part) for part in element.split(",")]
    except ValueError:
        raise InputError(f"--element {element!r} is not two numbers R,C") from None


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


def _print_grids(table: ElementTable) -> None:
    """Print a matrix of ``owner:elements``, neighbours of one owner in one cell, coloured by owner."""
    from ..reports.element_grids import cell_text, grid_name, grids, runs

    _heading(table)
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    first, second = table.axes[-2:]
    for leading, grid in grids(table).items():
        print()
        if leading:
            print(grid_name(table, leading))
        cuts = runs(grid, table.owners.name, first.extent, second.extent)
        titles = [f"{start}" if end == start + 1 else f"{start}-{end - 1}" for start, end in cuts]
        lines = []
        for row in range(first.extent):
            held = [[h for column in range(*run) for h in grid.get((row, column), [])] for run in cuts]
            lines.append(
                [(cell_text(table, cell), cell[0][table.owners.name] if cell else -1) for cell in held]
            )
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
