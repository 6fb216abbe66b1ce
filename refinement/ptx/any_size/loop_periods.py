"""After how many turns of a loop the stages, parities and buffers that it goes round are the same again."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

import numpy as np

from .loop_states import Cells

LONGEST = 16
"""Turns of the kernel's loop that are taken for one of the induction."""

OBSERVED = (8, 16, 2 * LONGEST)
"""Turns that are looked at, as long as none suffice: what is the same after some must have been so twice."""


def period_of(turns: Sequence[Cells]) -> int:
    """Return after how many turns all is the same again that goes round; 1 if nothing does.

    Parameters
    ----------
    turns : sequence of Cells
        What is held at successive turns; of few of them nothing is said.
    """
    found, longest = 1, min(LONGEST, len(turns) // 2)
    if not longest:
        return found
    for name in frozenset.intersection(*(frozenset(turn.registers) for turn in turns)):
        held = [turn.registers[name] for turn in turns]
        if len({len(each) for each in held}) == 1:
            columns = np.unique(np.stack(held), axis=1)
            for period in range(1, longest + 1):
                again = (columns[period:] == columns[:-period]).all(axis=0)
                found = lcm(found, period) if again.any() else found
                columns = columns[:, ~again]
    return found


def first_settled(snapshots: Sequence[bytes], period: int) -> list[int]:
    """Return the first turn that begins with a snapshot like the one so many turns later, if there is one."""
    pairs = zip(snapshots, snapshots[period:], strict=False)
    return [turn for turn, (one, other) in enumerate(pairs) if one == other != b""][:1]
