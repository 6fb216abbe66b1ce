"""Comments of draft contracts: what has to be filled in, and in which lines code says something."""

from __future__ import annotations

from collections.abc import Iterable

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
