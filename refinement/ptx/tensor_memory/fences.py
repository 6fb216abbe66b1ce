"""``tcgen05.fence``: what the manual's patterns ask for beside barriers that acquire and release.

Source: PTX ISA 9.1 section 9.7.16 (tcgen05.fence).
"""

from __future__ import annotations

from ..registers.threads import Indices
from ..state.execution import Execution, Step
from ..text.module import InstructionStatement
from .operands import written


def fence(instruction: InstructionStatement) -> Step:
    """Decode a fence: whoever acquires what another one releases needs none here."""
    written(instruction)

    def step(execution: Execution, active: Indices) -> None:
        """Do nothing."""

    return step
