"""A kernel for every number that a size may be, by induction over the turns of its main loop.

The meta-rule (`docs/every-size.md`): with K = Q·u + R, R in [first, first + Q),

* base: for every K ≥ first, what the kernel holds at the head of its loop is the guess at turn 0;
* step: for every u ≥ 0 and K ≥ Q·(u + 1) + first, one turn leads from the guess at u to the guess at u + 1;
* exit: for every R, what is stored after the last turn, from the guess at u, is what the contract says.

All K below first are verified one by one. Of what a loop adds up, the guess is the contract's own sum over
the k that the turns so far have met.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import gcd

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import Format
from ..array_memory import elements_in, memories
from ..contract import Contract, Instance
from ..equivalence import compare
from ..held_inputs import held_by, looked_up
from ..integer_forms import Rows
from ..interning import Ids
from ..memory import ByteLanes
from ..normal_forms import NormalForms
from ..partial_sums import PREFIX, PartialSums, partial_sums
from ..references import FormulaReference
from ..result import Equality
from ..size_domains import SizeDomain
from ..symbolic_states import TurnTerms
from ..terms import INPUT
from ..traversal import operands
from .any_size import memory_of_any_size, use_memory_of_any_size
from .loop_states import Cells, LoopBatch, alike, going_on, guessed, turned
from .symbolic_launch import SymbolicLaunch

MOST_CASES = 160
"""Rests R, and numbers below the first, that are gone through one by one."""

_MOST_TURNS = 13
"""Turns of the loop that are run to guess from."""

_CANDIDATES = ((1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (3, 1), (2, 3), (1, 4), (2, 4), (1, 6))
"""Turns before the induction begins, and turns of the kernel's loop that make one of it, to be tried."""

_ATTEMPTS = 10


@dataclass
class Obligation:
    """A part of a proof.

    Attributes
    ----------
    name : str
        Such as ``K: step``.
    seconds : float
        What it took.
    """

    name: str
    seconds: float


@dataclass
class SizeProof:
    """A proof that a kernel is right for every number that a size may be.

    Attributes
    ----------
    domain : SizeDomain
        The numbers.
    first : int
        All below are to be verified one by one.
    equality : Equality
        The weakest that was needed.
    limit : str
        Why it does not go beyond the domain's end, where the contract's does.
    obligations : list of Obligation
        Base, step and exits.
    """

    domain: SizeDomain
    first: int
    equality: Equality
    limit: str = ""
    obligations: list[Obligation] = field(default_factory=list)

    @property
    def alone(self) -> range:
        """The numbers that are to be verified one by one."""
        return range(self.domain.least, min(self.first, self.domain.most + 1), self.domain.step)


class _LimitError(UnsupportedError):
    """A proof that fails beyond a number."""

    def __init__(self, most: int, reason: str) -> None:
        super().__init__(reason)
        self.most = most


class _EarlyError(UnsupportedError):
    """A proof that fails for the first numbers."""


def prove(launch: SymbolicLaunch, domain: SizeDomain, told: Callable[[str], None]) -> SizeProof:
    """Prove that a kernel is right for every number of a domain that is not below `SizeProof.first`.

    Raises
    ------
    UnsupportedError
        If it is not shown; the message says what is in the way, and where.
    """
    reason = "it was not tried"
    for start, period in _CANDIDATES:
        try:
            return _Induction(launch, domain, start, period, told).proof()
        except _NextCandidateError as error:
            reason = str(error)
    raise UnsupportedError(reason)


class _NextCandidateError(UnsupportedError):
    """Another number of turns may do."""


class _Induction:
    """An attempt: turns of the kernel's loop taken together, from some turn on."""

    def __init__(
        self, launch: SymbolicLaunch, domain: SizeDomain, start: int, period: int, told: Callable[[str], None]
    ) -> None:
        self.launch, self.domain, self.store = launch, domain, launch.store
        self.start, self.period, self.told = start, period, told
        self.sums: PartialSums = partial_sums(launch.contract, domain.name, launch.polynomials)
        self.turns = TurnTerms(self.store, launch.symbolic_arrays, "u")
        self.equality = Equality.BITS
        self.obligations: list[Obligation] = []

    def proof(self) -> SizeProof:
        """Return the proof, of as much of the domain as it holds for."""
        domain = self.domain
        states = self.launch.turns(domain, self.start + 2 * self.period)
        chosen = [states[self.start + index * self.period] for index in range(3)]
        self.guess, odd = guessed(self.store, self.turns, chosen)
        if odd:
            raise _NextCandidateError(f"{odd} values of the main loop don't go on evenly")
        distance = self._distance()
        self.distance = distance * (domain.step // gcd(distance, domain.step))
        if self.distance != distance:
            raise UnsupportedError(
                f"the loop takes {distance} of {domain.name} in a turn, and {domain.name} is any multiple of "
                f"{domain.step}"
            )
        turn = distance // self.period
        first = -(-turn * (self.start + 1) // domain.step) * domain.step
        reason = limit = ""
        for _ in range(_ATTEMPTS):
            if (distance + first) // domain.step > MOST_CASES:
                raise UnsupportedError(f"{(distance + first) // domain.step} rests would have to be verified")
            if domain.most < first + distance:
                raise UnsupportedError(f"{domain.name} is never larger than what a few turns take")
            self.first, self.obligations, self.equality = first, [], Equality.BITS
            try:
                self._decide(domain)
            except _EarlyError as error:
                reason = str(error)
                first = -(-(first + turn) // domain.step) * domain.step
                continue
            except _LimitError as error:
                reason = limit = str(error)
                domain = domain.up_to(error.most)
                continue
            return SizeProof(domain, first, self.equality, limit, self.obligations)
        raise UnsupportedError(f"no first number is found from which on all turns go alike: {reason}")

    # -- what a turn takes
    def _distance(self) -> int:
        """Return how far a turn moves along the size, by the elements that are read."""
        found = set()
        cells = [*self.guess.registers.values(), *(each.terms for each in self.guess.lanes)]
        terms = self._below(np.unique(np.concatenate(cells)))
        turn = self.store.symbols.column("u")
        for name, axis in self.launch.axes_of(self.domain.name):
            named = np.array([o.name == INPUT and o.attribute == name for o in self.store.operations])
            members = terms[named[self.store.operation_numbers(terms)]]
            rows = self.store.rows_numbered(self.store.arguments(members)[:, 0])
            stride = self.launch.arrays[name].strides[axis]
            if stride[1:].any():
                continue
            found |= {int(each) / int(stride[0]) for each in np.unique(rows[:, turn])}
        found -= {0.0}
        if len(found) != 1 or not (only := found.pop()).is_integer() or only <= 0:
            raise _NextCandidateError(
                f"a turn of the main loop does not move along {self.domain.name} evenly"
            )
        return int(only)

    def _below(self, terms: Ids) -> Ids:
        """Return terms and all that they depend on."""
        seen = np.zeros(len(self.store), dtype=bool)
        pending = terms[terms >= 0]
        while len(pending):
            seen[pending] = True
            needed = [np.empty(0, dtype=np.int32)]
            numbers = self.store.operation_numbers(pending)
            for number in np.unique(numbers).tolist():
                needed += operands(self.store, self.store.operations[number], pending[numbers == number])
            pending = np.unique(np.concatenate(needed))
            pending = pending[~seen[pending]]
        return np.flatnonzero(seen).astype(np.int32)

    # -- base, step, exit
    def _decide(self, domain: SizeDomain) -> None:
        name = domain.name
        with self._obligation(f"{name}: base"):
            before = self._base(domain)
        with self._obligation(f"{name}: step"):
            self._step(domain, before)
        with self._obligation(f"{name}: exit"):
            held: Ids | None = None
            for rest in range(self.first, self.first + self.distance, domain.step):
                self.told(f"{name} = {self.distance}·u + {rest}")
                held = self._exit(domain, rest, held)
        assert held is not None
        with self._obligation(f"{name}: sums"):
            self._check_sums(held)

    def _obligation(self, name: str) -> _Timed:
        return _Timed(name, self.obligations)

    def _failing(self, error: UnsupportedError, since: int) -> UnsupportedError:
        """Return what a failure says of the numbers for which there is none."""
        doubts = self.store.doubts[since:]
        if not doubts:
            return error
        doubt = doubts[-1]
        line = f"{self.launch.path}:{doubt.line}: {doubt.what}"
        if doubt.limit and doubt.highest > doubt.limit:
            most = min(self.domain.most, self._most) * doubt.limit // doubt.highest
            if most > self.first + self.distance:
                return _LimitError(most, line)
        if doubt.limit:
            return UnsupportedError(f"{line}; {error}")
        return _EarlyError(f"{line}; {error}")

    def _run_to(self, batch: LoopBatch, count: int) -> None:
        """Run a batch until it has come to the head of the main loop some times."""
        since = len(self.store.doubts)
        try:
            self.launch.run_to_head(batch, count)
        except UnsupportedError as error:
            raise self._failing(error, since) from error
        self.launch.check_findings()

    def _base(self, domain: SizeDomain) -> LoopBatch:
        self._most = domain.most
        step = domain.step
        first, last = self.first / step, domain.most / step
        batch = self.launch.begun(((first, 0.0), (last, 0.0)))
        self._run_to(batch, self.start)
        self.before = Cells.of(batch)
        zero = self._moved(self.guess, lambda rows: turned(self.store, rows, factor=0, offset=0))
        self.initial = self._agreeing(zero, self.before, "before the first turn")
        return batch

    def _step(self, domain: SizeDomain, before: LoopBatch) -> None:
        step, distance = domain.step, self.distance
        first, last = (distance + self.first) / step, domain.most / step
        corners = ((first, 0.0), (last, 0.0), (last, (domain.most - distance - self.first) / distance))
        batch = before.copied(self.launch.shared)
        self.launch.suppose(corners)
        self.guess.put(batch)
        state = going_on(batch)
        self._run_to(batch, self.period)
        after = self._moved(self.guess, lambda rows: turned(self.store, rows, factor=1, offset=1))
        self.later = self._agreeing(after, Cells.of(batch), "after a turn")
        if not alike(state, going_on(batch)):
            raise _NextCandidateError("barriers, copies under way or accesses differ from turn to turn")
        self.at_head = before

    def _exit(self, domain: SizeDomain, rest: int, held: Ids | None) -> Ids:
        """Check what is stored after the last turn, and return what it takes for each output element."""
        size, turn = self.store.symbols.column("n"), self.store.symbols.column("u")

        def last(rows: Rows) -> Rows:
            found = rows.copy()
            found[:, 0] += rows[:, size] * (rest // domain.step)
            found[:, turn] += rows[:, size] * (self.distance // domain.step)
            found[:, size] = 0
            return found

        batch = self.at_head.copied(self.launch.shared)
        self.launch.suppose(((0.0, 0.0), (0.0, float((domain.most - rest) // self.distance))))
        self._moved(self.guess, last).put(batch)
        use_memory_of_any_size(batch.execution, memory_of_any_size(batch.execution).moved(last))
        since = len(self.store.doubts)
        try:
            self.launch.run_to_end(batch)
        except UnsupportedError as error:
            raise self._failing(error, since) from error
        self.launch.check_findings()
        output = self.launch.instance.outputs[0]
        memory = memories(self.launch.instance)[output.name]
        lanes = self.launch.lanes_of(batch, output.name)
        reference = FormulaReference(self.launch.instance, self.store)
        wanted = reference.covered(output)
        written, actual = elements_in(self.store, memory, lanes)
        if not (written & wanted).all() or memory.kept is not None:
            raise UnsupportedError(f"not all of {output.name} is written when the loop has ended")
        found = held_by(self.store, actual)
        if held is not None and (held != found).any():
            raise UnsupportedError("what is stored depends on the rest of the size")
        self._held_format = self._format(found)
        for taken in self._possible_starts():
            left = rest - taken
            if left < 0:
                continue
            contract = self.sums.rest(self._held_format, empty=not left)
            expected = self._expected(contract, left or domain.least, taken, found, last)
            if self._same(actual, expected, output.format):
                self.taken = taken
                return found
        raise UnsupportedError(f"what is stored for {domain.name} = {self.distance}·u + {rest} is not shown")

    def _possible_starts(self) -> Iterator[int]:
        """Yield how far the sum may have come before the first turn."""
        if hasattr(self, "taken"):
            yield self.taken
            return
        turn = self.distance // self.period
        for count in (self.start, self.start - 1, self.start + 1, self.start - 2):
            if count >= 0:
                yield turn * count

    def _check_sums(self, held: Ids) -> None:
        """Check that what is held for each output element is the sum so far, at first and after a turn."""
        output, fmt = self.launch.instance.outputs[0], self._held_format
        inputs, values = self.initial
        first = looked_up(held, inputs, values)
        inputs, values = self.later
        after = looked_up(held, inputs, values)

        def at_first(rows: Rows) -> Rows:
            return turned(self.store, rows, factor=0, offset=0)

        if self.taken:
            expected = self._expected(self.sums.so_far(fmt), self.taken, 0, held, at_first)
        else:
            zeros = np.zeros(len(held), dtype=np.uint64)
            expected = self.store.constants(zeros, fmt.bits)
        if not self._same(first, expected, fmt):
            raise UnsupportedError(f"base: what is held for {output.name} before the first turn is not shown")
        expected = self._expected(self.sums.one_more(fmt), self.distance, self.taken, held, lambda rows: rows)
        if not self._same(after, expected, fmt):
            raise UnsupportedError(f"step: what a turn adds to {output.name} is not shown")

    # -- comparisons
    def _same(self, actual: Ids, expected: Ids, fmt: Format) -> bool:
        found = compare(NormalForms(self.store), actual, expected, fmt)
        if not found.equal.all():
            return False
        if not found.identical.all():
            self.equality = Equality.VALUE
        return True

    def _expected(
        self, contract: Contract, extent: int, taken: int, held: Ids, move: Callable[[Rows], Rows]
    ) -> Ids:
        """Return what a contract for a part says, of elements that begin behind what was taken before."""
        instance = self.launch.standing_in(contract, extent)
        moved_first, moved_turn = self.sums.shifts(taken), self.sums.shifts(self.distance)
        starts = {name: (moved_first[name], moved_turn[name]) for name in moved_first}
        self.store.placed = {
            name: self._placing(instance, name, *starts[name], move)
            for name in self.launch.symbolic_arrays
            if name in starts
        }
        self.store.placed[PREFIX] = lambda indices: held[indices]
        try:
            reference = FormulaReference(instance, self.store)
            return reference.expected(instance.arrays[self.launch.instance.outputs[0].name])
        finally:
            self.store.placed = {}

    def _placing(
        self,
        instance: Instance,
        name: str,
        first: tuple[int, ...],
        each_turn: tuple[int, ...],
        move: Callable[[Rows], Rows],
    ) -> Callable[[np.ndarray], Ids]:
        symbols, array = self.store.symbols, self.launch.arrays[name]
        shape = instance.arrays[name].shape

        def placed(indices: np.ndarray) -> Ids:
            own = []
            for axis, index in enumerate(np.unravel_index(indices, shape)):
                rows = symbols.constants(index.astype(np.int64) + first[axis])
                rows[:, symbols.column("u")] += each_turn[axis]
                own.append(rows)
            return self.store.elements_at(name, array.format, move(array.place(symbols, own)))

        return placed

    def _format(self, held: Ids) -> Format:
        numbers = np.unique(self.store.operation_numbers(held))
        formats: set[Format] = {self.store.operations[number].result for number in numbers.tolist()}
        if len(formats) != 1:
            raise UnsupportedError("sums are held in several formats")
        return formats.pop()

    def _moved(self, cells: Cells, move: Callable[[Rows], Rows]) -> Cells:
        """Return cells with every polynomial replaced."""
        registers = {name: self.turns.moved(each, move) for name, each in cells.registers.items()}
        lanes = []
        for each in cells.lanes:
            found = ByteLanes(self.store, 0)
            found.terms, found.lows = self.turns.moved(each.terms, move), each.lows
            lanes.append(found)
        return Cells(registers, tuple(lanes))

    def _agreeing(self, guess: Cells, actual: Cells, when: str) -> tuple[Ids, Ids]:
        """Check a guess, and return held inputs and what stands in their place."""
        inputs, values = [], []
        for name, terms in guess.registers.items():
            found = self.turns.bound(terms, actual.registers[name])
            if not found[2].all():
                raise _NextCandidateError(f"{name} is not what was guessed {when}")
            inputs.append(found[0])
            values.append(found[1])
        for one, other in zip(guess.lanes, actual.lanes, strict=True):
            there = np.flatnonzero((one.terms >= 0) | (other.terms >= 0))
            absent = (one.terms[there] < 0) | (other.terms[there] < 0)
            same = one.lows[there] == other.lows[there]
            held = self.turns.is_held(np.maximum(one.terms[there], 0)) & (one.terms[there] >= 0)
            if not (held | ((one.terms[there] == other.terms[there]) & same & ~absent)).all():
                raise _NextCandidateError(f"memory does not hold what was guessed {when}")
        return _consistent(np.concatenate(inputs), np.concatenate(values), when)


def _consistent(inputs: Ids, values: Ids, when: str) -> tuple[Ids, Ids]:
    pairs = np.unique(np.stack([inputs, values], axis=1), axis=0)
    if len(np.unique(pairs[:, 0])) != len(pairs):
        raise _NextCandidateError(f"registers that were guessed to hold the same do not {when}")
    return pairs[:, 0], pairs[:, 1]


class _Timed:
    """Notes what an obligation took."""

    def __init__(self, name: str, obligations: list[Obligation]) -> None:
        self._name, self._obligations = name, obligations

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._obligations.append(Obligation(self._name, time.perf_counter() - self._started))
