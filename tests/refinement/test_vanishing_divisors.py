"""Divisors that are 0 for all inputs, and such as are not, though they are for some."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mmaproof.refinement.equality.vanishing_divisors import vanishing_divisors
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32

from ..elementwise_kernels import result_of

COUNT = 6
ADD, NEGATE = operations.fused(F32, (), (F32, F32)), operations.negate(F32)
MULTIPLY = operations.fused(F32, ((F32, F32),))
EXPONENTIAL, RECIPROCAL = (operations.function(name, F32, F32) for name in ("ex2", "rcp"))
QUOTIENTS = [operations.function(name, F32, F32, F32) for name in ("div", "div.approx.ftz")]
GREATER, LESS = (operations.extremum(F32, which) for which in ("max", "min"))

Terms = Callable[[TermStore, Ids, Ids], Ids]


def added(store: TermStore, one: Ids, *others: Ids) -> Ids:
    for other in others:
        one = store.apply(ADD, one, other)
    return one


def extremes(store: TermStore, x: Ids, y: Ids) -> Ids:
    return added(store, store.apply(GREATER, x, y), store.apply(LESS, x, y), store.apply(NEGATE, x))


def rest(store: TermStore, x: Ids, y: Ids) -> Ids:
    return added(store, extremes(store, x, y), store.apply(NEGATE, y))


def powers(store: TermStore, x: Ids, y: Ids) -> Ids:
    product = store.apply(MULTIPLY, store.apply(EXPONENTIAL, x), store.apply(EXPONENTIAL, y))
    return added(store, store.apply(EXPONENTIAL, added(store, x, y)), store.apply(NEGATE, product))


def beyond_a_hundred(store: TermStore, x: Ids, _: Ids) -> Ids:
    hundred, zero = (store.constants(np.float32(each).view(np.uint32), 32) for each in (-100, 0))
    return store.apply(GREATER, added(store, x, np.full(COUNT, hundred)), np.full(COUNT, zero))


def steep(store: TermStore, x: Ids, y: Ids) -> Ids:
    """Return powers that are known to be large, though not nearly, or are as good as 0."""
    factor = store.constants(np.float32(2.0**40).view(np.uint32), 32)
    product = store.apply(MULTIPLY, store.apply(MULTIPLY, x, y), np.full(COUNT, factor))
    return store.apply(EXPONENTIAL, product)


@pytest.mark.parametrize(
    ("divisors", "vanish"),
    [(rest, True), (powers, True), (extremes, False), (beyond_a_hundred, False), (steep, False)],
)
def test_functions_and_choices_are_evaluated(divisors: Terms, vanish: bool) -> None:
    store = TermStore()
    x, y = (store.inputs(name, F32, np.arange(COUNT)) for name in "xy")
    made = divisors(store, x, y)
    for dividing in (store.apply(RECIPROCAL, made), *(store.apply(each, x, made) for each in QUOTIENTS)):
        found = vanishing_divisors(store, dividing)
        assert found.tolist() == (made.tolist() if vanish else [])


def test_the_one_that_takes_the_same_twice_is_told_from_the_others() -> None:
    """``max(x, y) - max(y, x)`` is ``max(x, y) - max(y, z)`` where z is x."""
    store = TermStore()
    x, y, z = (store.inputs(name, F32, np.arange(COUNT)) for name in ("x", "y", "x"))
    z = np.roll(z, 1)
    z[2] = x[2]
    made = added(store, store.apply(GREATER, x, y), store.apply(NEGATE, store.apply(GREATER, y, z)))
    found = vanishing_divisors(store, store.apply(RECIPROCAL, made))
    assert found.tolist() == [int(made[2])]


@pytest.mark.parametrize(("rest", "verdict"), [("sub.f32 %f3, %f3, %B;", "undecided"), ("", "verified")])
def test_a_kernel_that_divides_by_it_is_not_verified(rest: str, verdict: str) -> None:
    body = f"""max.f32 %f1, %A, %B; min.f32 %f2, %A, %B; add.f32 %f3, %f1, %f2; sub.f32 %f3, %f3, %A;
    {rest} rcp.approx.f32 %f3, %f3; mul.f32 %C, %f3, %A;"""
    divisor = "max(A[i], B[i]) + min(A[i], B[i]) - A[i]" + (" - B[i]" if rest else "")
    result = result_of(body, f"C[i] = A[i] / ({divisor})", {"A": "f32", "B": "f32", "C": "f32 out"})
    assert result.verdict == verdict
