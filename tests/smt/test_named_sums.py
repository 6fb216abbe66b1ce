"""What is equal gets one name, the rest keeps its own, and what is then proved holds without names."""

from __future__ import annotations

from functools import reduce
from operator import add

import pytest
import z3

from mmaproof.smt.exact_integer import ExactInteger
from mmaproof.smt.naive_algebra import GuardedProduct
from mmaproof.smt.named_sums import with_named_addends, with_named_sums

A, B, C = z3.BitVecs("a b c", 8)


def follows(claim: z3.ExprRef) -> bool:
    solver = z3.Solver()
    solver.add(z3.Not(claim))
    return solver.check() == z3.unsat


def test_sums_in_another_order_get_one_name() -> None:
    cut = z3.Extract(7, 4, C + B + A), z3.Extract(7, 4, A + B + C)
    general = with_named_sums(cut[0] == cut[1], follows)
    left, right = general.children()
    assert left.arg(0).eq(right.arg(0)) and z3.is_const(left.arg(0))
    assert follows(general)


@pytest.mark.parametrize("other", [A + B + B, A - B, z3.ZeroExt(1, A) + z3.ZeroExt(1, B)])
def test_sums_that_differ_keep_their_terms(other: z3.ExprRef) -> None:
    goal = z3.And(z3.UGT(A + B + C, 3), z3.UGT(other, 3))
    assert with_named_sums(goal, follows).eq(goal)


def test_a_sum_that_nobody_else_has_is_no_variable() -> None:
    """Of a goal that holds for this sum alone, a name would lose what makes it true."""
    goal = z3.Extract(0, 0, A + A) == 0
    assert with_named_sums(goal, follows).eq(goal) and follows(goal)


@pytest.mark.parametrize("values", [(127, 127, 127), (-128, -128, -128, -128), (1,), (-1, 0, 100, -7, 3)])
def test_a_sum_of_guarded_products_is_exact(values: tuple[int, ...]) -> None:
    """Its one width holds every sum of its addends, whichever way they are put together."""
    for cls in (GuardedProduct, ExactInteger):
        numbers = [cls(z3.BitVecVal(value, 8)) for value in values]
        for order in (numbers, numbers[::-1]):
            total = z3.simplify(reduce(add, order).term)
            assert total.as_signed_long() == sum(values)
        nested = reduce(add, numbers[1:], cls.of(0)) + numbers[0]
        assert z3.simplify(nested.term).as_signed_long() == sum(values)
    negated = -reduce(add, [GuardedProduct(z3.BitVecVal(value, 8)) for value in values])
    assert z3.simplify(negated.term).as_signed_long() == -sum(values)


ON, OFF, DOWN = z3.Bools("on off down")
F = z3.Function("f", *[z3.BitVecSort(8)] * 3)
ZERO = z3.BitVecVal(0, 8)


def test_addends_that_are_equal_where_it_is_asked_get_one_name() -> None:
    """Under the condition, in another order, extended to other widths."""
    chosen = z3.ZeroExt(2, F(B, A)) + z3.ZeroExt(2, z3.If(ON, F(A, A), ZERO))
    plain = z3.ZeroExt(1, z3.If(DOWN, ZERO, F(A, A))) + z3.ZeroExt(1, F(B, z3.If(ON, A, B)))
    goal = z3.Implies(z3.And(ON, z3.Not(DOWN)), z3.Extract(7, 0, chosen) == z3.Extract(7, 0, plain))
    general = with_named_addends(goal, follows)
    assert "f(" not in str(general).replace("If(", "")
    assert follows(general)


@pytest.mark.parametrize(
    "goal",
    [
        A + F(A, B) == A + F(B, A),
        z3.Implies(ON, z3.If(ON, A, ZERO) + B == z3.If(OFF, A, ZERO) + B),
        A + A + B == A + B + B,
        z3.Implies(A == B, A + C == C + C),
        z3.Implies(OFF, z3.If(ON, A, B) + C == z3.If(OFF, A, B) + A),
    ],
)
def test_a_falsehood_is_no_truth_with_names(goal: z3.BoolRef) -> None:
    assert not follows(goal)
    assert not follows(with_named_addends(goal, follows)) and not follows(with_named_sums(goal, follows))


def test_sums_are_compared_where_the_condition_holds() -> None:
    left, right = z3.If(ON, A, C) + B, B + z3.If(ON, A, ZERO)
    goal = z3.Implies(ON, z3.Extract(7, 4, left) == z3.Extract(7, 4, right))
    general = with_named_sums(goal, follows)
    assert not general.eq(goal) and follows(general)
    falsehood = z3.Implies(OFF, z3.Extract(7, 4, left) == z3.Extract(7, 4, right))
    assert with_named_sums(falsehood, follows).eq(falsehood)
