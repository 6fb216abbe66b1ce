"""``mbarrier``: arrivals at and waits for phases of barrier objects in shared memory.

Transactions (``.expect_tx``, ``expect_tx``) count bytes of bulk copies, see `bulk_copies`. Source: PTX ISA
9.1 section 9.7.13.15.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ....spec.ptx.open_results import BARRIER_STATE, POLLED
from ....spec.ptx.operands import Integer, Sink
from ...findings.finding import Kind
from ..memory.addressing import Addresses, addresses, located
from ..memory.memory_access import use_atomically, write
from ..registers.threads import Indices
from ..registers.values import known
from ..state.execution import Decoders, Execution, Step
from ..state.handlers import Modifiers
from ..state.state_space import Space
from ..text.module import InstructionStatement
from ..text.operands import Operand
from .barrier_objects import BYTES, MOST, BarrierObject, BarrierObjects, by_lane
from .barrier_phases import Arrival
from .cluster_barrier import refuse_fences
from .questions_ahead import QuestionsAhead

LOW_BIT = (
    "only the lowest bit of a parity in a register counts, as in code of ptxas 13.0; PTX allows 0 and 1 only"
)
"""What a verdict rests on where a kernel asks for other parities, such as -1."""

_SCOPES = ("cta", "cluster")
_SPACES = ("shared", "shared::cta")
REMOTE = "shared::cluster"
"""The state space of barriers of all blocks of a cluster."""


def _located(
    execution: Execution, space: str, operand: Operand, active: Indices
) -> Iterator[tuple[Space, Indices, NDArray[np.int64]]]:
    """Yield the shared memory in which barrier objects lie, which threads use it, and the lanes."""
    yield from _located_at(execution, space, addresses(execution, operand, active), active)


def _located_at(
    execution: Execution, space: str, where: Addresses, active: Indices
) -> Iterator[tuple[Space, Indices, NDArray[np.int64]]]:
    """Yield the same of addresses (n active,)."""
    mnemonic = execution.instruction.mnemonic
    if execution.path is not None:
        execution.unsupported(f"{mnemonic} under a data-dependent branch")
    for part, members, offsets in located(execution, space, where, BYTES, active, BYTES, of_barriers=True):
        if part.name != "shared":
            execution.unsupported(f"{mnemonic} of {part.name} memory")
        usable = offsets % BYTES == 0
        remote = part.blocks_of(offsets) != execution.threads.block[active[members]]
        if remote.any() and space != REMOTE:
            message = f"{mnemonic} of a barrier of another block of the cluster"
            execution.report(Kind.UNDEFINED, message, active[members[remote]])
            usable &= ~remote
        yield part, members[usable], offsets[usable]


def barriers_at(
    execution: Execution, space: str, operand: Operand, active: Indices
) -> Iterator[tuple[BarrierObject, Indices]]:
    """Yield barrier objects that an instruction uses, and which of the active threads use each.

    Those that use what is no barrier object, or is misaligned, or is not there, are reported and left out.
    """
    yield from barriers_at_addresses(execution, space, addresses(execution, operand, active), active)


def barriers_at_addresses(
    execution: Execution, space: str, where: Addresses, active: Indices, *, later: bool = False
) -> Iterator[tuple[BarrierObject, Indices]]:
    """Yield the same of addresses (n active,).

    What uses barriers of other blocks `later`, when something is over, has done so for who knows the phase to
    be over that it counts for.
    """
    objects, name = BarrierObjects.of(execution), execution.instruction.mnemonic
    for part, members, offsets in _located_at(execution, space, where, active):
        now = (part.blocks_of(offsets) == execution.threads.block[active[members]]) | np.array(not later)
        use_atomically(execution, part, offsets[now], BYTES, active[members[now]])
        for lane, which in by_lane(offsets):
            barrier = objects.at(lane)
            if barrier is None:
                execution.report(
                    Kind.UNINITIALISED,
                    f"{name} of {part.place(lane)}, which holds no barrier object",
                    active[members[which]],
                )
            else:
                if len(others := which[~now[which]]):
                    barrier.note_later(
                        execution.ordering, active[members[others]], execution.instruction.line
                    )
                yield barrier, members[which]


def barrier_space(modifiers: Modifiers, *, remote: bool = False) -> str:
    """Take the state space; with `remote` it may be that of a cluster."""
    if remote and modifiers.flag(REMOTE):
        return REMOTE
    return "shared" if modifiers.one_of(_SPACES, default="") else "generic"


def _init(modifiers: Modifiers) -> Step:
    space = barrier_space(modifiers)
    modifiers.type(("b64",))
    modifiers.finish()
    place, count = modifiers.operands(2)

    def init(execution: Execution, active: Indices) -> None:
        counts = execution.numbers(count, 32, active, "the count").astype(np.int64)
        wrong = (counts < 1) | (counts > MOST)
        if wrong.any():
            message = f"a barrier object expects 1 to {MOST} arrivals, not {int(counts[wrong][0])}"
            execution.report(Kind.UNDEFINED, message, active[wrong])
        for part, members, offsets in _located(execution, space, place, active):
            for member, lane in zip(members.tolist(), offsets.tolist(), strict=True):
                BarrierObjects.of(execution).initialise(
                    execution, part, lane, int(active[member]), max(1, int(counts[member]))
                )
            words = execution.store.undefined(len(members), 64, BARRIER_STATE).reshape(-1, 1)
            write(execution, part, offsets, words, BYTES, active[members])

    return init


def _inval(modifiers: Modifiers) -> Step:
    space = barrier_space(modifiers)
    modifiers.type(("b64",))
    modifiers.finish()
    (place,) = modifiers.operands(1)
    name = modifiers.instruction.mnemonic

    def inval(execution: Execution, active: Indices) -> None:
        objects = BarrierObjects.of(execution)
        for part, members, offsets in _located(execution, space, place, active):
            for lane, which in by_lane(offsets):
                more = ", or another thread invalidates it too" if len(which) > 1 else ""
                if objects.at(lane) is None or more:
                    execution.report(
                        Kind.UNDEFINED,
                        f"{name} of {part.place(lane)}, which holds no barrier object" + more,
                        active[members[which]],
                    )
                if (barrier := objects.at(lane)) is not None:
                    barrier.check_end(execution, active[members[which]])
                    objects.invalidate(part, lane)
            words = execution.store.undefined(len(members), 64, BARRIER_STATE).reshape(-1, 1)
            write(execution, part, offsets, words, BYTES, active[members])

    return inval


def _arrive(modifiers: Modifiers, *, drop: bool) -> Step:
    expects = modifiers.flag("expect_tx")
    completes = not modifiers.flag("noComplete")
    releases = modifiers.one_of(("release", "relaxed"), default="release") == "release"
    wide = modifiers.one_of(_SCOPES, default="cta") == "cluster"
    space = barrier_space(modifiers, remote=completes)
    modifiers.type(("b64",))
    modifiers.finish()
    given = modifiers.operands(2, 3)
    if space == REMOTE and not isinstance(given[0], Sink):
        raise modifiers.unsupported("an arrival at barriers of other blocks returns no state")
    if (expects or not completes) and len(given) < 3:
        raise InputError(f"{modifiers.instruction.mnemonic} takes a count")

    def arrive(execution: Execution, active: Indices) -> None:
        objects = BarrierObjects.of(execution)
        if not releases:
            refuse_fences(execution)
        counts = np.ones(len(active), dtype=np.int64)
        if expects:
            for barrier, members in barriers_at(execution, space, given[1], active):
                states = execution.store.undefined(len(active), 64, BARRIER_STATE)
                states[members] = objects.issue(execution, barrier, None)
                execution.write_terms(given[0], states[members], 64, active[members])
                for thread, count in _bytes(execution, given[2], active[members]):
                    barrier.expect_bytes(execution, thread, count, arrives=True)
                    how = Arrival(1, drop, completes, releases, wide=wide)
                    objects.ended += barrier.arrive(execution, thread, how)
            return
        if len(given) == 3:
            counts = execution.numbers(given[2], 32, active, "the count").astype(np.int64)
        if (counts < 1).any():
            execution.report(Kind.UNDEFINED, "threads arrive at a barrier 0 times", active[counts < 1])
        states = execution.store.undefined(len(active), 64, BARRIER_STATE)
        for barrier, members in barriers_at(execution, space, given[1], active):
            for count in np.unique(counts[members]).tolist():
                some = members[counts[members] == count]
                pending = barrier.pending if len(some) == 1 and count == barrier.pending else None
                states[some] = objects.issue(execution, barrier, pending)
                how = Arrival(max(1, count), drop, completes, releases, wide=wide)
                objects.ended += barrier.arrive(execution, active[some], how)
        execution.write_terms(given[0], states, 64, active)

    return arrive


def _pending_count(modifiers: Modifiers) -> Step:
    modifiers.type(("b64",))
    modifiers.finish()
    destination, state = modifiers.operands(2)

    def pending_count(execution: Execution, active: Indices) -> None:
        objects, found = BarrierObjects.of(execution), np.zeros(len(active), dtype=np.uint64)
        for index, term in enumerate(execution.terms(state, 64, active).tolist()):
            told = objects.token(term)
            if told is None or told[2] is None:
                execution.unsupported(
                    f"{modifiers.instruction.mnemonic}: how many arrivals are pending depends on the order "
                    "in which threads arrive"
                )
            found[index] = told[2]
        execution.write(destination, known(found, 32), active)

    return pending_count


def _bytes(execution: Execution, operand: Operand, active: Indices) -> Iterator[tuple[Indices, int]]:
    """Yield each thread (1,) with the bytes that it expects."""
    counts = execution.numbers(operand, 32, active, "the bytes").astype(np.int64)
    wrong = counts > MOST
    if wrong.any():
        message = f"a barrier object counts 0 to {MOST} bytes, not {int(counts[wrong][0])}"
        execution.report(Kind.UNDEFINED, message, active[wrong])
    for index, count in enumerate(counts.tolist()):
        yield active[index : index + 1], count


def _counted(modifiers: Modifiers, count: Callable[[Execution, BarrierObject, Indices, int], None]) -> Step:
    """Decode what changes the bytes that a phase waits for, of which `count` is told thread by thread."""
    modifiers.flag("relaxed")
    modifiers.one_of(_SCOPES, default="cta")
    space = barrier_space(modifiers, remote=True)
    modifiers.type(("b64",))
    modifiers.finish()
    place, operand = modifiers.operands(2)

    def step(execution: Execution, active: Indices) -> None:
        for barrier, members in barriers_at(execution, space, place, active):
            for thread, number in _bytes(execution, operand, active[members]):
                count(execution, barrier, thread, number)

    return step


def _expect(execution: Execution, barrier: BarrierObject, thread: Indices, number: int) -> None:
    barrier.expect_bytes(execution, thread, number, arrives=False)


def _complete(execution: Execution, barrier: BarrierObject, thread: Indices, number: int) -> None:
    """Let bytes come as those of a copy do; they tell nothing of the thread's memory."""
    BarrierObjects.of(execution).ended += barrier.complete_bytes(execution, thread, number)


def _poll(modifiers: Modifiers) -> Step:
    test = decoded_poll(modifiers.instruction)

    def poll(execution: Execution, active: Indices) -> None:
        """Only `test` says whether threads go on: where nobody asks that, they can't wait."""
        if not test(execution, active).all():
            execution.unsupported(f"{modifiers.instruction.mnemonic} under a data-dependent branch")

    return poll


class Test:
    """A test of a phase.

    Parameters
    ----------
    modifiers : Modifiers
        Of the instruction.
    """

    def __init__(self, modifiers: Modifiers) -> None:
        self._instruction = modifiers.instruction
        modifiers.one_of(("test_wait", "try_wait"))
        self._parity = modifiers.flag("parity")
        self._acquires = modifiers.one_of(("acquire", "relaxed"), default="acquire") == "acquire"
        self._wide = modifiers.one_of(_SCOPES, default="cta") == "cluster"
        self._space = barrier_space(modifiers)
        modifiers.type(("b64",))
        modifiers.finish()
        self._answer, self._place, self._phase = modifiers.operands(3, 4)[:3]

    def __call__(
        self, execution: Execution, active: Indices, ahead: Collection[int] = ()
    ) -> NDArray[np.bool_]:
        """Return which threads (n active,) go on, and answer them that the phase is over.

        Instructions `ahead`, by their indices, have asked the same before.
        """
        if not self._acquires:
            refuse_fences(execution)
        passed = np.ones(len(active), dtype=bool)
        for barrier, members, wanted in self._asked(execution, active):
            passed[members] = barrier.passed(
                execution,
                active[members],
                wanted,
                parity=self._parity,
                acquires=self._acquires,
                wide=self._wide,
            )
            if ahead and self._parity:
                told = active[members[passed[members]]]
                QuestionsAhead.of(execution).repeat(execution, ahead, barrier, told)
        through = active[passed]
        if len(through):
            execution.write(self._answer, known(np.ones(len(through), dtype=np.uint64), 1), through)
        return passed

    def ask_ahead(self, execution: Execution, active: Indices, index: int) -> None:
        """Answer threads that the phase is not over, though it may be: they ask again if they look at it.

        The instruction is known by its index.
        """
        for barrier, members, wanted in self._asked(execution, active):
            barrier.check_asked(execution, active[members], wanted, parity=self._parity)
            for parity in np.unique(wanted).tolist() if self._parity else ():
                asking = active[members[wanted == parity]]
                QuestionsAhead.of(execution).ask(execution, index, barrier, asking, parity)
        execution.write(self._answer, known(np.zeros(len(active), dtype=np.uint64), 1), active)

    def _asked(
        self, execution: Execution, active: Indices
    ) -> Iterator[tuple[BarrierObject, Indices, NDArray[np.int64]]]:
        """Yield each barrier, which of the active threads ask it, and for which phases or parities."""
        wanted = np.zeros(len(active), dtype=np.int64)
        if self._parity:
            wanted = execution.numbers(self._phase, 32, active, "the parity").astype(np.int64)
            if (wanted > 1).any():
                if isinstance(self._phase, Integer):
                    message = f"a parity must be 0 or 1, not {int(wanted.max())}"
                    execution.report(Kind.UNDEFINED, message, active[wanted > 1])
                execution.assumptions[LOW_BIT] = None
                wanted &= 1
        states = None if self._parity else execution.terms(self._phase, 64, active)
        for barrier, members in barriers_at(execution, self._space, self._place, active):
            if states is not None:
                wanted[members] = self._phases(execution, barrier, states[members], active[members])
            yield barrier, members, wanted[members]

    def ask_in_vain(self, execution: Execution, active: Indices) -> None:
        """Ask without looking at the answer: nothing is known by it."""
        for _ in barriers_at(execution, self._space, self._place, active):
            pass
        answers = execution.store.undefined(len(active), 1, POLLED)
        execution.write_terms(self._answer, answers, 1, active)

    def fail(self, execution: Execution, active: Indices) -> None:
        """Ask too early: the answer is no, and nothing is known by it."""
        self.ask_in_vain(execution, active)
        execution.write(self._answer, known(np.zeros(len(active), dtype=np.uint64), 1), active)

    def _phases(
        self, execution: Execution, barrier: BarrierObject, states: NDArray[np.int32], threads: Indices
    ) -> NDArray[np.int64]:
        """Return the phases that states are of."""
        objects, found = BarrierObjects.of(execution), np.zeros(len(states), dtype=np.int64)
        for term in np.unique(states).tolist():
            told = objects.token(int(term))
            if told is None:
                execution.unsupported(
                    f"{self._instruction.mnemonic} with a value that is not known to be a state"
                )
            if told[0] is not barrier:
                execution.report(
                    Kind.UNDEFINED,
                    f"{self._instruction.mnemonic} tests the barrier at {barrier.place} with a state of "
                    f"{told[0].place}",
                    threads[states == term],
                )
            found[states == term] = told[1]
        return found

    def report_waiting(self, execution: Execution, active: Indices) -> None:
        """Report that some threads wait for ever."""
        where = addresses(execution, self._place, active)
        for _, members, offsets in located(
            execution, self._space, where, BYTES, active, BYTES, of_barriers=True
        ):
            barrier = BarrierObjects.of(execution).at(int(offsets[0]))
            if barrier is not None:
                execution.report(
                    Kind.DEADLOCK,
                    f"{self._instruction.mnemonic} waits for ever for {barrier.state}",
                    active[members],
                )
                return


def decoded_poll(instruction: InstructionStatement) -> Test:
    """Decode ``mbarrier.test_wait`` or ``try_wait``."""
    return Test(Modifiers(instruction))


_OPERATIONS = MappingProxyType(
    {
        "init": _init,
        "inval": _inval,
        "arrive": lambda modifiers: _arrive(modifiers, drop=False),
        "arrive_drop": lambda modifiers: _arrive(modifiers, drop=True),
        "pending_count": _pending_count,
        "expect_tx": lambda modifiers: _counted(modifiers, _expect),
        "complete_tx": lambda modifiers: _counted(modifiers, _complete),
        "test_wait": _poll,
        "try_wait": _poll,
    }
)


def _mbarrier(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    operation = modifiers.one_of(_OPERATIONS)
    return _OPERATIONS[operation](modifiers)


HANDLERS: Decoders = MappingProxyType({"mbarrier": _mbarrier})
"""The instructions of this module."""
