"""Sums, products, accumulations and functions at random: only equal ones are called equal; no crash."""

from __future__ import annotations

from fractions import Fraction
from functools import partial, reduce
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.equality.equivalence import compare
from mmaproof.refinement.normal_forms import polynomials
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.normal_forms.polynomials import Expander, ExpansionError
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.operations import Accumulation
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F64

MEMBERS, LEAVES = 3, 4
NUMBERS = (0.0, 1.0, -1.0, 2.0, 0.5)

Steps = list[tuple[str, list[int]]]
"""Operations on what was made before, each by its distance."""

STEPS: st.SearchStrategy[Steps] = st.lists(
    st.tuples(
        st.sampled_from(["add", "multiply", "fma", "negate", "dot", "long dot", "function", "turn"]),
        st.lists(st.integers(0, 30), min_size=20, max_size=20),
    ),
    min_size=1,
    max_size=9,
)


class Made:
    """Terms (members,) in the order in which they were made, with their exact values."""

    def __init__(self) -> None:
        self.store = TermStore()
        self.functions: dict[Fraction, Fraction] = {}
        random = np.random.default_rng(1)
        values = random.integers(-9, 10, LEAVES * MEMBERS)
        self.terms: list[Ids] = []
        self.values: list[list[Fraction]] = []
        for leaf in range(LEAVES):
            indices = MEMBERS * leaf + np.arange(MEMBERS)
            self.add(self.store.inputs("x", F64, indices), [Fraction(int(values[i])) for i in indices])
        for number in NUMBERS:
            word = np.float64(number).view(np.uint64)
            self.add(np.repeat(self.store.constants(word, 64), MEMBERS), [Fraction(number)] * MEMBERS)

    def add(self, terms: Ids, values: list[Fraction]) -> None:
        self.terms.append(terms)
        self.values.append(values)

    def step(self, name: str, distances: list[int]) -> None:
        chosen = [len(self.terms) - 1 - distance % len(self.terms) for distance in distances]
        terms, values = ([some[each] for each in chosen] for some in (self.terms, self.values))
        columns = list(zip(*values, strict=True))
        fused = lambda products, addends: operations.fused(F64, ((F64, F64),) * products, (F64,) * addends)  # noqa: E731
        match name:
            case "add":
                made = self.store.apply(fused(0, 2), *terms[:2]), [v[0] + v[1] for v in columns]
            case "multiply":
                made = self.store.apply(fused(1, 0), *terms[:2]), [v[0] * v[1] for v in columns]
            case "fma":
                made = self.store.apply(fused(1, 1), *terms[:3]), [v[0] * v[1] + v[2] for v in columns]
            case "negate":
                made = self.store.apply(operations.negate(F64), terms[0]), [-v[0] for v in columns]
            case "function":
                function = operations.function("tanh", F64, F64)
                made = self.store.apply(function, terms[0]), [self.function(v[0]) for v in columns]
            case "turn":  # members of one term that are made by different operations
                made = (
                    np.array([terms[i][i] for i in range(MEMBERS)], dtype=np.int32),
                    [values[i][i] for i in range(MEMBERS)],
                )
            case _:
                made = self.dot(terms, columns, 2 if name == "dot" else 9)
        self.add(*made)

    def dot(self, terms: list[Ids], columns: list[Any], length: int) -> tuple[Ids, list[Fraction]]:
        left, right = (
            self.store.vectors(np.stack(some, axis=-1))
            for some in (terms[:length], terms[length : 2 * length])
        )
        operation = operations.dot(F64, F64, F64, F64, Accumulation("any", length))
        sums = [sum((v[i] * v[length + i] for i in range(length)), start=v[-1]) for v in columns]
        return self.store.apply(operation, left, right, terms[-1]), sums

    def function(self, value: Fraction) -> Fraction:
        """Return an arbitrary number, the same for the same argument."""
        return self.functions.setdefault(value, Fraction(7 + 3 * len(self.functions), 11))


@given(STEPS, st.integers(1, 8))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_what_is_multiplied_out_in_order_is_the_same(steps: Steps, distance: int) -> None:
    made = Made()
    for name, distances in steps:
        made.step(name, distances)
    pair = made.terms[-1], made.terms[-1 - distance]
    at_once = compare(NormalForms(made.store), *pair, F64)
    with patch.object(Expander, "_all_at_once", side_effect=ExpansionError):
        in_order = compare(NormalForms(made.store), *pair, F64)
    assert at_once.reason == in_order.reason and (at_once.equal == in_order.equal).all()


def test_many_sums_are_multiplied_out_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all of them have too many products, and each one few."""
    store, rows = TermStore(), 64
    add, multiply = operations.fused(F64, (), (F64, F64)), operations.fused(F64, ((F64, F64),))
    x = [store.inputs("x", F64, rows * each + np.arange(rows)) for each in range(4)]
    left = apply(store, multiply, apply(store, add, x[0], x[1]), apply(store, add, x[2], x[3]))
    products = [apply(store, multiply, x[i], x[j]) for i in (0, 1) for j in (2, 3)]
    right = reduce(partial(apply, store, add), products)
    monkeypatch.setattr(polynomials, "_CELLS_AT_FIRST", 500)
    monkeypatch.setattr(Expander, "_from_inside", None)
    assert compare(NormalForms(store), left, right, F64).equal.all()
    assert not compare(NormalForms(store), left, right[::-1], F64).equal.any()


@pytest.mark.parametrize("taken", ["s", "t"])
def test_a_long_compensated_sum_is_the_sum(taken: str) -> None:
    """Kahan's: what the last addition lost is taken off the next number, with the right sign."""
    store = TermStore()
    add = operations.fused(F64, (), (F64, F64))
    numbers = [store.inputs("x", F64, np.array([each])) for each in range(11)]
    total = lost = store.constants(np.zeros(1, dtype=np.uint64), 64)
    for number in numbers:
        more = apply(store, add, number, apply(store, operations.negate(F64), lost))
        following = apply(store, add, total, more)
        off = apply(store, add, following, apply(store, operations.negate(F64), total))
        left = apply(store, operations.negate(F64), more) if taken == "s" else more
        total, lost = following, apply(store, add, off, left)
    plain = numbers[0]
    for number in numbers[1:]:
        plain = apply(store, add, plain, number)
    with patch.object(polynomials, "MOST_CELLS", 1 << 14):
        assert compare(NormalForms(store), total, plain, F64).equal.all() == (taken == "s")


@given(STEPS, st.integers(0, 8))
@settings(max_examples=examples(60), deadline=None, derandomize=True)
def test_equal_is_said_of_equal_numbers_only(steps: Steps, distance: int) -> None:
    made = Made()
    for name, distances in steps:
        made.step(name, distances)
    other = len(made.terms) - 1 - distance % len(made.terms)
    found = compare(NormalForms(made.store), made.terms[-1], made.terms[other], F64)
    for equal, one, two in zip(found.equal, made.values[-1], made.values[other], strict=True):
        assert not equal or one == two


@given(STEPS)
@settings(max_examples=examples(40), deadline=None, derandomize=True)
def test_what_is_taken_from_itself_is_nothing(steps: Steps) -> None:
    """``x - y`` and ``-(y - x)`` are equal, and ``x - x`` is the polynomial 0."""
    made = Made()
    for name, distances in steps:
        made.step(name, distances)
    made.step("negate", [0])  # -x
    made.step("add", [0, 1])  # -x + x
    made.step("multiply", [0, *range(3, 22)])
    zero = made.terms[LEAVES]
    found = compare(NormalForms(made.store), made.terms[-1], zero, F64)
    assert found.equal.all() or found.reason is not None


@pytest.mark.parametrize("fault", ["", "counts", "mean"])
def test_variances_merged_in_pairs_are_the_variance(fault: str) -> None:
    """Of 64 numbers: each mean is in all that is merged later, so there are too many paths through them."""
    store, count = TermStore(), 64
    add, multiply = operations.fused(F64, (), (F64, F64)), operations.fused(F64, ((F64, F64),))

    def number(value: float) -> Any:
        return store.constants(np.array([value]).view(np.uint64), 64)

    def less(left: Any, right: Any) -> Any:
        return apply(store, add, left, apply(store, operations.negate(F64), right))

    def squared(term: Any) -> Any:
        return apply(store, multiply, term, term)

    numbers = [store.inputs("x", F64, np.array([each])) for each in range(count)]
    parts, size = [(each, number(0.0)) for each in numbers], 1
    while len(parts) > 1:
        merged = []
        for (mean, squares), (other, more) in zip(parts[::2], parts[1::2], strict=True):
            apart = less(other, mean)
            weight = number(size / (1 if fault == "counts" and size == 8 else 2))
            between = apply(store, multiply, squared(apart), weight)
            half = number(0.25 if fault == "mean" and size == 16 else 0.5)
            total = apply(store, add, apply(store, add, squares, more), between)
            merged.append((apply(store, add, mean, apply(store, multiply, apart, half)), total))
        parts, size = merged, 2 * size
    mean = reduce(partial(apply, store, add), numbers)
    mean = apply(store, multiply, mean, number(1 / count))
    expected = reduce(partial(apply, store, add), [squared(less(each, mean)) for each in numbers])
    found = compare(NormalForms(store), parts[0][1], expected, F64)
    assert found.equal.all() == (not fault)


def test_coefficients_of_no_rows_may_be_of_any_size() -> None:
    huge = np.array([1 << 80], dtype=object)
    assert polynomials._product(np.zeros(1, dtype=np.int64), huge).tolist() == [0]
