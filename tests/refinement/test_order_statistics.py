"""The k-th least is found by networks of comparisons and by ranks, and nothing else is taken for it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.equality.order_statistics import OrderStatistics
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32, S32

COUNT = 4
NETWORK = [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)]
"""Sorts four numbers."""

Exchanges = Sequence[tuple[int, int]]


class Numbers:
    """Terms for numbers, and the same of numbers: all orders of four, with ties."""

    def __init__(self, count: int = COUNT) -> None:
        self.store, self.count = TermStore(), count
        self.terms = [self.store.inputs("x", F32, [at]) for at in range(count)]
        self.values = np.array(list(product(range(count), repeat=count))).T

    def sorted(self, exchanges: Exchanges) -> tuple[list[Ids], Any]:
        """Return what exchanges of the greater and the less make of the terms, and of the numbers."""
        terms, values = list(self.terms), self.values.copy()
        for low, high in exchanges:
            pair = terms[low], terms[high]
            terms[low], terms[high] = (
                apply(self.store, operations.extremum(F32, which), *pair) for which in ("min", "max")
            )
            values[low], values[high] = (
                np.minimum(values[low], values[high]),
                np.maximum(values[low], values[high]),
            )
        return terms, values

    def ranked(self, place: int, relations: Sequence[Sequence[str]]) -> tuple[Ids, Any]:
        """Return the sum of the numbers before which so many others come, as relations say."""
        chosen, total = [], np.zeros(self.values.shape[1], dtype=np.int64)
        for at, number in enumerate(self.terms):
            bits, count = [], np.zeros(self.values.shape[1], dtype=np.int64)
            for other in range(self.count):
                relation = relations[other][at]
                bits.append(apply(self.store, operations.compare(F32, relation), self.terms[other], number))
                less, equal, greater = operations.OUTCOMES[relation]
                outcome = np.sign(self.values[other] - self.values[at])
                count += np.choose(outcome + 1, [less, equal, greater])
            ones = [apply(self.store, operations.select(32), bit, *self._words(1, 0)) for bit in bits]
            rank = self._sum(ones, 1, S32, "exact")
            here = apply(self.store, operations.compare(S32, "eq"), rank, *self._words(place))
            chosen.append(apply(self.store, operations.select(32), here, number, *self._words(0)))
            total += np.where(count == place, self.values[at], 0)
        return self._sum(chosen, 0x3F800000, F32, "contract"), total

    def _words(self, *words: int) -> list[Ids]:
        return [self.store.constants(np.array([word], dtype=np.uint64), 32) for word in words]

    def _sum(self, terms: Sequence[Ids], one: int, fmt: Any, order: str) -> Ids:
        label = operations.dot(fmt, fmt, fmt, fmt, operations.Accumulation(order, len(terms)))
        ones = self.store.vectors(np.array([[int(self._words(one)[0][0])] * len(terms)], dtype=np.int32))
        vector = self.store.vectors(np.array([[int(each[0]) for each in terms]], dtype=np.int32))
        return apply(self.store, label, vector, ones, *self._words(0))

    def are_same(self, one: Ids, other: Ids) -> bool:
        statistics = OrderStatistics(NormalForms(self.store))
        return bool((statistics.values(one) == statistics.values(other)).all())


EXCHANGES = st.lists(
    st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1)).filter(lambda pair: pair[0] != pair[1]),
    max_size=7,
)


@settings(max_examples=examples(120), deadline=None)
@given(one=EXCHANGES, other=EXCHANGES)
def test_networks_are_the_same_just_where_all_numbers_say_so(one: Exchanges, other: Exchanges) -> None:
    numbers = Numbers()
    terms, values = numbers.sorted(one)
    others, expected = numbers.sorted(other)
    for at in range(COUNT):
        assert numbers.are_same(terms[at], others[at]) == (values[at] == expected[at]).all()


def ranks(before: str, behind: str) -> list[list[str]]:
    """Return relations by which of equal numbers the first comes first, or the last."""
    return [[before if other < at else behind for at in range(COUNT)] for other in range(COUNT)]


@pytest.mark.parametrize(
    ("relations", "descends"),
    [(ranks("le", "lt"), 0), (ranks("lt", "le"), 0), (ranks("ge", "gt"), 1), (ranks("gt", "ge"), 1)],
)
def test_ranks_state_what_a_network_sorts(relations: list[list[str]], descends: int) -> None:
    for at in range(COUNT):
        relations[at][at] = "gt"
    numbers = Numbers()
    terms, values = numbers.sorted(NETWORK)
    for place in range(COUNT):
        ranked, total = numbers.ranked(place, relations)
        for at in range(COUNT):
            same = at == (COUNT - 1 - place if descends else place)
            assert numbers.are_same(ranked, terms[at]) == same == (total == values[at]).all()


@settings(max_examples=examples(120), deadline=None)
@given(
    relations=st.lists(
        st.lists(st.sampled_from(["lt", "le", "gt", "ge", "eq"]), min_size=3, max_size=3),
        min_size=3,
        max_size=3,
    ),
    base=st.sampled_from([None, "lt", "gt"]),
    place=st.integers(0, 4),
)
def test_what_is_no_rank_is_not_taken_for_one(
    relations: list[list[str]], base: str | None, place: int
) -> None:
    """Where relations are arbitrary, or of equal numbers several come first, or none."""
    if base is not None:
        ties = {"lt": ("lt", "le"), "gt": ("gt", "ge")}[base]
        relations = [[ties[each in ("le", "ge", "eq")] for each in row] for row in relations]
    numbers = Numbers(3)
    terms, values = numbers.sorted([(0, 1), (1, 2), (0, 1)])
    ranked, total = numbers.ranked(place, relations)
    for at in range(3):
        if numbers.are_same(ranked, terms[at]):
            assert (total == values[at]).all()


def test_infinities_pad_a_network() -> None:
    numbers = Numbers()
    (low, high) = numbers._words(0xFF800000, 0x7F800000)
    first, second, *_ = numbers.terms
    least = apply(numbers.store, operations.extremum(F32, "min"), first, second)
    padded = apply(numbers.store, operations.extremum(F32, "min"), least, high)
    padded = apply(numbers.store, operations.extremum(F32, "max"), low, padded)
    assert numbers.are_same(padded, least)
    capped = apply(numbers.store, operations.extremum(F32, "min"), least, *numbers._words(0x7F7FFFFF))
    assert not numbers.are_same(capped, least)


def test_numbers_that_are_rounded_differently_stay_apart() -> None:
    """They are one real number, of which a comparison for equality tells the two floats."""
    numbers = Numbers()
    first, second, third, _ = numbers.terms
    added = operations.fused(F32, (), (F32, F32))
    back = apply(numbers.store, operations.negate(F32), second)
    rounded = apply(numbers.store, added, apply(numbers.store, added, first, second), back)
    sides = [apply(numbers.store, operations.extremum(F32, "max"), each, third) for each in (first, rounded)]
    assert not numbers.are_same(*sides)


@pytest.mark.parametrize("pair", list(combinations(range(5), 1)))
def test_a_network_without_an_exchange_does_not_sort(pair: tuple[int]) -> None:
    numbers = Numbers()
    left_out = [each for at, each in enumerate(NETWORK) if at not in pair]
    sides = numbers.sorted(NETWORK)[0], numbers.sorted(left_out)[0]
    assert not all(numbers.are_same(*each) for each in zip(*sides, strict=True))


def test_different_statistics_of_inputs_are_told_apart() -> None:
    """So that they need not be compared under every order of the numbers."""
    numbers = Numbers()
    sides = [np.concatenate(numbers.sorted(each)[0]) for each in (NETWORK, NETWORK[:-1])]
    statistics = OrderStatistics(NormalForms(numbers.store))
    assert statistics.tell_apart(*sides, F32).tolist() == [False, True, True, False]
    doubled = apply(numbers.store, operations.fused(F32, (), (F32, F32)), *numbers.terms[:1] * 2)
    computed = [
        apply(numbers.store, operations.extremum(F32, which), doubled, numbers.terms[0])
        for which in ("max", "min")
    ]
    assert not statistics.tell_apart(*computed, F32).any()


def test_a_choice_is_no_extremum() -> None:
    """Of zeros of both signs it may be the other one, and a kernel may look at the bits."""
    numbers = Numbers()
    first, second, *_ = numbers.terms
    greater = apply(numbers.store, operations.compare(F32, "gt"), first, second)
    chosen = apply(numbers.store, operations.select(32), greater, first, second)
    assert not numbers.are_same(chosen, apply(numbers.store, operations.extremum(F32, "max"), first, second))
