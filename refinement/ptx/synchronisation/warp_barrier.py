"""``bar.warp.sync``: a barrier of the threads of a warp, which also orders their accesses."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from ..registers.threads import WARP, Indices
from ..state.absent_threads import AbsentThreadsError
from ..state.execution import Decoders, Execution, undecoded
from ..text.module import InstructionStatement


def _bar_warp(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    (operand,) = instruction.taking(1, 1)
    masks = execution.numbers(operand, 32, active, "the mask").astype(np.int64)
    warps = np.unique(active // WARP)
    here = execution.alive.copy()
    here[active] = False
    missing = here.reshape(-1, WARP)[warps]
    named = (masks[:, None] >> np.arange(WARP)) & 1
    alive = execution.alive[(active // WARP * WARP)[:, None] + np.arange(WARP)]
    if missing.any() or (alive & (named == 0)).any():
        absent = warps[:, None] * WARP + np.arange(WARP)
        message = f"{instruction.mnemonic} of some of a warp's threads"
        raise AbsentThreadsError(message, absent[missing].tolist())
    execution.ordering.warp_barrier(warps)


HANDLERS: Decoders = MappingProxyType({"bar": undecoded(_bar_warp), "barrier": undecoded(_bar_warp)})
"""The barrier of a warp; those of a block belong to `scheduling`."""
