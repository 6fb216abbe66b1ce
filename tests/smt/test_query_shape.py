"""Queries of one shape are the same but for names, so that they are answered alike."""

from __future__ import annotations

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.smt.query_shape import shape
from mmaproof.smt.solvers import Query

A, B, C, D = z3.BitVecs("a b c d", 8)
WIDE = z3.BitVec("wide", 16)
F, G = (z3.Function(name, *[z3.BitVecSort(8)] * 3) for name in "fg")


def of(goal: z3.BoolRef, *assumptions: z3.BoolRef) -> str:
    return shape(Query.negating(list(assumptions), [goal]).smtlib())


def bits(high: int, low: int, term: z3.BitVecRef = A) -> z3.BitVecRef:
    return z3.Extract(high, low, term)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (A + B == B + A, C + D == D + C),
        (F(A, B) == F(B, A), G(D, C) == G(C, D)),
        (bits(0, 0) == bits(1, 1), bits(7, 7, B) == bits(3, 3, C)),
        (bits(3, 0) == bits(7, 4), bits(11, 8, WIDE) == bits(3, 0, C)),
    ],
)
def test_what_has_other_names_or_other_bits_has_one_shape(one: z3.BoolRef, other: z3.BoolRef) -> None:
    assert of(one) == of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (A + B == B + A, A + B == A + A),
        (A + B == B, z3.ZeroExt(8, A) + WIDE == WIDE),
        (F(A, B) == F(B, A), F(A, B) == G(B, A)),
        (bits(3, 0) == bits(3, 0), bits(3, 0) == bits(4, 1)),
        (bits(3, 0) == bits(7, 4), bits(3, 0) == bits(4, 1)),
        (z3.And(bits(3, 0) == bits(7, 4), A == 0), z3.And(bits(3, 0) == bits(7, 4), B == 0)),
        (bits(0, 0) == 1, bits(1, 0) == 1),
    ],
)
def test_what_says_something_else_has_another_shape(one: z3.BoolRef, other: z3.BoolRef) -> None:
    assert of(one) != of(other)


def test_assumptions_are_part_of_the_shape() -> None:
    assert of(A == B, A == B) != of(A == B, A == C) == of(C == D, C == B)


TERMS = st.recursive(
    st.sampled_from([A, B, z3.Concat(bits(3, 0), bits(7, 4, B)), z3.Concat(bits(4, 1), bits(3, 0, B))]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1]),
        inner.map(lambda term: ~term),
    ),
    max_leaves=4,
)


@settings(max_examples=25)
@given(st.lists(st.tuples(TERMS, TERMS), min_size=2, max_size=6))
def test_queries_of_one_shape_are_answered_alike(pairs: list[tuple[z3.BitVecRef, z3.BitVecRef]]) -> None:
    answers: dict[str, z3.CheckSatResult] = {}
    for left, right in pairs:
        solver = z3.Solver()
        solver.add(left != right)
        answer = solver.check()
        assert answers.setdefault(of(left == right), answer) == answer
