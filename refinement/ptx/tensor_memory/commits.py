"""``tcgen05.commit``: arrivals at barrier objects when what the thread has issued is over.

Source: PTX ISA 9.1 section 9.7.16 (tcgen05.commit).
"""

from __future__ import annotations

from ..memory.addressing import addresses
from ..registers.threads import Indices
from ..state.execution import Execution, Step
from ..synchronisation.barrier_objects import BarrierObjects
from ..synchronisation.barrier_phases import Arrival
from ..synchronisation.mbarrier import REMOTE, barriers_at_addresses
from ..synchronisation.multicast import in_blocks, ranks_of_mask
from ..text.module import InstructionStatement
from .operands import refuse_on_data, written
from .uses import Clocks, Sort


def commit(instruction: InstructionStatement) -> Step:
    """Decode a commit."""
    text = written(instruction)
    space = REMOTE if REMOTE in text.form.modifiers else "generic"
    place, mask = text.operands["mbar"], text.operands.get("ctaMask")

    def step(execution: Execution, active: Indices) -> None:
        refuse_on_data(execution)
        at = addresses(execution, place, active)
        masks = None if mask is None else execution.numbers(mask, 16, active, "the mask").tolist()
        objects = BarrierObjects.of(execution)
        for member in range(len(active)):
            thread = active[member : member + 1]
            over = Clocks.of(execution).finish(execution, Sort.PRODUCT, int(thread[0]))
            how = Arrival(copies=True, wide=True, finished=over)
            places = [at[member : member + 1]]
            if masks is not None:
                ranks = ranks_of_mask(execution, masks[member], thread)
                places = in_blocks(execution, places[0], ranks, space)
            for where in places:
                for barrier, _ in barriers_at_addresses(execution, space, where, thread, later=True):
                    objects.ended += barrier.arrive(execution, thread, how)

    return step
