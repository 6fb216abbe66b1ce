"""``st.async``: stores to shared memory of other blocks of a cluster, completing on a barrier object there.

What is stored is put in place where it is issued; a thread that looks or writes there races until it knows
the phase to be over that the bytes count for. Source: PTX ISA 9.1 section 9.7.9 (st.async).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....spec.errors import InputError
from ....spec.ptx.operands import Vector
from ...findings.finding import Kind
from ..memory.addressing import Addresses, addresses
from ..memory.memory_access import store
from ..registers.threads import WARP, Indices
from ..state.execution import Decoder, Execution, Step
from ..state.handlers import Modifiers
from ..state.remote_accesses import RemoteAccesses
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Operand
from .barrier_objects import BarrierObject, BarrierObjects
from .mbarrier import REMOTE, barriers_at

_LANES = {"v2": 2, "v4": 4}
_TYPES = tuple(f"{sort}{bits}" for sort in "busf" for bits in (32, 64))


def stored_asynchronously(instruction: InstructionStatement) -> Step:
    """Decode ``st.async``."""
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
        words = np.stack([execution.terms(element, 8 * size, active) for element in elements], axis=1)

        def put(part: Remote) -> None:
            store(execution, REMOTE, part.targets, words[part.members], part.threads)

        counted(execution, (to, place), size * lanes, active, put)

    return stored


@dataclass(frozen=True)
class Remote:
    """Words of shared memory of another block that threads of one warp change, and the barrier that counts.

    Attributes
    ----------
    barrier : BarrierObject
        The barrier object.
    agent : int
        Who completes its phases, by its number in the grid.
    members, threads : array (n,)
        Which of the active threads they are, and they themselves.
    targets : array (n,)
        Addresses.
    """

    barrier: BarrierObject
    agent: int
    members: Indices
    threads: Indices
    targets: Addresses

    @property
    def until(self) -> tuple[int, int]:
        """Who completes the phase that counts them, and the phase."""
        return self.agent, self.barrier.phase


def counted(
    execution: Execution,
    operands: tuple[Operand, Operand],
    total: int,
    active: Indices,
    put: Callable[[Remote], None],
) -> None:
    """Change `total` bytes at addresses, by `put`, of which barrier objects count the bytes.

    Raises
    ------
    UnsupportedError
        If they are in shared memory of the thread's own block.
    """
    (to, place), name = operands, execution.instruction.mnemonic
    shared, history = execution.memory.shared, execution.memory.shared.history
    assert history is not None
    targets = addresses(execution, to, active)
    inside, offsets = shared.locate(targets, total, active)
    blocks = shared.blocks_of(offsets)
    if (inside & (blocks == execution.threads.block[active])).any():
        execution.unsupported(f"{name} to shared memory of the thread's own block")
    for barrier, members in barriers_at(execution, REMOTE, place, active):
        elsewhere = inside[members] & (blocks[members] != barrier.block)
        if elsewhere.any():
            message = f"{name} must store to the block of the barrier that it names"
            execution.report(Kind.UNDEFINED, message, active[members[elsewhere]])
        agent = barrier.agent(execution.ordering)
        for warp in np.unique(active[members] // WARP).tolist():
            some = members[active[members] // WARP == warp]
            put(Remote(barrier, agent, some, active[some], targets[some]))
            granules = history.places(offsets[some][inside[some]], total).reshape(-1)
            history.hand_copies(granules, agent, barrier.phase)
            RemoteAccesses.of(execution).note_copy(execution, barrier.block, agent, barrier.phase)
            ended = barrier.complete_bytes(execution, active[some], total * len(some))
            BarrierObjects.of(execution).ended += ended


def or_asynchronous(plain: Decoder, asynchronous: Decoder) -> Decoder:
    """Return the decoder of an opcode, of which with ``.async`` is another instruction."""

    def decoder(instruction: InstructionStatement) -> Step:
        return (asynchronous if instruction.has("async") else plain)(instruction)

    return decoder
