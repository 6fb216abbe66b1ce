"""Exact integers as terms: never an overflow; with uninterpreted products, nothing that is not so."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import z3
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.smt.exact_integer import ExactInteger, OpaqueInteger

OPERATORS: list[Callable[[Any, Any], Any]] = [operator.add, operator.sub, operator.mul]
integers = st.integers(-(2**70), 2**70) | st.sampled_from([-(2**31), -129, -128, -1, 0, 1, 127, 2**31])


def value(number: ExactInteger) -> int:
    return int(z3.simplify(number.term).as_signed_long())


def multiplied(term: Any) -> Any:
    """Interpret the uninterpreted products of a term as what they stand for."""
    if z3.is_app(term) and term.num_args():
        arguments = [multiplied(term.arg(i)) for i in range(term.num_args())]
        if term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            width = term.size()
            x, y = (z3.SignExt(width - argument.size(), argument) for argument in arguments)
            return x * y
        return term.decl()(*arguments)
    return term


@pytest.mark.parametrize("kind", [ExactInteger, OpaqueInteger])
@given(number=integers)
def test_constants_are_what_they_are(kind: type[ExactInteger], number: int) -> None:
    assert value(kind.of(number)) == number
    assert value(-kind.of(number)) == -number


@given(bits=st.integers(0, 255))
def test_encodings_are_read_with_and_without_a_sign(bits: int) -> None:
    term = z3.BitVecVal(bits, 8)
    assert value(ExactInteger.decode(term, signed=False)) == bits
    assert value(ExactInteger.decode(term, signed=True)) == (bits ^ 128) - 128


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(OPERATORS), integers, st.booleans()), min_size=1, max_size=6), integers
)
def test_no_operation_overflows(steps: list[tuple[Any, int, bool]], start: int) -> None:
    exact, expected = ExactInteger.of(start), start
    for apply, number, plain in steps:
        exact = apply(exact, number if plain else ExactInteger.of(number))
        expected = apply(expected, number)
    assert value(exact) == expected
    assert -(2 ** (exact.width - 1)) <= expected < 2 ** (exact.width - 1)


@given(st.lists(st.integers(-128, 127), min_size=1, max_size=9))
def test_arrays_add_up(numbers: list[int]) -> None:
    terms = np.array([ExactInteger.of(number) for number in numbers], dtype=object)
    assert value(terms.sum()) == sum(numbers)
    assert value((terms * 3 - terms).sum()) == 2 * sum(numbers)


@given(integers, integers, st.booleans())
def test_a_choice_is_one_of_the_two(left: int, right: int, first: bool) -> None:
    for kind in (ExactInteger, OpaqueInteger):
        chosen = kind.of(left).chosen(z3.BoolVal(first), kind.of(right))
        assert value(chosen) == (left if first else right)


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255), st.booleans(), st.booleans()), min_size=1,
             max_size=4)
)  # fmt: skip
def test_opaque_products_stand_for_products(rows: list[tuple[int, int, bool, bool]]) -> None:
    """Whatever is proved of every product function is true of multiplication: the terms are instances."""
    total, expected = OpaqueInteger.of(0), 0
    for x, y, keep_x, keep_product in rows:
        zero = z3.BitVecVal(0, 8)
        of_x = OpaqueInteger.decode(z3.If(z3.BoolVal(keep_x), z3.BitVecVal(x, 8), zero), signed=True)
        of_y = OpaqueInteger.decode(z3.BitVecVal(y, 8), signed=False)
        product = (of_x * of_y).chosen(z3.BoolVal(keep_product), OpaqueInteger.of(0))
        total = total + product
        expected += ((x ^ 128) - 128) * y * keep_x * keep_product
    assert int(z3.simplify(multiplied(total.term)).as_signed_long()) == expected


def test_masking_a_factor_is_masking_the_product() -> None:
    x, y, keep = z3.BitVec("x", 8), z3.BitVec("y", 8), z3.Bool("keep")
    zero = z3.BitVecVal(0, 8)
    of_x, of_y = (OpaqueInteger.decode(term, signed=True) for term in (x, y))
    masked_x, masked_y = (OpaqueInteger.decode(z3.If(keep, term, zero), signed=True) for term in (x, y))
    after = (of_x * of_y).chosen(keep, OpaqueInteger.of(0)).term
    for before in (masked_x * of_y, of_x * masked_y, masked_x * masked_y):
        assert before.term.eq(after)


def test_nothing_else_is_assumed_of_products() -> None:
    x, y = (OpaqueInteger.decode(z3.BitVec(name, 8), signed=True) for name in "xy")
    solver = z3.Solver()
    solver.add((x * y).term != (y * x).term)
    assert solver.check() == z3.sat
