"""``st.async``: stores to shared memory of other blocks of a cluster, completing on a barrier object there.

What is stored is put in place where it is issued; a thread that looks or writes there races until it knows
the phase to be over that the bytes count for. Source: PTX ISA 9.1 section 9.7.9 (st.async).
"""

from __future__ import annotations

import numpy as np

from ....spec.errors import InputError
from ....spec.ptx.operands import Vector
from ...findings.finding import Kind
from ..memory.addressing import addresses
from ..memory.memory_access import store
from ..registers.threads import WARP, Indices
from ..state.execution import Decoder, Decoders, Execution, Step
from ..state.handlers import Modifiers
from ..state.remote_accesses import RemoteAccesses
from ..text.module import TYPE_BITS, InstructionStatement
from .barrier_objects import BarrierObjects
from .mbarrier import REMOTE, barriers_at

_LANES = {"v2": 2, "v4": 4}
_TYPES = tuple(f"{sort}{bits}" for sort in "busf" for bits in (32, 64))


def _store(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    for each in ("async", "mbarrier::complete_tx::bytes"):
        if not modifiers.flag(each):
            raise modifiers.unsupported(f"lacks .{each}")
    for each in ("weak", "cluster", REMOTE):
        modifiers.flag(each)
    lanes = _LANES.get(modifiers.one_of(_LANES, default=""), 1)
    size = TYPE_BITS[modifiers.type(_TYPES)] // 8
    modifiers.finish()
    to, source, place = modifiers.operands(3)
    elements = source.elements if isinstance(source, Vector) else (source,)
    if len(elements) != lanes:
        raise InputError(f"{instruction.mnemonic} stores {lanes} elements, not {source}")

    def stored(execution: Execution, active: Indices) -> None:
        shared, history = execution.memory.shared, execution.memory.shared.history
        assert history is not None
        objects, total = BarrierObjects.of(execution), size * lanes
        words = np.stack([execution.terms(each, 8 * size, active) for each in elements], axis=1)
        targets = addresses(execution, to, active)
        inside, offsets = shared.locate(targets, total, active)
        blocks = shared.blocks_of(offsets)
        own = inside & (blocks == execution.threads.block[active])
        if own.any():
            execution.unsupported(f"{instruction.mnemonic} to shared memory of the thread's own block")
        for barrier, members in barriers_at(execution, REMOTE, place, active):
            where = barrier.block
            elsewhere = inside[members] & (blocks[members] != where)
            if elsewhere.any():
                message = f"{instruction.mnemonic} stores to another block than that of the barrier it names"
                execution.report(Kind.UNDEFINED, message, active[members[elsewhere]])
            agent = barrier.agent(execution.ordering)
            for warp in np.unique(active[members] // WARP).tolist():
                some = members[active[members] // WARP == warp]
                store(execution, REMOTE, targets[some], words[some], active[some])
                granules = history.places(offsets[some][inside[some]], total).reshape(-1)
                history.hand_copies(granules, agent, barrier.phase)
                RemoteAccesses.of(execution).note_copy(execution, where, agent, barrier.phase)
                ended = barrier.complete_bytes(execution, active[some], total * len(some))
                objects.ended += ended

    return stored


def with_asynchronous_stores(decoders: Decoders) -> Decoder:
    """Return the decoder of ``st``, of which ``st.async`` is another instruction."""
    plain = decoders["st"]

    def decoder(instruction: InstructionStatement) -> Step:
        return (_store if instruction.has("async") else plain)(instruction)

    return decoder
