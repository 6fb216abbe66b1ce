"""State that blocks of a run share: semaphores, tickets, and their order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...findings.finding import Kind
from ...machine.memory import Offsets
from ...machine.observations import Observations
from ...terms.store import TermStore
from ..order.warp_reads import WAITED_BY_ONE
from ..registers.threads import WARP, Indices, Launch
from ..state.address_spaces import Memory
from ..state.cluster_launches import ClusterLaunches
from ..state.execution import Execution
from ..state.semaphores import ASSUMED, FENCED_BEFORE, Semaphores
from ..state.tickets import NO_FENCE, TicketError
from ..synchronisation.barrier_objects import BarrierObjects
from .program import Program

READS_OVER = (
    "reads, copies and products that a thread knew to be done when it arrived at a barrier at .cta scope are "
    "done for threads of other blocks of the cluster that wait there"
)
"""What is taken for granted where arrivals at barriers of other blocks, or waits, have no .cluster."""


class BetweenBlocks:
    """State that the blocks of a run share.

    Parameters
    ----------
    store : TermStore
        The terms.
    program : Program
        The kernel's instructions.
    memory : Memory
        Its memory.
    turns : mapping of int to int
        After how many others threads come to counts that they take tickets of, by their numbers in the grid.

    Attributes
    ----------
    assumptions : dict of str to None
        What is taken for granted.
    arrivals : mapping of int to tuple of int
        The threads that came one after the other to counts, where it matters who is last.
    line : int
        Where the first such count is.
    locked : frozenset of int
        Which of the counts are locks, of which it matters in which order they were taken.
    one_at_a_time : bool
        Whether blocks run one after the other, as they take locks.
    """

    def __init__(self, store: TermStore, program: Program, memory: Memory, turns: Mapping[int, int]) -> None:
        self.assumptions: dict[str, None] = {}
        self.arrivals: Mapping[int, tuple[int, ...]] = {}
        self.line = 0
        self._in_vain: dict[int, None] = {}
        self._per_block = WARP
        self.locked: frozenset[int] = frozenset()
        self.one_at_a_time = bool(program.locks)
        self._memory = memory
        self._turns = turns
        self._semaphores: Semaphores | None = None
        if program.waiting.loads or program.takes_tickets or program.locks:
            self._semaphores = Semaphores(store, program.waiting, program.locks)
            if memory.globals.history is not None:
                memory.globals.history.atomic_users.kept = True

    def chosen(self, blocks: Indices | None, launch: Launch) -> Indices:
        """Return which blocks run to run some, in the order in which their threads come to counts.

        Who waits needs those that it waits for, and the last one needs all.
        """
        alone = blocks is not None and self._semaphores is None
        chosen = blocks if alone and blocks is not None else np.arange(launch.blocks)
        per_block = -(-launch.threads // WARP) * WARP
        last: dict[int, int] = {}
        for name, turn in self._turns.items():
            last[name // per_block] = max(turn, last.get(name // per_block, 0))
        ordered = sorted(chosen.tolist(), key=lambda each: last.get(each, -1))
        return np.array(ordered, dtype=np.intp)

    def begin(self, execution: Execution, launches: ClusterLaunches | None) -> None:
        """Begin a batch of blocks, which may cancel launches of others where these are given."""
        if launches is not None:
            launches.begin(execution)
        if self._semaphores is not None:
            self._semaphores.begin(execution.ordering)
            self._per_block = execution.ordering.per_block
            execution.semaphores, execution.turns = self._semaphores, self._turns

    def end(self, execution: Execution) -> None:
        """Note what is behind a batch of blocks."""
        self.assumptions |= taken_for_granted(execution)
        for line in () if self._semaphores is None else sorted(set(self._semaphores.left_waiting.values())):
            self._in_vain[line] = None

    def close(self, observations: Observations, *, complete: bool) -> None:
        """Look at what is behind all blocks, or those that ran."""
        words = self._semaphores
        if words is None:
            return
        if words.used:
            self.assumptions[ASSUMED] = None
        if not complete:
            return
        try:
            self.arrivals, self.line = words.tickets.arrivals(words.broken)
        except TicketError as error:
            observations.add(Kind.UNSUPPORTED, str(error), error.line)
        self._note_locks(words, observations)
        self._report_changed_counts(words, observations)

    def _note_locks(self, words: Semaphores, observations: Observations) -> None:
        """Note in which order locks were taken; of who takes several not all orders are tried."""
        for line in self._in_vain:
            observations.add(Kind.UNSUPPORTED, "a thread proceeds while another may hold the lock", line)
        per_block = self._per_block
        blocks = [name // per_block for taken in words.taken.values() for name, _ in taken]
        for offset, taken in words.taken.items():
            if offset in words.broken:
                observations.add(Kind.UNSUPPORTED, f"a lock: {words.broken[offset]}", taken[0][1])
            several = [name for name, _ in taken if blocks.count(name // per_block) > 1]
            if several and len(set(blocks)) > 1:
                observations.add(Kind.UNSUPPORTED, "a block takes a lock more than once", taken[0][1])
            if len(taken) > 1:
                self.line = self.line or taken[0][1]
                self.arrivals = {**self.arrivals, offset: tuple(name for name, _ in taken)}
                self.locked |= {offset}

    def _report_changed_counts(self, words: Semaphores, observations: Observations) -> None:
        """Report counts among the module's variables that the next launch would find changed."""
        own = [self._memory.buffer_lanes(buffer) for buffer in self._memory.buffers]
        for lane, line, before, after in words.changed_counts():
            if not any(_holds(lanes, lane) for lanes in own):
                place = self._memory.globals.place(lane)
                message = (
                    f"{place} is {after} when the kernel ends, and was {before}: "
                    f"the next launch starts with {after}"
                )
                observations.add(Kind.CLOBBERED, message, line)


def taken_for_granted(execution: Execution) -> dict[str, None]:
    """Return what a run so far has taken for granted, in the order in which it did."""
    found = {**execution.assumptions, **BarrierObjects.of(execution).assumptions}
    if execution.ordering.assumes:
        found[NO_FENCE] = None
    if execution.ordering.presumes_reads:
        found[READS_OVER] = None
    if execution.ordering.presumes:
        found[FENCED_BEFORE] = None
    history = execution.memory.shared.history
    if history is not None and history.warp_reads is not None and history.warp_reads.assumed:
        found[WAITED_BY_ONE] = None
    return found


def _holds(lanes: slice | Offsets, lane: int) -> bool:
    return lanes.start <= lane < lanes.stop if isinstance(lanes, slice) else bool((lanes == lane).any())
