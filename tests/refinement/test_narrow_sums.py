"""Bits of sums as bits of the narrowest sums that have them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.equality.narrow_sums import NarrowSums
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import FORMATS


def _shifted(store: TermStore, columns: list[Ids], width: int, products: int, low: int, bits: int) -> Ids:
    """Return bits of a sum of bytes, extended with their signs, from `low` on."""
    wide = [bit_slices.sign_extend(store, column, width) for column in columns]
    total = apply(store, operations.ring(width, products, 1), *wide)
    return bit_slices.extract(store, total, low, bits)


WIDTHS = st.sampled_from([16, 24, 32, 64])
S8 = FORMATS["s8"]


@given(st.integers(1, 7), st.integers(1, 8), st.sampled_from([0, 1]), WIDTHS, st.integers())
def test_the_width_in_which_a_sum_is_computed_does_not_matter(
    low: int, bits: int, products: int, width: int, seed: int
) -> None:
    store = TermStore()
    columns = [
        store.inputs("x", FORMATS["s8"], np.arange(4) + 4 * place) for place in range(2 * products + 1)
    ]
    one, other = (_shifted(store, columns, each, products, low, bits) for each in (width, 16))
    made = [NarrowSums(store).values(each) for each in (one, other)]
    assert (made[0] == made[1]).all()
    words = np.random.default_rng(seed % 2**32).integers(0, 256, 12, dtype=np.uint64)
    values = [Assignment(store, {"x": words}).values(each) for each in (one, made[0])]
    assert (values[0] == values[1]).all()


def test_bits_above_are_those_of_wider_sums() -> None:
    """What is carried into a bit that is kept counts."""
    store = TermStore()
    columns = [
        store.inputs("x", FORMATS["s8"], np.arange(1)),
        store.inputs("x", FORMATS["s8"], np.arange(1, 2)),
    ]
    wide = [bit_slices.sign_extend(store, column, 16) for column in columns]
    total = apply(store, operations.ring(16, 0, 2), *wide)
    made = [NarrowSums(store).values(bit_slices.extract(store, total, 1, bits)) for bits in (7, 8)]
    words = np.array([100, 100], dtype=np.uint64)
    assert [int(Assignment(store, {"x": words}).values(each)[0]) for each in made] == [100, 100]
    words = np.array([127, 130], dtype=np.uint64)
    assert [int(Assignment(store, {"x": words}).values(each)[0]) for each in made] == [0, 0]
    assert made[0] != made[1]
