"""Layouts on standard output: coloured by owner on a terminal, and cut into parts that fit its width."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .output import markdown_lines, say_lines

if TYPE_CHECKING:
    from ..reports.layout_views import Cell, View

_COLOURS = (31, 32, 33, 34, 35, 36, 91, 92, 93, 94, 95, 96)
"""Foreground colours of a terminal; lanes or registers take them in turn."""

_GAP = "  "


def print_view(view: View) -> None:
    """Print a table; on a terminal that is too narrow, some columns after the others."""
    terminal = sys.stdout.isatty()
    coloured = terminal and "NO_COLOR" not in os.environ
    columns = list(zip(*(cells for _, cells in view.rows), strict=True))
    widths = [
        max(len(title), *(len(cell.text) for cell in column))
        for title, column in zip(view.titles, columns, strict=True)
    ]
    names = [view.corner, *(name for name, _ in view.rows)]
    margin = max(map(len, names))
    room = shutil.get_terminal_size().columns - margin if terminal else None
    print()
    if view.name:
        print(view.name)
    for place, part in enumerate(_parts(widths, room)):
        if place:
            print()
        heads = [title.rjust(width) for title, width in zip(view.titles[part], widths[part], strict=True)]
        print(_GAP.join([view.corner.rjust(margin), *heads]))
        for name, cells in view.rows:
            shown = [
                _padded(cell, width, coloured) for cell, width in zip(cells[part], widths[part], strict=True)
            ]
            print(_GAP.join([name.rjust(margin), *shown]).rstrip())


def _parts(widths: Sequence[int], room: int | None) -> Iterator[slice]:
    """Cut columns into neighbours that fit into some room; one at least."""
    start, used = 0, 0
    for column, width in enumerate(widths):
        used += len(_GAP) + width
        if room is not None and used > room and column > start:
            yield slice(start, column)
            start, used = column, len(_GAP) + width
    yield slice(start, len(widths))


def _padded(cell: Cell, width: int, coloured: bool) -> str:
    text = cell.text.rjust(width)
    if not coloured or cell.owner is None:
        return text
    return f"\x1b[{_COLOURS[cell.owner % len(_COLOURS)]}m{text}\x1b[0m"


def print_markdown_view(view: View) -> None:
    """Print a table of Markdown."""
    rows = [[name, *(cell.text for cell in cells)] for name, cells in view.rows]
    say_lines(
        ["", *([view.name, ""] if view.name else []), *markdown_lines([view.corner, *view.titles], rows)]
    )
