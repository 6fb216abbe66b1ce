"""Contracts that are still drafts: the lines whose comments say `fill in`."""

from __future__ import annotations

import re

from ..findings.finding import KernelFinding, Kind
from .comments import FILL_IN

_PLACE = re.compile(rf"\s*[^#\s].*#\s*{FILL_IN}\b")
"""A key with such a comment; in a line that is a comment altogether nothing has to be filled in."""

_SHOWN = 8
"""Lines that a message lists."""


def unfinished(path: str, text: str) -> KernelFinding | None:
    """Return the finding that a contract is still a draft, None if every place of it is filled in.

    Parameters
    ----------
    path : str
        The contract's file.
    text : str
        Its text.
    """
    lines = [number for number, line in enumerate(text.splitlines(), 1) if _PLACE.match(line)]
    if not lines:
        return None
    listed = ", ".join(map(str, lines[:_SHOWN])) + (", …" if len(lines) > _SHOWN else "")
    places = "1 place still says" if len(lines) == 1 else f"{len(lines)} places still say"
    message = (
        f"the contract is a draft: {places} `{FILL_IN}`, in line{'s' if len(lines) > 1 else ''} {listed}; "
        "state what is so, and remove the comment"
    )
    return KernelFinding(Kind.UNDECIDED, message, path, lines[0])
