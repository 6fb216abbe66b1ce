"""Loop-head states: registers and memory, and whether two such states continue alike."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ...machine.memory import ABSENT, ByteLanes
from ...sizes.invariant_inference import TurnTerms
from ...sizes.symbolic_terms import SymbolicTerms
from ...terms.interning import Ids
from ...terms.store import UNDEFINED
from ...terms.traversal import leaves_of
from ..idioms.branch_regions import COMPUTING, LOADS
from ..memory.symbolic_accesses import stored_of_any_size
from ..order.snapshots import Snapshot
from ..registers.threads import Indices
from ..registers.values import of_terms
from ..run.batch import Batch
from ..run.if_conversion import Decision, IfConversion
from ..run.program import Decoded, Program, Sort
from ..run.scheduling import Join, Strand
from ..state.asynchronous_products import AsynchronousProducts
from ..state.execution import Execution
from ..synchronisation.asynchronous import Copies
from ..synchronisation.barrier_objects import BarrierObjects
from ..tensor_memory.cells import Cells as TensorMemory
from ..tensor_memory.cells import uses_cells
from ..text.module import InstructionStatement

BYTE = 8

TENSOR_MEMORY = "tensor memory"
"""Stands for the cells of tensor memory among registers, none of which has a name like that."""


_HELD = frozenset(
    {
        "arrays of any size",
        "conditions on remainders of sizes",
        "leaf functions",
        "enumerated words",
        "fragments",
    }
)
"""Parts of an execution's state that no later access depends on, or that are compared in another way."""


MOST_HEADS = 1 << 15
"""Times that loops begin again before the main loop must have been met, or the end."""


class LoopHeadError(Exception):
    """A batch has come back to the head of an outermost loop.

    Parameters
    ----------
    head : int
        Index of the instruction there.
    """

    def __init__(self, head: int) -> None:
        super().__init__(head)
        self.head = head


class AccessError(Exception):
    """A batch that was to stop before its first access has reached one."""


class Decisions(IfConversion):
    """Refuses to go both ways where it depends on sizes.

    Attributes
    ----------
    divides : bool
        Whether a guard that it refused is not the same condition for all threads.
    """

    divides = False

    def decide(self, decoded: Decoded, active: Indices) -> Decision:
        """See `IfConversion.decide`."""
        found, store = super().decide(decoded, active), self._execution.store
        if len(found.data) and not decoded.selectable and isinstance(store, SymbolicTerms):
            terms = found.conditions.as_terms(store)
            if store.is_integer(leaves_of(store, np.unique(terms))).any():
                line = decoded.instruction.line
                self.divides |= len(np.unique(terms)) > 1
                raise UnsupportedError(
                    f"the guard of {decoded.instruction.mnemonic} in line {line} depends on sizes"
                )
        return found


class LoopBatch(Batch):
    """A batch that stops at loop heads.

    Parameters
    ----------
    execution, program, scalars : Execution, Program, collection of int
        As of `Batch`.
    heads : frozenset of int
        Where these loops begin.

    Attributes
    ----------
    stops_at_access : bool
        Whether it also stops before the first instruction that does more than compute.
    """

    def __init__(
        self, execution: Execution, program: Program, scalars: Collection[int], heads: frozenset[int]
    ) -> None:
        super().__init__(execution, program, scalars)
        self.execution = execution
        self._conversion = Decisions(execution, program, self._begin, scalars)
        self._heads = heads
        self.stops_at_access = False
        self._running: Strand | None = None

    def _advance(self, strand: Strand) -> None:
        self._running = strand
        super()._advance(strand)

    def _begin(self, instruction: InstructionStatement, active: Indices) -> None:
        if self.stops_at_access and not _only_computes(instruction):
            assert self._running is not None
            self.scheduler.runnable.append(self._running)
            raise AccessError
        super()._begin(instruction, active)

    def _controls(self, decoded: Decoded, strand: Strand, decision: Decision) -> bool:
        before = strand.at
        goes_on = super()._controls(decoded, strand, decision)
        if goes_on and decoded.sort is Sort.BRANCH and strand.at <= before and strand.at in self._heads:
            self.scheduler.runnable.append(strand)
            raise LoopHeadError(strand.at)
        return goes_on

    def run_to_head(self, head: int, count: int) -> None:
        """Run until a loop has begun again some times."""
        met = 0
        while met < count:
            try:
                self.run()
            except LoopHeadError as reached:
                met += reached.head == head
                continue
            raise UnsupportedError("the kernel ends within an iteration of its main loop")

    def run_to_access(self) -> None:
        """Run until an instruction is next that does more than compute, in all threads at once."""
        self.stops_at_access = True
        for _ in range(MOST_HEADS):
            try:
                self.run()
            except LoopHeadError:
                continue
            except AccessError:
                (strand, *others), execution = self.scheduler.runnable, self.execution
                together = len(strand.active) == int(execution.alive.sum()) and not strand.joins
                if others or not together or execution.path is not None:
                    raise UnsupportedError("threads diverge before the first access") from None
                return
            break
        raise UnsupportedError("the kernel accesses no memory")

    def run_to_end(self) -> None:
        """Run to the end."""
        for _ in range(MOST_HEADS):
            try:
                if self.run():
                    return
            except LoopHeadError:
                continue
            raise UnsupportedError("threads wait for each other for ever")
        raise UnsupportedError("the kernel does not end after its main loop")

    def live(self) -> frozenset[str]:
        """Return the registers that may be read from here on."""
        waiting = [each.strand for each in self.scheduler.waiting]
        parked = (*self._parked, *self._polling, *self._gathering, *self._lacking)
        strands = [*self.scheduler.runnable, *waiting, *parked]
        places = [strand.at for strand in strands] + [join.at for strand in strands for join in strand.joins]
        return self._program.regions.live_at(places)

    def record_in(self, snapshot: Snapshot) -> None:
        """Record where all strands are, and what they wait for; see `snapshots`.

        Raises
        ------
        UnsupportedError
            If threads have arrived at a barrier that is not complete, or may wait for other blocks.
        """
        scheduler, execution = self.scheduler, self.execution
        if scheduler.has_arrivals or execution.semaphores is not None:
            raise UnsupportedError(
                "threads have arrived at barriers, or wait for other blocks, at the head of a loop"
            )
        waiting = [each.strand for each in scheduler.waiting]
        groups = (scheduler.runnable, waiting, self._parked, self._polling, self._gathering, self._lacking)
        joins: dict[int, Join] = {}
        for strands in groups:
            snapshot.take(len(strands))
            for strand in strands:
                snapshot.take([strand.at, strand.active])
                for join in strand.joins:
                    snapshot.take(list(joins).index(id(join)) if id(join) in joins else len(joins))
                    joins.setdefault(id(join), join)
        snapshot.take(list(joins.values()))
        snapshot.take([[each.barriers, each.counts, each.aligned] for each in scheduler.waiting])
        snapshot.take([execution.alive, execution.elsewhere, self._gathered])
        snapshot.take(BarrierObjects.of(execution).ended != self._ended)

    def copied(self, shared: Sequence[Any]) -> LoopBatch:
        """Return a copy that goes on by itself; of some objects there is still only one."""
        return copy.deepcopy(self, {id(each): each for each in shared})


@dataclass(frozen=True)
class Cells:
    """Contents of registers and memory.

    Attributes
    ----------
    registers : dict of str to array
        Terms for each thread, by register; of those that may still be read. By `TENSOR_MEMORY`, those that
        its cells hold.
    lanes : tuple of ByteLanes
        Of shared memory, local memory and the parameters.
    """

    registers: dict[str, Ids]
    lanes: tuple[ByteLanes, ...]

    @classmethod
    def of(cls, batch: LoopBatch) -> Cells:
        """Return what a batch holds now."""
        execution, live = batch.execution, batch.live()
        registers = {
            name: each.as_terms(execution.store) for name, each in execution.registers.items() if name in live
        }
        if uses_cells(execution):
            registers[TENSOR_MEMORY] = TensorMemory.of(execution).contents
        return cls(registers, tuple(_copy(lane) for lane in _lanes(execution)))

    def moved(self, turns: TurnTerms, move: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> Cells:
        """Return what is held with every polynomial replaced."""
        registers = {name: turns.moved(each, move) for name, each in self.registers.items()}
        lanes = []
        for each in self.lanes:
            found = ByteLanes(each.store, 0)
            found.terms, found.lows = turns.moved(each.terms, move), each.lows
            lanes.append(found)
        return Cells(registers, tuple(lanes))

    def put(self, batch: LoopBatch) -> None:
        """Make a batch hold these, and nothing in other registers."""
        execution = batch.execution
        store = execution.store
        execution.registers = {
            name: of_terms(store, terms, int(store.widths(terms[:1])[0]))
            for name, terms in self.registers.items()
            if name != TENSOR_MEMORY
        }
        if TENSOR_MEMORY in self.registers:
            TensorMemory.of(execution).put(self.registers[TENSOR_MEMORY])
        for own, each in zip(_lanes(execution), self.lanes, strict=True):
            own.terms[:], own.lows[:] = each.terms, each.lows


def _only_computes(instruction: InstructionStatement) -> bool:
    """Tell whether an instruction only computes what registers hold, or moves the flow of control."""
    if instruction.opcode in LOADS:
        return instruction.has("param")
    return instruction.opcode in COMPUTING


def _lanes(execution: Execution) -> tuple[ByteLanes, ...]:
    memory = execution.memory
    return memory.shared.lanes, memory.local.lanes, memory.parameters.lanes


def _copy(lanes: ByteLanes) -> ByteLanes:
    found = ByteLanes(lanes.store, 0)
    found.terms, found.lows = lanes.terms.copy(), lanes.lows.copy()
    return found


def guessed(store: SymbolicTerms, turns: TurnTerms, cells: Sequence[Cells]) -> tuple[Cells, int]:
    """Guess what is held at any turn from turns 0, 1 and 2; where nothing fits, it may be anything.

    Returns
    -------
    Cells
        The guess, if there are none of these. Registers that hold the same at the three turns hold the same.
    int
        How many distinct terms don't go on as they began.
    """
    names = list(cells[0].registers)
    sizes = [{name: len(terms) for name, terms in cell.registers.items()} for cell in cells]
    if sizes[0] != sizes[1] or sizes[0] != sizes[2]:
        return Cells({}, ()), 1
    held = [np.concatenate([cell.registers[name] for name in names]) for cell in cells]
    found, agrees = _common(store, turns, held)
    odd = len(np.unique(found[(found >= 0) & ~agrees]))
    if odd:
        return Cells({}, ()), odd
    # What nobody has written is another unknown in every run, and may be anything here.
    agrees[agrees] = ~store.are(UNDEFINED, found[agrees])
    lost = np.flatnonzero(~agrees)
    same, where = np.unique(np.stack([each[lost] for each in held], axis=1), axis=0, return_inverse=True)
    found[lost] = turns.held(same[:, 0])[where.reshape(-1)]
    counts = np.cumsum([len(cells[0].registers[name]) for name in names])[:-1]
    lanes = []
    for parts in zip(*(cell.lanes for cell in cells), strict=True):
        result = _copy(parts[0])
        same_lows = np.all([part.lows == parts[0].lows for part in parts], axis=0)
        there = np.flatnonzero(np.all([part.terms != ABSENT for part in parts], axis=0) & same_lows)
        nowhere = np.all([part.terms == ABSENT for part in parts], axis=0)
        terms, agrees = _common(store, turns, [part.terms[there] for part in parts])
        agrees[agrees] = ~store.are(UNDEFINED, terms[agrees])
        result.terms[there] = np.where(agrees, terms, ABSENT)
        lost = np.flatnonzero((result.terms == ABSENT) & ~nowhere)
        lost = np.union1d(lost, np.flatnonzero(~same_lows))
        result.terms[lost] = turns.held(store.constants(np.zeros(len(lost), dtype=np.uint64), BYTE))
        result.lows[lost] = 0
        lanes.append(result)
    registers = dict(zip(names, np.split(found, counts), strict=True))
    return Cells(registers, tuple(lanes)), odd


def _common(store: SymbolicTerms, turns: TurnTerms, held: Sequence[Ids]) -> tuple[Ids, NDArray[np.bool_]]:
    """Guess terms from those at turns 0, 1 and 2, and tell which fit all three."""
    found = turns.guess(held[0], held[1])
    there = np.flatnonzero(found >= 0)
    two = turns.moved(found[there], lambda rows: turned(store, rows, factor=0, offset=2))
    agrees = np.zeros(len(found), dtype=bool)
    agrees[there] = turns.bound(two, held[2][there])[2]
    return found, agrees


def turned(store: SymbolicTerms, rows: NDArray[np.int64], *, factor: int, offset: int) -> NDArray[np.int64]:
    """Return polynomials with ``factor * u + offset`` in place of the number u of the turn."""
    symbols = store.symbols
    return symbols.substituted(rows, "u", symbols.form({("u",): factor, (): offset}))


# -- what else must be the same


def going_on(batch: LoopBatch) -> list[Any]:
    """Return what a batch depends on besides what is held: strands, copies under way, races that may come.

    Times are relative to the latest; accesses that are in order before all later ones are left out.

    Raises
    ------
    UnsupportedError
        If threads wait at barriers, or atomics are under way.
    """
    execution, scheduler = batch.execution, batch.scheduler
    if (snapshot := snapshot_of(batch)) is not None:
        return snapshot.canonical()
    if scheduler.waiting or scheduler.has_arrivals:
        raise UnsupportedError("threads wait at a barrier at the head of a loop")
    found: list[Any] = [execution.alive.copy()]
    for strand in scheduler.runnable:
        found += [strand.at, strand.active]
        for join in strand.joins:
            found += [join.at, join.outstanding, *join.arrived]
    found += Copies.of(execution).outstanding()
    found += AsynchronousProducts.of(execution).relative()
    history = execution.memory.shared.history
    if history is not None and history.is_used:
        found += history.relative(execution.ordering)
    found.append(stored_of_any_size(execution))
    everywhere = execution.memory.globals
    if everywhere.history is not None:
        found += everywhere.history.arrays()
    return [*found, everywhere.lanes.terms.copy(), everywhere.lanes.lows.copy()]


def snapshot_of(batch: LoopBatch) -> Snapshot | None:
    """Return what a batch depends on besides what is held, if operations complete on their own; else None.

    Raises
    ------
    UnsupportedError
        If it depends on what is not compared.
    """
    execution = batch.execution
    if not uses_cells(execution) and not BarrierObjects.of(execution).are_used:
        return None
    found = Snapshot(execution.threads.warps)
    batch.record_in(found)
    found.take(execution.ordering)
    found.take(execution.memory.shared.history)
    found.take(execution.memory.shared.barriers)
    for name, state in sorted(execution.state.items()):
        if name not in _HELD:
            found.take([name, state])
    found.take(stored_of_any_size(execution))
    everywhere = execution.memory.globals
    if everywhere.history is not None:
        found.take(everywhere.history)
    found.take([everywhere.lanes.terms, everywhere.lanes.lows])
    return found


def digest_of(batch: LoopBatch) -> bytes:
    """Return a digest of the snapshot of a batch; empty if it has none."""
    with suppress(UnsupportedError):
        if (snapshot := snapshot_of(batch)) is not None:
            return snapshot.digest
    return b""


def alike(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Tell whether two batches go on alike, as `going_on` has it."""
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
