"""Words that lanes store to one place after a search, each of them in an order of its own."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.ptx.compared_runs import are_same_numbers
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.input_ends import Ends
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.terms.truth_tables import A, B, C
from mmaproof.spec.formats import F32, S32, U32

Pair = tuple[Ids, Ids]
"""Numbers, and their indices."""

MINUS_INFINITY = 0xFF800000


def greater(store: TermStore, one: Pair, other: Pair, order: str = "lt") -> Pair:
    """Return the greater number with its index, of equal ones that whose index comes first in an order."""
    above = apply(store, operations.compare(F32, "gt"), one[0], other[0])
    equal = apply(store, operations.compare(F32, "eq"), one[0], other[0])
    before = apply(store, operations.compare(S32, order), one[1], other[1])
    taken = bit_slices.bitwise(store, A | B & C, above, equal, before)
    number, index = (
        apply(store, operations.select(32), taken, *sides) for sides in zip(one, other, strict=True)
    )
    return number, index


def lanes(store: TermStore, *, bounded: bool, padding: int = 4, order: str = "lt") -> list[Pair]:
    """Return what two lanes find of three numbers and a -∞ that stands for none."""
    if bounded:
        ends = np.full(3, 1e30)
        store.ends = {"x": Ends(F32, -ends, ends, ends > 0, ends < 0, ends < 0)}
    given: list[Pair] = [
        (store.inputs("x", F32, np.array([k])), store.constants(np.array([k]), 32)) for k in range(3)
    ]
    given.append((store.constants(np.array([MINUS_INFINITY]), 32), store.constants(np.array([padding]), 32)))
    halves = greater(store, given[0], given[3], order), greater(store, given[1], given[2])
    return [greater(store, *halves), greater(store, *halves[::-1])]


@pytest.mark.parametrize("what", [0, 1])
def test_lanes_find_the_same_of_numbers(what: int) -> None:
    store = TermStore()
    one, other = lanes(store, bounded=True)
    assert are_same_numbers(store, one[what], other[what])


@pytest.mark.parametrize("what", [0, 1])
def test_lanes_may_find_different_words_beside_a_nan(what: int) -> None:
    store = TermStore()
    one, other = lanes(store, bounded=False)
    assert not are_same_numbers(store, one[what], other[what])


def test_lanes_that_choose_other_indices_of_equal_numbers_store_different_words() -> None:
    store = TermStore()
    one, _ = lanes(store, bounded=True)
    halves = [(store.inputs("x", F32, np.array([k])), store.constants(np.array([k]), 32)) for k in (1, 2)]
    last = greater(store, halves[0], halves[1], "gt")
    first = store.inputs("x", F32, np.array([0])), store.constants(np.array([0]), 32)
    assert not are_same_numbers(store, one[1], greater(store, first, last)[1])


@pytest.mark.parametrize("are_or_ed", [True, False])
def test_words_that_are_read_as_floats_may_be_nans(are_or_ed: bool) -> None:
    store = TermStore()
    ends = np.full(3, 1e30)
    store.ends = {"x": Ends(F32, -ends, ends, ends > 0, ends < 0, ends < 0)}
    words = [
        store.inputs("x" if are_or_ed else "u", F32 if are_or_ed else U32, np.array([k])) for k in range(3)
    ]
    if are_or_ed:
        words = [bit_slices.bitwise(store, A | B, words[k], words[(k + 1) % 3], words[k]) for k in range(3)]
    given = [(word, store.constants(np.array([k]), 32)) for k, word in enumerate(words)]
    one = greater(store, greater(store, given[0], given[1]), given[2])
    other = greater(store, given[0], greater(store, given[1], given[2]))
    assert not are_same_numbers(store, one[0], other[0])
