"""Shorter forms of formulas have the value of the unrolled ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from printed_formulas import evaluated

from mmaproof.spec.formula import Formula, bits, call, element, generalised, instance, integer, learned
from mmaproof.spec.formula_algebra import named
from mmaproof.spec.formula_contraction import contracted, tabulated
from mmaproof.spec.formula_text import written

K = Formula("k")


@given(st.integers(-9, 9), st.lists(st.integers(-9, 9), min_size=1, max_size=5), st.integers(1, 32))
def test_what_is_linear_in_binary_digits_is_learned(first: int, weights: list[int], count: int) -> None:
    count = min(count, 1 << len(weights))
    values = [first + sum(w for bit, w in enumerate(weights) if n >> bit & 1) for n in range(count)]
    formula = learned(values, K)
    assert formula is not None
    assert [instance(formula, K, n) for n in range(count)] == [integer(value) for value in values]
    assert [evaluated(written(formula), k=n) for n in range(count)] == values


@given(st.lists(st.integers(0, 3), min_size=2, max_size=8))
def test_only_what_has_the_values_is_learned(values: list[int]) -> None:
    formula = learned(values, K)
    if formula is not None:
        assert [evaluated(written(formula), k=n) for n in range(len(values))] == values


@given(st.lists(st.integers(0, 7), min_size=1, max_size=12), st.integers(0, 99))
def test_a_contracted_sum_has_its_terms(places: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    terms = [element("A", place) * element("B", n) for n, place in enumerate(places)]
    arrays = {name: rng.integers(-9, 9, 12).astype(object) for name in "AB"}
    total = sum(terms[1:], terms[0])
    assert evaluated(written(contracted(total)), **arrays) == evaluated(written(total), **arrays)


@given(st.integers(1, 9), st.integers(0, 99))
def test_a_contracted_chain_has_its_steps_in_order(length: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(1, 9, 9).astype(object)
    total = element("C", 0)
    for n in range(length):
        total = call("f", element("A", n) + total)
    names = {"A": values, "C": values, "f": lambda value: 3 * value % 1001}
    assert evaluated(written(contracted(total)), **names) == evaluated(written(total), **names)
    assert (length >= 3) == ("fold" in written(contracted(total)))


@given(st.permutations(range(4)))
def test_a_choice_between_all_entries_is_a_lookup(order: list[int]) -> None:
    selector = bits(element("E", 0), 2, 2)
    chosen = element("B", 2 * order[-1] + 1)
    for value in order[:-1]:
        chosen = Formula(
            "if", (element("B", 2 * value + 1), Formula("=", (selector, integer(value))), chosen)
        )
    assert written(contracted(chosen)) == "B[2·bits(E[0], 2, 2) + 1]"


def test_a_choice_between_some_entries_stays() -> None:
    selector = bits(element("E", 0), 0, 2)
    chosen = Formula("if", (element("B", 5), Formula("=", (selector, integer(1))), element("B", 0)))
    assert contracted(chosen) == chosen


def test_a_table_is_a_function_of_its_indices() -> None:
    table = named("A", 4, 8).reshape(2, 2, 8)
    assert written(tabulated(table, "xyz")) == "A[2·x + y, z]"
    table[0, 0, 0] = element("B", 0, 0)
    with pytest.raises(ValueError, match=r"^the entries are no function of z$"):
        tabulated(table, "xyz")


def test_different_formulas_have_no_general_one() -> None:
    assert generalised([element("A", 0), element("B", 1)], K) is None
    assert generalised([bits(element("A", 0), 0, 8), bits(element("A", 0), 0, 4)], K) is None
    assert learned([0, 1, 5, 2], K) is None
