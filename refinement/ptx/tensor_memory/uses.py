"""Uses of tensor memory by operations that complete on their own, and when somebody knows them to be over.

Products and copies of a thread, loads of a warp and stores of a warp are each an agent with a clock, as
barrier objects are (`barrier_objects`): what it does in an interval is over for who was told that. A
``tcgen05.commit`` lets whoever waits for its barrier know of all that the thread has issued, a
``tcgen05.wait`` lets the warp know of its loads or stores, and barriers hand it on. Source: PTX ISA 9.1
section 9.7.16 (memory consistency, pipelined instructions).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ..order.snapshots import Snapshot
from ..order.vector_clocks import FENCED, OPERATIONS, THREAD, Happened, Knowledge
from ..registers.threads import WARP, Indices
from ..state.execution import Execution
from ..state.held import Held

NO_FENCE = (
    "tcgen05.fence is not needed where barriers tell that tensor memory may be used: ptxas 13.0 writes no "
    'instruction for it; tcgen05 = "as-written" in [kernel] asks for what PTX\'s patterns have'
)
"""What a verdict rests on where a kernel has no such fences."""

COPIES_FOLLOW = (
    "tcgen05.cp writes behind what the same thread's tcgen05.mma and tcgen05.cp before it read and write, "
    'as CUTLASS has it: tcgen05 = "in-order" in [kernel]; PTX names no such pair'
)
"""What a verdict rests on where a kernel copies over cells of products that it has not waited for."""

ONE_THREAD = ' (tcgen05 = "in-order" in [kernel] takes copies to follow what their own thread issued)'
"""What a message says of such a copy otherwise."""


class Sort(IntEnum):
    """What an operation does."""

    ALLOCATION = 0
    PRODUCT = 1
    COPY = 2
    LOAD = 3
    STORE = 4


_QUEUES = {Sort.PRODUCT: 0, Sort.COPY: 0, Sort.LOAD: 1, Sort.STORE: 2}
"""What completes together: products and copies by commits, loads and stores by waits of their own."""

_TOGETHER = 3
"""The queue of allocations of two CTAs, of the warp with the lower number."""

NAMES = {
    Sort.ALLOCATION: "tcgen05.alloc",
    Sort.PRODUCT: "tcgen05.mma",
    Sort.COPY: "tcgen05.cp",
    Sort.LOAD: "tcgen05.ld",
    Sort.STORE: "tcgen05.st",
}

WAITS = {
    Sort.ALLOCATION: "a barrier behind it",
    Sort.PRODUCT: "tcgen05.commit, a wait for its barrier",
    Sort.COPY: "tcgen05.commit, a wait for its barrier",
    Sort.LOAD: "tcgen05.wait::ld",
    Sort.STORE: "tcgen05.wait::st",
}
"""What lets others know that an operation is over."""


@dataclass(frozen=True)
class Operation:
    """One operation on tensor memory.

    Attributes
    ----------
    sort : Sort
        What it does.
    agent : int
        Who does it, as a thread by its number in the grid.
    time : int
        In which interval of the agent.
    issuer : int
        The thread that issued it, of a warp the first, by its number in the grid.
    issued : int
        In which of its intervals.
    line : int
        Where.
    shape : tuple
        Address and shape of D: products that have the same follow each other.
    """

    sort: Sort
    agent: int
    time: int
    issuer: int
    issued: int
    line: int
    shape: tuple[object, ...] = ()

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`."""
        snapshot.of_threads(self.agent, self.time)
        snapshot.of_threads(self.issuer, self.issued)
        snapshot.rest(self, "agent", "time", "issuer", "issued")


class Clocks(Held):
    """The clocks of the agents of a batch, and what threads knew when they last ran a fence."""

    KEY = "clocks of tensor memory"

    def __init__(self) -> None:
        self._times: dict[int, int] = {}
        self._fenced: dict[int, Knowledge] = {}

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`."""
        keys = sorted(self._times)
        snapshot.take(keys)
        snapshot.intervals(keys, [self._times[key] for key in keys])
        snapshot.take(sorted(self._fenced))
        for thread in sorted(self._fenced):
            snapshot.known(self._fenced[thread])

    @staticmethod
    def _key(execution: Execution, sort: Sort, thread: int) -> int:
        who = thread if _QUEUES[sort] == 0 else thread // WARP * WARP
        return OPERATIONS + 4 * int(execution.ordering.names[who]) + _QUEUES[sort]

    def begin(
        self, execution: Execution, sort: Sort, thread: int, shape: tuple[object, ...] = ()
    ) -> Operation:
        """Return the operation that a thread, or its warp, issues now."""
        ordering = execution.ordering
        name, now = int(ordering.names[thread]), int(ordering.times(np.array([thread]))[0])
        line = execution.instruction.line
        if sort is Sort.ALLOCATION:
            return Operation(sort, name, now, name, now, line)
        key = self._key(execution, sort, thread)
        time = self._times.setdefault(key, 0)
        return Operation(sort, key * ordering.per_block, time, name, now, line, shape)

    def allocate_together(self, execution: Execution, threads: list[int]) -> Operation:
        """Return the allocation of warps, by one thread of each, who know of it now."""
        ordering, first = execution.ordering, min(threads)
        key = OPERATIONS + 4 * int(ordering.names[first]) + _TOGETHER
        time = self._times.setdefault(key, 0)
        self._times[key] = time + 1
        told = {key: np.array([time + 1], dtype=np.int32)}
        for thread in threads:
            ordering.acquire_all(np.arange(thread, thread + WARP), Happened(told, told))
        name, now = int(ordering.names[first]), int(ordering.times(np.array([first]))[0])
        agent = key * ordering.per_block
        return Operation(Sort.ALLOCATION, agent, time, name, now, execution.instruction.line)

    def finish(self, execution: Execution, sort: Sort, thread: int) -> Knowledge:
        """Return what is over for who knows that all of a queue is that was issued before."""
        key = self._key(execution, sort, thread)
        self._times[key] = self._times.setdefault(key, 0) + 1
        over = np.array([self._times[key]], dtype=np.int32)
        # A commit is a fence before what the thread synchronises with.
        return {key: over, key + FENCED: over} if _QUEUES[sort] == 0 else {key: over}

    def fence_before(self, execution: Execution, warp: Indices) -> None:
        """Let the loads and stores that a warp waited for be known behind fences of others."""
        keys = [self._key(execution, sort, int(warp[0])) for sort in (Sort.LOAD, Sort.STORE)]
        told = {
            key + FENCED: np.array([self._times[key]], dtype=np.int32) for key in keys if key in self._times
        }
        if told:
            execution.ordering.acquire_all(warp, Happened(told, told))

    def fence_after(self, execution: Execution, threads: Indices) -> None:
        """Note what threads know now."""
        for thread in threads.tolist():
            known = execution.ordering.known(thread)
            self._fenced[thread] = {key: known[key] for key in known if OPERATIONS + FENCED <= key < THREAD}

    def has_fences(self, execution: Execution, thread: int, operation: Operation) -> bool:
        """Tell whether what is over for a thread is so by fences too, as far as they are needed."""
        own = int(execution.ordering.names[thread]) // WARP == operation.issuer // WARP
        if operation.sort is Sort.ALLOCATION or (own and _QUEUES[operation.sort]):
            return True
        key = operation.agent // execution.ordering.per_block + FENCED
        over = self._fenced.get(thread, {}).get(key)
        return over is not None and operation.time < int(over[0])


def wait(execution: Execution, sort: Sort, warps: Indices) -> None:
    """Let the threads of warps (n, 32) know that their loads or stores are over."""
    for warp in warps:
        told = Clocks.of(execution).finish(execution, sort, int(warp[0]))
        execution.ordering.acquire_all(warp, Happened(told, told))


def is_over(execution: Execution, threads: list[int], operation: Operation, *, as_read: bool = False) -> bool:
    """Tell whether each of some threads knows that an operation is over.

    With `as_read` it is enough what arrivals at .cta scope tell, as of reads: nobody looks at what it left.
    """
    who = np.array(threads, dtype=np.intp)
    others = np.full(len(who), operation.agent, dtype=np.int64)
    times: NDArray[np.int32] = np.full(len(who), operation.time, dtype=np.int32)
    found = execution.ordering.over(who, others, times)
    if operation.sort is Sort.ALLOCATION:
        found |= execution.ordering.names[who] // WARP == operation.agent // WARP
    if as_read:
        left = np.flatnonzero(~found)
        found[left] = execution.ordering.over_as_read(who[left], others[left], times[left])
    return bool(found.all())


def is_issued(execution: Execution, thread: int, operation: Operation) -> bool:
    """Tell whether an operation was issued before what a thread issues."""
    if int(execution.ordering.names[thread]) == operation.issuer:
        return True
    who, others = np.array([thread]), np.array([operation.issuer])
    return bool(execution.ordering.over(who, others, np.array([operation.issued], dtype=np.int32))[0])
