"""Proofs for all numbers of a size, by induction over the iterations of the main loop.

The meta-rule (`docs/every-size.md`): with K = Q·u + R, R in [first, first + Q),

* base: for every K ≥ first, what the kernel holds at the head of its loop is the guess at turn 0;
* step: for every u ≥ 0 and K ≥ Q·(u + 1) + first, one turn leads from the guess at u to the guess at u + 1;
* exit: for every R, what is stored after the last turn, from the guess at u, is what the contract says.

All K below first are verified one by one. Of what a loop adds up, the guess is the contract's own sum over
the k that the turns so far have met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, gcd

import numpy as np

from ....spec.errors import InputError, UnsupportedError
from ....spec.formats import FloatFormat, Format, IntegerFormat
from ...checker.evaluated import Checked
from ...contract.contract import Contract
from ...contract.size_domains import ResidueClass
from ...equality.equivalence import compare
from ...examine.detour_findings import not_implied
from ...findings.index_overflow import Overflow
from ...findings.result import Equality
from ...normal_forms.forms import NormalForms
from ...sizes.growing_roundings import GrowingRoundings, growing
from ...sizes.integer_forms import UNBOUNDED, Rows
from ...sizes.invariant_inference import TurnTerms
from ...sizes.loop_carried_symbols import format_of, held_by, looked_up, sums_of
from ...sizes.partial_sums import PREFIX, PartialSums
from ...sizes.symbolic_integers import Doubt, deciding
from ...terms.interning import Ids
from ...terms.operations import DOT, Accumulation
from ...terms.store import is_raw
from ..memory.symbolic_accesses import memory_of_any_size, use_memory_of_any_size
from ..warp.opaque_fragments import is_token
from .first_overflows import in_turns
from .growing_sums import HeldSums
from .invariant_check import agreed
from .last_iteration_counterexamples import Induced, first_fault
from .launch_formulas import formula_terms
from .loop_periods import LONGEST
from .loop_states import Cells, LoopBatch, alike, going_on, guessed, turned
from .size_proofs import (
    STATEMENTS,
    EarlyError,
    LimitError,
    NextCandidateError,
    Obligation,
    SizeProof,
    Timed,
    UndecidedError,
)
from .symbolic_launch import SymbolicLaunch
from .turn_distances import distances

MOST_CASES = 160
"""Rests R, and numbers below the first, that are gone through one by one."""

_STARTS_OF_LONGER = 4
"""Turns before the induction that are tried where the formula's indices move by several."""

_STARTS = 24
"""How far a sum may have come before the first turn: guesses that are tried."""

_ATTEMPTS = 10


class Induction:
    """An attempt at induction: iterations taken together, from some iteration on."""

    def __init__(
        self,
        launch: SymbolicLaunch,
        numbers: ResidueClass,
        start: int,
        period: int,
        told: Callable[[str], None],
    ) -> None:
        self.launch, self.numbers, self.store = launch, numbers, launch.store
        self.name, self.modulus = numbers.domain.name, numbers.modulus
        self.start, self.period, self.told = start, period, told
        self._tail = numbers.modulus if numbers.has_tail else 0
        self.sums: PartialSums = launch.sums
        self.turns = TurnTerms(self.store, launch.symbolic_arrays, "u", is_token)
        self.equality, self.checked = Equality.BITS, Checked()
        self.obligations: list[Obligation] = []
        self.roundings: GrowingRoundings | None = None

    def proof(self) -> SizeProof:
        """Return the proof, of as much of the class as it holds for."""
        since = len(self.store.doubts)
        try:
            states = self.launch.turns(self.start + 2 * self.period)
        except UnsupportedError as error:
            raise UndecidedError(self._told_of(error, since)) from error
        chosen = [states[self.start + index * self.period] for index in range(3)]
        self.guess, odd = guessed(self.store, self.turns, chosen)
        if odd:
            raise NextCandidateError(f"{odd} loop-carried values do not change by a constant")
        self.distance = distance = self._distance()
        if (factor := self._factor(distance)) > 1:
            return self._longer(factor)
        turn = distance // self.period
        least = turn * (self.start + 1)
        first = self.numbers.from_(least - self._tail + self.numbers.residue if self._tail else least)
        reason = limit = ""
        doubt: Doubt | None = None
        numbers = self.numbers
        for _ in range(_ATTEMPTS):
            alone = self.modulus if self._tail and self.launch.is_of_block else self.numbers.domain.step
            cases = distance // self.modulus + first // alone
            if cases > MOST_CASES:
                told = f"{cases} sizes would have to be verified one by one; at most {MOST_CASES} are"
                raise UnsupportedError(f"{told}: {reason}" if reason else told)
            if numbers.last < first + distance:
                told = f"{self.name} is never larger than a few iterations"
                raise UnsupportedError(f"{told}: {reason}" if reason else told)
            self.first, self.obligations = first, []
            self.equality, self.checked = Equality.BITS, Checked()
            self._stored: list[Ids] = []
            try:
                self._decide(numbers)
            except EarlyError as error:
                reason = str(error)
                first = self.numbers.from_(first + turn)
                continue
            except LimitError as error:
                if self._tail and not self.launch.is_of_block:  # a class of its own tells where it fails
                    raise UndecidedError(str(error)) from error
                reason, limit, doubt = str(error), str(error), error.doubt
                numbers = numbers.up_to(error.most)
                continue
            overflow = None if doubt is None else self._overflow(doubt, numbers.last)
            granted = tuple(self.launch.assumptions)
            parts = self.obligations, self.roundings, overflow, self.checked, granted
            return SizeProof(numbers.covered, first, self.equality, limit, *parts, self._tail)
        raise UndecidedError(f"no iteration is found from which on all iterations are alike: {reason}")

    # -- what a turn takes
    def _factor(self, distance: int) -> int:
        """Return how many times as many turns move evenly, by numbers of the class."""
        least = self.modulus // gcd(distance, self.modulus)
        for factor in range(least, LONGEST // self.period + 1, least):
            if self.sums.moves_evenly(distance * factor):
                return factor
        raise NextCandidateError(f"more than {LONGEST} iterations would be one induction step")

    def _longer(self, factor: int) -> SizeProof:
        """Return the proof with more turns taken together, from one where the formula's indices are whole."""
        turn = self.distance // self.period
        starts = [self.start]
        if not self.sums.moves_evenly(turn):
            more = range(self.start, self.start + self.period * factor + 1)
            starts = sorted(more, key=lambda each: not self.sums.moves_evenly(turn * each))
        reason: NextCandidateError | None = None
        for start in starts[:_STARTS_OF_LONGER]:
            longer = type(self)(self.launch, self.numbers, start, self.period * factor, self.told)
            try:
                return longer.proof()
            except NextCandidateError as error:
                reason = error
        assert reason is not None
        raise reason

    def _distance(self) -> int:
        """Return how far a turn moves along the size, by the elements that are read."""
        moves = distances(self.launch, self.start, self.start + self.period)
        found = {abs(each) for each in moves} - {Fraction(0)}  # some indices fall, such as K - 1 - k
        if len(found) != 1 or (only := found.pop()).denominator != 1 or only <= 0:
            raise NextCandidateError(f"the main loop does not advance along {self.name} by a constant")
        return int(only)

    # -- base, step, exit
    def _decide(self, numbers: ResidueClass) -> None:
        self.store.bounded = {}  # what is known of sums in one attempt is not known in another
        with self._obligation("base"):
            before = self._base(numbers)
        with self._obligation("step"):
            self._step(numbers, before)
        with self._obligation("exit"):
            held: Ids | None = None
            for rest in range(self.first, self.first + self.distance, self.modulus):
                self.told(f"{self.name} = {self.distance}·u + {rest}")
                held = self._exit(numbers, rest, held)
        assert held is not None
        with self._obligation("sums"):
            self._check_sums(held, numbers)

    def _obligation(self, part: str) -> Timed:
        statement = STATEMENTS[part].format(name=self.name, turn=self.distance, first=self.first)
        return Timed(f"{self.name}: {part}", self.launch.loop_line, statement, self.obligations)

    def _told_of(self, error: UnsupportedError, since: int) -> str:
        """Return what a failure is about, with the last thing that sizes did not decide."""
        doubts = self.store.doubts[since:]
        if not doubts:
            return str(error)
        doubt = deciding(doubts)
        assert doubt is not None
        return f"{self.launch.path}:{doubt.line}: {doubt.what}; {error}"

    def _failing(self, error: UnsupportedError, since: int) -> UnsupportedError:
        """Return what a failure says of the numbers for which there is none."""
        doubts, told = self.store.doubts[since:], self._told_of(error, since)
        if not doubts:
            return error
        doubt = doubts[-1]
        if doubt.highest >= UNBOUNDED:
            return UnsupportedError(told)
        if doubt.limit and doubt.highest > doubt.limit:
            size, turn = (doubt.row[self.store.symbols.column(each)] for each in "nu")
            slope = Fraction(size, self.modulus) + Fraction(max(turn, 0), self.distance)
            over = doubt.highest - doubt.limit
            most = self._most - ceil(over / slope) if slope > 0 else 0
            if most > self.first + self.distance:
                what = f"{self.launch.path}:{doubt.line}: {doubt.what}"
                return LimitError(most, what, doubt)
        if not doubt.limit:
            return EarlyError(told)
        on_size = any(doubt.row[at] for at, each in enumerate(self.store.symbols.monomials) if "n" in each)
        return UndecidedError(told) if on_size else NextCandidateError(told)

    def _induced(self) -> Induced:
        return Induced(
            self.launch,
            self.numbers,
            self.turns,
            self.guess,
            self.start,
            self.first,
            self.distance,
            self.period,
        )

    def _overflow(self, doubt: Doubt, most: int) -> Overflow | None:
        """Return the first number of the class at which an access goes wrong, or an integer overflows."""
        if not self.launch.is_of_block and (fault := first_fault(self._induced(), most)) is not None:
            return fault
        domain = self.numbers.domain
        behind = replace(self.numbers, domain=replace(domain, least=domain.up_to(most).most + domain.step))
        own = self.distance // self.period  # what a turn of the kernel's loop goes over
        turn = self.first, self.distance, not (self.numbers.residue % own or self.modulus % own)
        found = next(in_turns(self.store.symbols, doubt, behind, *turn, self.launch.known), None)
        if found is None:
            return None
        return Overflow(self.launch.path, doubt.line, *found, doubt.limit)

    def _run_to(self, batch: LoopBatch, count: int) -> None:
        """Run a batch until it has come to the head of the main loop some times."""
        since = len(self.store.doubts)
        try:
            self.launch.run_to_head(batch, count)
        except UnsupportedError as error:
            raise self._failing(error, since) from error
        self.launch.check_findings()

    def _base(self, numbers: ResidueClass) -> LoopBatch:
        self._most = numbers.last
        first, last = numbers.count(self.first), numbers.count(numbers.last)
        since = len(self.store.doubts)
        self._before_all = (first, 0.0), (last, 0.0)
        batch = self.launch.begun(self._before_all)
        self._run_to(batch, self.start)
        self.before = Cells.of(batch)
        zero = self.guess.moved(self.turns, lambda rows: turned(self.store, rows, factor=0, offset=0))
        self.initial = self._agreeing(zero, self.before, "before the first iteration", since)
        return batch

    def _step(self, numbers: ResidueClass, before: LoopBatch) -> None:
        first, last = numbers.count(self.first + self.distance), numbers.count(numbers.last)
        turns = (numbers.last - self.distance - self.first) / self.distance
        batch = before.copied(self.launch.shared)
        self._in_a_turn = (first, 0.0), (last, 0.0), (last, turns)
        self.launch.suppose(self._in_a_turn)
        self.guess.put(batch)
        state, since = going_on(batch), len(self.store.doubts)
        try:
            self._run_to(batch, self.period)
        except (LimitError, EarlyError, UndecidedError):
            raise
        except UnsupportedError as error:  # what is known of one turn may not be known of any
            raise NextCandidateError(str(error)) from error
        after = self.guess.moved(self.turns, lambda rows: turned(self.store, rows, factor=1, offset=1))
        self.later = self._agreeing(after, Cells.of(batch), "after an iteration", since)
        self._turn_over(batch)
        if not alike(state, going_on(batch)):
            raise NextCandidateError("barriers, copies in flight or accesses differ between iterations")
        self.at_head = before

    def _turn_over(self, batch: LoopBatch) -> None:
        """Check what a turn has left elsewhere than in what is held: nothing, or the state differs."""

    def _ended(self, numbers: ResidueClass, rest: int) -> tuple[LoopBatch, Callable[[Rows], Rows]]:
        """Return the kernel at its end, and what puts the number of the last turn into polynomials."""
        symbols = self.store.symbols
        above = (rest - numbers.residue) // self.modulus

        def last(rows: Rows) -> Rows:
            turns = symbols.form({(): above, ("u",): self.distance // self.modulus})
            return symbols.substituted(rows, "n", turns)

        batch = self.at_head.copied(self.launch.shared)
        self.launch.suppose(((0.0, 0.0), (0.0, float((numbers.last - rest) // self.distance))))
        self.guess.moved(self.turns, last).put(batch)
        use_memory_of_any_size(batch.execution, memory_of_any_size(batch.execution).moved(last))
        since = len(self.store.doubts)
        try:
            self.launch.run_to_end(batch)
        except UnsupportedError as error:
            raise self._failing(error, since) from error
        self.launch.check_findings()
        return batch, last

    def _exit(self, numbers: ResidueClass, rest: int, held: Ids | None) -> Ids:
        """Check what is stored after the last turn, and return what it takes for each output element."""
        since = len(self.store.doubts)
        batch, last = self._ended(numbers, rest)
        output = self.launch.instance.outputs[0]
        actual = self.launch.stored(batch, output)
        self._stored.append(actual)
        found = held_by(self.store, actual)
        if held is not None and not np.array_equal(held, found):
            raise UnsupportedError("the stored values depend on the remainder of the size")
        self._held_format = format_of(self.store, found)
        self._bound_sums(found, numbers)
        for taken in self._possible_starts(rest):
            expected = self._expected_rest(rest - taken, taken, found, last)
            if self._same(actual, expected, output.format):
                if self._tail and isinstance(self._held_format, FloatFormat):
                    self.equality = Equality.VALUE  # zeros that are added may change a sum's sign
                self.taken = taken
                return found
        failing = UnsupportedError if self.sums.moves_evenly(1) else NextCandidateError
        what = f"the values stored for {self.name} = {self.distance}·u + {rest} are not proved"
        raise failing(self._told_of(UnsupportedError(what), since))

    def _expected_rest(self, left: int, taken: int, held: Ids, move: Callable[[Rows], Rows]) -> Ids:
        """Return what the contract says of what is held and so many more, or up to a tail more."""
        length = self._summed_at_most(left)
        contract = self.sums.rest(self._held_format, length)
        return self._expected(contract, length or self.numbers.domain.least, taken, held, move)

    def _bound_sums(self, held: Ids, numbers: ResidueClass) -> None:
        """Bound sums of integers so far, which is what is held if the guess is right.

        Raises
        ------
        LimitError
            If they may wrap for the largest numbers, in a kernel whose sums saturate.
        """
        fmt, store = self._held_format, self.store
        if not isinstance(fmt, IntegerFormat) or is_raw(fmt) or not self._saturates():
            return
        least, most = self.sums.term_range(self.launch.standing_in(self.launch.contract, self.distance))
        largest = max(abs(least), abs(most), 1)
        allowed = fmt.maximum // largest - self.first - 2 * self.distance - self.modulus
        if numbers.last > allowed:
            lines = (each.line for each in self.launch.body if each.has("satfinite"))
            about = f"{self.launch.path}:{next(lines, 0)}"
            raise LimitError(allowed, f"{about}: a sum of {fmt} may saturate")
        if held.shape[1] > 1:
            raise UnsupportedError(f"one output element is made of several sums of {fmt}, which may saturate")
        store.bounded = {int(each): (-largest * numbers.last, largest * numbers.last) for each in held[:, 0]}

    def _saturates(self) -> bool:
        hows = [operation.attribute for operation in self.store.operations if operation.name == DOT]
        return any(isinstance(how, Accumulation) and how.saturate for how in hows)

    def _possible_starts(self, rest: int) -> Iterator[int]:
        """Yield how far the sum may have come before the first turn: some turns, or what leaves some."""
        if hasattr(self, "taken"):
            yield self.taken
            return
        turn, step = self.distance // self.period, self.numbers.domain.step
        near = [turn * (self.start + more) for more in (0, -1, 1, -2)]
        found = [*near, *(each + self.numbers.residue % turn for each in near), *range(0, rest + 1, step)]
        for each in dict.fromkeys(found[:_STARTS]):
            left = self._summed_at_most(rest - each)
            if 0 <= each <= rest and left >= 0 and self.sums.moves_evenly(each) and self._is_whole(left):
                yield each

    def _summed_at_most(self, left: int) -> int:
        """Return how many of the size are left at most; negative where the tail would have to be cut."""
        tail = self.launch.tail
        if tail is None:
            return left
        return -1 if (left - tail.step) % self.modulus else left - tail.step + self.modulus

    def _is_whole(self, extent: int) -> bool:
        """Tell whether arrays can be as long as a part of the size."""
        try:
            self.launch.standing_in(self.launch.contract, extent or self.numbers.domain.least)
        except InputError:
            return False
        return True

    def _check_sums(self, held: Ids, numbers: ResidueClass) -> None:
        """Check that what is held for each output element is the sum so far, at first and after a turn."""
        output, fmt = self.launch.instance.outputs[0], self._held_format
        inputs, values = self.initial
        settled = self.launch.settled
        first = sums_of(self.store, settled(looked_up(held, inputs, values), output), fmt)
        inputs, values = self.later
        after = sums_of(self.store, settled(looked_up(held, inputs, values), output), fmt)

        def at_first(rows: Rows) -> Rows:
            return turned(self.store, rows, factor=0, offset=0)

        self.launch.suppose(self._before_all)
        if self.taken:
            contract = self.sums.so_far(fmt, self.taken)
            expected = self._expected(contract, self.taken, 0, held, at_first)
        else:
            zeros = np.zeros(len(held), dtype=np.uint64)
            expected = self.store.constants(zeros, fmt.bits)
        if not self._same(first, expected, fmt):
            raise UnsupportedError(f"base: the sum of {output.name} before the first iteration is not proved")
        self.launch.suppose(self._in_a_turn)
        contract = self.sums.one_more(fmt, self.distance)
        expected = self._expected(contract, self.distance, self.taken, held, lambda rows: rows)
        if not self._same(after, expected, fmt):
            raise UnsupportedError(f"step: the terms that an iteration adds to {output.name} are not proved")
        if self.equality is Equality.VALUE:
            self._check_conditions(after, expected)
            before, later = (looked_up(held.reshape(-1), *found) for found in (self.initial, self.later))
            grows = self.name, self.first, self.distance
            parts = before, later, np.concatenate(self._stored)
            if isinstance(fmt, FloatFormat):
                sums = HeldSums(self.store, held.reshape(-1), before, later, fmt)
                allowed = sums.last_that_fits(numbers.last, self.first, self.distance, parts[2])
                if allowed is not None:
                    raise LimitError(allowed, f"{self.launch.path}: a sum of {fmt} may overflow")
            unit = self.launch.contract.matrix_rounding
            self.roundings = growing(self.store, unit, grows, held, parts)

    def _check_conditions(self, after: Ids, expected: Ids) -> None:
        """Check that no iteration is right on a condition alone that the formula does not need.

        What is held is a constant before the first, and few are run: these may not show it.
        """
        if (found := not_implied(NormalForms(self.store), after, expected)) is not None:
            line = self.store.lines(found[0].term)
            told = (
                f"step: an iteration is right only if {found[0].hypothesis}, which the formula does not need"
            )
            raise UnsupportedError(f"{self.launch.path}:{line}: {told}")

    # -- comparisons
    def _same(self, actual: Ids, expected: Ids, fmt: Format) -> bool:
        found = compare(NormalForms(self.store), actual, expected, fmt)
        if not found.equal.all():
            return False
        self.checked += found.checked
        if not found.identical.all():
            self.equality = Equality.VALUE
        return True

    def _expected(
        self, contract: Contract, extent: int, taken: int, held: Ids, move: Callable[[Rows], Rows]
    ) -> Ids:
        """Return what a contract for a part says, of terms that begin behind what was taken before."""
        begin = self.store.symbols.form({(): self.sums.begin(taken), ("u",): self.sums.begin(self.distance)})
        begins = {self.sums.index: move(begin[None])[0]}
        so_far = {PREFIX: sums_of(self.store, held, self._held_format)}
        instance = self.launch.standing_in(contract, extent)
        output = self.launch.instance.outputs[0].name
        return formula_terms(self.launch, instance, output, begins, so_far, move)

    def _agreeing(self, guess: Cells, actual: Cells, when: str, since: int) -> tuple[Ids, Ids]:
        """Check a guess, and return held inputs and what stands in their place."""
        try:
            return agreed(self.turns, guess, actual, when)
        except NextCandidateError as error:
            failing = self._failing(error, since)
            raise (failing if isinstance(failing, LimitError) else error) from error
