"""Terms that numbers tell apart are not compared at length; what is told of the others is what it was."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mmaproof.refinement.equality.alike_pairs import compare_alike
from mmaproof.refinement.equality.refuted_pairs import compare_unrefuted
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32, Format

COUNT = 24
WRONG = np.arange(COUNT) % 3 == 1


def sides(store: TermStore) -> tuple[Ids, Ids]:
    """Return sums in two orders, of which a third have another addend on one side."""
    a, b, c = (store.inputs(name, F32, np.arange(COUNT)) for name in "abc")
    add = operations.fused(F32, (), (F32, F32))
    left = apply(store, add, apply(store, add, a, b), c)
    return left, apply(store, add, a, apply(store, add, b, np.where(WRONG, a, c).astype(np.int32)))


class Numbers:
    """Tells which of the terms are refuted.

    Parameters
    ----------
    store : TermStore
        The terms.
    refuted : array (COUNT,)
        Which.
    """

    def __init__(self, store: TermStore, refuted: NDArray[np.bool_]) -> None:
        self._refuted = sides(store)[0][refuted]

    def __call__(self, actual: Ids, expected: Ids, fmt: Format, *, soon: bool = False) -> NDArray[np.bool_]:
        return np.isin(actual, self._refuted)


@pytest.mark.parametrize("refuted", [WRONG, WRONG & (np.arange(COUNT) < 12), ~WRONG & WRONG])
def test_what_is_refuted_is_not_equal_and_the_others_are_as_compared(refuted: NDArray[np.bool_]) -> None:
    store = TermStore()
    actual, expected = sides(store)
    numbers = Numbers(store, refuted)
    found, few = compare_unrefuted(NormalForms(store), actual, expected, F32, False, numbers)
    plain, _ = compare_alike(NormalForms(store), actual, expected, F32, False)
    assert (found.equal == ~WRONG).all() and (plain.equal == ~WRONG).all()
    assert (found.identical == plain.identical).all()
    assert found.roundings == plain.roundings
    assert set(few.tolist()) <= set(range(COUNT))


def test_numbers_that_contradict_the_comparison_are_not_believed() -> None:
    store = TermStore()
    actual, expected = sides(store)
    numbers = Numbers(store, ~WRONG)
    found, _ = compare_unrefuted(NormalForms(store), actual, expected, F32, False, numbers)
    assert (found.equal == ~WRONG).all()


def test_all_may_be_refuted() -> None:
    store = TermStore()
    actual, expected = (side[WRONG] for side in sides(store))
    numbers = Numbers(store, WRONG)
    found, few = compare_unrefuted(NormalForms(store), actual, expected, F32, False, numbers)
    assert not found.equal.any() and few.tolist() == [0]
