"""The checker: evaluates both sides of an equality again, and can only object.

All pairs of terms are evaluated at a random point of a finite field (`residues`). Pairs that this does not
show to be equal are taken in classes of one shape; of each class some are evaluated on exact numbers
(`balls`), at points on both sides of every comparison as far as a search finds them (`points`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import DefectError
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..terms.interning import Ids
from ..terms.store import TermStore
from ..terms.traversal import cone
from .balls import Evaluation, Plan
from .numbers import NEAR, Lost, Name
from .points import CONDITIONS, Point, around, mined, nearest
from .residues import ResidueEvaluation

SEED = 20260
MOST_CLASSES, MEMBERS = 24, 3
"""Classes that are evaluated, and members of each."""

_NOT_TAKEN, _NOWHERE = (
    "more terms than are evaluated again",
    "no inputs found that meet the conditions",
)

MOST_TERMS = 12_000
"""Terms evaluated at a point at most."""

POINTS, MINED_POINTS, SEEDS_ALONE = 2, 5, 24
"""Points drawn from formats, and next to the numbers that terms compare with; and of the first kind as many
more where one side alone was no number: it is to be none at any of them."""

MOST_AIMED, MOVED, MOST_FOUND = 8_000, 3, 60_000
"""Terms evaluated in search of other outcomes of comparisons, inputs that are moved for each, and terms
evaluated where such are found."""


class ObjectionError(DefectError):
    """An equality that the checker refutes on numbers.

    Parameters
    ----------
    member : int
        Which of the pairs.
    actual, expected : str
        What the two sides are.
    inputs : mapping of Name to int
        The words of inputs.
    """

    def __init__(self, member: int, actual: str, expected: str, inputs: Mapping[Name, int]) -> None:
        self.member, self.actual, self.expected, self.inputs = member, actual, expected, inputs
        super().__init__(
            f"two terms are shown to be equal, but evaluate to {actual} and {expected}: a defect of mmaproof"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.member, self.actual, self.expected, dict(self.inputs))


class _AloneError(ObjectionError):
    """At a point one side is a number, the other none: a fault if it is so everywhere."""


@dataclass(frozen=True)
class Taken:
    """Suppositions of the engine that the checker makes, too.

    Attributes
    ----------
    tolerance : float
        By how much of their values functions may differ from polynomials that stand for them.
    has_masks : bool
        Whether a finite number stands for minus infinity: inputs stay small beside it.
    admitted : callable, optional
        From words of inputs to such that meet all conditions on inputs; None where that is not found.
    proposed : callable, optional
        From pairs of terms, and a format, to words of inputs on which to look at them too.
    """

    tolerance: float = 0.0
    has_masks: bool = False
    admitted: Callable[[Mapping[Name, int]], Mapping[Name, int] | None] | None = None
    proposed: Callable[[Sequence[tuple[int, int]], Format], Iterable[Mapping[Name, int]]] | None = None


_NOTHING = Taken()


@dataclass
class Checked:
    """Counts of pairs that the checker evaluated.

    Attributes
    ----------
    elements : int
        Pairs of terms that are not the identical term.
    by_residues, by_points : int
        Those that a random point of the field shows, and those of a shape that was evaluated on numbers.
    open : Counter of str
        How many were not evaluated, by the reason.
    """

    elements: int = 0
    by_residues: int = 0
    by_points: int = 0
    open: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Checked) -> Checked:
        return Checked(
            self.elements + other.elements,
            self.by_residues + other.by_residues,
            self.by_points + other.by_points,
            self.open + other.open,
        )


def checked(store: TermStore, actual: Ids, expected: Ids, fmt: Format, how: Taken = _NOTHING) -> Checked:
    """Evaluate terms (n,) that are said to be equal, read in a format, again.

    Raises
    ------
    ObjectionError
        If two are not equal on some numbers.
    """
    places = np.flatnonzero(actual != expected)
    if not len(places):
        return Checked()
    at_a_point, of_shapes = residues(store)
    sides = [side[places] for side in (actual, expected)]
    values = [at_a_point.of(side, fmt) for side in sides]
    left = np.flatnonzero(values[0] != values[1])
    report = Checked(len(places), len(places) - len(left))
    if len(left):
        shapes = np.stack([of_shapes.of(side[left], fmt) for side in sides], axis=1)
        classes = np.unique(shapes, axis=0, return_inverse=True)[1].reshape(-1)
        _by_points(store, report, places[left], classes, np.stack([actual, expected], axis=1), fmt, how)
    return report


_RESIDUES: WeakKeyDictionary[TermStore, tuple[ResidueEvaluation, ResidueEvaluation]] = WeakKeyDictionary()


def residues(store: TermStore) -> tuple[ResidueEvaluation, ResidueEvaluation]:
    """Return evaluations of terms: at a random point, and at one where all inputs of an array are alike."""
    return _RESIDUES.setdefault(
        store, (ResidueEvaluation(store, SEED), ResidueEvaluation(store, SEED + 1, alike=True))
    )


def _by_points(
    store: TermStore,
    report: Checked,
    places: NDArray[np.intp],
    classes: NDArray[np.intp],
    pairs: Ids,
    fmt: Format,
    how: Taken,
) -> None:
    """Evaluate members of each class; note what could not be."""
    members = [places[classes == each] for each in np.argsort(-np.bincount(classes), kind="stable")]
    chosen, terms = _representatives(store, members, pairs)
    batch = _Batch(store, {place: pairs[place] for place in chosen}, fmt, terms, how)
    reasons = batch.reasons_open()
    for some in members:
        known = [reasons[place] for place in some.tolist() if place in reasons]
        unknown = [reason for reason in known if reason is not None] if known else [_NOT_TAKEN]
        if unknown:
            report.open[unknown[0]] += len(some)
        else:
            report.by_points += len(some)


def _representatives(
    store: TermStore, members: Sequence[NDArray[np.intp]], pairs: Ids
) -> tuple[list[int], Ids]:
    """Return some members of each class, as many as there is time for, and all that they depend on."""
    random = np.random.default_rng(SEED)
    few = [np.unique([member[0], member[-1], random.choice(member)]) for member in members[:MOST_CLASSES]]
    chosen: list[int] = []
    terms = np.empty(0, dtype=np.int32)
    for turn, each in product(range(MEMBERS), few):
        own = cone(store, pairs[each[turn]], MOST_TERMS) if turn < len(each) else None
        if own is not None and len(union := np.union1d(terms, own)) <= MOST_TERMS:
            terms = union
            chosen.append(int(each[turn]))
    return chosen, terms


class _Batch:
    """Pairs of terms evaluated together at several points."""

    def __init__(
        self,
        store: TermStore,
        pairs: Mapping[int, Ids],
        fmt: Format,
        terms: Ids,
        how: Taken,
    ) -> None:
        largest = fmt.exact(fmt.largest << fmt.padding_bits) if isinstance(fmt, FloatFormat) else None
        self._store, self._format, self._how, self._largest = store, fmt, how, float(largest or np.inf)
        self._pairs = {place: (int(one), int(other)) for place, (one, other) in pairs.items()}
        self._assumed = store.assumed()
        assumed = np.array(self._assumed, dtype=np.int32).reshape(-1)
        conditions = cone(store, assumed, len(store))
        self._plan = Plan(
            store, terms if conditions is None else np.union1d(terms, conditions), how.tolerance
        )
        self._mined = mined(store, terms)
        self._outcomes: dict[int, set[int]] = {}
        self._alone: dict[int, list[ObjectionError]] = {}

    def reasons_open(self) -> dict[int, str | None]:
        """Return of each pair why it was evaluated nowhere; None where it was, and is equal."""
        agreed, count = set[int](), 0
        reasons: dict[int, str] = {}
        for drawn in self._points():
            point = self._admitted(drawn)
            evaluation = self._plan.at(point.draw) if point else None
            if point is None or evaluation is None or not self._admissible(evaluation):
                continue
            count += 1
            for place, pair in self._pairs.items():
                try:
                    self._compare(evaluation, point, place, pair)
                    agreed.add(place)
                except Lost as lost:
                    reasons[place] = NEAR if str(lost) == NEAR else reasons.get(place, str(lost))
                except _AloneError as objection:
                    self._alone.setdefault(place, []).append(objection)
            for term, outcome in evaluation.outcomes.items():
                self._outcomes.setdefault(term, set()).add(outcome)
        for place, found in self._alone.items():
            if len(found) == count:  # one side is a number, the other never one
                raise found[0]
            reasons.setdefault(place, "no number on one side")
        some = {place: reasons.get(place, _NOWHERE) for place in self._pairs}
        return {place: None if place in agreed and some[place] != NEAR else some[place] for place in some}

    def _admitted(self, point: Point) -> Point | None:
        """Return a point that meets the conditions on inputs, as near as possible; None if none is found."""
        if self._how.admitted is None:
            return point
        for term, name in self._plan.names.items():
            point.draw(name, term)
        words = self._how.admitted(point.words)
        return None if words is None else Point(self._store, 0, words=words)

    def _admissible(self, evaluation: Evaluation) -> bool:
        """Tell whether the terms that are supposed to have a value have it."""
        with suppress(Lost):
            return all(evaluation.word(term) == evaluation.word(constant) for term, constant in self._assumed)
        return False

    def _points(self) -> Iterator[Point]:
        last = POINTS + MINED_POINTS
        yield from (Point(self._store, seed, small=self._how.has_masks) for seed in range(POINTS))
        alone = range(last, last + SEEDS_ALONE) if self._alone else ()  # it may be so by a hypothesis
        yield from (Point(self._store, seed) for seed in alone)
        if self._outcomes and not self._how.has_masks:
            yield from (Point(self._store, seed, self._mined) for seed in range(POINTS, last))
            yield from self._aimed()
        if self._how.proposed and not self._how.has_masks:
            for words in self._how.proposed(list(self._pairs.values()), self._format):
                yield Point(self._store, 0, words=words)

    def _aimed(self) -> Iterator[Point]:
        """Yield points where comparisons come out as they have not yet, moving one input at a time."""
        left, found, base = MOST_AIMED, 0, Point(self._store, 0)
        self._plan.at(base.draw)
        for term in [each for each in self._outcomes if self._plan.operations[each].name in CONDITIONS]:
            own = cone(self._store, np.array([term]), left)
            if own is None:
                return
            part = Plan(self._store, own)
            for name, number in product([*part.names.values()][:MOVED], around(self._mined)):
                if (left := left - len(own)) < 0 or {-1, 1} <= self._outcomes[term]:
                    break
                point = Point(self._store, 0, moved={name: nearest(number, name[1])})
                point.words.update((each, word) for each, word in base.words.items() if each != name)
                outcome = part.at(point.draw).outcomes.get(term)
                if outcome is not None and outcome not in self._outcomes[term]:
                    yield point
                    found += len(self._plan.arguments)
            if found >= MOST_FOUND:
                return

    def _compare(self, evaluation: Evaluation, point: Point, place: int, pair: tuple[int, int]) -> None:
        """Object where the terms of a pair are different numbers at a point."""
        if isinstance(self._format, IntegerFormat):
            words = [evaluation.word(each) & (1 << self._format.bits) - 1 for each in pair]
            if words[0] != words[1]:
                raise ObjectionError(place, f"{words[0]:#x}", f"{words[1]:#x}", point.words)
            return
        one, other = (evaluation.number(each, self._format) for each in pair)
        if one.is_finite() != other.is_finite():
            raise _AloneError(place, one.str(12), other.str(12), point.words)
        if not one.is_finite() or abs(other) > self._largest:  # that nothing overflows is a hypothesis
            raise Lost("no finite numbers of the format")
        if any(each.rad() > abs(each.mid()) / 1024 for each in (one, other)):
            raise Lost("numbers known to a few digits only")
        if not one.overlaps(other):
            if abs(one - other) < self._how.tolerance * (1 + abs(one)):
                raise Lost(NEAR)
            raise ObjectionError(place, one.str(12), other.str(12), point.words)
