"""``barrier.cluster``: the barrier of all threads of a cluster, in two halves.

A thread arrives, and later waits until all threads of its cluster that have not exited have arrived. As it
may arrive again only after it has waited, who meets whom is the same in any order. Source: PTX ISA 9.1
section 9.7.13.4 (barrier.cluster).
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ...findings.finding import Kind
from ..order.vector_clocks import Happened
from ..registers.threads import WARP, Indices
from ..scalar.fences import FENCES
from ..state.absent_threads import require_all
from ..state.execution import Execution
from ..state.handlers import Modifiers
from ..state.held import Held
from ..text.module import InstructionStatement

MENDED = "mbarrier"
"""The opcode of objects that need no fence, where that is taken for granted."""

NO_FENCE = (
    "fence.mbarrier_init is not needed between mbarrier.init and a relaxed barrier of the cluster: ptxas "
    '13.0 writes no instruction for it (mbarrier = "as-assembled" in [kernel])'
)
"""What a verdict rests on where the contract says so."""

_OTHER_FENCES = ("proxy", "mbarrier_init")
"""Fences of proxies, or of barrier objects alone."""


def has_fences(execution: Execution) -> bool:
    """Tell whether a kernel has fences that order what a thread does, and may make up for an arrival."""
    return any(
        statement.opcode in FENCES and statement.one_of(_OTHER_FENCES) is None
        for statement in execution.function.body
    )


def refuse_fences(execution: Execution) -> None:
    """Refuse what is ``.relaxed`` where fences may make up for it."""
    if has_fences(execution):
        execution.unsupported(f"{execution.instruction.mnemonic} of a kernel with fences")


class ClusterBarriers(Held):
    """The barriers of the clusters of a batch.

    Parameters
    ----------
    execution : Execution
        What runs.

    Attributes
    ----------
    ended : int
        How many phases are over, of all clusters.
    """

    KEY = "cluster barriers"

    def __init__(self, execution: Execution) -> None:
        threads = execution.threads
        self._cluster = threads.peers[threads.block].min(axis=1)
        """Of each thread, the first block of its cluster."""
        self._arrived = np.zeros(len(threads), dtype=np.int64)
        self._waited = np.zeros(len(threads), dtype=np.int64)
        self._phases = np.zeros(len(threads.blocks), dtype=np.int64)
        self._now: dict[int, Happened] = {}
        self._told: dict[int, Happened] = {}
        self.ended = 0

    @classmethod
    def begun(cls, execution: Execution) -> Self:
        """See `Held.begun`."""
        return cls(execution)

    def arrive(self, execution: Execution, active: Indices, *, releases: bool) -> None:
        """Let threads arrive."""
        again = active[self._arrived[active] > self._waited[active]]
        if len(again):
            message = f"{execution.instruction.mnemonic}: the thread arrives again before it has waited"
            execution.report(Kind.UNDEFINED, message, again)
        for cluster in np.unique(self._cluster[active]).tolist():
            members = active[self._cluster[active] == cluster]
            if not releases and MENDED in execution.mended:
                execution.ordering.fence_barrier_objects(members)
                execution.assumptions[NO_FENCE] = None
            happened = execution.ordering.release(members)
            if not releases:
                happened = happened.without_memory()
            self._now[cluster] = self._now.get(cluster, Happened()).and_also(happened)
        self._arrived[active] = self._waited[active] + 1
        self.settle(execution)

    def settle(self, execution: Execution) -> None:
        """End the phases at which all threads have arrived that have not exited."""
        for cluster in list(self._now):
            members = np.flatnonzero((self._cluster == cluster) & execution.alive)
            if (self._arrived[members] > self._phases[cluster]).all():
                self._phases[cluster] += 1
                self._told[cluster] = self._now.pop(cluster)
                self.ended += 1

    def passed(self, execution: Execution, active: Indices) -> NDArray[np.bool_]:
        """Return which threads (n active,) go on, and tell them what the others did before they arrived."""
        found: NDArray[np.bool_] = (self._arrived[active] > self._waited[active]) & (
            self._phases[self._cluster[active]] >= self._arrived[active]
        )
        for cluster in np.unique(self._cluster[active[found]]).tolist():
            members = active[found & (self._cluster[active] == cluster)]
            execution.ordering.acquire_all(members, self._told[cluster])
        self._waited[active[found]] = self._arrived[active[found]]
        return found

    def report_waiting(self, execution: Execution, active: Indices) -> None:
        """Report threads that wait for ever."""
        name = execution.instruction.mnemonic
        never = active[self._arrived[active] == self._waited[active]]
        if len(never):
            message = f"{name} waits for ever: the thread has not arrived at the barrier of the cluster"
            execution.report(Kind.DEADLOCK, message, never)
            return
        cluster = self._cluster[active[0]]
        members = np.flatnonzero((self._cluster == cluster) & execution.alive)
        missing = members[self._arrived[members] <= self._phases[cluster]]
        execution.report(
            Kind.DEADLOCK,
            f"{name} waits for ever: {len(missing)} of {len(members)} threads of the cluster never arrive, "
            f"one of them {execution.threads.name(int(missing[0]))}",
            active,
        )


def decoded(execution: Execution, instruction: InstructionStatement, active: Indices) -> tuple[bool, bool]:
    """Return whether a ``barrier.cluster`` waits, and whether it puts in order; report what may not run it.

    Raises
    ------
    InputError, UnsupportedError
        If it has operands, or modifiers that are not modelled.
    """
    modifiers = Modifiers(instruction)
    modifiers.flag("cluster")
    waits = modifiers.one_of(("arrive", "wait")) == "wait"
    relaxed = modifiers.one_of(("acquire",) if waits else ("release", "relaxed"), default="") == "relaxed"
    aligned = modifiers.flag("aligned")
    modifiers.finish()
    if instruction.operands:
        raise InputError(f"{instruction.mnemonic} takes no operands")
    if relaxed:
        refuse_fences(execution)
    if aligned:
        alive = execution.alive.reshape(-1, WARP).sum(axis=1)
        here = np.bincount(active // WARP, minlength=len(alive))
        partial = (here > 0) & (here < alive)
        if partial.any():
            some = active[partial[active // WARP]]
            require_all(instruction, some, execution.alive, execution.elsewhere)
            warp = int(np.flatnonzero(partial)[0])
            execution.report(
                Kind.DIVERGENCE,
                f"{instruction.mnemonic} is executed by {here[warp]} of {alive[warp]} threads of a warp",
                active[partial[active // WARP]],
            )
    return waits, not relaxed
