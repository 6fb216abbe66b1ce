"""The built-ins of Power MMA, as Moreira et al. print them in Table II.

A is the accumulator, x, y, z and t are vectors, Q is a pair of vectors; u2, u4 and u8 are literals of so many
bits. The table's xvi4ger8[ppp] is written [pp], as in Table I: see the contradiction table-2-suffix.
"""

from __future__ import annotations

import re

from ...text_tables import table


def _names(spelled: str) -> list[str]:
    """Return every name that brackets, each with one of its suffixes or none, stand for."""
    name, *brackets = re.split(r"[\[\]]+", spelled.rstrip("]"))
    names = [name]
    for suffixes in brackets:
        names = [known + suffix for known in names for suffix in ("", *suffixes.split(","))]
    return names


OPERANDS = {
    name: tuple(row["operands"].split())
    for row in table(__package__, "built_ins")
    for name in _names(row["built-in"])
}
"""Operands by built-in, without its ``__builtin_mma_``."""

VECTORS = {"A": 4, "Q": 2, "x": 1, "y": 1}
"""Vectors of 16 bytes that the operands have: a group of four, a pair, and one."""
