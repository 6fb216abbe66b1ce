"""The k-th least of some numbers, however networks of comparisons compute it, or ranks state it.

What maxima and minima are made of numbers is determined by the numbers being 0 or 1 (Knuth's 0-1 principle):
whether it is at least θ is a monotone function of which of the numbers are, and ``max`` is *or*, ``min`` is
*and*. Equal functions have the same decision diagram. So has the sum of the ``x[j]`` of which t others come
first, if of each two numbers one comes first: the less, or of equal ones the same in every such comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import and_, or_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..conditions.decision_diagrams import Diagrams
from ..normal_forms.forms import NormalForms
from ..terms import operations
from ..terms.domains import Rewriting
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, Operation, TermStore
from ..terms.traversal import operands
from .pair_conditions import pair_condition
from .resolved_choices import ordered_format

_MOST_NUMBERS = 64
"""Numbers of one statistic; what is made of more stands for a number."""


class _Chosen(NamedTuple):
    """A number of which the greatest or the least are made: its variables, and its decision diagram."""

    numbers: frozenset[int]
    diagram: int


class OrderStatistics(Rewriting):
    """Replaces what maxima, minima and ranks make of numbers by the first term that is the same.

    Over the real numbers they are equal; nothing is said of NaNs. A choice between two numbers is none of
    these: of equal ones it may be the other zero, which what reads its bits tells apart.

    Parameters
    ----------
    forms : NormalForms
        Of the terms: they tell which numbers are the same.

    Attributes
    ----------
    count : int
        How many terms were replaced.
    """

    def __init__(self, forms: NormalForms) -> None:
        super().__init__(forms.store)
        self._forms, self._diagrams = forms, Diagrams()
        self._variables: dict[tuple[Format, str, int], int] = {}
        self._statistics: dict[tuple[int, Format], _Chosen] = {}
        self._first: dict[tuple[int, Format], int] = {}
        self._inputs: set[int] = set()
        self.count = 0

    @staticmethod
    def may_apply(store: TermStore) -> bool:
        """Tell whether there are maxima and minima of floats among all terms of a store, or ranks."""
        chosen = {
            operation.attribute[0]
            for operation in store.operations
            if _is_of_floats(operation) and isinstance(operation.attribute, tuple)
        }
        return len(chosen) > 1 or any(map(_compares_ranks, store.operations))

    def tell_apart(self, one: Ids, other: Ids, fmt: Format) -> NDArray[np.bool_]:
        """Tell which terms (n,) are different statistics of inputs: they differ, if all are admitted."""
        sides = [
            [self._statistics.get((each, fmt)) for each in self.values(terms).tolist()]
            for terms in (one, other)
        ]
        return np.array([self._are_apart(*pair) for pair in zip(*sides, strict=True)], dtype=bool)

    def _are_apart(self, one: _Chosen | None, other: _Chosen | None) -> bool:
        if one is None or other is None or one.diagram == other.diagram:
            return False
        return one.numbers | other.numbers <= self._inputs

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        found: Ids = super().applied(operation, terms, given)
        if not _is_of_floats(operation) and operation.name != operations.DOT:
            return found
        made = {each: self._replaced(each) for each in np.unique(found).tolist()}
        return np.array([made[each] for each in found.tolist()], dtype=np.int32)

    def _replaced(self, term: int) -> int:
        """Return the first term that is what an extremum or a sum of ranks is; others as they are."""
        operation, parts = self._parts(term)
        fmt = operation.result
        try:
            found = self._extremum(operation, parts) or self._of_rank(operation, term)
        except UnsupportedError:
            return term
        if found is None or len(found.numbers) > _MOST_NUMBERS:
            return term
        first = self._first.setdefault((found.diagram, fmt), term)
        self._statistics[first, fmt] = found
        self.count += first != term
        return first

    def _extremum(self, operation: Operation, parts: Sequence[int]) -> _Chosen | None:
        """Return what an extremum of floats is; None of other operations."""
        if not _is_of_floats(operation):
            return None
        assert isinstance(operation.attribute, tuple)
        sides = [self._number(part, operation.result) for part in parts]
        return self._joined(*sides, is_greatest=operation.attribute[0] == "max")

    def _joined(self, one: _Chosen, other: _Chosen, *, is_greatest: bool) -> _Chosen:
        name, function = ("or", or_) if is_greatest else ("and", and_)
        diagram = self._diagrams.applied(name, function, one.diagram, other.diagram)
        return _Chosen(one.numbers | other.numbers, diagram)

    def _number(self, term: int, fmt: Format) -> _Chosen:
        """Return what one of the numbers is that are compared.

        Numbers that are rounded differently are not one, even if they are one real number: of such the
        kernel may tell whether they are equal.
        """
        if (term, fmt) in self._statistics:
            return self._statistics[term, fmt]
        operation = self.store.operation(term)
        if isinstance(fmt, FloatFormat) and fmt.infinity is not None and operation.name == CONSTANT:
            word = int(self.store.constant_values(np.array([term], dtype=np.int32))[0])
            if word & ~fmt.sign_mask == fmt.infinity:
                return _Chosen(frozenset(), 0 if word & fmt.sign_mask else 1)
        identity = fmt, "term", term
        if not _is_of_floats(operation) and self._forms.quantifier.computed_equality.is_exact(term):
            identity = fmt, "form", int(self._forms.identifiers(np.array([term], dtype=np.int32), fmt)[0])
        variable = self._variables.setdefault(identity, len(self._variables))
        if operation.name == INPUT and operation.result == fmt:
            self._inputs.add(variable)
        diagram = self._diagrams.node(variable, 0, 1)
        self._first.setdefault((diagram, fmt), term)
        found = self._statistics[term, fmt] = _Chosen(frozenset([variable]), diagram)
        return found

    # -- stated by ranks
    def _of_rank(self, operation: Operation, term: int) -> _Chosen | None:
        """Return what ``sum(j, where(rank(j) == t, x[j], 0))`` is; None of other terms."""
        fmt = operation.result
        if operation.name != operations.DOT or not isinstance(fmt, FloatFormat):
            return None
        chosen = self._summands(term)
        if chosen is None or not 2 <= len(chosen) <= _MOST_NUMBERS:
            return None
        numbers, counts, places = [], [], set[int]()
        for summand in chosen:
            select, parts = self._parts(summand)
            if select.name != operations.SELECT or self._word(parts[2]) != 0:
                return None
            rank = self._counted(parts[0])
            if rank is None:
                return None
            numbers.append(parts[1])
            counts.append(rank[0])
            places.add(rank[1])
        if len(places) != 1 or len(set(numbers)) != len(numbers):
            return None
        (place,), descends = places, self._order(numbers, counts, fmt)
        if descends is None or place >= len(numbers):
            return None
        members = [self._number(each, fmt) for each in numbers]
        return self._least(members, len(numbers) - 1 - place if descends else place)

    def _least(self, numbers: Sequence[_Chosen], place: int) -> _Chosen:
        """Return the number before which `place` others come: all but those are at least as great."""
        never, always = _Chosen(frozenset(), 0), _Chosen(frozenset(), 1)
        some = [always, *[never] * len(numbers)]  # whether so many of the numbers so far are at least θ
        for number in reversed(numbers):
            taken = [self._joined(each, number, is_greatest=False) for each in some[:-1]]
            some[1:] = [self._joined(*pair, is_greatest=True) for pair in zip(some[1:], taken, strict=True)]
        return some[len(numbers) - place]

    def _order(self, numbers: Sequence[int], counts: Sequence[Sequence[int]], fmt: Format) -> bool | None:
        """Tell whether the greater of numbers come first by the conditions that are counted for each.

        None if they do not say of each two numbers which comes first, or of equal ones not the same in all.
        """
        index = {number: at for at, number in enumerate(numbers)}
        first = np.full((len(numbers), len(numbers), 3), -1, dtype=np.int8)
        for at, conditions in enumerate(counts):
            for condition in conditions:
                found = pair_condition(self.store, condition)
                if found is None or len(found.pairs) != 1 or found.pairs[0].format != fmt:
                    return None
                (pair,), holds = found.pairs, found.holds[:, 0]
                if pair.first == pair.second == numbers[at] and not holds[1]:
                    continue
                other = pair.first if pair.second == numbers[at] else pair.second
                place = index.get(other, at)
                if (
                    {pair.first, pair.second} != {other, numbers[at]}
                    or place == at
                    or first[place, at, 0] >= 0
                ):
                    return None
                first[place, at] = holds if pair.first == other else holds[::-1]
        below = ~np.eye(len(numbers), dtype=bool)
        less, _, greater = first[below].T
        ranks = np.where(below, first[:, :, 1], 0).sum(axis=1)
        if (less < 0).any() or (less != less[0]).any() or (greater == less[0]).any():
            return None
        if (greater != greater[0]).any() or sorted(ranks.tolist()) != list(range(len(numbers))):
            return None
        ties = first[:, :, 1]
        return bool(greater[0]) if (ties + ties.T == 1)[below].all() else None

    def _counted(self, condition: int) -> tuple[list[int], int] | None:
        """Return the conditions that are counted, and how many have to hold, of ``count == t``."""
        comparison, sides = self._parts(condition)
        if not _compares_ranks(comparison):
            return None
        for count, constant in (sides, sides[::-1]):
            place, bits = self._word(constant), self._summands(count)
            if place is None or bits is None or len(bits) >= 1 << (comparison.operands[0].bits - 1):
                continue
            conditions = [parts[0] for _, parts in map(self._parts, bits) if self._is_truth(parts)]
            return (conditions, place) if len(conditions) == len(bits) else None
        return None

    def _is_truth(self, parts: Sequence[int]) -> bool:
        """Tell whether what a term is made of are a condition, 1 and 0."""
        return len(parts) == 3 and self._word(parts[1]) == 1 and self._word(parts[2]) == 0

    def _summands(self, term: int) -> list[int] | None:
        """Return what a term is the sum of, as a product with ones; None if it is no such sum."""
        operation, parts = self._parts(term)
        if operation.name != operations.DOT or self._word(parts[2]) != 0:
            return None
        fmt = operation.operands[0]
        sides = [self.store.elements(np.array([part], dtype=np.int32))[0].tolist() for part in parts[:2]]
        for summands, ones in (sides, sides[::-1]):
            if all(self._is_one(each, fmt) for each in ones):
                return list(summands)
        return None

    def _is_one(self, term: int, fmt: Format) -> bool:
        word = self._word(term)
        return word is not None and (fmt.exact(word) if isinstance(fmt, FloatFormat) else word) == 1

    # -- terms
    def _parts(self, term: int) -> tuple[Operation, list[int]]:
        """Return the operation that a term is, and its arguments."""
        operation = self.store.operation(term)
        given = operands(self.store, operation, np.array([term], dtype=np.int32))
        return operation, [each for some in given for each in some.tolist()]

    def _word(self, term: int) -> int | None:
        """Return the word that a constant is; None of other terms."""
        if self.store.operation(term).name != CONSTANT:
            return None
        return int(self.store.constant_values(np.array([term], dtype=np.int32))[0])


def _is_of_floats(operation: Operation) -> bool:
    """Tell whether an operation is the greater or the less of two floats, as they are."""
    return operation.name == operations.EXTREMUM and isinstance(ordered_format(operation), FloatFormat)


def _compares_ranks(operation: Operation) -> bool:
    """Tell whether an operation is the comparison of an integer with another for equality."""
    compares = operation.name == operations.COMPARE and operation.attribute == "eq"
    return compares and isinstance(operation.operands[0], IntegerFormat)
