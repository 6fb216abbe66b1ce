"""Fences; one of proxies lets asynchronous instructions see what was written.

A fence orders nothing that a race would not be reported for without it, but for threads that wait for other
blocks, see `semaphores`. Source: PTX ISA 9.1 section 9.7.13.
"""

from __future__ import annotations

from ..registers.threads import Indices
from ..state.execution import Execution
from ..state.remote_accesses import RemoteAccesses
from ..text.module import InstructionStatement

FENCES = frozenset({"fence", "membar"})
"""Opcodes of fences; what they tell threads of other blocks is for `semaphores`."""


def fence(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    """Let the asynchronous proxy see what was written to shared memory, if it is a fence for that.

    A fence that data may skip orders nothing: both ways of its branch go on together.
    """
    if instruction.has("mbarrier_init") and not execution.on_data(active):
        execution.ordering.fence_barrier_objects(active)
    own = instruction.has("proxy", "async", "shared::cta")
    if own and RemoteAccesses.of(execution).storing.intersection(active.tolist()):
        execution.unsupported(f"{instruction.mnemonic} after stores to shared memory of other blocks")
    of_shared = instruction.has("proxy", "async") and not instruction.has("global")
    if of_shared and len(active) and not execution.on_data(active):
        execution.ordering.fence_proxy(active)
