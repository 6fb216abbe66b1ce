"""How often what a loop adds up is rounded, for every number of turns."""

from __future__ import annotations

import pytest

from mmaproof.refinement.ptx.any_size.growing_sums import HeldSums
from mmaproof.refinement.sizes.growing_roundings import GrowingRoundings, growing
from mmaproof.refinement.sizes.invariant_inference import HELD
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import BF16, F16, F32, S8, FloatFormat
from mmaproof.spec.rounding import Rounding

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


def held_sums(fmt: FloatFormat) -> tuple[TermStore, HeldSums]:
    """Return a loop that adds an element of s8, converted to a format, to what it holds."""
    store = TermStore()
    held = store.inputs(HELD, fmt, [3])
    element = store.apply(operations.convert(fmt, S8, Rounding.NEAREST_EVEN), store.inputs("A", S8, [0]))
    after = store.apply(operations.fused(fmt, (), (fmt, fmt)), held, element)
    return store, HeldSums(store, held, store.constants([0], fmt.bits), after, fmt)


@pytest.mark.parametrize(("fmt", "turns", "overflows"), [
    (F16, 255, False), (F16, 1000, True), (F16, 2.0**31, True), (BF16, 2.0**31, False), (F32, 2.0**31, False),
])  # fmt: skip
def test_a_sum_of_bounded_numbers_overflows_after_many_turns(
    fmt: FloatFormat, turns: float, overflows: bool
) -> None:
    """512 numbers of s8 may be 65536, which f16 has not; nothing is left of the bounds afterwards."""
    store, sums = held_sums(fmt)
    found = sums.overflows(turns, sums.after)
    assert bool(len(found.possible)) == overflows and not found.unknown
    assert not store.ends


def test_what_a_sum_is_converted_to_overflows() -> None:
    """A sum that is held as f32 may not fit f16, which what is stored goes through."""
    store, sums = held_sums(F32)
    narrow = store.apply(operations.fused(F16, (), (F32,)), sums.held)
    assert len(sums.overflows(1000, narrow).possible) and not len(sums.overflows(100, narrow).possible)
