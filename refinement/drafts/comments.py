"""Comments of draft contracts: what has to be filled in, and in which lines code says something."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..findings.finding import KernelFinding, Kind
from ..machine.kernel_outline import MemoryAccess

FILL_IN = "fill in"
"""Marks what has to be completed."""

_LINES = 3
"""Lines of a kernel that are named for one fact."""


def described(accesses: Iterable[MemoryAccess]) -> str:
    """Return the instructions that make accesses, with their lines."""
    by_mnemonic: dict[str, list[int]] = {}
    for access in accesses:
        by_mnemonic.setdefault(access.mnemonic, []).append(access.line)
    return "; ".join(
        f"{mnemonic} in {listed(lines)}" if any(lines) else mnemonic
        for mnemonic, lines in by_mnemonic.items()
    )


def listed(lines: Iterable[int]) -> str:
    """Return the first lines of some."""
    every = list(dict.fromkeys(lines))
    shown = ", ".join(map(str, every[:_LINES]))
    return f"line{'s' if len(every) > 1 else ''} {shown}{', …' if len(every) > _LINES else ''}"


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
        "replace them, and remove the comments"
    )
    return KernelFinding(Kind.UNDECIDED, message, path, lines[0])
