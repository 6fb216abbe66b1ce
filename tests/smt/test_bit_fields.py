"""Cutting and joining bit-vector terms: normal forms, and the values they stand for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.smt.bit_fields import cut, join

X, Y, Z = (z3.BitVec(name, 8) for name in "xyz")


def leaves(term: Any) -> list[Any]:
    if z3.is_app_of(term, z3.Z3_OP_CONCAT):
        return [leaf for part in term.children() for leaf in leaves(part)]
    return [term]


terms = st.recursive(
    st.sampled_from([X, Y, Z]) | st.builds(z3.BitVecVal, st.integers(0, 255), st.integers(1, 8)),
    lambda inner: st.lists(inner, min_size=2, max_size=5).map(lambda parts: join(*parts)),
    max_leaves=12,
)


@settings(deadline=None)
@given(terms, st.data())
def test_a_cut_is_an_extraction(term: Any, data: st.DataObject) -> None:
    low = data.draw(st.integers(0, term.size() - 1))
    high = data.draw(st.integers(low, term.size() - 1))
    plain = z3.Concat(*leaves(term)) if len(leaves(term)) > 1 else term
    for source in (term, plain, z3.simplify(plain)):
        taken = cut(high, low, source)
        assert taken.size() == high - low + 1
        assert z3.is_true(z3.simplify(taken == z3.Extract(high, low, term)))


@settings(deadline=None)
@given(terms, st.lists(st.integers(1, 30)))
def test_a_term_cut_anywhere_and_joined_is_that_term(term: Any, widths: list[int]) -> None:
    pieces, high = [], term.size() - 1
    for width in [*widths, term.size()]:
        if high >= 0:
            low = max(0, high - width + 1)
            pieces.append(cut(high, low, term))
            high = low - 1
    assert join(*pieces).eq(term)


@settings(deadline=None)
@given(terms)
def test_a_joined_term_has_no_two_neighbours_that_are_one(term: Any) -> None:
    parts = leaves(join(term, cut(7, 4, X), cut(3, 0, X), z3.BitVecVal(1, 3)))
    for upper, lower in pairwise(parts):
        assert not (z3.is_bv_value(upper) and z3.is_bv_value(lower))
    assert parts[-2].eq(X) and parts[-1].as_long() == 1


@pytest.mark.parametrize("size", [1, 4, 8, 16])
def test_fields_of_one_word_join_to_the_word(size: int) -> None:
    word = z3.BitVec("word", 64)
    fields = [cut(low + size - 1, low, word) for low in range(64 - size, -1, -size)]
    assert join(*fields) is word or join(*fields).eq(word)
