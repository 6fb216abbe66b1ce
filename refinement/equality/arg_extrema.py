"""Indices of greatest and least numbers, whatever scan or tree of comparisons finds them.

``m1 > m2 ? i1 : i2`` is the index of the greatest of all numbers if ``i1`` and ``i2`` are those of two sets
and ``m1`` and ``m2`` are the greatest of these. Which of equal numbers is taken, that with the least index or
that with the greatest, has to be the same throughout. ``min(k, where(x[k] == max(k, x[k]), k, n))`` is the
least index of the greatest number. A constant with which a search begins is one of the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..normal_forms.forms import NormalForms
from ..terms import operations
from ..terms.evaluation import apply, signed_values
from ..terms.interning import Ids
from ..terms.slices import slices_of, values
from ..terms.store import CONCATENATION, CONSTANT, bits
from ..terms.traversal import operands
from .instances_of_pairs import unequal_pairs
from .pair_conditions import PairCondition, pair_condition
from .searched_numbers import SearchedNumbers

_MOST_TERMS = 1 << 13
"""Terms that an index is made of by choices."""


class ArgExtremum(NamedTuple):
    """The index of the greatest or the least of some numbers.

    Attributes
    ----------
    which : str
        ``max`` or ``min``.
    format : Format
        Of the numbers.
    last : bool, optional
        Whether it is the greatest index of equal numbers, not the least; None of a single number.
    places : frozenset of (int, int)
        Of each number its normal form, and its index.
    extremum : int
        A term that is the greatest or the least number.
    """

    which: str
    format: Format
    last: bool | None
    places: frozenset[tuple[int, int]]
    extremum: int

    def is_same(self, other: ArgExtremum) -> bool:
        """Tell whether another one is the same index for all numbers."""
        return self._replace(extremum=0) == other._replace(extremum=0)


class _Equality(NamedTuple):
    """``where(x == m, k, n)``.

    Attributes
    ----------
    sides : tuple of int
        What is compared.
    format : Format
        In which it is.
    chosen, otherwise : int
        The constants that are chosen.
    """

    sides: tuple[int, int]
    format: Format
    chosen: int
    otherwise: int


class _Moved(NamedTuple):
    """An integer to which a term adds a constant, or that it holds in more or fewer bits.

    Attributes
    ----------
    term : int
        The integer.
    indices : range
        For which of its numbers the term is this number and the constant.
    constant : int, optional
        What is added.
    """

    term: int
    indices: range
    constant: int = 0


class ArgExtrema:
    """Compares indices of extrema.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    """

    def __init__(self, forms: NormalForms) -> None:
        self._store = forms.store
        self._known: dict[int, tuple[ArgExtremum, ...]] = {}
        """Of terms; ``x < y ? 1 : 0`` is that of the least of x, at 1, and y, and that of the greatest."""
        self._numbers = SearchedNumbers(forms)

    def unequal(self, left: Ids, right: Ids, fmt: Format) -> NDArray[np.intp]:
        """Return which terms (n,) are not shown equal; after the first that is not, none is looked at."""
        return unequal_pairs(self._store, left, right, partial(self._are_equal, fmt))

    def _are_equal(self, fmt: Format, pair: Sequence[int]) -> bool:
        one, other = (self.of(term) for term in pair)
        if one and other:
            searches = [[self._deciding(each) for each in side] for side in (one, other)]
            return any(each.is_same(another) for each, another in product(*searches))
        if not isinstance(fmt, FloatFormat):  # equal floats may be two zeros, which are not the same bits
            return False
        plain = [self._numbers.plain(term) for term in pair]
        return plain != list(pair) and self._numbers.are_same(plain[0], plain[1], fmt)

    def _deciding(self, search: ArgExtremum) -> ArgExtremum:
        """Return a search without the constants that never decide which index it gives."""
        places = self._numbers.deciding(search.places, search.which, search.format, last=search.last)
        return search._replace(places=places)

    def of(self, term: int) -> tuple[ArgExtremum, ...]:
        """Return of what numbers a term is the index of the greatest or the least; nothing of others."""
        inside, pending = set[int](), [term]
        while pending:
            each = pending.pop()
            if each not in inside and len(inside) < _MOST_TERMS:
                inside.add(each)
                choice, moved = self._choice(each), self._moved(each)
                pending += choice[1:] if choice is not None else () if moved is None else (moved.term,)
        for each in sorted(inside):
            if each not in self._known:
                self._known[each] = self._found(each)
        return self._known.get(term, ())

    def _found(self, term: int) -> tuple[ArgExtremum, ...]:
        operation = self._store.operation(term)
        if (choice := self._choice(term)) is not None:
            condition, then, otherwise = choice
            found = pair_condition(self._store, condition)
            return () if found is None else tuple(self._chosen(found, then, otherwise))
        if operation.name == operations.EXTREMUM and not isinstance(operation.result, FloatFormat):
            written = self._written_out(term)
            return () if written is None else (written,)
        moved = self._moved(term)
        if moved is None:
            return ()
        return tuple(
            search._replace(places=frozenset((each, index + moved.constant) for each, index in search.places))
            for search in self._known.get(moved.term, ())
            if all(index in moved.indices for _, index in search.places)
        )

    def _moved(self, term: int) -> _Moved | None:
        """Return the integer to which a term adds a constant, or whose low bits, perhaps extended, it is."""
        operation = self._store.operation(term)
        width = operation.result.bits
        if operation.name == operations.RING and operation.attribute == operations.Sum(0, 2):
            for constant, other in permutations(self._operands(term)):
                if self._store.operation(constant).name == CONSTANT:
                    amount, bound = self._integer(constant), 1 << (width - 1)
                    return _Moved(
                        other, range(max(-bound, -bound - amount), min(bound, bound - amount)), amount
                    )
            return None
        if operation.name == operations.EXTEND:
            (narrow,) = self._operands(term)
            bound = 1 << (self._store.operation(narrow).result.bits - 1)
            return _Moved(narrow, range(-bound, bound))
        if operation.name != CONCATENATION:
            return None
        low, *above = slices_of(self._store, np.array([term], dtype=np.int32))
        if low.constant or low.field.low or low.field.repeats:
            return None
        if not above:
            return _Moved(int(low.terms[0]), range(-1 << (width - 1), 1 << (width - 1)))
        if len(above) > 1 or not above[0].constant or int(values(self._store, above[0])[0]):
            return None
        return _Moved(int(low.terms[0]), range(1 << low.width))

    def _choice(self, term: int) -> tuple[int, int, int] | None:
        """Return condition and sides of a choice; ``x > y ? 1 : 0`` is a bit with zeros above it."""
        operation = self._store.operation(term)
        if operation.name == operations.SELECT:
            condition, then, otherwise = self._operands(term)
            return condition, then, otherwise
        if operation.name != CONCATENATION:
            return None
        sides, conditions, low = [0, 0], set[int](), 0
        for part in slices_of(self._store, np.array([term], dtype=np.int32)):
            if part.constant:
                word = int(values(self._store, part)[0])
                sides = [side | word << low for side in sides]
            else:
                conditions.add(int(part.terms[0]))
                sides[0] |= ((1 << part.width) - 1) << low
            low += part.width
        if len(conditions) != 1 or self._store.operation(min(conditions)).result != bits(1):
            return None
        then, otherwise = (int(self._store.constants(side, low)) for side in sides)
        return min(conditions), then, otherwise

    # -- a choice between the indices of two sets
    def _chosen(self, condition: PairCondition, then: int, otherwise: int) -> Iterator[ArgExtremum]:
        compared = [each for each in condition.pairs if not each.is_of(then, otherwise)]
        if len(compared) != 1:
            return
        (numbers,) = compared
        indices = next((each for each in condition.pairs if each is not numbers), None)
        less, equal, greater = condition.led_by(numbers)
        if indices is not None and indices.first != then:
            less, equal, greater = less[::-1], equal[::-1], greater[::-1]
        if (less != less[0]).any() or (greater != greater[0]).any() or less[0] == greater[0]:
            return
        for one, other in (numbers[:2], numbers[1::-1]):
            # The first index is that of the number `one`, and taken where this is the greater, or the less.
            which = "max" if bool(greater[0]) == (one == numbers.first) else "min"
            sides = [self._sets(*side, which, numbers.format) for side in ((then, one), (otherwise, other))]
            for pair in product(*sides):
                if indices is not None and not _orders(indices.format, *pair):
                    continue
                found = self._joined(pair[0], pair[1], equal)
                if found is not None:
                    yield found

    def _sets(self, index: int, number: int, which: str, fmt: Format) -> list[ArgExtremum]:
        """Return the sets of numbers whose greatest or least is a number that has an index."""
        if self._store.operation(index).name == CONSTANT:
            return [self._single(which, fmt, number, index)]
        return [
            each
            for each in self._known.get(index, ())
            if each.which == which
            and each.format == fmt
            and self._numbers.are_same(each.extremum, number, fmt)
        ]

    def _single(self, which: str, fmt: Format, number: int, index: int) -> ArgExtremum:
        """Return the one index of one number."""
        places = self._numbers.places(number, self._integer(index), which, fmt)
        return ArgExtremum(which, fmt, None, places, self._numbers.plain(number))

    def _joined(self, one: ArgExtremum, other: ArgExtremum, ties: NDArray[np.bool_]) -> ArgExtremum | None:
        """Return the index in two sets.

        Of equal numbers the first is taken as `ties` (3,) says: where its index is less, equal and greater.
        """
        if not one.places or not other.places:
            return one if one.places else other
        indices = [[index for _, index in each.places] for each in (one, other)]
        before, behind = max(indices[0]) <= min(indices[1]), min(indices[0]) >= max(indices[1])
        takes = {
            False: (ties[0] or behind) and (not ties[2] or before),  # the least index
            True: (not ties[0] or behind) and (ties[2] or before),  # the greatest
        }
        ways = [last for last, holds in takes.items() if holds and {one.last, other.last} <= {last, None}]
        if not ways:
            return None
        fmt = one.format
        both = np.array([one.extremum, other.extremum], dtype=np.int32)
        extremum = int(apply(self._store, operations.extremum(fmt, one.which), *both))
        return ArgExtremum(one.which, fmt, ways[0], one.places | other.places, extremum)

    # -- written as an extremum of indices
    def _written_out(self, term: int) -> ArgExtremum | None:
        """Return what ``min(k, where(x[k] == max(k, x[k]), k, n))`` is, and the same for other extrema."""
        operation = self._store.operation(term)
        assert isinstance(operation.attribute, tuple)
        last = operation.attribute[0] == "max"
        choices = [self._equality(member) for member in self._numbers.members(operation, term)]
        if None in choices:
            return None
        found = [choice for choice in choices if choice is not None]
        (fmt, *others), ends = {each.format for each in found}, [each.otherwise for each in found]
        indices = [each.chosen for each in found]
        if not _is_order_of_signed(operation.result, [*indices, *ends]):
            return None
        if others or (max(ends) > min(indices) if last else min(ends) < max(indices)):
            return None
        for side, which in product((0, 1), ("max", "min")):
            numbers = [each.sides[side] for each in found]
            label = operations.extremum(fmt, which)
            extremum = numbers[0]
            for number in numbers[1:]:
                extremum = int(apply(self._store, label, *np.array([extremum, number], dtype=np.int32)))
            if all(self._numbers.are_same(extremum, each.sides[1 - side], fmt) for each in found):
                pairs = zip(numbers, indices, strict=True)
                places = frozenset(
                    chain.from_iterable(self._numbers.places(*pair, which, fmt) for pair in pairs)
                )
                return ArgExtremum(which, fmt, last, places, extremum) if places else None
        return None

    def _equality(self, term: int) -> _Equality | None:
        """Return the parts of ``where(x == m, k, n)`` with constants `k` and `n`."""
        if self._store.operation(term).name != operations.SELECT:
            return None
        condition, *chosen = self._operands(term)
        comparison = self._store.operation(condition)
        relation = str(comparison.attribute).removesuffix("u")
        names = [self._store.operation(each).name for each in chosen]
        if comparison.name != operations.COMPARE or relation not in ("eq", "ne") or names != [CONSTANT] * 2:
            return None
        index, otherwise = map(self._integer, chosen if relation == "eq" else chosen[::-1])
        left, right = self._operands(condition)
        return _Equality((left, right), comparison.operands[0], index, otherwise)

    # -- terms
    def _word(self, term: int) -> int:
        return int(self._store.constant_values(np.array([term], dtype=np.int32))[0])

    def _integer(self, term: int) -> int:
        width = self._store.operation(term).result.bits
        return int(signed_values(np.array([self._word(term)], dtype=np.uint64), width)[0])

    def _operands(self, term: int) -> list[int]:
        given = operands(self._store, self._store.operation(term), np.array([term], dtype=np.int32))
        return [each for some in given for each in some.tolist()]


def _orders(fmt: Format, *sets: ArgExtremum) -> bool:
    """Tell whether indices of some sets are compared in a format as the signed integers that they are."""
    return _is_order_of_signed(fmt, [index for each in sets for _, index in each.places])


def _is_order_of_signed(fmt: Format, integers: Sequence[int]) -> bool:
    """Tell whether a format orders the words of some signed integers as it does these."""
    return isinstance(fmt, IntegerFormat) and (fmt.signed or min(integers, default=0) >= 0)
