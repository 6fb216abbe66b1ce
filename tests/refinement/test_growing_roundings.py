"""How often what a loop adds up is rounded, for every number of turns."""

from __future__ import annotations

import pytest

from mmaproof.refinement.sizes.growing_roundings import GrowingRoundings, growing
from mmaproof.refinement.sizes.invariant_inference import HELD
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32

STEP = operations.fused(F32, ((F32, F32),), (F32,))


def grown(function: str | None, *, inside: bool = False) -> GrowingRoundings | None:
    """Return the roundings of a loop that adds a product each turn, and stores a function of the sum."""
    store = TermStore()
    held = store.inputs(HELD, F32, [0])
    zero = store.constants([0], 32)
    a, b = (store.inputs(name, F32, [0]) for name in "AB")
    applied = held if function is None else store.apply(operations.function(function, F32, F32), held)
    after = store.apply(STEP, a, b, applied if inside else held)
    return growing(store, None, ("K", 1, 1), held, (zero, after, held if inside else applied))


def test_each_turn_rounds_once() -> None:
    found = grown(None)
    assert found is not None
    assert [found.at(number)[F32] for number in (1, 2, 100)] == [0, 1, 99]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("function", ["tanh.approx", "ex2.approx", "rcp", "sqrt"])
def test_no_bound_grows_through_a_function_of_the_sum(function: str, inside: bool) -> None:
    assert grown(function, inside=inside) is None


def test_the_greater_of_the_sum_and_nothing_keeps_its_bound() -> None:
    store = TermStore()
    held = store.inputs(HELD, F32, [0])
    zero = store.constants([0], 32)
    after = store.apply(STEP, *(store.inputs(name, F32, [0]) for name in "AB"), held)
    stored = store.apply(operations.extremum(F32, "max"), held, zero)
    found = growing(store, None, ("K", 1, 1), held, (zero, after, stored))
    assert found is not None and found.at(7)[F32] == 6
