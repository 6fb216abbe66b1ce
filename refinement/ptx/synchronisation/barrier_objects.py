"""Barrier objects in shared memory: arrivals, phases, and the order that a phase implies.

A block's threads run in one order here, and in any order on hardware; this shows that the order makes no
difference to who meets whom, or says where it may. Every arrival counts for the phase that it counts for
here, and every wait ends with the phase that it ends with here, if

- whoever arrives in a phase knows that the one before is over;
- whoever waits knows at least that the phase before the one that it waits for is over, so that the parity
  tells them apart;
- a phase ends only after all who saw the one before end have seen it.

For take the first moment at which another order differs: all that came before it there is the same, so that
the phase that a thread meets is the same, too (an induction over what has happened before). Then accesses
that are in order here are in order. Who waits is known to do nothing else: see `barrier_polls`.

What a thread knows is what barriers and earlier phases told it: see `ordering`. An arrival releases that and
what the thread itself did; of asynchronous copies it tells only that they are over, and to those who wait.
Source: PTX ISA 9.1 section 9.7.13.15 (mbarrier) and chapter 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ....spec.ptx.open_results import BARRIER_STATE
from ...findings.finding import Kind
from ...terms.interning import Ids
from ..order.ordering import Ordering
from ..order.snapshots import Snapshot
from ..order.vector_clocks import AGENT, NOTHING, Happened, joined, of_agents
from ..registers.threads import Indices
from ..state.execution import Execution
from ..state.held import Held
from ..state.state_space import Space
from .barrier_phases import Arrival, Events, Phase

BYTES = 8
"""Of a barrier object."""

MOST = (1 << 20) - 1
"""Arrivals that one may expect."""


class BarrierObject:
    """One barrier object.

    Parameters
    ----------
    number : int
        Which one of the batch it is.
    place : str
        Where, for messages.
    count : int
        Arrivals that it expects.
    line : int
        Where it was initialised.
    block : int
        In which block of the batch.

    Attributes
    ----------
    phase : int
        How many phases are over.
    token : array (1,), optional
        The term that stands for the state in this phase.
    """

    def __init__(self, number: int, place: str, count: int, line: int, block: int) -> None:
        self.place, self.line, self.block = place, line, block
        self.phase = 0
        self.token: Ids | None = None
        self._agent = AGENT + number
        self._count = count
        self._now, self._over = Phase(count), Happened()
        self._past: dict[int, Phase] = {}
        self._told = Phase(0)
        self._seen: list[Events] = []
        self._later: list[Events] = []

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`; a state that was returned is that of its phase, and no other."""
        past = sorted(self._past)
        snapshot.intervals(self._agent, [self.phase, *past])
        snapshot.take([self.phase % 2, *(self._past[phase] for phase in past)])
        snapshot.rest(self, "phase", "_past", "token")

    def agent(self, ordering: Ordering) -> int:
        """Return who makes the copies that arrive here, as a thread by its number in the grid."""
        return self._agent * ordering.per_block

    @property
    def pending(self) -> int:
        """Arrivals that are to come in this phase."""
        return self._now.pending

    @property
    def state(self) -> str:
        """Describe how far it is."""
        came = self._count - self._now.pending
        found = f"phase {self._named(self.phase)}, with {came} of {self._count} arrivals"
        left = self._now.transactions
        if not left:
            return found
        more = "too many" if left < 0 else "still expected"
        return f"{found}, and {abs(left)} bytes {more}"

    def _named(self, phase: int) -> str:
        return f"{phase} of the barrier at {self.place}"

    # -- arriving
    def arrive(self, execution: Execution, threads: Indices, how: Arrival) -> bool:
        """Let threads arrive, and say whether that ended a phase."""
        ended = False
        while len(threads):
            fit = self._now.pending // how.count
            if not fit:
                execution.report(
                    Kind.UNDEFINED,
                    f"{execution.instruction.mnemonic} counts {how.count} at a barrier that expects only "
                    f"{self._now.pending} more, {self.place}",
                    threads,
                )
                return ended
            some, threads = threads[:fit], threads[fit:]
            self._come(execution, some, how)
            self._now.pending -= len(some) * how.count
            self._count -= len(some) * how.count if how.drop else 0
            self._check_bytes(execution, some)
            if self._now.is_over:
                self._end(execution, some, how)
                ended = True
        return ended

    def expect_bytes(self, execution: Execution, thread: Indices, count: int, *, arrives: bool) -> None:
        """Let this phase wait for bytes; a thread (1,) that does not arrive must ask before it ends."""
        if not arrives:
            self._check_phase(execution, thread)
            ordering = execution.ordering
            line = execution.instruction.line
            self._now.within.append(Events(ordering.names[thread], ordering.times(thread), line))
            self._check_bytes(execution, thread)
        self._transact(execution, thread, count)

    def complete_bytes(self, execution: Execution, thread: Indices, count: int) -> bool:
        """Let what a thread (1,) copied, or a warp stored, have come, and say whether that ended a phase.

        It counts for this phase in any order: the thread knows that the one before is over, and this one does
        not end without the bytes. Only who waits knows of it.
        """
        self._check_phase(execution, thread)
        ordering, now = execution.ordering, self._now
        issued = Happened(NOTHING, ordering.release(thread).control)
        now.hidden = True
        now.ending = joined([now.ending, issued.control])
        now.add(int(execution.threads.block[thread[0]]), issued, wide=True)
        self._transact(execution, thread, -count)
        if now.is_over:
            self._end(execution, thread, Arrival(copies=True))
            return True
        return False

    def _check_bytes(self, execution: Execution, threads: Indices) -> None:
        """Report bytes of copies under way that nobody expects when all arrivals have come.

        Where they come later than the last arrival, the phase is over before.
        """
        missing = -self._now.transactions
        if not self._now.pending and missing > 0:
            execution.report(
                Kind.RACE,
                f"{execution.instruction.mnemonic} leaves phase {self._named(self.phase)} with "
                f"{missing} bytes in flight that no expect_tx announces: the phase may end before them",
                threads,
            )

    def _transact(self, execution: Execution, thread: Indices, count: int) -> None:
        self._now.transactions += count
        if abs(self._now.transactions) > MOST:
            execution.report(
                Kind.UNDEFINED,
                f"{execution.instruction.mnemonic} makes the barrier at {self.place} count "
                f"{self._now.transactions} bytes; at most {MOST}",
                thread,
            )

    def expect_copies(self, execution: Execution, threads: Indices) -> None:
        """Let threads' asynchronous copies hold up this phase, with an arrival more for each."""
        self._come(execution, threads, Arrival(copies=True, completes=False))

    def _come(self, execution: Execution, threads: Indices, how: Arrival) -> None:
        ordering, now = execution.ordering, self._now
        self._check_phase(execution, threads)
        events = Events(ordering.names[threads], ordering.times(threads), execution.instruction.line)
        happened = ordering.release(threads)
        before = happened.memory
        if how.copies or not how.releases:
            happened = Happened(NOTHING, happened.control)
        if how.finished:
            now.finished = joined([now.finished, how.finished])
            over = joined([of_agents(before), how.finished])
            happened = Happened(over, joined([happened.control, over]))
        now.arrivals.append(events)
        now.hidden |= how.copies
        if how.completes:
            now.ending = joined([now.ending, happened.control])
        else:
            now.within.append(events)
        if how.completes or not how.copies:
            now.add(int(execution.threads.block[threads[0]]), happened, wide=how.wide)

    def note_later(self, ordering: Ordering, threads: Indices, line: int) -> None:
        """Note that threads of other blocks let something arrive here when it is over."""
        self._later.append(Events(ordering.names[threads], ordering.times(threads), line))

    def check_end(self, execution: Execution, threads: Indices) -> None:
        """Report threads that end the use of the object while something of other blocks may arrive here."""
        ordering = execution.ordering
        for group in ordering.groups(threads) if self._later else ():
            known = ordering.known_to_have_happened(int(group[0]))
            pending = [each for each in self._later if each.unknown(known, ordering.per_block) is not None]
            if pending and not self._knows(ordering, group, self.phase - 1):
                execution.report(
                    Kind.RACE,
                    f"{execution.instruction.mnemonic} ends a barrier at which line {pending[0].line} may "
                    "still arrive: nothing tells the thread that it has",
                    group,
                    other_line=pending[0].line,
                )
                break

    def _check_phase(self, execution: Execution, threads: Indices) -> None:
        """Report threads that do not know which phase is the current one."""
        for group in execution.ordering.groups(threads):
            if not self._knows(execution.ordering, group, self.phase - 1):
                execution.report(
                    Kind.RACE,
                    f"{execution.instruction.mnemonic} may count for phase {self._named(self.phase - 1)}, or "
                    "for the next: nothing tells the thread that the phase is over",
                    group,
                )
                break

    def _end(self, execution: Execution, threads: Indices, how: Arrival) -> None:
        now, per_block = self._now, execution.ordering.per_block
        control = now.control
        mnemonic = execution.instruction.mnemonic
        if not how.completes:
            message = f"{mnemonic} ends phase {self._named(self.phase)}, but .noComplete must not end a phase"
            execution.report(Kind.UNDEFINED, message, threads)
        for each in self._seen:
            late = each.unknown(control, per_block)
            if late is not None:
                who = execution.threads.name_in_grid(late)
                execution.report(
                    Kind.RACE,
                    f"{mnemonic} ends phase {self._named(self.phase)}, and {who} may wait in line "
                    f"{each.line} for the one before only then",
                    threads,
                    other_line=each.line,
                )
                break
        for each in now.within:
            late = each.unknown(now.ending, per_block)
            if late is not None and how.completes:
                who = execution.threads.name_in_grid(late)
                execution.report(
                    Kind.RACE,
                    f"{mnemonic} ends phase {self._named(self.phase)}, in which {who} may not have come "
                    f"to line {each.line}",
                    threads,
                    other_line=each.line,
                )
                break
        over = {self._agent: np.array([self.phase + 1], dtype=np.int32)}
        self._told, self._over = now, Happened(over, over)
        self._past = {
            self.phase: now,
            **{each: self._past[each] for each in self._past if each >= self.phase - 1},
        }
        self._now, self._seen, self.token = Phase(self._count), [], None
        self.phase += 1

    # -- waiting
    def passed(
        self,
        execution: Execution,
        threads: Indices,
        wanted: NDArray[np.int64],
        *,
        parity: bool,
        acquires: bool,
        wide: bool = False,
    ) -> NDArray[np.bool_]:
        """Tell which threads (n,) need not wait, and let them know what the last phase told.

        Parameters
        ----------
        execution : Execution
            What runs.
        threads : array
            The threads.
        wanted : int array (n,)
            The phase, or its parity, that each waits for.
        parity : bool
            Whether it is the parity.
        acquires : bool
            Whether they are to see what those who arrived had left in memory.
        wide : bool
            Whether that is also what those of other blocks had who arrived at the scope of a cluster.
        """
        ordering = execution.ordering
        found = self.check_asked(execution, threads, wanted, parity=parity)
        through = threads[found]
        if len(through):
            line = execution.instruction.line
            self._seen.append(Events(ordering.names[through], ordering.times(through), line))
            for block in np.unique(execution.threads.block[through]).tolist() if self.phase else ():
                told = self._told.told(block, wide=wide).and_also(self._over)
                some = through[execution.threads.block[through] == block]
                ordering.acquire_all(some, told if acquires else told.without_memory())
        return found

    def check_asked(
        self, execution: Execution, threads: Indices, wanted: NDArray[np.int64], *, parity: bool
    ) -> NDArray[np.bool_]:
        """Tell which threads (n,) are told that a phase is over; report who may take another for it."""
        found = np.zeros(len(threads), dtype=bool)
        for group in execution.ordering.groups(threads):
            at = np.searchsorted(threads, group)
            for phase in np.unique(wanted[at]).tolist():
                some = at[wanted[at] == phase]
                found[some] = (
                    self._parity_passes(execution, threads[some], phase)
                    if parity
                    else self._token_passes(execution, threads[some], phase)
                )
        return found

    def _parity_passes(self, execution: Execution, threads: Indices, parity: int) -> bool:
        passes = parity % 2 != self.phase % 2
        if self._knows(execution.ordering, threads, self.phase - 1):
            return passes
        if not passes or not self._knows(execution.ordering, threads, self.phase - 2):
            execution.report(
                Kind.RACE,
                f"{execution.instruction.mnemonic} waits for a phase of parity {parity % 2}, and may mistake "
                f"another for it: nothing tells the thread that phase "
                f"{self._named(self.phase - 2 if passes else self.phase - 1)} is over",
                threads,
            )
            return True
        return passes

    def _token_passes(self, execution: Execution, threads: Indices, phase: int) -> bool:
        if self.phase > phase + 1:
            execution.report(
                Kind.RACE,
                f"{execution.instruction.mnemonic} waits for phase {self._named(phase)}, which may be in "
                f"phase {self.phase}: only this phase and the one before it can be tested",
                threads,
            )
        return self.phase > phase

    def _knows(self, ordering: Ordering, threads: Indices, phase: int) -> bool:
        """Tell whether threads of one warp that know the same know that a phase is over."""
        if phase < 0:
            return True
        known = ordering.known_to_have_happened(int(threads[0]))
        over = known.get(self._agent)
        if over is not None and over[0] > phase:
            return True
        past = self._past[phase]
        own = int(ordering.names[threads[0]]) if len(threads) == 1 else None
        return not past.hidden and all(
            arrival.unknown(known, ordering.per_block, own) is None for arrival in past.arrivals
        )


class BarrierObjects(Held):
    """The barrier objects of a batch.

    Attributes
    ----------
    ended : int
        How many phases are over, of all of them.
    assumptions : dict of str to None
        What is taken for granted.
    """

    KEY = "barrier objects"

    def __init__(self) -> None:
        self.ended = 0
        self.assumptions: dict[str, None] = {}
        self._of_lane: dict[int, BarrierObject] = {}
        self._tokens: dict[int, tuple[BarrierObject, int, int | None]] = {}
        self._made = 0

    @property
    def are_used(self) -> bool:
        """Whether there has been any."""
        return self._made > 0

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`; states that were returned before are not known any more."""
        snapshot.take(self._of_lane)
        snapshot.take(self._made)

    def initialise(self, execution: Execution, part: Space, lane: int, thread: int, count: int) -> None:
        """Make a barrier object."""
        where = np.arange(lane, lane + BYTES)
        if part.barriers is None:
            part.barriers = np.zeros(len(part.lanes), dtype=bool)
        if part.barriers[where].any():
            used = self._of_lane.get(lane)
            since = "" if used is None else f" since line {used.line}"
            execution.report(
                Kind.UNDEFINED,
                f"{execution.instruction.mnemonic} of {part.place(lane)}, which holds a barrier object"
                f"{since}, and mbarrier.inval was not run",
                np.array([thread]),
            )
        part.barriers[where] = True
        block, line = int(execution.threads.block[thread]), execution.instruction.line
        self._of_lane[lane] = BarrierObject(self._made, part.place(lane), count, line, block)
        self._made += 1

    def invalidate(self, part: Space, lane: int) -> None:
        """Forget a barrier object."""
        assert part.barriers is not None
        part.barriers[lane : lane + BYTES] = False
        del self._of_lane[lane]

    def assume_unused(self, lines: Sequence[int]) -> None:
        """Take for granted that nobody uses the barriers any more that some lines invalidate."""
        some = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"
        self.assumptions[f"no thread uses a barrier after mbarrier.inval in {some} has ended it"] = None

    def at(self, lane: int) -> BarrierObject | None:
        """Return the barrier object at a lane, None if there is none."""
        return self._of_lane.get(lane)

    def issue(self, execution: Execution, barrier: BarrierObject, pending: int | None) -> Ids:
        """Return the term (1,) of a barrier's state, and how many arrivals are pending, if that is known."""
        if barrier.token is not None and pending is None:
            return barrier.token
        found = execution.store.undefined(1, 64, BARRIER_STATE)
        self._tokens[int(found[0])] = barrier, barrier.phase, pending
        if pending is None:
            barrier.token = found
        return found

    def token(self, term: int) -> tuple[BarrierObject, int, int | None] | None:
        """Return what a state is: of which barrier, in which phase, how many arrivals were pending."""
        return self._tokens.get(term)


def by_lane(lanes: NDArray[np.int64]) -> Iterator[tuple[int, Indices]]:
    """Yield each of some lanes (n,), and where it is."""
    for lane in np.unique(lanes).tolist():
        yield int(lane), np.flatnonzero(lanes == lane)
