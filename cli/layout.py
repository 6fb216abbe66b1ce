"""``mmaproof layout``: who holds which element of an operand."""

from __future__ import annotations

import csv
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ..spec.errors import InputError
from .exit_codes import ExitCode
from .layout_comparison import compare
from .layout_tables import print_markdown_view, print_view
from .output import json_line, markdown_lines, print_table, say, say_lines
from .paging import NoPager, paged

if TYPE_CHECKING:
    from ..reports.layout_answer import LayoutAnswer
    from ..spec.element_table import ElementTable


class LayoutFormat(StrEnum):
    """How a layout is written."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"
    SVG = "svg"
    HTML = "html"
    CUTE = "cute"
    LINEAR = "linear"


class LayoutView(StrEnum):
    """What the rows of a table are."""

    ELEMENTS = "elements"
    REGISTERS = "registers"


_TABLES = (LayoutFormat.TABLE, LayoutFormat.MARKDOWN)
"""What is written as tables."""

_WHOLE = (LayoutFormat.CUTE, LayoutFormat.LINEAR)
"""What writes no single elements."""


def layout(
    instruction: Annotated[str, typer.Argument(metavar="INSTR", help="With or without operands.")],
    operand: Annotated[
        str | None,
        typer.Option(
            help="a, b, c, d, metadata, scale_a or scale_b; registers or addresses of a matrix move; "
            "x, y or acc of a Power rank-k update."
        ),
    ] = None,
    lane: Annotated[
        int | None,
        typer.Option(metavar="LANE", help="Only the elements of this lane, or thread of a warpgroup."),
    ] = None,
    element: Annotated[
        str | None, typer.Option(metavar="R,C", help="Only the place of this element (row, column).")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The processor, where layouts depend on it: A2A3, A5 or CPU of PTO.")
    ] = None,
    layout_format: Annotated[
        LayoutFormat, typer.Option("--format", help="Output format.")
    ] = LayoutFormat.TABLE,
    view: Annotated[
        LayoutView,
        typer.Option(help="Rows of the table: elements, or registers."),
    ] = LayoutView.ELEMENTS,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="LAYOUT",
            help="Compare with another tool's: CuTe's shape:stride, Triton's vectors of registers and lanes, "
            "rows (CSV, JSON), LDMATRIX <- shared memory; or @FILE. Status 1 where it differs.",
        ),
    ] = None,
    no_pager: NoPager = False,
) -> ExitCode:
    """Say who holds which element of an operand: a lane or a register, and in which bits."""
    from ..api import instructions
    from ..reports.foreign_spellings import own_spelling

    instruction = own_spelling(instruction)

    if operand is None:
        from ..spec.instruction_set import read

        known = ", ".join(read(instruction).laid_out(target)) or "no operand of known extents"
        raise InputError(f"--operand is missing; {instruction[:80]} has {known}")
    whole = lane is None and element is None
    if not whole and (against is not None or layout_format in _WHOLE):
        what = "--against compares" if against is not None else f"{layout_format.value} describes"
        raise InputError(f"{what} whole layouts: remove --lane and --element")
    if against is not None:
        return compare(instruction, operand, target, against, layout_format.value)
    answer = instructions.layout(instruction, operand, target)
    if lane is not None:
        owner = answer.table.owners.name
        answer = answer.held_by(owner if owner == "thread" else "lane", lane)
    if element is not None:
        answer = answer.at(*_coordinates(element))
    if view is LayoutView.REGISTERS and not (whole and layout_format in _TABLES):
        raise InputError("--view registers needs a whole layout as table or markdown; html has both views")
    with paged(wanted=not no_pager):
        _print(instruction, operand, target, answer, layout_format, view if whole else None)
    return ExitCode.HOLDS


def _print(
    instruction: str,
    operand: str,
    target: str | None,
    answer: LayoutAnswer,
    layout_format: LayoutFormat,
    view: LayoutView | None,
) -> None:
    """Print an answer; without a view the rows of single elements."""
    table = answer.table
    match layout_format:
        case LayoutFormat.TABLE | LayoutFormat.MARKDOWN if view is not None:
            from ..reports.layout_views import by_elements, by_registers

            _heading(table)
            for each in (by_registers if view is LayoutView.REGISTERS else by_elements)(table):
                (print_view if layout_format is LayoutFormat.TABLE else print_markdown_view)(each)
        case LayoutFormat.TABLE | LayoutFormat.MARKDOWN:
            _heading(table)
            titles = [*table.holders, *table.coordinates]
            cells = [[str(row[title]) for title in titles] for row in table.rows()]
            if layout_format is LayoutFormat.TABLE:
                print_table(titles, cells, numbers=range(len(titles)))
            else:
                say_lines(["", *markdown_lines(titles, cells)])
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


def _coordinates(element: str) -> list[int]:
    try:
        return [int(part) for part in element.split(",")]
    except ValueError:
        raise InputError(f"--element {element!r} is not two numbers R,C") from None


def _heading(table: ElementTable) -> None:
    say(table.title, "bold")
    say_lines(table.formula, prose=True)


def _print_csv(table: ElementTable) -> None:
    writer = csv.DictWriter(sys.stdout, [*table.holders, *table.coordinates], lineterminator="\n")
    writer.writeheader()
    writer.writerows(table.rows())
