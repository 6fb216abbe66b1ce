"""Comparing rows of factors finds the same sums of products as comparing each product."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.normal_forms import aligned_dot_products
from mmaproof.refinement.normal_forms.aligned_dot_products import FactoredProducts
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.normal_forms.product_chains import Chain, unrolled
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.operations import Accumulation
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F16, F32

LENGTH = 4


def chain_of(forms: NormalForms, left: np.ndarray, right: np.ndarray, *, scalar: bool) -> Chain:
    """Return sums of products of factors (n, K): one accumulation of vectors, or multiply-adds."""
    store = forms.store
    total = np.full(len(left), store.constants(0, 32), dtype=np.int32)
    if scalar:
        for x, y in zip(left.T, right.T, strict=True):
            total = store.apply(operations.fused(F32, ((F16, F16),), (F32,)), x, y, total)
    else:
        how = Accumulation("any", left.shape[1])
        vectors = (store.vectors(each) for each in (left, right))
        total = store.apply(operations.dot(F32, F16, F16, F32, how), *vectors, total)
    ((_, chain),) = unrolled(
        forms.quantifier, forms.quantifier.read(total, F32), lambda each: np.zeros(len(each), dtype=bool)
    )
    return chain


def products(left: np.ndarray, right: np.ndarray) -> list[Counter[frozenset[int]]]:
    """Return the multiset of each sum's products; leaf 0 is the number 0."""
    return [
        Counter(frozenset((x, y)) for x, y in zip(*rows, strict=True) if x and y)
        for rows in zip(left.tolist(), right.tolist(), strict=True)
    ]


FACTORS = st.lists(st.lists(st.integers(0, 6), min_size=LENGTH, max_size=LENGTH), min_size=2, max_size=3)


@given(
    FACTORS,
    FACTORS,
    st.permutations(range(LENGTH)),
    st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=2),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=examples(150), deadline=None)
def test_same_products_in_any_order(
    rows: list[list[int]],
    columns: list[list[int]],
    order: list[int],
    changes: list[tuple[int, int, int]],
    swapped: bool,
    scalar: bool,
    few: bool,
    apart: bool,
) -> None:
    forms = NormalForms(TermStore())
    leaves = np.concatenate([[forms.store.constants(0, 16)], forms.store.inputs("x", F16, np.arange(12))])
    left = np.repeat(np.array(rows), len(columns), axis=0)
    right = np.tile(np.array(columns), (len(rows), 1))
    right += 6 * (apart & (right > 0))
    other_left, other_right = left[:, order].copy(), right[:, order].copy()
    for member, place, value in changes:
        other_left[member % len(left), place] = value
    if swapped:
        other_left, other_right = other_right, other_left
    one = chain_of(forms, leaves[left], leaves[right], scalar=False)
    other = chain_of(forms, leaves[other_left], leaves[other_right], scalar=scalar)
    factored = FactoredProducts(forms.quantifier, forms._identify)
    if few:  # what has no key is compared product by product
        factored.keys = lambda chain: np.full(len(chain), -1, dtype=np.int32)  # type: ignore[method-assign]
    wanted = [a == b for a, b in zip(products(left, right), products(other_left, other_right), strict=True)]
    same = factored.same(one, other).tolist()
    assert all(wanted[member] for member in np.flatnonzero(same))
    if apart or few or not swapped:
        assert same == wanted


def test_rows_of_a_matrix_product_have_keys() -> None:
    """No product is looked at where the rows of both sides tell."""
    forms = NormalForms(TermStore())
    a = forms.store.inputs("a", F16, np.arange(6 * 8)).reshape(6, 8)
    b = forms.store.inputs("b", F16, np.arange(5 * 8)).reshape(5, 8)
    zero = forms.store.constants(0, 16)
    a[4:, 6:], b[3:] = zero, zero
    left, right = np.repeat(a, 5, axis=0), np.tile(b, (6, 1))
    factored = FactoredProducts(forms.quantifier, forms._identify)
    keys = [
        factored.keys(chain_of(forms, x[:, order], y[:, order], scalar=scalar))
        for order in (np.arange(8), np.random.default_rng(0).permutation(8))
        for x, y in ((left, right), (right, left))
        for scalar in (False, True)
    ]
    assert (keys[0] >= 0).all()
    assert len(np.unique(keys[0])) == 6 * 3 + 1
    assert all((key == keys[0]).all() for key in keys)


def test_too_many_rows_have_no_keys(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(aligned_dot_products, "MOST_FACTORS", 4)
    forms = NormalForms(TermStore())
    x = forms.store.inputs("x", F16, np.arange(24)).reshape(3, 8)
    chain = chain_of(forms, x, x[::-1], scalar=False)
    factored = FactoredProducts(forms.quantifier, forms._identify)
    assert (factored.keys(chain) == -1).all()
    assert factored.same(chain, chain).all()


@pytest.mark.parametrize(
    ("weight", "square", "same"), [(1.0, True, True), (2.0, True, False), (1.0, False, False)]
)
def test_products_that_are_added_at_once_are_those_added_one_by_one(
    weight: float, square: bool, same: bool
) -> None:
    """Formulas sum a vector of squares, which is their dot product with ones; kernels add each square."""
    forms = NormalForms(TermStore())
    store = forms.store
    x = store.apply(operations.function("tanh", F32, F32), store.inputs("x", F32, np.arange(LENGTH)))
    total, start = store.constants(0, 32).reshape(1), store.constants(0, 32).reshape(1)
    for each in x.reshape(LENGTH, 1):
        total = store.apply(operations.fused(F32, ((F32, F32),), (F32,)), each, each, total)
    products = store.apply(operations.fused(F32, ((F32, F32),)), x, x if square else x[::-1])
    ones = np.full(LENGTH, store.constants(np.float32(weight).view(np.uint32), 32), dtype=np.int32)
    how = Accumulation("any", LENGTH)
    vectors = [store.vectors(each.reshape(1, LENGTH)) for each in (products, ones)]
    dot = store.apply(operations.dot(F32, F32, F32, F32, how), *vectors, start)
    chains = [
        chain
        for each in (total, dot)
        for _, chain in unrolled(
            forms.quantifier, forms.quantifier.read(each, F32), lambda some: np.zeros(len(some), dtype=bool)
        )
    ]
    found = FactoredProducts(forms.quantifier, forms._identify).same(*chains)
    assert found.tolist() == [same]
