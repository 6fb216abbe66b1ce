"""``mapa`` and ``getctarank``: addresses of shared memory of other blocks of a cluster.

Source: PTX ISA 9.1 section 9.7.9 (mapa, getctarank).
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from ...terms.evaluation import ones
from ..registers.threads import Indices
from ..registers.values import known
from ..state.address_spaces import SHARED_WINDOW
from ..state.execution import Decoders, Execution, Step
from ..state.handlers import Modifiers
from ..state.state_space import NO_RANK, RANK_BITS, WINDOWS
from ..text.module import TYPE_BITS, InstructionStatement


def _base(modifiers: Modifiers) -> np.uint64:
    """Take the state space, and return where addresses of the block of rank 0 begin."""
    window = 0 if modifiers.flag("shared::cluster") else WINDOWS["shared"]
    return np.uint64(window + SHARED_WINDOW)


def _mapa(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    base = _base(modifiers)
    width = TYPE_BITS[modifiers.type(("u32", "u64"))]
    modifiers.finish()
    destination, source, rank = modifiers.operands(3)

    def mapa(execution: Execution, active: Indices) -> None:
        at = execution.numbers(source, width, active, "the address")
        wanted = execution.numbers(rank, 32, active, "the rank")
        wanted = np.where(wanted < execution.threads.launch.cluster_blocks, wanted, np.uint64(NO_RANK))
        found = at + ((wanted - ((at - base) >> RANK_BITS)) << RANK_BITS)
        execution.write(destination, known(found & ones(width), width), active)

    return mapa


def _getctarank(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    base = _base(modifiers)
    width = TYPE_BITS[modifiers.type(("u32", "u64"))]
    modifiers.finish()
    destination, source = modifiers.operands(2)

    def getctarank(execution: Execution, active: Indices) -> None:
        at = execution.numbers(source, width, active, "the address")
        execution.write(destination, known(((at - base) >> RANK_BITS) & ones(32), 32), active)

    return getctarank


HANDLERS: Decoders = MappingProxyType({"mapa": _mapa, "getctarank": _getctarank})
"""The instructions of this module."""
