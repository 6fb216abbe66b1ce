"""Findings of a run, deduplicated by line."""

from __future__ import annotations

from ...findings.finding import KernelFinding, Kind
from .access_history import NONE

SHOWN = 64
"""Findings that are kept."""


class Findings:
    """Findings, deduplicated by line.

    Parameters
    ----------
    path : str
        The kernel's file.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._found: dict[tuple[Kind, int, str], KernelFinding] = {}

    def report(self, kind: Kind, message: str, line: int, *, block: int = NONE, what: str = "") -> None:
        """Take a finding.

        Parameters
        ----------
        kind, message, line
            As in `KernelFinding`.
        block : int
            The block that is running.
        what : str
            What distinguishes it from others of one kind in one line.
        """
        key = kind, line, what
        if key not in self._found and len(self._found) < SHOWN:
            thread = f"block {block}" if block != NONE else ""
            self._found[key] = KernelFinding(kind, message, self._path, line, thread)

    def __len__(self) -> int:
        return len(self._found)

    def all(self) -> tuple[KernelFinding, ...]:
        """Return them."""
        return tuple(self._found.values())
