"""Both sides of an equality evaluated again: whatever shows equality, this may object.

All pairs of terms are evaluated at a random point of a finite field (`residues`). Pairs that this does not
show to be equal are taken in classes of one shape; of each class some are evaluated on exact numbers
(`balls`), at points on both sides of every comparison as far as a search finds them (`points`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import DefectError
from ...spec.formats import Format, IntegerFormat
from ..interning import Ids
from ..terms import TermStore
from .arguments import cone
from .balls import Evaluation, Plan
from .numbers import Lost
from .points import CONDITIONS, Name, Point, around, mined, nearest
from .residues import ResidueEvaluation

SEED = 20260
MOST_CLASSES, MEMBERS = 24, 3
"""Classes that are evaluated, and members of each."""

MOST_TERMS = 12_000
"""Terms evaluated at a point at most."""

POINTS, MINED_POINTS = 2, 5
"""Points drawn from formats, and next to the numbers that terms compare with."""

SEEDS_ALONE = 24
"""Further points where one side must be no number for it to be none at all."""

MOST_AIMED, MOVED = 8_000, 3
"""Terms evaluated in search of other outcomes of comparisons, and inputs that are moved for each."""


class ObjectionError(DefectError):
    """Terms that are said to be equal are not, on numbers.

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
            f"two terms are shown to be equal, but evaluated again the one is {actual} and the other "
            f"{expected}: a defect of mmaproof"
        )


class _AloneError(ObjectionError):
    """At a point one side is a number, the other none: a fault if it is so everywhere."""


@dataclass(frozen=True)
class Taken:
    """What the equality of terms takes for granted.

    Attributes
    ----------
    tolerance : float
        By how much of a number, or of 1, polynomials may differ from the functions that they stand for.
    has_masks : bool
        Whether a finite number stands for minus infinity: inputs stay small beside it.
    """

    tolerance: float = 0.0
    has_masks: bool = False


_NOTHING = Taken()


@dataclass
class Checked:
    """What was evaluated again.

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


class _Residues:
    def __init__(self, store: TermStore) -> None:
        self.point = ResidueEvaluation(store, SEED)
        self.shapes = ResidueEvaluation(store, SEED + 1, alike=True)


def checked(store: TermStore, actual: Ids, expected: Ids, fmt: Format, how: Taken = _NOTHING) -> Checked:
    """Evaluate terms (n,) that are said to be equal, read in a format, again.

    Raises
    ------
    ObjectionError
        If two are not equal on some numbers.
    """
    places = np.flatnonzero(actual != expected)
    report = Checked(elements=len(places))
    if not len(places):
        return report
    residues = _RESIDUES.setdefault(store, _Residues(store))
    sides = [side[places] for side in (actual, expected)]
    values = [residues.point.of(side, fmt) for side in sides]
    left = np.flatnonzero(values[0] != values[1])
    report.by_residues = len(places) - len(left)
    if not len(left):
        return report
    shapes = np.stack([residues.shapes.of(side[left], fmt) for side in sides], axis=1)
    classes = np.unique(shapes, axis=0, return_inverse=True)[1].reshape(-1)
    pairs = np.stack([actual, expected], axis=1)
    _by_points(store, report, places[left], classes, pairs, fmt, how)
    return report


_RESIDUES: WeakKeyDictionary[TermStore, _Residues] = WeakKeyDictionary()


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
    sizes = np.bincount(classes)
    members = [places[classes == number] for number in np.argsort(-sizes, kind="stable")]
    chosen, terms = _representatives(store, members, pairs)
    batch = _Batch(store, {place: pairs[place] for place in chosen}, fmt, terms, how)
    reasons = batch.reasons_open()
    for some in members:
        known = [reasons[place] for place in some.tolist() if place in reasons]
        if not known:
            report.open["more shapes of outputs, or larger ones, than are evaluated one by one"] += len(some)
        elif bad := [reason for reason in known if reason is not None]:
            report.open[bad[0]] += len(some)
        else:
            report.by_points += len(some)


def _representatives(
    store: TermStore, members: Sequence[NDArray[np.intp]], pairs: Ids
) -> tuple[list[int], NDArray[np.int64]]:
    """Return some members of each class, as many as there is time for, and all that they depend on."""
    random = np.random.default_rng(SEED)
    few = [np.unique([each[0], each[-1], random.choice(each)]) for each in members[:MOST_CLASSES]]
    chosen: list[int] = []
    terms = np.empty(0, dtype=np.int64)
    for turn in range(MEMBERS):
        for each in few:
            if turn < len(each) and (own := cone(store, pairs[each[turn]], MOST_TERMS)) is not None:
                union = np.union1d(terms, own)
                if len(union) <= MOST_TERMS:
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
        terms: NDArray[np.int64],
        how: Taken,
    ) -> None:
        self._store, self._format, self._how = store, fmt, how
        self._pairs = {place: (int(one), int(other)) for place, (one, other) in pairs.items()}
        self._assumed = store.assumed()
        conditions = cone(store, np.array(self._assumed, dtype=np.int32).reshape(-1))
        assert conditions is not None
        self._plan = Plan(store, np.union1d(terms, conditions))
        self._mined = mined(store, terms)
        self._outcomes: dict[int, set[int]] = {}

    def reasons_open(self) -> dict[int, str | None]:
        """Return of each pair why it was evaluated nowhere; None where it was, and is equal."""
        agreed = set[int]()
        reasons: dict[int, str] = {}
        alone: dict[int, list[ObjectionError]] = {}
        count = 0
        for point in self._points():
            count += 1
            evaluation = self._plan.at(point.draw)
            if not self._admissible(evaluation):
                count -= 1
                continue
            for place, pair in self._pairs.items():
                try:
                    self._compare(evaluation, point, place, pair)
                    agreed.add(place)
                except Lost as lost:
                    reasons.setdefault(place, lost.reason)
                except _AloneError as objection:
                    alone.setdefault(place, []).append(objection)
                    reasons.setdefault(place, "no number on one side")
            for term, outcome in evaluation.outcomes.items():
                self._outcomes.setdefault(term, set()).add(outcome)
        for place, found in alone.items():
            if place not in agreed and len(found) == count and self._is_always_alone(place):
                raise found[0]
        none = "no numbers found that meet the conditions"
        return {place: None if place in agreed else reasons.get(place, none) for place in self._pairs}

    def _is_always_alone(self, place: int) -> bool:
        """Tell whether one side alone is a number at further points, too: that may be a hypothesis."""
        for seed in range(SEEDS_ALONE):
            point = Point(self._store, POINTS + MINED_POINTS + seed)
            evaluation = self._plan.at(point.draw)
            try:
                self._compare(evaluation, point, place, self._pairs[place])
            except _AloneError:
                continue
            except Lost:
                pass
            return False
        return True

    def _admissible(self, evaluation: Evaluation) -> bool:
        """Tell whether the terms that are supposed to have a value have it."""
        try:
            return all(evaluation.word(term) == evaluation.word(constant) for term, constant in self._assumed)
        except Lost:
            return False

    def _points(self) -> Iterator[Point]:
        for seed in range(POINTS):
            yield Point(self._store, seed)
        if self._outcomes and not self._how.has_masks:
            for seed in range(MINED_POINTS):
                yield Point(self._store, POINTS + seed, self._mined)
            yield from self._aimed()

    def _aimed(self) -> Iterator[Point]:
        """Yield points where comparisons come out as they have not yet, moving one input at a time."""
        left = MOST_AIMED
        for term in [each for each in self._outcomes if self._plan.operations[each].name in CONDITIONS]:
            own = cone(self._store, np.array([term]), left)
            if own is None:
                return
            part = Plan(self._store, own)
            for name, number in product(part.inputs()[:MOVED], around(self._mined)):
                if (left := left - len(own)) < 0 or {-1, 1} <= self._outcomes[term]:
                    break
                point = Point(self._store, 0, fixed={name: nearest(number, name[1])})
                outcome = part.at(point.draw).outcomes.get(term)
                if outcome is not None and outcome not in self._outcomes[term]:
                    yield point

    def _compare(self, evaluation: Evaluation, point: Point, place: int, pair: tuple[int, int]) -> None:
        """Object where the terms of a pair are different numbers at a point."""
        if isinstance(self._format, IntegerFormat):
            words = [evaluation.word(each) for each in pair]
            if words[0] != words[1]:
                raise ObjectionError(place, f"{words[0]:#x}", f"{words[1]:#x}", point.words)
            return
        one, other = (evaluation.number(each, self._format) for each in pair)
        if not (one.is_finite() and other.is_finite()):
            if one.is_finite() != other.is_finite():
                raise _AloneError(place, one.str(12), other.str(12), point.words)
            raise Lost("no finite numbers")
        if any(each.rad() > 2.0**-10 * (1 + abs(each.mid())) for each in (one, other)):
            raise Lost("numbers known to a few digits only")
        if not one.overlaps(other):
            if abs(one - other) < self._how.tolerance * (1 + abs(one)):
                return
            raise ObjectionError(place, one.str(12), other.str(12), point.words)
