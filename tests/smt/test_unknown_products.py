"""What holds whatever products are is shown without multipliers; nothing else is decided so."""

from __future__ import annotations

import pytest
import z3

from mmaproof.smt.solvers import Query, solve_with_z3
from mmaproof.smt.unknown_products import without_products

X, Y, Z = z3.BitVecs("x y z", 48)


def is_refutable(claim: z3.BoolRef) -> bool:
    """Tell whether a claim fails for some numbers in the place of its products."""
    assertions = without_products([z3.Not(claim)])
    assert assertions is not None
    solver = z3.Solver()
    solver.add(*assertions)
    return bool(solver.check() == z3.sat)


def test_one_product_is_one_number() -> None:
    assert not is_refutable(X * Y + Z == Z + X * Y)
    assert not is_refutable(z3.Extract(15, 0, X * Y) + 1 == z3.Extract(15, 0, 1 + X * Y))


@pytest.mark.parametrize("claim", [X * Y + Z == X * Z + Y, X * Y == Z, X * (Y + Z) == X * Y + X * Z])
def test_products_of_other_factors_are_other_numbers(claim: z3.BoolRef) -> None:
    assert is_refutable(claim)


def test_products_within_products_go_with_them() -> None:
    (found,) = without_products([(X * Y) * Z == X]) or [None]
    assert found is not None and str(found).count("product") == 1


def test_where_nothing_is_multiplied_nothing_is_asked() -> None:
    assert without_products([X + Y == Z, 3 * X == Z, z3.Not(X == Y)]) is None


def test_products_of_bound_variables_are_left() -> None:
    assert without_products([z3.ForAll([X], X * Y == Z), X * Y == Z]) is None


def test_a_product_that_matters_is_decided_all_the_same() -> None:
    x, y = z3.BitVecs("a b", 8)
    assert solve_with_z3(Query.negating((), [x * y == y * x]), 60).status == "unsat"
    answer = solve_with_z3(Query.negating((), [x * y == x + y]), 60)
    assert answer.status == "sat" and {*answer.model} == {"a", "b"}
