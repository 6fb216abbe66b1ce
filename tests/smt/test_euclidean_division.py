"""Quotients and remainders by their definition are those of Python's integers."""

from __future__ import annotations

import z3
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.smt import smtlib
from mmaproof.smt.euclidean_division import by_definition

X, Y = z3.Ints("x y")
DIVISORS = st.integers(1, 12)


def has_model(*assertions: z3.BoolRef) -> bool:
    solver = z3.Solver()
    solver.add(*assertions)
    return bool(solver.check() == z3.sat)


@settings(max_examples=examples(40))
@given(st.integers(-50, 50), DIVISORS, DIVISORS, st.integers(-2, 2))
def test_a_model_is_what_python_computes(number: int, outer: int, inner: int, beside: int) -> None:
    nested = (X % inner + X / inner) / outer + X / inner % outer
    expected = (number % inner + number // inner) // outer + number // inner % outer
    defined = by_definition([number == X, nested == Y])
    assert has_model(*defined, expected + beside == Y) == (beside == 0)


def test_nothing_is_divided_any_more_but_by_what_is_no_positive_numeral() -> None:
    text = smtlib.printed(by_definition([(X % 8 + X / 8) / 3 == X % 8, (X + Y) % 5 > X / 8]))
    assert "(div " not in text and "(mod " not in text
    others = [X / Y == X % Y, X % -3 == X / 0]
    assert all(mine.eq(theirs) for mine, theirs in zip(by_definition(others), others, strict=True))


def test_what_was_linear_but_for_quotients_is_said_to_be() -> None:
    assert smtlib.script(by_definition([X % 8 == Y / 4])).startswith("(set-logic QF_LIA)\n")
    assert smtlib.script(by_definition([X * Y % 8 == Y])).startswith("(set-logic QF_NIA)\n")
