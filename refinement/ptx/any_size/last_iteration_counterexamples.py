"""Last-iteration counterexamples: faults in the last iterations of loops too long to run whole.

What is held before a late turn is the guess of an induction at that turn, if it is what is held before the
first, at this number, and each turn before leads from one to the next, which base and step show of this
number as they do of a domain. From there on the kernel is run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....spec.errors import InputError, UnsupportedError
from ...contract.size_domains import ResidueClass
from ...findings.index_overflow import Overflow
from ...sizes.integer_forms import Symbols
from ...sizes.invariant_inference import TurnTerms
from ...sizes.symbolic_integers import Doubt
from .followed_accesses import Followed, follow
from .invariant_check import agreed
from .loop_states import Cells, LoopBatch, alike, going_on, turned
from .overflow_faults import fault_of_grid, overflow_of
from .sparse_launch import MOST_INSTRUCTIONS
from .symbolic_launch import SymbolicLaunch

_LAST_TURNS = 2
"""Turns before the end that are run."""

_BEFORE = 1 << 8
"""Instructions that are run from the beginning, up to a loop."""

_MOST_CANDIDATES = 8
"""Numbers behind the last that is shown at which a fault is looked for."""


@dataclass(frozen=True)
class Induced:
    """The claim of an induction over a main loop, for the numbers of a class up to one.

    Attributes
    ----------
    launch : SymbolicLaunch
        The kernel, launched with the size as a symbol.
    numbers : ResidueClass
        What the size may be.
    turns : TurnTerms
        Terms at a turn.
    guess : Cells
        What is held before a turn.
    start : int
        The head of the loop.
    first, distance, period : int
        The least size with a turn of the step, by how much it grows from turn to turn, and how many turns of
        the kernel's loop that is.
    """

    launch: SymbolicLaunch
    numbers: ResidueClass
    turns: TurnTerms
    guess: Cells
    start: int
    first: int
    distance: int
    period: int


def first_fault(induction: Induced, most: int) -> Overflow | None:
    """Return the first access that goes wrong, at the smallest number of a class behind a number.

    Parameters
    ----------
    induction : Induced
        A proof for all numbers of a class up to there.
    most : int
        The last that is shown.

    Returns
    -------
    Overflow, optional
        None if it is not found; it is the smallest if no number between is left open.
    """
    numbers, launch = induction.numbers, induction.launch
    contract = launch.contract
    assert contract.quantified is not None
    begin = numbers.from_(most + 1)
    for number in range(begin, numbers.last + 1, numbers.modulus)[:_MOST_CANDIDATES]:
        sizes = {**launch.known, numbers.domain.name: number}
        try:
            try:
                every = contract.quantified.completed(sizes)
                found = fault_of_grid(launch.kernel, contract, every, every=True, most=_BEFORE)
            except UnsupportedError:
                found = _late_fault(induction, number)
        except (UnsupportedError, InputError):
            return None
        if found is not None:
            return replace(found, sizes=sizes, is_smallest=True)
    return None


def _late_fault(induction: Induced, number: int) -> Overflow | None:
    """Return the first access of the last turns that is outside its array, if none is before.

    Raises
    ------
    UnsupportedError
        If what is held before these turns is not shown, or they do what is not modelled.
    """
    launch, store, turns = induction.launch, induction.launch.store, induction.turns
    count = float(induction.numbers.count(number))
    last = (number - induction.first) // induction.distance - _LAST_TURNS
    before = launch.begun(((count, 0.0),))
    launch.run_to_head(before, induction.start)
    zero = induction.guess.moved(turns, lambda rows: turned(store, rows, factor=0, offset=0))
    agreed(turns, zero, Cells.of(before), "before the first iteration")
    while (fewer := _shown(induction, before, count, last)) < last:
        last = fewer
    launch.suppose(((count, float(last)),))
    found = _followed(induction, before, MOST_INSTRUCTIONS, folds=True)
    if found.error is not None:
        raise found.error
    if found.outside is None:
        return None
    since = len(store.doubts)
    meant = _followed(induction, before, found.instructions, folds=False).visit(
        found, found.outside, found.outside
    )
    del store.doubts[:since]
    return overflow_of(launch, found, launch, meant, found.outside, {})


def _shown(induction: Induced, before: LoopBatch, count: float, last: int) -> int:
    """Return up to which turn each leads to the next, as guessed, or fewer, if integers overflow before.

    Raises
    ------
    UnsupportedError
        If it is not shown for another reason.
    """
    launch, store, turns = induction.launch, induction.launch.store, induction.turns
    if last < 1:
        raise UnsupportedError("there are too few iterations before it")
    launch.suppose(((count, 0.0), (count, float(last - 1))))
    batch = before.copied(launch.shared)
    induction.guess.put(batch)
    state, since = going_on(batch), len(store.doubts)
    try:
        launch.run_to_head(batch, induction.period)
        after = induction.guess.moved(turns, lambda rows: turned(store, rows, factor=1, offset=1))
        agreed(turns, after, Cells.of(batch), "after an iteration")
    except UnsupportedError:
        ends = [_last_fitting(store.symbols, doubt, count) for doubt in store.doubts[since:]]
        if (least := min(ends, default=last)) < last:
            return least
        raise
    launch.check_findings()
    if not alike(state, going_on(batch)):
        raise UnsupportedError("barriers, copies in flight or accesses differ between iterations")
    return last


def _last_fitting(symbols: Symbols, doubt: Doubt, count: float) -> int:
    """Return before which turn an integer fits that may overflow at a later one."""
    step = doubt.row[symbols.column("u")]
    if not doubt.limit or doubt.highest <= doubt.limit or step <= 0:
        return 1 << 62
    return (doubt.limit - doubt.row[0] - doubt.row[symbols.column("n")] * int(count)) // step + 1


def _followed(induction: Induced, before: LoopBatch, most: int, *, folds: bool) -> Followed:
    """Follow the last turns, with integers that wrap or that don't."""
    launch, store = induction.launch, induction.launch.store
    batch = before.copied(launch.shared)
    store.folds, store.unbounded = folds, not folds
    try:
        induction.guess.moved(induction.turns, lambda rows: rows).put(batch)
        return follow(launch.store, batch, most)
    finally:
        store.folds = store.unbounded = False
