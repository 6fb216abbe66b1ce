"""Barriers of a warp, and those of a block that reduce a predicate, as ``__syncthreads_and`` does.

Source: PTX ISA 9.1 section 9.7.13.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from ....spec.errors import InputError
from ..registers.threads import WARP, Indices
from ..registers.values import known
from ..state.absent_threads import AbsentThreadsError
from ..state.execution import Decoders, Execution, undecoded
from ..text.module import InstructionStatement
from ..text.operands import Operand


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


_REDUCTIONS = ("and", "or", "popc")


def barrier_of(instruction: InstructionStatement) -> tuple[Operand, ...]:
    """Return the operands that say which barrier it is, and of how many threads."""
    return instruction.operands[1:-1] if instruction.has("red") else instruction.operands


def reduce(execution: Execution, arrived: Sequence[tuple[InstructionStatement, Indices]]) -> None:
    """Write what threads that a barrier lets go have combined.

    Parameters
    ----------
    execution : Execution
        The state of the threads.
    arrived : sequence of (InstructionStatement, array)
        The barriers, and threads that have waited at each, all of them of the same kind of reduction.

    Raises
    ------
    DataDependenceError
        If a predicate depends on data.
    UnsupportedError
        If threads meet at different reductions.
    """
    own = [(each, active) for each, active in arrived if each.has("red")]
    if not own:
        return
    name = own[0][0].one_of(_REDUCTIONS)
    if name is None or len(own) < len(arrived) or any(not each.has(name) for each, _ in own):
        execution.unsupported("threads meet at one barrier with different reductions")
    blocks = len(execution.threads.blocks)
    yes, count = np.zeros(blocks, dtype=np.int64), np.zeros(blocks, dtype=np.int64)
    for instruction, active in own:
        execution.instruction = instruction
        if len(instruction.operands) < 3:
            raise InputError(f"{instruction.mnemonic} takes a result, a barrier and a predicate")
        answers = execution.numbers(instruction.operands[-1], 1, active, "the predicate").astype(np.int64)
        of = execution.threads.block[active]
        yes += np.bincount(of, answers, minlength=blocks).astype(np.int64)
        count += np.bincount(of, minlength=blocks)
    found = {"and": yes == count, "or": yes > 0, "popc": yes}[name].astype(np.uint64)
    for instruction, active in own:
        width = 32 if name == "popc" else 1
        execution.instruction = instruction
        execution.write(instruction.operands[0], known(found[execution.threads.block[active]], width), active)
