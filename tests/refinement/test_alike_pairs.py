"""What is shown of a few pairs of terms holds of those that are the same but for which inputs they take."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.equality import alike_pairs
from mmaproof.refinement.equality.alike_pairs import compare_alike, some_of_each_shape
from mmaproof.refinement.equality.equivalence import compare
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32

from ..elementwise_kernels import result_of

COUNT = 80
ADD, MULTIPLY = operations.fused(F32, (), (F32, F32)), operations.fused(F32, ((F32, F32),))
EXPONENTIAL = operations.function("ex2", F32, F32)


def sides(store: TermStore, added: Ids, other: Ids | None = None) -> tuple[Ids, Ids]:
    """Return ``exp2(x + y)``, of some y, and ``exp2(x) * exp2(y)``."""
    x, y = (store.inputs(name, F32, np.arange(COUNT)) for name in "xy")
    left: Ids = store.apply(EXPONENTIAL, store.apply(ADD, x, y[added]))
    right: Ids = store.apply(MULTIPLY, store.apply(EXPONENTIAL, x), store.apply(EXPONENTIAL, y))
    return left, right


def test_few_are_looked_at_and_all_are_checked() -> None:
    store = TermStore()
    left, right = sides(store, np.arange(COUNT, dtype=np.int32))
    found, few = compare_alike(NormalForms(store), left, right, F32, False)
    assert found.equal.all() and not found.identical.any()
    assert len(few) <= 32 and found.checked.elements == COUNT
    assert found.roundings == compare(NormalForms(store), left, right, F32).roundings


@pytest.mark.parametrize(("place", "taken"), [(0, 1), (5, 9), (COUNT - 1, 0), (7, 7)])
def test_the_one_that_is_wrong_is_found_among_all(place: int, taken: int) -> None:
    """Where what is taken is another element, one pair is no instance of the others."""
    store = TermStore()
    added = np.arange(COUNT, dtype=np.int32)
    added[place] = taken
    left, right = sides(store, added)
    found, _ = compare_alike(NormalForms(store), left, right, F32, False)
    assert found.equal[place] == (place == taken)
    assert (found.equal == compare(NormalForms(store), left, right, F32).equal).all()


def test_elements_that_are_equal_in_pairs_are_told_from_others() -> None:
    """``y[i // 2]`` for both is an instance of nothing but what takes one element in both places."""
    store = TermStore()
    left, right = sides(store, np.arange(COUNT, dtype=np.int32) // 2 * 2)
    found, _ = compare_alike(NormalForms(store), left, right, F32, False)
    assert np.flatnonzero(found.equal).tolist() == list(range(0, COUNT, 2))


def test_two_inputs_that_become_one_are_no_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    """``2 * a / (a - b)``, of neighbours, is nowhere a number where b is a, in one element of all."""
    monkeypatch.setattr(alike_pairs, "_ELEMENTS", 2)
    monkeypatch.setattr(alike_pairs, "_OF_SHAPE", 1)
    monkeypatch.setattr(alike_pairs, "_PART", 1)
    body = """shfl.sync.bfly.b32 %f1, %A, 1, 31, -1;
    setp.eq.u32 %p1, %t, 20; selp.f32 %f1, %A, %f1, %p1; sub.f32 %f1, %A, %f1;
    rcp.rn.f32 %f1, %f1; mul.f32 %f2, %A, %f1; add.f32 %C, %f2, %f2;"""
    formula = "C[i] = 2 * A[i] / (A[i] - where(i == 20, A[i], A[i + 1 - 2 * (i % 2)]))"
    result = result_of(body, formula, {"A": "f32", "C": "f32 out"})
    assert result.verdict == "undecided"
    assert "a divisor, or the argument of a logarithm, is 0 for all inputs" in result.findings[0].message


def test_some_of_each_shape_are_taken() -> None:
    store = TermStore()
    left, right = sides(store, np.arange(COUNT, dtype=np.int32))
    terms = np.concatenate([left, right[:2]])
    assert {COUNT, COUNT + 1} <= set(some_of_each_shape(store, terms).tolist())


@pytest.mark.parametrize(
    ("limit", "verdict"), [("X[i] >= 0", "verified"), ("X[i] >= 0 if i != 23", "refuted")]
)
def test_what_is_known_of_elements_tells_them_apart(
    limit: str, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One element of all may be negative: what is shown of the others is not shown of it."""
    monkeypatch.setattr(alike_pairs, "_ELEMENTS", 2)
    monkeypatch.setattr(alike_pairs, "_PART", 1)
    body = "mov.f32 %f1, 0f00000000; max.f32 %f1, %X, %f1; ex2.approx.f32 %Y, %f1;"
    arrays = {"X": "f32", "Y": "f32 out"}
    result = result_of(body, "Y[i] = exp2(X[i])", arrays, requires=[limit])
    assert result.verdict == verdict
