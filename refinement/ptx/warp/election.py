"""``elect.sync``: one thread of some is chosen; PTX leaves open which, but always the same of the same ones.

Source: PTX ISA 9.1 section 9.7.14 (elect.sync).
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ..registers.threads import WARP, Indices
from ..registers.values import known
from ..state.absent_threads import AbsentThreadsError
from ..state.execution import Decoders, Execution, Step
from ..state.handlers import Modifiers
from ..text.module import InstructionStatement
from ..text.operands import Pair

LOWEST = "elect.sync elects the lowest lane of its mask, which PTX leaves open"
"""What a verdict on a kernel rests on that elects."""


def _named(active: Indices, masks: NDArray[np.int64]) -> Indices:
    """Return the threads that masks (n,) of active ones (n,) name, in the warps of these."""
    lanes = np.arange(WARP)
    threads = (active // WARP * WARP)[:, None] + lanes
    return np.unique(threads[masks[:, None] >> lanes & 1 == 1])


def _elect(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    modifiers.one_of(("sync",))
    modifiers.finish()
    result, mask = modifiers.operands(2)
    if not isinstance(result, Pair):
        raise InputError(f"{instruction.mnemonic} gives a lane and a predicate, not {result}")

    def elect(execution: Execution, active: Indices) -> None:
        masks = execution.numbers(mask, 32, active, "the mask").astype(np.int64)
        lanes = active % WARP
        here = np.zeros(len(execution.threads) // WARP, dtype=np.int64)
        np.bitwise_or.at(here, active // WARP, 1 << lanes)
        if (here[active // WARP] != masks).any():
            named = _named(active, masks)
            absent = np.setdiff1d(named[execution.alive[named]], active)
            message = f"{instruction.mnemonic} by lanes outside its mask"
            raise AbsentThreadsError(message, absent.tolist())
        first = np.array([(each & -each).bit_length() - 1 for each in masks.tolist()])
        execution.assumptions[LOWEST] = None
        execution.write(result.first, known(first.astype(np.uint64), 32), active)
        execution.write(result.second, known((lanes == first).astype(np.uint64), 1), active)

    return elect


HANDLERS: Decoders = MappingProxyType({"elect": _elect})
"""The instruction of this module."""
