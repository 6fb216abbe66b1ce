"""What notebooks show of results that have no page: fragments of HTML in the notebook's own style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def heading(text: str) -> str:
    """Return a title."""
    return f"<h4>{escape(text)}</h4>"


def preformatted(lines: Iterable[str]) -> str:
    """Return lines of mathematics or code; long ones are scrolled."""
    text = escape("\n".join(lines))
    return f'<pre style="overflow-x: auto">{text}</pre>'


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
