"""``tcgen05.commit``: an arrival at a barrier object when what the thread has issued is over.

Source: PTX ISA 9.1 section 9.7.16 (tcgen05.commit).
"""

from __future__ import annotations

from ....spec.errors import UnsupportedError
from ..memory.symbolic_accesses import is_of_any_size
from ..registers.threads import Indices
from ..state.execution import Execution, Step
from ..synchronisation.barrier_objects import BarrierObjects
from ..synchronisation.barrier_phases import Arrival
from ..synchronisation.mbarrier import REMOTE, barriers_at
from ..text.module import InstructionStatement
from .operands import refuse_on_data, written
from .uses import Clocks, Sort


def commit(instruction: InstructionStatement) -> Step:
    """Decode a commit."""
    text = written(instruction)
    if "multicast::cluster" in text.form.modifiers:
        raise UnsupportedError(f"{instruction.mnemonic}: commits for several CTAs are not modelled")
    space = REMOTE if REMOTE in text.form.modifiers else "generic"
    place = text.operands["mbar"]

    def step(execution: Execution, active: Indices) -> None:
        refuse_on_data(execution)
        if is_of_any_size(execution):
            execution.unsupported(f"{instruction.mnemonic} where sizes are not numbers")
        objects = BarrierObjects.of(execution)
        for barrier, members in barriers_at(execution, space, place, active):
            for thread in active[members]:
                over = Clocks.of(execution).finish(execution, Sort.PRODUCT, int(thread))
                how = Arrival(copies=True, wide=True, finished=over)
                objects.ended += barrier.arrive(execution, thread.reshape(1), how)

    return step
