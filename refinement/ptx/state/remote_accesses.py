"""Accesses to shared memory of other blocks of a cluster: these must have begun, and must not have ended.

A block's shared memory is there from when the block begins until its last thread has ended. So whoever uses
it from another block must know that somebody of the block has begun (as a barrier of the cluster tells), and
some thread of the block must come to know, before it ends, that the access is over. Source: PTX ISA 9.1
section 5.1.6 (shared), and the programming guide's rules of distributed shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...findings.finding import Kind
from ..order.snapshots import Snapshot
from ..order.vector_clocks import THREAD, Knowledge, is_over, joined
from ..registers.threads import WARP, Indices
from .execution import Execution
from .held import Held

_MAY_NOT_HAVE_BEGUN = "which may not have begun: no cluster barrier comes before"
_MAY_HAVE_ENDED = "which may have ended: none of its threads waits for the access to finish"


@dataclass
class _Last:
    """The last access of each thread (n,) to a block's shared memory: its interval, 0 for none, and line."""

    times: NDArray[np.int32]
    lines: NDArray[np.int32]


@dataclass
class RemoteAccesses(Held):
    """Accesses of a batch to shared memory of other blocks.

    Attributes
    ----------
    by_block : dict of int to _Last
        By the block of the batch whose memory it is.
    by_copies : dict of (int, int) to (int, int)
        By block, and by who makes asynchronous copies: their last phase, and a line.
    storing : set of int
        Threads that have stored there.
    """

    KEY = "remote accesses"

    by_block: dict[int, _Last] = field(default_factory=dict)
    by_copies: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    storing: set[int] = field(default_factory=set)

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`."""
        snapshot.take([sorted(self.by_block), sorted(self.by_copies), self.storing])
        for block in sorted(self.by_block):
            last = self.by_block[block]
            warps = np.arange(len(last.times)) // WARP % snapshot.warps
            snapshot.intervals(np.where(last.times > 0, warps, -1), last.times)
            snapshot.take(last.lines)
        for key in sorted(self.by_copies):
            phase, line = self.by_copies[key]
            snapshot.of_threads(key[1], phase)
            snapshot.take(line)

    def note(self, execution: Execution, blocks: NDArray[np.intp], threads: Indices, *, stores: bool) -> None:
        """Note that threads (n,) use shared memory of other blocks (n,) of the batch."""
        if stores:
            self.storing.update(threads.tolist())
        times, line = execution.ordering.times(threads), execution.instruction.line
        for block in np.unique(blocks).tolist():
            some = blocks == block
            self._check_begun(execution, block, threads[some])
            if block not in self.by_block:
                none = np.zeros((2, len(execution.threads)), dtype=np.int32)
                self.by_block[block] = _Last(*none)
            last = self.by_block[block]
            last.times[threads[some]], last.lines[threads[some]] = times[some], line

    def note_copy(self, execution: Execution, block: int, agent: int, phase: int) -> None:
        """Note that an asynchronous copy of a phase uses shared memory of a block."""
        self.by_copies[block, agent] = phase, execution.instruction.line

    def _check_begun(self, execution: Execution, block: int, threads: Indices) -> None:
        ordering = execution.ordering
        name = int(execution.threads.blocks[block])
        for group in ordering.groups(threads):
            if not _has_begun(ordering.known_to_have_happened(int(group[0])), name, ordering.per_block):
                execution.report(
                    Kind.LIFETIME,
                    f"{execution.instruction.mnemonic} of shared memory of {_spelled(execution, block)}, "
                    f"{_MAY_NOT_HAVE_BEGUN}",
                    group,
                    cause="begun",
                )
                return

    def report_ended(self, execution: Execution) -> None:
        """Report accesses that may come when the block whose memory they use has ended."""
        ordering = execution.ordering
        for block in sorted({*self.by_block, *(block for block, _ in self.by_copies)}):
            known = _known_in(execution, block)
            last = self.by_block.get(block, _Last(*np.zeros((2, 0), dtype=np.int32)))
            for thread in np.flatnonzero(last.times).tolist():
                name, time = int(ordering.names[thread]), int(last.times[thread])
                if not is_over(known, name, time, ordering.per_block):
                    self._report(execution, block, int(last.lines[thread]), thread)
                    break
            for (of, agent), (phase, line) in self.by_copies.items():
                if of == block and not is_over(known, agent, phase, ordering.per_block):
                    self._report(execution, block, line, None)
                    break

    def _report(self, execution: Execution, block: int, line: int, thread: int | None) -> None:
        body = execution.function.body
        execution.instruction = next(each for each in body if each.line == line)
        execution.report(
            Kind.LIFETIME,
            f"{execution.instruction.mnemonic} of shared memory of {_spelled(execution, block)}, "
            f"{_MAY_HAVE_ENDED}",
            np.array([] if thread is None else [thread], dtype=np.intp),
            cause="ended",
        )


def _has_begun(known: Knowledge, block: int, per_block: int) -> bool:
    """Tell whether something that a block did is known to be over: intervals count from 1."""
    over = known.get(block)
    if over is not None and (over > 1).any():
        return True
    first = THREAD + block * per_block
    return any(first <= each < first + per_block for each in known)


def _known_in(execution: Execution, block: int) -> Knowledge:
    """Return what any thread of a block knows to have happened."""
    ordering, threads = execution.ordering, execution.threads
    members = np.flatnonzero((threads.block == block) & threads.exist)
    alike = [int(group[0]) for group in ordering.groups(members)]
    return joined([ordering.known_to_have_happened(each) for each in alike])


def _spelled(execution: Execution, block: int) -> str:
    first = block * execution.threads.warps * WARP
    return execution.threads.name(first).partition(", thread")[0]
