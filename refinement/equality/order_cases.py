"""Case splits on orders: equality of terms that choose by comparing a few numbers.

The index of a maximum, a sorting network, ranks, the greater of two pairs: through comparisons, extrema and
selects a term depends on numbers by their order alone. Under each weak order of the numbers compared, every
choice is made, and what is left is compared. A number is whatever is compared, an input or not. Orders that
the signs of differences rule out for all data are left out; nothing else is used of what numbers have to do
with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format
from ..normal_forms.forms import NormalForms
from ..normal_forms.sparse_polynomials import sparse
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, LEAVES, NORMAL_FORM, VECTOR
from ..terms.traversal import operands
from .instances_of_pairs import unequal_pairs
from .known_signs import ANY, KnownSigns, Signs
from .narrow_choices import NarrowChoices
from .resolved_choices import Number, Numbers, ResolvedChoices, ordered_format

Unequal = Callable[[Ids, Ids, Format], NDArray[np.intp]]
"""Tells which terms (n,) are not shown equal to others."""

_MOST_TERMS = 4096
"""Terms that a pair depends on."""

_MOST_CELLS = 1 << 28
"""Orders, times the terms that are resolved in each."""

_FIRST = 256
"""Orders that are looked at before all are."""

_MOST_PAIRS = 256
"""Pairs of resolved terms that are not identical and have to be compared."""


class OrderCases:
    """Compares terms under each order of the numbers by which they choose.

    Parameters
    ----------
    forms : NormalForms
        Of the terms: they tell which numbers are the same.
    unequal : callable, optional
        Compares over the real numbers what is left when choices are made; without it bits are compared, and
        floats may be infinite and NaN.
    """

    def __init__(self, forms: NormalForms, unequal: Unequal | None = None) -> None:
        self._forms, self._store, self._compare = forms, forms.store, unequal
        self._signs, self._narrow = KnownSigns(forms), NarrowChoices(forms.store)
        self._magnitudes: set[int] = set()
        """Magnitudes that are compared as one number each, instead of as two of opposite signs."""

    def unequal(self, left: Ids, right: Ids, fmt: Format) -> NDArray[np.intp]:
        """Return which terms (n,) are not shown equal; after the first that is not, none is looked at."""
        return unequal_pairs(self._store, left, right, partial(self._are_equal, fmt))

    def _are_equal(self, fmt: Format, pair: Sequence[int]) -> bool:
        if self._compare is not None:
            pair = self._narrow.values(np.array(pair, dtype=np.int32)).tolist()
        terms = self._reached(pair)
        magnitudes = {each for each in terms if self._is_magnitude(each)}
        ways = (magnitudes, set[int]()) if magnitudes else (magnitudes,)
        return bool(terms) and any(self._are_equal_of(fmt, pair, terms, each) for each in ways)

    def _are_equal_of(
        self, fmt: Format, pair: Sequence[int], terms: Sequence[int], magnitudes: set[int]
    ) -> bool:
        self._magnitudes = magnitudes
        same, numbers = self._compared(terms)
        terms = self._reached(pair, {term for term, _ in same})
        if not numbers or any(self._is_no_number(*number) for number in same):
            return False
        exact = None if self._compare is None else self._read_as_bits(terms, pair, fmt)
        choices = ResolvedChoices.of(self._store, numbers, same, exact, self._differences(numbers))
        if choices is None or choices.count * len(terms) > _MOST_CELLS:
            return False
        parts = [slice(0, _FIRST)] if choices.count > _FIRST else []  # few orders tell what is wrong
        return all(self._alike(choices.resolved(terms, pair, some), fmt) for some in [*parts, slice(None)])

    def _differences(self, groups: Sequence[Numbers]) -> list[Mapping[tuple[int, int], Signs]]:
        """Return the signs of differences of numbers, by their places in each group, that rule some out."""
        found: list[Mapping[tuple[int, int], Signs]] = []
        for group in groups if self._compare is not None else ():
            places = np.array(list(combinations(range(len(group.terms)), 2)), dtype=np.intp).reshape(-1, 2)
            sides = np.array(group.terms, dtype=np.int32)[places]
            exact = [
                all(map(self._forms.quantifier.computed_equality.is_exact, each)) for each in sides.tolist()
            ]
            sides, places = sides[exact], places[exact]  # roundings make other orders
            differences = self._forms.difference(sides[:, 0], sides[:, 1], group.format)
            told = zip(places.tolist(), map(self._signs.of, sparse(differences, len(places))), strict=True)
            found.append({(one, other): each for (one, other), each in told if each != ANY})
        return found

    def _alike(self, sides: Ids, fmt: Format) -> bool:
        """Tell whether the two terms of each row are equal."""
        left = np.unique(sides[sides[:, 0] != sides[:, 1]], axis=0)
        if not len(left) or self._compare is None or len(left) > _MOST_PAIRS:
            return not len(left)
        return not len(self._compare(left[:, 0], left[:, 1], fmt))

    def _reached(self, pair: Sequence[int], numbers: frozenset[int] | set[int] = frozenset()) -> list[int]:
        """Return what a pair depends on, but for what numbers do, in order; nothing if it is too much."""
        found: set[int] = set()
        pending = list(pair)
        while pending:
            term = pending.pop()
            if term not in found:
                found.add(term)
                if len(found) > _MOST_TERMS:
                    return []
                pending += [] if term in numbers else self._operands(term)
        return sorted(found)

    def _compared(self, terms: Sequence[int]) -> tuple[Mapping[Number, int], list[Numbers]]:
        """Return the first of numbers that are the same, for each, and the groups that are compared."""
        decided = self._decided(terms)
        first: dict[tuple[int, Format], int] = {}
        same: dict[Number, int] = {}
        groups: list[tuple[Format, set[int]]] = []
        for term in terms:
            fmt = ordered_format(self._store.operation(term))
            if fmt is None or term in self._magnitudes:
                continue
            if self._may_be_turned(term):
                return {}, []
            group = set[int]()
            if self._are_told_apart_by_roundings(term, fmt):
                return {}, []
            for leaf in self._numbers(term, fmt):
                if self._is_constant(leaf):
                    group.add(leaf)
                elif leaf not in decided:
                    same[leaf, fmt] = first.setdefault((self._identity(leaf, fmt), fmt), leaf)
                    group.add(same[leaf, fmt])
            joined = [each for each in groups if each[0] == fmt and each[1] & group]
            groups = [each for each in groups if each not in joined]
            groups.append((fmt, group.union(*(each for _, each in joined))))
        found = []
        for fmt, group in groups:
            constants = tuple(sorted(filter(self._is_constant, group)))
            if numbers := tuple(sorted(group - set(constants))):
                found.append(Numbers(fmt, numbers, constants))
        return same, found

    def _may_be_turned(self, term: int) -> bool:
        """Tell whether a rounding may turn an equality of floats, as nearly every one does."""
        if self._compare is None or not operations.equates_floats(self._store.operation(term)):
            return False
        return not self._forms.quantifier.computed_equality.is_of_reals(*self._operands(term))

    def _are_told_apart_by_roundings(self, term: int, fmt: Format) -> bool:
        """Tell whether numbers are compared that are one real number and two terms: roundings decide."""
        if self._compare is None or not isinstance(fmt, FloatFormat):
            return False
        one, other = (
            {self._identity(leaf, fmt): leaf for leaf in self._passed_on(operand, fmt)}
            for operand in self._operands(term)
        )
        return any(one[number] != other[number] for number in one.keys() & other.keys())

    def _read_as_bits(self, terms: Sequence[int], pair: Sequence[int], fmt: Format) -> set[int]:
        """Return what is read not as a float, but as bits: of equal floats, two zeros have different ones.

        What a float is computed from may be a zero whose sign it has.
        """
        found = set[int]() if isinstance(fmt, FloatFormat) else set(chain(*map(self._passed_on, pair)))
        for term in terms:
            operation = self._store.operation(term)
            if operation.name in (operations.SELECT, VECTOR):
                continue
            given = self._operands(term)
            formats = [*operation.operands, *([None] * len(given))]  # what is put together is bits
            for operand, read in zip(given, formats, strict=False):
                if not isinstance(read, FloatFormat):
                    found.update(self._passed_on(operand))
        pending = list(found)
        while pending:
            operation = self._store.operation(term := pending.pop())
            if isinstance(operation.result, FloatFormat):
                new = {each for operand in self._operands(term) for each in self._passed_on(operand)} - found
                found |= new
                pending += new
        return found

    def _identity(self, term: int, fmt: Format) -> int:
        """Return a number that is equal for equal numbers, or where bits are compared for equal words."""
        if self._compare is None:
            return term
        return int(self._forms.identifiers(np.array([term], dtype=np.int32), fmt)[0])

    def _decided(self, terms: Sequence[int]) -> set[int]:
        """Return the terms that depend on data by comparisons alone, so that each order tells them."""
        found: set[int] = set()
        for term in terms:
            operation = self._store.operation(term)
            if operation.name in (CONSTANT, operations.COMPARE):
                found.add(term)
            elif operation.name not in LEAVES and operation.name != NORMAL_FORM:
                given = self._operands(term)
                given = given[1:] if operation.name == operations.SELECT else given
                if all(each in found for each in given):
                    found.add(term)
        return found

    def _numbers(self, term: int, fmt: Format) -> Iterator[int]:
        """Yield the numbers that operands of a comparison are, as selects and extrema choose."""
        for operand in self._operands(term):
            yield from self._passed_on(operand, fmt)

    def _passed_on(self, term: int, fmt: Format | None = None) -> Iterator[int]:
        """Yield what a term is one of, as selects choose, and extrema (of a format, if one is given)."""
        pending, done = [term], set[int]()
        while pending:
            each = pending.pop()
            if each in done:
                continue
            done.add(each)
            operation = self._store.operation(each)
            chosen = ordered_format(operation) if operation.name == operations.EXTREMUM else None
            if each in self._magnitudes:
                yield each
            elif operation.name == operations.SELECT:
                pending += self._operands(each)[1:]
            elif operation.name == VECTOR or (chosen is not None and fmt in (None, chosen)):
                pending += self._operands(each)
            else:
                yield each

    def _is_no_number(self, term: int, fmt: Format) -> bool:
        """Tell whether a float is infinite or NaN for all inputs."""
        terms = np.array([term], dtype=np.int32)
        return isinstance(fmt, FloatFormat) and bool(
            self._forms.quantifier.classes.never_finite(terms, fmt)[0]
        )

    def _is_magnitude(self, term: int) -> bool:
        """Tell whether a term is the maximum of a float and its opposite."""
        if not isinstance(ordered_format(operation := self._store.operation(term)), FloatFormat):
            return False
        sides = self._operands(term)
        opposites = {each for each in sides if self._store.operation(each).name == operations.NEGATE}
        is_maximum = operation.name == operations.EXTREMUM and operation.attribute[0] == "max"  # type: ignore[index]
        return is_maximum and any(set(self._operands(each)) <= set(sides) for each in opposites)

    def _is_constant(self, term: int) -> bool:
        return self._store.operation(term).name == CONSTANT

    def _operands(self, term: int) -> list[int]:
        operation = self._store.operation(term)
        given = operands(self._store, operation, np.array([term], dtype=np.int32))
        return [each for some in given for each in some.tolist()]
