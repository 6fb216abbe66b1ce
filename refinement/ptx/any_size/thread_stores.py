"""Stores that threads make in steps, for every number of elements: one thread stands for all.

The meta-rule: let S threads, l from 0 to S - 1, go over a size K.

* thread: whatever l and K, thread l stores to the elements l, l + S, l + 2·S, … below K, once to each what
  the formula says of it, and to nothing else; of what is stored to it reads only what it stores to itself,
  in the same iteration.

Each k below K is l + S·i for one l and one i, so that no two threads, or iterations, store to one element,
and together they store to all. A thread may take vectors of V neighbours, and one of the K mod V elements
that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import gcd, prod
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ...checker.evaluated import Checked
from ...contract.arguments import Array
from ...contract.contract import Contract, Instance
from ...contract.formula_checking import indexed_axes
from ...contract.parameters import ArrayParameter
from ...contract.size_domains import LARGEST, LaunchSizeError, QuantifiedSizes, ResidueClass, SizeDomain
from ...contract.size_polynomials import SizePolynomials, constant
from ...equality.equivalence import compare
from ...findings.result import Equality
from ...formula.index_arithmetic import Expression
from ...formula.tree import Formula, Name, Reduction, walk
from ...normal_forms.forms import NormalForms
from ...sizes.block_positions import BlockPosition, Form, Position
from ...sizes.integer_forms import Group, Rows
from ...terms.store import CONSTANT
from ..idioms.branch_regions import COMPUTING, LOADS, STORES
from ..memory.symbolic_accesses import memory_of_any_size
from ..registers.threads import Indices
from ..registers.values import known
from ..run.entry import PtxEntry
from ..run.launching import entry_named
from ..run.main_loops import loops
from ..run.program import Program
from ..state.execution import Execution
from ..text.module import InstructionStatement
from .grid_tiles import AXES, sizes_of
from .launch_formulas import as_they_are, formula_terms
from .loop_states import LoopBatch
from .size_induction import Induction
from .size_proofs import NextCandidateError, SizeProof
from .thread_launch import BLOCK, LANE, THREAD, TURNS, Frame, ThreadLaunch, expression
from .thread_steps import ThreadSteps, of_frames

_MOST_ELEMENTS = 1 << 10
"""Elements that are compared at once."""

_WHO = tuple(f"%{name}.{axis}" for name in ("tid", "ctaid", "ntid", "nctaid") for axis in AXES)
"""Special registers that are those of the thread; others tell of what its launch alone has."""


class _StoringBatch(LoopBatch):
    """A batch of a thread that shares nothing with others but memory that they may read."""

    def _begin(self, instruction: InstructionStatement, active: Indices) -> None:
        if instruction.opcode not in COMPUTING | LOADS | STORES or instruction.has("shared"):
            raise UnsupportedError(
                f"{instruction.mnemonic} in line {instruction.line}, by which threads do more than store"
            )
        super()._begin(instruction, active)


class _EvenSteps:
    """What `Induction` asks of sums, of a size over which there are none."""

    def moves_evenly(self, distance: int) -> bool:
        """Tell whether indices move evenly: if they don't, the formula's elements have no places."""
        return distance > 0


class StoreLaunch(ThreadLaunch):
    """A launch of the thread that stands for all that store to elements of a size in steps.

    Parameters
    ----------
    kernel, contract, position, known, numbers, frame, thread
        As of `ThreadLaunch`.
    extents : mapping of str to int
        Those of the grid and of blocks, by the names of special registers.
    """

    def __init__(
        self,
        kernel: PtxEntry,
        contract: Contract,
        position: BlockPosition,
        numbers_known: Mapping[str, int],
        numbers: ResidueClass,
        frame: Frame,
        thread: Form,
        extents: Mapping[str, int],
    ) -> None:
        self._place: Rows = np.empty(0, dtype=np.int64)
        self._extents = extents
        super().__init__(kernel, contract, position, numbers_known, numbers, frame, thread)
        self._check_reductions()

    @cached_property
    def sums(self) -> Any:
        """See `_EvenSteps`."""
        return _EvenSteps()

    def _check_reductions(self) -> None:
        for formula in self.contract.formulas:
            for each in (part for part in walk(formula.body) if isinstance(part, Reduction)):
                for bound in each.indices:
                    parameters = {one.name: one for one in self.contract.parameters}
                    goes = [
                        parameters[element.array].shape[axis]  # type: ignore[union-attr]
                        for element, axis in indexed_axes(each, bound.name)
                    ]
                    if bound.extent is not None:
                        goes = [Expression(formula.source, bound.extent)]
                    if any(self.polynomials.of(extent).keys() - {()} for extent in goes):
                        raise UnsupportedError("a sum runs over a size that threads store along")

    def _check_outputs(self) -> None:
        """Check that written arrays are outputs, and each element of theirs is at one place."""
        outputs = {output.name for output in self.instance.outputs}
        for parameter in self.contract.parameters:
            if isinstance(parameter, ArrayParameter) and parameter.access.is_written:
                name = parameter.name
                if name not in outputs or parameter.format.bits % 8 or name not in self.arrays:
                    raise UnsupportedError(f"{name} is written, but no output that grows with {self.size}")
                if [self._goes_along(extent) for extent in parameter.shape].count(True) != 1:
                    raise UnsupportedError(f"{name} must have one axis of {self.size}")
                self._check_apart(name)

    @property
    def size(self) -> str:
        """The size."""
        return self._frame.size

    def _goes_along(self, extent: Expression) -> bool:
        return isinstance(extent.node, Name) and extent.node.name == self.size

    def _batch(self, execution: Execution, scalars: Any) -> LoopBatch:
        return _StoringBatch(execution, self._program, scalars, frozenset(self._loops))

    def begun(self, corners: Any) -> LoopBatch:
        """See `SymbolicLaunch.begun`."""
        batch = super().begun(corners)
        special = {name: each for name, each in batch.execution.special.items() if name in _WHO}
        for name, extent in self._extents.items():
            special[name] = known(np.full(len(self.threads), extent), 32)
        batch.execution.special = special
        return batch

    # -- one element
    def standing_in(self, contract: Contract, extent: int) -> Instance:
        """Return the contract at sizes of one element."""
        sizes = {**self.known, self._domain.name: 1, self.size: 1}
        assert contract.quantified is not None
        for name, follows in contract.quantified.derived.items():
            if name not in sizes:
                sizes[name] = follows.value(sizes)
        return contract.instance(sizes)

    def _begin_of(self, extent: Expression) -> Rows | None:
        """Return where the element is along an axis of an output; None where there are several."""
        if self._goes_along(extent):
            return self._place
        of = self.polynomials.of(extent)
        for each in self.position.positions:
            if dict(of) == {(each.domain.name,): 1}:
                return self.store.symbols.form(each.block)
        if of.keys() - {()}:
            raise UnsupportedError(f"an output has an axis that depends on {self.size} in another way")
        return None

    def begins_in(self, formula: Formula) -> Mapping[str, Rows]:
        """See `SymbolicLaunch.begins_in`."""
        found: dict[str, Rows] = {}
        for index, extent in zip(formula.target.indices, self._shape(formula.output), strict=True):
            begin = self._begin_of(extent)
            if begin is not None:
                if not isinstance(index, Name) or index.name in found:
                    raise UnsupportedError(f"{formula.output} must have exactly one index over a size")
                found[index.name] = begin
        return found

    def _shape(self, output: str) -> Sequence[Expression]:
        parameter = next(each for each in self.contract.parameters if each.name == output)
        assert isinstance(parameter, ArrayParameter)
        return parameter.shape

    def stored_at(
        self, batch: LoopBatch, places: Sequence[Rows], move: Callable[[Rows], Rows] = as_they_are
    ) -> Iterator[tuple[Any, Any, Array]]:
        """Yield what was stored and what the formula says, of elements at some places along the size.

        Raises
        ------
        UnsupportedError
            If something else is stored, or an element is not, or not surely.
        """
        lanes, memory = batch.execution.memory.globals.lanes, memory_of_any_size(batch.execution)
        if (lanes.terms != self._before[0]).any() or (lanes.lows != self._before[1]).any():
            raise UnsupportedError("a thread stores to global memory outside the outputs")
        for output in self.instance.outputs:
            written = memory.written[output.name]
            if not places:
                if written.is_used:
                    raise UnsupportedError(f"a thread uses elements of {output.name} beyond its own")
                continue
            one = self.standing_in(self.contract, 1)
            if len(places) * one.arrays[output.name].elements > _MOST_ELEMENTS:
                raise UnsupportedError(f"an iteration stores more than {_MOST_ELEMENTS} elements")
            where, expected = list[Rows](), []
            for place in places:
                self._place = place
                where.append(self._of_one(memory.array(output.name).place, one.arrays[output.name]))
                expected.append(formula_terms(self, one, output.name, move=move))
            actual, conditions = written.elements(np.concatenate(where))
            if not (
                self.store.are(CONSTANT, conditions) & (self.store.constant_values(conditions) == 1)
            ).all():
                raise UnsupportedError(f"it depends on data whether an element of {output.name} is stored")
            yield actual, np.concatenate(expected), output

    def _of_one(self, place: Callable[..., Rows], one: Array) -> Rows:
        """Return the places of the elements of an output at one place along the size."""
        symbols, rows = self.store.symbols, []
        for index, extent in zip(np.indices(one.shape), self._shape(one.name), strict=True):
            begin = self._begin_of(extent)
            row = symbols.constants(index.reshape(-1).astype(np.int64))
            rows.append(row if begin is None else row + begin)
        return place(symbols, rows)

    def place_of(self, turn: Form, within: int) -> Rows:
        """Return where an element of a vector is that the thread stores to in a turn."""
        frame = self._frame
        scaled = {names: frame.threads * frame.vector * factor for names, factor in turn.items()}
        for names, factor in frame.forms[LANE].items():
            scaled[names] = scaled.get(names, 0) + frame.vector * factor
        scaled[()] = scaled.get((), 0) + within
        return self.store.symbols.form(scaled)

    def places(self, turns: Sequence[Form]) -> list[Rows]:
        """Return where elements are that the thread stores to in some turns."""
        return [self.place_of(turn, within) for turn in turns for within in range(self._frame.vector)]

    def behind(self, move: Callable[[Rows], Rows] = as_they_are) -> list[Rows]:
        """Return where the element is that it stores to behind all vectors, if there is one."""
        frame = self._frame
        return [move(self.row_of(frame.behind))[0]] if frame.takes_rest else []

    def turns_stored(self, batch: LoopBatch) -> int:
        """Return in how many turns a thread may have stored so many bytes of its outputs."""
        written, one = memory_of_any_size(batch.execution).written, self.standing_in(self.contract, 1)
        return max(
            written[each.name].counts[0] * 8 // (each.elements * each.format.bits * self._frame.vector)
            for each in one.arrays.values()
            if each.name in written
        )


class StoreInduction(Induction):
    """An attempt at induction over the turns of a thread that stores in each of them."""

    launch: StoreLaunch

    def _decide(self, numbers: ResidueClass) -> None:
        with self._obligation("base"):
            before = self._base(numbers)
            self.taken = self.launch.turns_stored(before)
            self._check(before, [{(): turn} for turn in range(self.taken)])
        with self._obligation("step"):
            self._step(numbers, before)
        with self._obligation("exit"):
            for rest in range(self.first, self.first + self.distance, self.modulus):
                self.told(f"{self.name} = {self.distance}·u + {rest}")
                batch, last = self._ended(numbers, rest)
                if rest < self.taken:
                    raise NextCandidateError("more is stored before the main loop than there is")
                self._check(batch, self._turns(rest - self.taken), last, self.launch.behind(last))

    def _turns(self, count: int) -> list[Form]:
        return [{("u",): self.distance, (): self.taken + turn} for turn in range(count)]

    def _turn_over(self, batch: LoopBatch) -> None:
        self._check(batch, self._turns(self.distance))

    def _check(
        self,
        batch: LoopBatch,
        turns: Sequence[Form],
        move: Callable[[Rows], Rows] = as_they_are,
        behind: Sequence[Rows] = (),
    ) -> None:
        """Check what was stored in some turns, and behind all, and forget it."""
        for actual, expected, output in self.launch.stored_at(
            batch, [*self.launch.places(turns), *behind], move
        ):
            if not self._same(actual, expected, output.format):
                raise UnsupportedError(f"what a turn stores to {output.name} is not proved")
        for each in memory_of_any_size(batch.execution).written.values():
            each.forget()


class ThreadStores(ThreadSteps):
    """A proof that a kernel is right for every number of elements to which its threads store in steps."""

    induction = StoreInduction

    def proof(self) -> SizeProof:
        """Return the proof.

        Raises
        ------
        UnsupportedError, InputError
            If it is not shown; the message says what is in the way.
        """
        if not self.may_apply:
            raise UnsupportedError("threads do not store in steps")
        reason = UnsupportedError("threads do not store in steps")
        self._told("one thread for all that store")
        threads, width = self._threads()
        for vector in self._vectors(threads):
            try:
                shown = list(self._parts(threads, width, vector))
            except UnsupportedError as error:
                reason = error
                continue
            most, limit = of_frames(shown, self._domain, vector * threads)
            proofs = [proof for proof, _ in shown]
            values = any(proof.equality is Equality.VALUE for proof in proofs)
            return SizeProof(
                self._domain.up_to(most),
                self._domain.least,
                Equality.VALUE if values else Equality.BITS,
                limit,
                self._obligations + [each for proof in proofs for each in proof.obligations],
                checked=sum((proof.checked for proof in proofs), start=Checked()),
                assumptions=tuple(dict.fromkeys(each for proof in proofs for each in proof.assumptions)),
            )
        raise reason

    @property
    def may_apply(self) -> bool:
        """Whether threads may store in steps: in a loop that does that, loads and computes."""
        program = Program(self._kernel.module, entry_named(self._kernel.module, self._kernel.entry))
        opcodes = [step.instruction.opcode for step in program.steps]
        bodies = [set(opcodes[each.head : each.last + 1]) for each in loops(program).values()]
        plain = any(each <= COMPUTING | LOADS | STORES and each & STORES for each in bodies)
        return plain and self._contract.accuracy is None

    def _threads(self) -> tuple[int, int]:
        """Return how many threads go over the size, and if several blocks' do how many each has."""
        sizes, launch, quantified = self._numbers(), self._contract.launch, self._contract.quantified
        assert quantified is not None
        own = {name: constant(name, number) for name, number in sizes.items() if name != self._domain.name}
        own |= {name: each for name, each in quantified.derived.items() if name != self._domain.name}
        if any(
            map(SizePolynomials(QuantifiedSizes((self._domain,), own)).varies, (*launch.block, *launch.grid))
        ):
            raise LaunchSizeError(self._domain.name)
        x, *others = (extent.value(sizes) for extent in launch.block)
        blocks = prod(each.value(sizes) for each in launch.grid if not sizes_of(each, self._contract))
        if any(each != 1 for each in others) or x * blocks < 2:
            raise UnsupportedError("threads go over a size in blocks of one dimension only")
        return x * blocks, x if blocks > 1 else 0

    def _numbers(self) -> Mapping[str, int]:
        return {**self._contract.sizes[0], **self._known}

    def _parts(self, threads: int, width: int, vector: int) -> Iterator[tuple[SizeProof, int]]:
        """Yield proofs of what threads do, for all of them and all numbers, with the largest T of each."""
        domain, step = self._domain, gcd(vector, self._domain.step)
        for rest in range(0, vector, step):
            least, most = max(0, -(-(domain.least - rest) // vector)), (domain.most - rest) // vector
            for low, high in _ranges(0, rest, threads):
                frame = Frame(domain.name, domain.most, threads, vector, rest, (low, high), width=width)
                if most >= 1:
                    found = self._of_turns(self._launches(frame), (most - 1) // threads + 1)
                    yield found, found.domain.most
            for low, high in _ranges(least, rest, threads):
                idle = replace(frame, lanes=(low, high), least=least)
                yield self._checked(self._launches(idle), SizeDomain(TURNS, "0", 1, 0, 0)), LARGEST

    def _launches(self, frame: Frame) -> Callable[[ResidueClass], StoreLaunch]:
        """Return what launches a thread at numbers of T."""
        contract = self._contract
        assert contract.quantified is not None
        derived = {frame.size: frame.derived, **contract.quantified.derived}
        one = expression("1")
        launch = replace(contract.launch, grid=(one,), block=(one,))
        contract = replace(contract, quantified=replace(contract.quantified, derived=derived), launch=launch)
        position, extents = self._place()

        def launched(numbers: ResidueClass) -> StoreLaunch:
            thread: Form = {THREAD: 1}
            where = contract, position, self._known, numbers, frame, thread, extents
            return StoreLaunch(self._kernel, *where)

        return launched

    def _place(self) -> tuple[BlockPosition, Mapping[str, int]]:
        """Return where a thread's block is, and the extents that its special registers tell."""
        sizes, positions, indices = self._numbers(), list[Position](), dict[int, Form]()
        extents = {
            f"%ntid.{axis}": extent.value(sizes)
            for axis, extent in zip(AXES, self._contract.launch.block, strict=False)
        }
        for axis, extent in enumerate(self._contract.launch.grid):
            if not sizes_of(extent, self._contract):
                blocks = extents[f"%nctaid.{AXES[axis]}"] = extent.value(sizes)
                if blocks > 1 and axis:
                    raise UnsupportedError("blocks go over a size along the first axis of the grid only")
                indices |= {axis: {BLOCK: 1}} if blocks > 1 else {}
                continue
            if not isinstance(extent.node, Name) or extent.node.name in {
                each.domain.name for each in positions
            }:
                raise UnsupportedError("the grid has a block for each row of sizes only")
            domain = self._domain_of(extent.node.name)
            block, behind = (f"block of {domain.name}",), (f"behind {domain.name}",)
            ends = (0.0, 0.0), (domain.most - 1.0, 0.0), (0.0, domain.most - 1.0)
            size: Form = {block: 1, behind: 1, (): 1}
            place: Form = {block: 1}
            indices[axis] = place
            positions.append(
                Position(domain, 1, "", Group((*block, *behind), ends), size, size, place, {}, {}, {})
            )
        return BlockPosition(tuple(positions), indices, {}), extents

    def _checked(self, launched: Callable[[ResidueClass], ThreadLaunch], domain: SizeDomain) -> SizeProof:
        """See `ThreadSteps._checked`."""
        launch = launched(ResidueClass(domain, 1, 0))
        assert isinstance(launch, StoreLaunch)
        equality, checked = Equality.BITS, Checked()
        with self._noting("accesses"):
            batch = launch.begun(launch.all_numbers)
            launch.run_to_end(batch)
            launch.check_findings()
        places = launch.places([{(): turn} for turn in range(domain.most)])
        with self._noting("value", self._domain.name):
            for actual, expected, output in launch.stored_at(batch, [*places, *launch.behind()]):
                found = compare(NormalForms(launch.store), actual, expected, output.format)
                if not found.equal.all():
                    raise UnsupportedError(f"what a thread stores to {output.name} is not proved")
                checked += found.checked
                equality = equality if found.identical.all() else Equality.VALUE
        return SizeProof(domain, 0, equality, checked=checked, assumptions=tuple(launch.assumptions))


def _ranges(first: int, rest: int, threads: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of threads from one on: those that take one that is left, and others."""
    for low, high in ((first, rest), (max(first, rest), threads)):
        if low < high:
            yield low, high - 1
