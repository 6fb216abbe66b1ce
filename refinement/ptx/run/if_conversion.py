"""If-conversion of branches on data: both sides are run, and their states selected between.

A thread whose way depends on data runs both, up to where they meet: the registers that are read there, and
the bytes of memory that either way writes, are then choices by the branch's condition. This is if-conversion,
as compilers do it (J. Allen, K. Kennedy, C. Porterfield, J. Warren, "Conversion of Control Dependence to Data
Dependence", 1983). Atomic updates are not taken back: what they add on a way is chosen by its condition. What
other threads take part in is never run so: barriers, and exchanges within a warp but where all of it goes
the same way. A loop that data end is as many branches within each other as it may have iterations; only few
may be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...analysis.origins import Origin, Origins
from ...analysis.required_outcomes import RequiredOutcomes
from ...terms.interning import Ids
from ...terms.truth_tables import A, B
from ..idioms.branch_regions import ATOMICS, LOADS, STORES
from ..memory import memory_choice
from ..outline.control_part import mask_of
from ..registers.dependence import DataDependenceError
from ..registers.threads import WARP, Indices
from ..registers.value_operations import chosen, combined
from ..registers.values import KNOWN, Value, of_terms
from ..state.execution import Execution
from ..state.undo_log import UndoLog
from ..synchronisation.barrier_objects import BarrierObjects
from ..text.module import InstructionStatement
from .chosen_addresses import chosen_base
from .guards import Guards
from .program import Decoded, Program, Sort

MOST_STEPS = 4096
"""Instructions run between a branch on data and where its ways meet, at most."""

DEEPEST = 32
"""Branches within a branch on data, at most; so many more iterations may a loop have that data end."""

Begin = Callable[[InstructionStatement, Indices], None]
"""Told of every instruction before it runs, and of its threads."""

Truths = NDArray[np.bool_]
"""Of threads."""

_ACCESSES = LOADS | STORES

_ON_WAYS = _ACCESSES | ATOMICS
"""What a guard on data may decide over, besides what writes registers alone."""

_NOBODY: Indices = np.empty(0, dtype=np.intp)


class Decision(NamedTuple):
    """The outcome of a guard in some threads.

    Attributes
    ----------
    acting : array
        Threads that act.
    data : array
        Threads of which it depends on data.
    conditions : Value
        One bit for each of the latter.
    """

    acting: Indices
    data: Indices = _NOBODY
    conditions: Value = Value(1, np.empty(0, dtype=np.uint64))


class IfConversion:
    """Runs both sides of branches on data.

    Parameters
    ----------
    execution : Execution
        The state of the threads.
    program : Program
        The instructions.
    begin : callable
        Told of every instruction that runs.
    scalars : collection of int
        The inputs that scalars are, of which cases are told apart where a branch depends on them alone.
    guards : Guards, optional
        Where it is noted what guards are.
    """

    def __init__(
        self,
        execution: Execution,
        program: Program,
        begin: Begin,
        scalars: Collection[int] = (),
        guards: Guards | None = None,
    ) -> None:
        self._execution = execution
        self._guards = Guards() if guards is None else guards
        self._program = program
        self._begin = begin
        self._origins = Origins(execution.store, scalars)
        self._outcomes = RequiredOutcomes(execution.store)
        self._depth = 0
        self._steps = 0
        self._unread: dict[int, Ids] = {}

    # -- guards
    def decide(self, decoded: Decoded, active: Indices) -> Decision:
        """Return what the guard of an instruction decides of the threads that run it."""
        if decoded.guard is None:
            return Decision(active)
        value = self._execution.guard(decoded.guard, active)
        on_data = np.zeros(len(active), dtype=bool) if value.terms is None else value.terms != KNOWN
        holds = value.numbers.astype(bool) & ~on_data
        if on_data.any():
            assert value.terms is not None
            terms = value.terms[on_data]
            if self._execution.store.ends or not self._origins.values(terms).all():
                outcomes, known = self._outcomes.outcomes(terms)
                holds[on_data], on_data[on_data] = outcomes, ~known
        acting = active if holds.all() else active[holds]
        self._note(decoded.instruction, str(decoded.guard), holds, ~on_data)
        return Decision(acting, active[on_data], value.at(on_data)) if on_data.any() else Decision(acting)

    def act(self, decoded: Decoded, decision: Decision) -> None:
        """Run an instruction that does not move the flow of control."""
        step = decoded.step
        assert step is not None
        if len(decision.acting):
            self._note_mask(decoded, decision.acting)
            self._step(decoded, decision.acting)
        if not len(decision.data):
            return
        if decoded.selectable:
            self._execution.conditionally(step, decision.conditions, decision.data)
            return
        self._check_origins(decoded, decision)
        if decoded.instruction.opcode not in _ON_WAYS:
            raise dependence(decoded, decision)
        self._both(lambda: self._step(decoded, decision.data), lambda: None, decision, None)

    def _step(self, decoded: Decoded, threads: Indices) -> None:
        """Run an instruction; threads whose address a bit of the data chooses, at both of its places."""
        execution, instruction, step = self._execution, decoded.instruction, decoded.step
        assert step is not None
        chosen_by = None
        if instruction.opcode in _ACCESSES:
            chosen_by = chosen_base(execution, instruction, threads, self._origins)
        if chosen_by is None:
            step(execution, threads)
            return
        register, (places, bits, then, otherwise) = chosen_by
        decision = Decision(_NOBODY, threads[places], of_terms(execution.store, bits, 1))
        rest = np.delete(threads, places)
        if len(rest):
            step(execution, rest)

        def way(terms: Ids) -> None:
            held = execution.registers[register.name]
            value = of_terms(execution.store, terms, held.width)
            execution.registers[register.name] = held.updated(decision.data, value)
            self._step(decoded, decision.data)

        self._both(lambda: way(then), lambda: way(otherwise), decision, None)

    def _note(self, instruction: InstructionStatement, condition: str, holds: Truths, known: Truths) -> None:
        if not self._guards.are_settled(instruction, condition):
            failed = known & ~holds
            self._guards.note(instruction, condition, bool(holds.any()), bool(failed.any()))

    def _note_mask(self, decoded: Decoded, active: Indices) -> None:
        """Note what the predicate is by which an instruction chooses."""
        mask = mask_of(decoded.instruction)
        if mask is None or self._guards.are_settled(decoded.instruction, str(mask)):
            return
        value = self._execution.read(mask, 1, active)
        known = np.ones(len(active), dtype=bool) if value.terms is None else value.terms == KNOWN
        self._note(decoded.instruction, str(mask), value.numbers.astype(bool) & known, known)

    # -- branches
    def branch(self, at: int, decoded: Decoded, decision: Decision) -> None:
        """Run the threads of which a branch depends on data, up to where its ways meet.

        What only invalidates barrier objects at the end of their use changes nothing that is looked at.

        Parameters
        ----------
        at : int
            Index of the branch.
        decoded : Decoded
            The branch, or an exit.
        decision : Decision
            What its guard decides.

        Raises
        ------
        DataDependenceError
            If both ways can't be run, or the condition depends on scalars alone, which are cases, or on
            what is undefined.
        """
        if lines := self._program.regions.invalidations(at):
            BarrierObjects.of(self._execution).assume_unused(lines)
            return
        self._check_origins(decoded, decision)
        refusal = self._program.regions.refusal(at, warps=self._is_of_warps(decision))
        if refusal:
            raise dependence(decoded, decision, refusal)
        meet = decoded.meet
        assert meet is not None
        if self._depth >= DEEPEST and at in self._program.regions.between(at):
            why = f"it controls the number of iterations of a loop, which may be more than {DEEPEST}"
            raise dependence(decoded, decision, why)
        if not self._depth:
            self._steps = 0
        self._descend()
        self._both(
            lambda: self._run(decoded.target, decision.data, meet),
            lambda: self._run(at + 1, decision.data, meet),
            decision,
            self._program.regions.read_behind(meet),
        )
        self._depth -= 1

    def _is_of_warps(self, decision: Decision) -> bool:
        """Tell whether all threads of each warp go the same way."""
        warps, terms = decision.data // WARP, decision.conditions.terms
        assert terms is not None
        alive = self._execution.alive.reshape(-1, WARP).sum(axis=1)
        ways = np.unique(np.stack([warps, terms]), axis=1).shape[1]
        return bool(ways == len(np.unique(warps)) and (np.bincount(warps)[warps] == alive[warps]).all())

    def _check_origins(self, decoded: Decoded, decision: Decision) -> None:
        """Refuse conditions that are to be known: cases of scalars, and what is undefined."""
        assert decision.conditions.terms is not None
        origins = self._origins.values(np.unique(decision.conditions.terms))
        if (origins & Origin.UNDEFINED).any() or (origins == Origin.SCALAR).any():
            raise dependence(decoded, decision)

    def _descend(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            self._execution.unsupported(f"branches on data are nested more than {DEEPEST} deep")

    def _run(self, at: int, threads: Indices, stop: int) -> None:
        """Run threads from one instruction to another that all their ways lead to."""
        steps = self._program.steps
        while at != stop:
            decoded = steps[at]
            self._count(decoded, threads)
            decision = self.decide(decoded, threads)
            if decoded.sort is Sort.PLAIN:
                self.act(decoded, decision)
                at += 1
            elif len(decision.acting) == len(threads):
                at = decoded.target
            elif not len(decision.acting) and not len(decision.data):
                at += 1
            else:
                assert decoded.meet is not None
                self._part(at, decoded, decision, threads)
                at = decoded.meet

    def _part(self, at: int, decoded: Decoded, decision: Decision, threads: Indices) -> None:
        """Run threads that a branch separates up to where they meet."""
        assert decoded.meet is not None
        if len(decision.data):
            self.branch(at, decoded, decision)
        rest = np.setdiff1d(threads, np.concatenate([decision.acting, decision.data]), assume_unique=True)
        self._descend()
        for some, start in ((decision.acting, decoded.target), (rest, at + 1)):
            if len(some):
                self._run(start, some, decoded.meet)
        self._depth -= 1

    def _count(self, decoded: Decoded, threads: Indices) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            self._execution.unsupported(f"a branch on data controls more than {MOST_STEPS} instructions")
        self._begin(decoded.instruction, threads)

    # -- both ways
    def _both(
        self,
        then: Callable[[], None],
        otherwise: Callable[[], None],
        decision: Decision,
        read: frozenset[str] | None,
    ) -> None:
        """Run two ways from one state, and choose by a condition from what they leave.

        Parameters
        ----------
        then, otherwise : callable
            The ways, if the condition holds, and if not.
        decision : Decision
            The threads, and their conditions.
        read : set of str, optional
            The registers whose values matter behind; all by default.
        """
        execution, threads = self._execution, decision.data
        instruction, path, log = execution.instruction, execution.path, execution.undo_log
        before = execution.registers
        opposite = combined(execution.store, 0xFF ^ A, decision.conditions)

        def gone(way: Callable[[], None], conditions: Value) -> tuple[dict[str, Value], memory_choice.Left]:
            execution.registers = dict(before)
            execution.path = self._narrowed(path, conditions, threads)
            execution.undo_log = UndoLog(log)
            way()
            return execution.registers, memory_choice.Left(execution.undo_log)

        one, other = gone(then, decision.conditions), gone(otherwise, opposite)
        execution.registers, execution.path, execution.undo_log = before, path, log
        execution.instruction, execution.store.line = instruction, instruction.line
        self._choose_registers(one[0], other[0], decision, read)
        everyone = Value(1, np.zeros(len(execution.threads), dtype=np.uint64))
        memory_choice.choose(execution, one[1], other[1], everyone.updated(threads, decision.conditions))

    def _narrowed(self, path: Value | None, conditions: Value, threads: Indices) -> Value:
        """Return under which conditions threads run."""
        before = Value(1, np.ones(len(self._execution.threads), dtype=np.uint64)) if path is None else path
        return before.updated(threads, combined(self._execution.store, A & B, before.at(threads), conditions))

    def _choose_registers(
        self,
        then: dict[str, Value],
        otherwise: dict[str, Value],
        decision: Decision,
        read: frozenset[str] | None,
    ) -> None:
        execution, threads = self._execution, decision.data
        for name in dict.fromkeys([*then, *otherwise]):
            one, other = then.get(name), otherwise.get(name)
            if one is other:
                continue
            whole = one if other is None else other
            assert whole is not None
            if read is not None and name not in read:
                left = self._of_no_use(whole.width, len(threads))
            else:
                sides = (
                    execution.unwritten(name, whole.width, len(threads)) if side is None else side.at(threads)
                    for side in (one, other)
                )
                left = chosen(execution.store, decision.conditions, *sides)
            execution.registers[name] = whole.updated(threads, left)

    def _of_no_use(self, width: int, count: int) -> Value:
        """Return what nobody reads; should somebody, it is undefined."""
        if width not in self._unread:
            self._unread[width] = self._execution.store.undefined(1, width)
        return Value(width, np.zeros(count, dtype=np.uint64), np.repeat(self._unread[width], count))


def dependence(decoded: Decoded, decision: Decision, why: str = "") -> DataDependenceError:
    """Return the error of a guard that depends on data."""
    what = f"the guard {decoded.guard} of {decoded.instruction.mnemonic}"
    return DataDependenceError(what, decision.conditions, why)
