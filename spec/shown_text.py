"""Text from outside as it may be shown: nothing that moves a cursor, hides, reorders or begins a command."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

LONGEST_VALUE = 80
"""Characters of a quoted value that a message shows."""

LONGEST_WORD = 400
"""Characters without a space that a message shows."""

LONGEST_MESSAGE = 2000
"""Characters of a message."""

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters, ESC among them
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # invisible, or reordering what follows
    "\ud800-\udfff]"  # bytes of a name that is not UTF-8
)
_QUOTED = re.compile(rf"""(?<!\w)(["'])([^\n]{{{LONGEST_VALUE + 1},}}?)\1(?!\w)""")
_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


def visible(text: str) -> str:
    r"""Write unsafe characters as escapes of a Python string: ``\x1b``, ``\n``, ``\u202e``."""
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def shortened(message: str) -> str:
    """Cut quoted values, words and a whole message that are too long; where it is cut stands ``…``."""
    if len(message) > 4 * LONGEST_MESSAGE:
        message = f"{message[: 3 * LONGEST_MESSAGE]} … {message[-LONGEST_MESSAGE // 4 :]}"
    message = _QUOTED.sub(lambda match: f"{match[1]}{match[2][:LONGEST_VALUE]}…{match[1]}", message)
    message = _WORD.sub(lambda match: f"{match[0][: LONGEST_WORD // 2]}…{match[0][-40:]}", message)
    if len(message) > LONGEST_MESSAGE:
        message = f"{message[: 3 * LONGEST_MESSAGE // 4]} … {message[-LONGEST_MESSAGE // 8 :]}"
    return message


def aligned(rows: Sequence[Sequence[str]], numbers: Collection[int] = ()) -> Iterator[str]:
    """Yield rows of cells as lines, columns below each other; those of `numbers` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if column in numbers else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
