"""``tcgen05.fence``: what the manual's patterns ask for beside barriers that acquire and release.

Source: PTX ISA 9.1 section 9.7.16 (tcgen05.fence).
"""

from __future__ import annotations

import numpy as np

from ..registers.threads import WARP, Indices
from ..state.execution import Execution, Step
from ..text.module import InstructionStatement
from .operands import written
from .uses import Clocks


def fence(instruction: InstructionStatement) -> Step:
    """Decode a fence: before other threads are told of something, or after one was told."""
    before = written(instruction).form.row.head.endswith("before_thread_sync")

    def step(execution: Execution, active: Indices) -> None:
        clocks = Clocks.of(execution)
        if not before:
            clocks.fence_after(execution, active)
            return
        for warp in np.unique(active // WARP):
            clocks.fence_before(execution, active[active // WARP == warp])

    return step
