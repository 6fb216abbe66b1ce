"""Bits of choices as choices of bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.equality.sliced_choices import SlicedChoices, slices_choices
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import FORMATS

S32 = FORMATS["s32"]


@given(st.integers(1, 6), st.integers(0, 31), st.integers(1, 32), st.integers(0, 2**32 - 1))
def test_the_words_are_the_same(depth: int, low: int, width: int, seed: int) -> None:
    """Whatever bits are taken of choices within choices, of extended words."""
    store = TermStore()
    numbers = store.inputs("x", S32, np.arange(8))
    wide = bit_slices.sign_extend(store, numbers, 64)
    term = wide[:1]
    for place in range(1, depth + 1):
        least = bit_slices.extract(store, term, 0, 32)
        less = apply(store, operations.compare(S32, "lt"), numbers[place : place + 1], least)
        term = apply(store, operations.select(64), less, wide[place : place + 1], term)
    taken = bit_slices.extract(store, term, low, width)
    assert slices_choices(store)
    made = SlicedChoices(store).values(taken)
    words = np.random.default_rng(seed).integers(0, 1 << 32, 8, dtype=np.uint64)
    old, new = (Assignment(store, {"x": words}).values(each) for each in (taken, made))
    assert (old == new).all()


def test_low_words_of_choices_in_64_bits_are_choices_in_32() -> None:
    """So that both ways to write a choice are one term."""
    store = TermStore()
    numbers = store.inputs("x", S32, np.arange(2))
    less = apply(store, operations.compare(S32, "lt"), numbers[:1], numbers[1:])
    wide = bit_slices.sign_extend(store, numbers, 64)
    chosen = apply(store, operations.select(64), less, wide[:1], wide[1:])
    made = SlicedChoices(store).values(bit_slices.extract(store, chosen, 0, 32))
    assert made == apply(store, operations.select(32), less, numbers[:1], numbers[1:])
    other = apply(store, operations.select(64), less, wide[1:], wide[:1])
    assert SlicedChoices(store).values(bit_slices.extract(store, other, 0, 32)) != made
