"""The targets of PTX, the version each came with, and the groups that the notes on instructions name.

Source: PTX ISA 9.1, the ``.target`` directive and the release notes (chapter 13); ptxas.
"""

from __future__ import annotations

from ...text_tables import table


def version(text: str) -> tuple[int, int]:
    """Return a version as a pair of numbers."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)


SINCE = {
    row["target"] + suffix.removeprefix("plain"): version(row[suffix])
    for row in table(__package__, "since")
    for suffix in ("plain", "a", "f")
    if row[suffix]
}
"""The lowest PTX version of every target."""

GROUPS = {
    "120 family": ("sm_120a", "sm_120f", "sm_121a", "sm_121f"),
    "120a 121a": ("sm_120a", "sm_121a"),
    "a and f": tuple(
        f"sm_{chip}{suffix}" for chip in ("100", "101", "103", "110", "120", "121") for suffix in ("a", "f")
    ),
}
"""What the notes name besides ``sm_80 or higher``."""


def named(group: str) -> tuple[str, ...]:
    """Return the targets that ``sm_80+`` or a name of `GROUPS` means."""
    if group in GROUPS:
        return GROUPS[group]
    least = int(group.removeprefix("sm_").removesuffix("+"))
    return tuple(name for name in SINCE if int(name.removeprefix("sm_").rstrip("af")) >= least)
