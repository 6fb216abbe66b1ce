"""Conditions on how many rows of the last tile there are."""

from __future__ import annotations

import operator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.sizes.integer_forms import Symbols
from mmaproof.refinement.sizes.symbolic_terms import SymbolicTerms
from mmaproof.refinement.sizes.tail_predicates import Rest, compared, name_of
from mmaproof.refinement.terms.assignments import Assignment

RELATIONS = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq}
TILE = 48


@given(
    st.sampled_from([1, 2, 4, 8, 12]),
    st.sampled_from([1, 2, 3, 4, 8, 12, -1, -2, -4, -8, -12]),
    st.integers(-70, 70),
    st.sampled_from(sorted(RELATIONS)),
)
def test_comparisons_hold_for_the_numbers_for_which_they_are_said_to(
    step: int, part: int, constant: int, relation: str
) -> None:
    """Also of parts of the size, such as ``i < n // 4`` where n is a multiple of four."""
    rest = Rest("n", "rest", step)
    symbols = Symbols([rest.group(TILE)])
    store = SymbolicTerms(symbols)
    difference = symbols.form({("rest",): part, (): constant})[None]
    found = compared(store, symbols, symbols.form(rest.form), rest, difference, relation)
    if abs(part) > step or step % abs(part):
        assert found[0] == -1
        return
    assert found[0] >= 0
    for left in range(TILE // step):
        rows = step * (left + 1)
        more = (rows > np.arange(4 * TILE)).astype(np.uint64)
        value = Assignment(store, {name_of("n"): more}).values(found)[0]
        assert bool(value) == RELATIONS[relation](part * left + constant, 0)
