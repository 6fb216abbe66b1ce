"""Standard output and error: plain text where nobody looks, Rich on a terminal."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from ..spec.shown_text import aligned, shortened, visible

if TYPE_CHECKING:
    from rich.console import Console


WIDE = 120
"""Columns of a terminal that has room for everything."""

CELL = 36
"""Characters of a line in a cell; longer ones take several lines."""


GAP = 3
"""Blanks between the columns of a drawn table."""


def error(message: str) -> None:
    """Print why nothing came out, as one line on standard error."""
    note(f"error: {message}")


def note(message: str) -> None:
    """Print one line to standard error."""
    with suppress(OSError, ValueError):  # nobody to tell it
        print(f"mmaproof: {visible(shortened(' '.join(message.split())))}", file=sys.stderr, flush=True)


def say(text: str, style: str = "") -> None:
    """Print one line to standard output, in a Rich style on a terminal; what is unsafe to show is escaped."""
    text = visible(text)
    if style and sys.stdout.isatty():
        console().print(text, style=style, markup=False, soft_wrap=True)
    else:
        print(text)


def say_lines(text: str | Iterable[str], indent: int = 0, *, prose: bool = False) -> None:
    """Print lines to standard output, as `say` does; on a terminal, prose is broken at words."""
    room = console().width if prose and sys.stdout.isatty() else 0
    for line in text.splitlines() if isinstance(text, str) else text:
        shown = f"{'':{indent}}{line}"
        margin = len(shown) - len(shown.lstrip()) + 4
        for part in _folded(shown, room, margin) if 2 * margin < room < len(shown) else (shown,):
            say(part)


def _folded(line: str, room: int, margin: int) -> list[str]:
    """Return a line as lines that fit a width, all but the first with a margin; words stay whole."""
    import textwrap

    return textwrap.wrap(
        line, room, subsequent_indent=" " * margin, break_long_words=False, break_on_hyphens=False
    )


def json_line(document: Any, indent: int | None = None) -> str:
    """Return JSON text of ASCII characters, without a control character in its strings."""
    return json.dumps(document, indent=indent).replace("\x7f", "\\u007f")


def print_json(document: Any) -> None:
    """Print a JSON document."""
    print(json_line(document, 1))


def console() -> Console:
    """Return a Rich console on standard output (Rich honours ``NO_COLOR``)."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False)


def print_table(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Sequence[int] = (),
    beneath: int | None = None,
    optional: Sequence[int] = (),
) -> None:
    """Print rows in columns: a Rich table on a terminal, else aligned text that never wraps.

    Parameters
    ----------
    titles : sequence of str
        Column titles.
    rows : sequence of sequence of str
        Cells.
    numbers : sequence of int
        The columns that are aligned to the right.
    beneath : int, optional
        The column whose cells a terminal shows beneath those of the first.
    optional : sequence of int
        The columns that a narrow terminal leaves out.
    """
    rows = [list(map(visible, row)) for row in rows]
    if sys.stdout.isatty():
        _print_rich_table(titles, rows, numbers, beneath, optional)
        return
    for line in aligned([titles, *rows], numbers):
        print(line)


def markdown_lines(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table of Markdown."""
    for cells in (titles, ["---"] * len(titles), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _print_rich_table(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[int],
    beneath: int | None,
    optional: Sequence[int],
) -> None:
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    terminal = console()
    hidden = {beneath, *(optional if terminal.width < WIDE else ())}
    shown = [column for column in range(len(titles)) if column not in hidden]
    cells = [[Text(row[column]) for column in range(len(titles))] for row in rows]
    if beneath is not None:
        for row, written in zip(cells, rows, strict=True):
            row[0].append(f"\n{written[beneath]}", style="dim")
    widths = {
        column: min(CELL, max(len(titles[column]), *(len(row[column]) for row in rows))) for column in shown
    }
    whole = not rows or beneath is not None
    for part in [shown] if whole else _parts(rows, shown, widths, terminal.width - 2):
        table = Table(box=SIMPLE, pad_edge=False)
        for column in part:
            right = column in numbers
            justify: Literal["left", "right"] = "right" if right else "left"
            table.add_column(titles[column], justify=justify, no_wrap=right, overflow="fold")
        for row in cells:
            table.add_row(*(row[column] for column in part))
        terminal.print(table)


def _parts(
    rows: Sequence[Sequence[str]], columns: Sequence[int], widths: Mapping[int, int], room: int
) -> Iterator[list[int]]:
    """Cut columns into tables that fit into a width, each of which begins with what tells rows apart."""
    taken = list(itertools.accumulate(widths[column] + GAP for column in columns))
    key = 1
    while key < len(columns) and taken[key] <= 2 * room // 3 and not _tell_apart(rows, columns[:key]):
        key += 1
    part = list(columns[:key])
    for column in columns[key:]:
        used = sum(widths[each] + GAP for each in part)
        if len(part) > key and used + widths[column] > room:
            yield part
            part = list(columns[:key])
        part.append(column)
    yield part


def _tell_apart(rows: Sequence[Sequence[str]], columns: Sequence[int]) -> bool:
    return len({tuple(row[column] for column in columns) for row in rows}) == len(rows)
