"""Sums that threads go over in steps, for every number of terms: one thread, and all where they meet.

The meta-rule: let S threads of a block, l from 0 to S - 1, meet at an instruction behind their loops.

* thread: whatever l and K, thread l leaves there the sum of the terms l, l + S, l + 2·S, … below K;
* exit: from there on, whatever threads left, what is stored is what the contract says if the sum over all
  terms is the sum of what they left.

Each k below K is l + S·i for one l and one i, so that the kernel is right for every K. A thread may take
vectors of V neighbouring terms, and one of the K mod V that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from math import gcd

import numpy as np

from ....spec.errors import UnsupportedError
from ...contract.arguments import Array
from ...contract.contract import Accumulate, Contract
from ...contract.parameters import ArrayParameter
from ...contract.size_domains import LARGEST, ResidueClass, SizeDomain
from ...findings.result import Equality
from ...sizes.block_positions import BlockPosition, Form, Position
from ...sizes.growing_roundings import joined, of_threads
from ...sizes.implied_bounds import RestConditions
from ...sizes.integer_forms import Group
from ...sizes.loop_carried_symbols import format_of, held_by, sums_of
from ...sizes.partial_sums import PREFIX
from ...terms.interning import Ids
from ..idioms.branch_regions import COMPUTING, LOADS
from ..run.entry import PtxEntry
from ..run.launching import entry_named
from ..run.main_loops import loops
from ..run.program import Program
from ..state.execution import Execution
from .block_launch import BlockLaunch
from .checked_runs import check
from .grid_tiles import sizes_of, tile_of
from .launch_formulas import formula_terms
from .loop_states import LoopBatch
from .size_proofs import SizeProof
from .skipped_loops import SkippingBatch
from .symbolic_launch import SymbolicLaunch
from .thread_launch import ROW, THREAD, TURNS, Frame, Part, SumLaunch, ThreadLaunch, contract_of
from .thread_steps import ThreadSteps, of_frames

Key = tuple[Part, int, int, SizeDomain, tuple[SizeDomain, ...], tuple[tuple[str, int], ...]]
"""What a thread leaves, how many threads there are, their vectors, and sizes."""

_MEETING = frozenset({"shfl", "bar", "barrier", "redux"})
"""Where threads of a sum meet."""


class Exit(SymbolicLaunch):
    """A launch in which loops of which sizes leave open how often they go round are skipped.

    Attributes
    ----------
    actual : array (elements,)
        What is stored.
    held : array (elements, count)
        What each element of the output depends on, of what threads left.
    divides : bool
        Whether threads go round loops that are skipped each as often as their numbers say.
    """

    actual: Ids
    held: Ids
    divides = False

    def _batch(self, execution: Execution, scalars: Collection[int]) -> LoopBatch:
        return SkippingBatch(execution, self._program, scalars, frozenset(self._loops))

    def stored(self, batch: LoopBatch, output: Array) -> Ids:
        """See `SymbolicLaunch.stored`."""
        assert isinstance(batch, SkippingBatch)
        self.actual, self.skipped = super().stored(batch, output), batch.skipped
        self.divides = batch.divides
        self.held = held_by(self.store, self.actual)
        return self.actual

    def expected(self, output: Array) -> Ids:
        """Return what the contract says where the sum is that of what threads left."""
        fmt = format_of(self.store, self.held)
        instance = self.standing_in(self.sums.rest(fmt, 0), self.numbers.domain.least)
        so_far = {PREFIX: sums_of(self.store, self.held, fmt)}
        return formula_terms(self, instance, output.name, held=so_far)

    def part(self) -> tuple[Part, int]:
        """Return what a thread leaves, and how many threads go over a sum.

        Raises
        ------
        UnsupportedError
            If it is not one register of neighbouring threads, at a place where each comes once.
        """
        numbers = self.store.arguments(self.held)[..., 0]
        registers, threads = np.divmod(numbers, len(self.threads))
        elements, count = numbers.shape
        wanted = np.arange(elements * count).reshape(elements, count)
        (register, *others) = np.unique(registers).tolist()
        meet, name = self.skipped.registers[register]
        again = any(loop.head <= meet <= loop.last for loop in self._loops.values())
        # what others do in loops, or these behind, is not looked at
        elsewhere = self.skipped.last > meet or self.skipped.threads > elements * count
        if others or (np.sort(threads, axis=1) != wanted).any() or again or elsewhere:
            raise UnsupportedError("it is not one register of neighbouring threads that holds a sum")
        return Part(meet, name, format_of(self.store, self.held)), count


class BlockExit(Exit, BlockLaunch):
    """The same, of the block that stands for all."""

    def part(self) -> tuple[Part, int]:
        """See `Exit.part`; threads of rows that the last tile does not have may go over no sum."""
        part, count = super().part()
        said = RestConditions(self.store, self.store.rests)
        for rest in (each.rest for each in self.position.positions if each.rest is not None):
            for thread, bit in self.skipped.conditions:
                implied = said.implied(bit) if bit >= 0 else {}
                if rest.reach(implied.get(rest.size, 0)) < rest.reach(thread // count):
                    raise UnsupportedError(f"threads go over sums of rows that {rest.size} may not have")
        return part, count


def has_steps(kernel: PtxEntry, *, falls: bool) -> bool:
    """Tell whether threads of a kernel may go over a sum in steps: in loops that only load and compute."""
    program = Program(kernel.module, entry_named(kernel.module, kernel.entry))
    found = loops(program).values()
    opcodes = [step.instruction.opcode for step in program.steps]
    plain = [each for each in found if set(opcodes[each.head : each.last + 1]) <= COMPUTING | LOADS]
    behind = opcodes[max((each.last for each in plain), default=0) :]
    return bool(plain) and (falls or not _MEETING.isdisjoint(behind))


class ThreadSums(ThreadSteps):
    """A proof that a kernel is right for every number of terms that its threads go over in steps.

    Parameters
    ----------
    kernel, contract, known, domain, told, position
        As of `ThreadSteps`.
    shown : dict, optional
        What threads were shown to leave, for blocks at other positions.
    """

    def __init__(
        self,
        kernel: PtxEntry,
        contract: Contract,
        known: Mapping[str, int],
        domain: SizeDomain,
        told: Callable[[str], None],
        position: BlockPosition | None = None,
        shown: dict[Key, list[tuple[SizeProof, int]]] | None = None,
    ) -> None:
        super().__init__(kernel, contract, known, domain, told, position)
        self._shown, self._divides = {} if shown is None else shown, False

    @property
    def may_apply(self) -> bool:
        """See `ThreadSteps.may_apply`; told when a proof has been tried."""
        return self._divides

    def proof(self, *, falls: bool = False) -> SizeProof:
        """Return the proof.

        Parameters
        ----------
        falls : bool
            Whether threads go from the last term to the first.

        Raises
        ------
        UnsupportedError, InputError
            If it is not shown; the message says what is in the way.
        """
        contract = self._contract
        is_ordered = contract.equality is Equality.BITS or contract.accumulate is Accumulate.SEQUENTIAL
        if contract.accuracy is not None or is_ordered or not has_steps(self._kernel, falls=falls):
            raise UnsupportedError("threads do not go over a sum in steps, in any order")
        self._told("one thread for all")
        numbers = ResidueClass(self._domain, self._domain.step, 0)
        launch: Exit = (
            Exit(self._kernel, contract, self._known, numbers)
            if self._position is None
            else BlockExit(self._kernel, contract, self._position, self._known, numbers)
        )
        if launch.sums.part != 1:
            raise UnsupportedError("the sum goes over a part of a size only")
        try:
            equality, checked = check(launch, self._noting, lambda _, output: launch.expected(output))
        finally:
            self._divides = launch.divides
        part, threads = launch.part()
        reason = UnsupportedError("one thread goes over all of a sum")
        for vector in [-1] if falls else self._vectors(threads) if threads > 1 else []:
            try:
                shown = self._of_threads(launch, part, threads, vector)
            except UnsupportedError as error:
                reason = error
                continue
            most, limit = of_frames(shown, self._domain, abs(vector) * threads)
            proofs = [proof for proof, _ in shown]
            if any(proof.equality is Equality.VALUE for proof in proofs):
                equality = Equality.VALUE
            assumptions = [each for proof in proofs for each in proof.assumptions]
            turns = joined([proof.roundings for proof in proofs if proof.domain.most])
            grown = (
                self._domain.name,
                threads * abs(vector),
                launch.store,
                launch.held.reshape(-1),
                launch.actual,
            )
            return SizeProof(
                self._domain.up_to(most),
                self._domain.least,
                equality,
                limit,
                self._obligations + [each for proof in proofs for each in proof.obligations],
                of_threads(turns, *grown),
                checked=sum((proof.checked for proof in proofs), start=checked),
                assumptions=tuple(dict.fromkeys([*launch.assumptions, *assumptions])),
            )
        raise reason

    def _of_threads(self, launch: Exit, part: Part, threads: int, vector: int) -> list[tuple[SizeProof, int]]:
        """Return what `_parts` yields, which is the same for blocks at all positions along the same sizes."""
        sizes = () if self._position is None else tuple(each.domain for each in self._position.positions)
        key = part, threads, vector, self._domain, sizes, tuple(self._known.items())
        if key not in self._shown:
            self._shown[key] = list(self._parts(launch, part, threads, vector))
        return self._shown[key]

    def _parts(self, launch: Exit, part: Part, threads: int, vector: int) -> Iterator[tuple[SizeProof, int]]:
        """Yield proofs of what threads leave, for all of them and all numbers, with the largest T of each."""
        domain, step, falls = self._domain, gcd(vector, self._domain.step), vector < 0
        vector = abs(vector)
        for rest in range(0, vector, step):
            least, most = max(0, -(-(domain.least - rest) // vector)), (domain.most - rest) // vector
            for low, high in ((0, rest - 1), (rest, threads - 1)) if rest else ((0, threads - 1),):
                frame = Frame(domain.name, domain.most, threads, vector, rest, (low, high), falls=falls)
                if most >= 1:
                    found = self._of_turns(self._launches(launch, part, frame), (most - 1) // threads + 1)
                    yield found, found.domain.most
                if (first := max(low, least)) <= high:
                    idle = replace(frame, lanes=(first, high), least=least)
                    none = SizeDomain(TURNS, "0", 1, 0, 0)
                    yield self._checked(self._launches(launch, part, idle), none), LARGEST

    def _launches(self, launch: Exit, part: Part, frame: Frame) -> Callable[[ResidueClass], ThreadLaunch]:
        """Return what launches a thread at numbers of T."""
        contract = contract_of(launch.sums, self._contract, frame, part)
        position, thread = self._thread(launch, frame.threads)

        def launched(numbers: ResidueClass) -> ThreadLaunch:
            return SumLaunch(self._kernel, contract, position, self._known, numbers, frame, thread, part)

        return launched

    def _checked(self, launched: Callable[[ResidueClass], ThreadLaunch], domain: SizeDomain) -> SizeProof:
        """Prove what a thread leaves at one number of T."""
        launch = launched(ResidueClass(domain, 1, 0))
        equality, checked = check(launch, self._noting)
        return SizeProof(domain, 0, equality, checked=checked, assumptions=tuple(launch.assumptions))

    def _thread(self, launch: Exit, threads: int) -> tuple[BlockPosition, Form]:
        """Return where a thread's block is, and the thread's number in it.

        Raises
        ------
        UnsupportedError
            If the rows of blocks are not those of their threads.
        """
        rows, rest = divmod(len(launch.held), len(launch.threads.blocks))
        if rest:
            raise UnsupportedError("blocks have different numbers of rows")
        positions, indices = list[Position](), dict[int, Form]()
        thread: dict[tuple[str, ...], int] = {THREAD: 1} if threads > 1 else {}
        for axis, extent in enumerate(self._contract.launch.grid):
            names = sizes_of(extent, self._contract)
            tile = tile_of(extent.node, names[0]) if len(names) == 1 else 0
            if not names and launch.instance.grid[axis] == 1:
                continue
            if tile not in (1, rows) or (tile > 1 and ROW in thread):
                raise UnsupportedError("the rows of a block are not those of its threads")
            domain = self._domain_of(names[0])
            block, behind = (f"block of {domain.name}",), (f"behind {domain.name}",)
            place: dict[tuple[str, ...], int] = {ROW: 1} if tile > 1 else {}
            indices[axis] = {block: 1} if domain.most > tile else {}
            place |= {block: tile} if domain.most > tile else {}
            size = {**place, behind: 1, (): 1}
            ends = (0.0, 0.0), ((domain.most - 1) / tile, 0.0), (0.0, domain.most - 1.0)
            rows_of = ((0.0,), (tile - 1.0,)) if tile > 1 else ((),)
            corners = tuple((*end, *row) for end in ends for row in rows_of)
            group = Group((*block, *behind, *(ROW if tile > 1 else ())), corners)
            positions.append(Position(domain, 1, "", group, size, size, place, {}, {}, {}))
            if tile > 1:
                thread[ROW] = threads
        if rows > 1 and ROW not in thread:
            thread[ROW] = threads
            positions.append(self._of_one_block(launch, rows))
        return BlockPosition(tuple(positions), indices, {}), thread

    def _of_one_block(self, launch: Exit, rows: int) -> Position:
        """Return the position of a row along a known size of the output, of which a block has all."""
        (output,) = launch.instance.outputs
        parameters = {each.name: each for each in self._contract.parameters}
        parameter = parameters[output.name]
        shape = parameter.shape if isinstance(parameter, ArrayParameter) else ()
        names = [name for extent in shape for name in sizes_of(extent, self._contract)]
        if len(names) != 1 or launch.instance.sizes[names[0]] != rows or launch.polynomials.varies(shape[0]):
            raise UnsupportedError("the rows of a block are not those of its threads")
        domain = SizeDomain(names[0], str(rows), 1, rows, rows)
        behind = (f"behind {names[0]}",)
        group = Group((*ROW, *behind), ((0.0, rows - 1.0), (rows - 1.0, 0.0)))
        size: Form = {ROW: 1, behind: 1, (): 1}
        return Position(domain, 1, "", group, size, size, {ROW: 1}, {}, {}, {})
