"""Words that one integer of few values tells: their values are those of a brute-force evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.analysis.enumerated_words import MOST, EnumeratedWords
from mmaproof.refinement.analysis.integer_intervals import Magnitudes
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.chosen_words import word_at
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.input_ends import Ends
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.terms.truth_tables import A, B
from mmaproof.spec.formats import F32, S32, U32
from mmaproof.spec.rounding import Rounding

EACH = np.arange(3)
Step = tuple[str, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["and", "left", "right", "add", "multiply", "max", "min", "sign", "select"]),
        st.integers(0, 40),
    ),
    max_size=5,
)


def bounded(low: int, high: int) -> tuple[TermStore, Ids]:
    """Return integers of which `[requires]` says the ends."""
    store = TermStore()
    ends = np.array([low] * 3, float), np.array([high] * 3, float)
    store.ends = {"i": Ends(S32, *ends, np.ones(3, bool), *np.zeros((2, 3), bool))}
    return store, store.inputs("i", S32, EACH)


def applied(store: TermStore, terms: Ids, step: Step) -> Ids:
    """Return words (n,) of 32 bits of others."""
    what, number = step
    constant = store.constants(np.full(len(terms), number), 32)
    match what:
        case "and":
            return bit_slices.bitwise(store, A & B, terms, constant, terms)
        case "left":
            return bit_slices.shift_left(store, terms, number % 32)
        case "right":
            part = bit_slices.extract(store, terms, number % 32, 32 - number % 32)
            return bit_slices.zero_extend(store, part, 32)
        case "add":
            return apply(store, operations.ring(32, 0, 2), terms, constant)
        case "multiply":
            return apply(store, operations.ring(32, 1, 0), terms, constant)
        case "max" | "min":
            return apply(store, operations.extremum(S32, what), terms, constant)
        case "sign":
            return bit_slices.sign_extend(store, bit_slices.extract(store, terms, 0, 1 + number % 31), 32)
    less = apply(store, operations.compare(S32, "lt"), terms, constant)
    return apply(store, operations.select(32), less, constant, terms)


@given(st.integers(-20, 20), st.integers(0, 30), STEPS)
def test_all_values_are_there(low: int, more: int, steps: list[Step]) -> None:
    """And for each value of the integer the word is what it is, so that a choice by it is the word."""
    store, inputs = bounded(low, low + more)
    terms = inputs
    for step in steps:
        terms = applied(store, terms, step)
    chosen = terms.copy()
    for found in EnumeratedWords(store).of(terms):
        words = store.constants(found.words, 32)
        chosen[found.places] = word_at(store, found.integers, found.codes, words)
    for number in range(low, low + more + 1):
        values = Assignment(store, {"i": np.full(3, number & 0xFFFFFFFF, dtype=np.uint64)})
        assert (values.values(terms) == values.values(chosen)).all()


def test_words_of_which_nothing_is_known_are_left() -> None:
    store = TermStore()
    free, other = store.inputs("i", U32, EACH), store.inputs("j", U32, EACH)
    total = apply(store, operations.ring(32, 0, 2), free, other)
    undefined = applied(store, store.undefined(3, 32), ("and", 31))
    for terms in (free, total, undefined, store.constants(EACH, 32)):
        assert not EnumeratedWords(store).are(terms).any()


@pytest.mark.parametrize("mask", [31, 31 << 2, 0b1010])
def test_masked_bits_have_all_their_values(mask: int) -> None:
    store = TermStore()
    masked = applied(store, store.inputs("i", U32, EACH), ("and", mask))
    (found,) = EnumeratedWords(store).of(masked)
    assert {*found.words[0].tolist()} == {each & mask for each in range(256)}
    assert len(found.codes) == 1 << mask.bit_count()


def test_a_shifted_index_is_told_by_the_index_that_formulas_have() -> None:
    store = TermStore()
    free = store.inputs("i", U32, EACH)
    shifted = applied(store, applied(store, free, ("left", 2)), ("and", 31 << 2))
    (found,) = EnumeratedWords(store).of(shifted)
    assert (found.integers == applied(store, free, ("and", 31))).all()


def test_an_index_of_many_values_is_not_enumerated() -> None:
    store, terms = bounded(0, MOST)
    assert not EnumeratedWords(store).are(terms).any()
    store, terms = bounded(1, MOST)
    assert EnumeratedWords(store).are(terms).all()


def test_sums_of_two_indices_depend_on_both() -> None:
    store, terms = bounded(0, 7)
    both = apply(store, operations.ring(32, 0, 2), terms, np.roll(terms, 1))
    (found,) = EnumeratedWords(store).of(both)
    assert (found.integers == both).all() and len(found.codes) == 15


@pytest.mark.parametrize("saturate", [False, True])
def test_bits_of_a_float_have_not_the_range_of_the_integer_that_it_was_made_of(saturate: bool) -> None:
    store, terms = bounded(0, 31)
    conversion = operations.convert(F32, S32, Rounding.NEAREST_EVEN, saturate=saturate)
    made = store.apply(conversion, terms)
    low, high = Magnitudes(store).intervals(made, S32).T
    bits = np.arange(32, dtype=np.float32).view(np.int32)
    assert (low <= bits.min()).all() and (high >= bits.max()).all()
    moved = apply(store, operations.ring(32, 0, 2), made, store.constants(EACH, 32))
    assert not EnumeratedWords(store).are(moved).any()
