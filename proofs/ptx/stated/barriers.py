"""Sequences of operations on barrier objects, and what is known of the objects behind them.

After an operation: phase, expected and pending arrivals, count of bytes, and the parity that passes. Source:
PTX ISA 9.1 section 9.7.13.15, worked out by hand.
"""

from __future__ import annotations

from typing import NamedTuple

from ...text_tables import table


class Sequence(NamedTuple):
    """Operations on a barrier object.

    Attributes
    ----------
    operations : str
        Beginning with ``init``, with semicolons between them; a number follows each that has one.
    after : str
        The barrier after them.
    """

    operations: str
    after: str


SEQUENCES = [Sequence(row["operations"], row["after"]) for row in table(__package__, "barriers")]
"""Every listed sequence."""
