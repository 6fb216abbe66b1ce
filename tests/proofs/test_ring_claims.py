"""Claims over a ring: polynomials decide, and integers that anyone can put in refute."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import toy_theorems as toy
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.proofs.obligation import Equality, Equation, Inputs, Obligation, RingProperty, Status, Variable
from mmaproof.proofs.ring_claims import decide_in_ring, difference_at, read_numbers
from mmaproof.smt.dyadic import Dyadic
from mmaproof.spec.algebra import Algebra
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import F32

VARIABLES = (Variable("x", F32, (2,)), Variable("y", F32, ()))


def claimed(degree: int, coefficient: int) -> RingProperty:
    """Claim (x + y)·(x - y) = x² - y² for the first x, and with other numbers what is false."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, y = v["x"], v["y"]
        yield Equation((x + y) * (x - y), x**degree - coefficient * y * y, label="squares")

    return RingProperty(VARIABLES, claim)


def decided(prop: RingProperty) -> Any:
    return decide_in_ring(Obligation("test/ring/claim", "", lambda: prop), prop)


@given(st.integers(1, 3), st.integers(-2, 3))
def test_a_refutation_has_numbers_where_the_sides_differ(degree: int, coefficient: int) -> None:
    prop = claimed(degree, coefficient)
    verdict = decided(prop)
    assert verdict.status is (Status.PROVED if (degree, coefficient) == (2, 1) else Status.REFUTED)
    if (found := verdict.counterexample) is not None:
        numbers = read_numbers(found.inputs, prop, "here")
        assert difference_at(prop, numbers, Equality.VALUE) == found.difference
        x, y = numbers["x"][found.difference.index[0]], int(numbers["y"][()])
        assert found.difference.left == str((x + y) * (x - y)) != found.difference.right


def test_identities_hold_at_every_number() -> None:
    numbers = {"x": np.array([5, -7], dtype=object), "y": np.array(3, dtype=object)}
    assert difference_at(claimed(2, 1), numbers, Equality.VALUE) is None


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"values": ["1"]}, "must have 2 numbers"),
        ({"values": ["1", "a"]}, "not integers"),
        (None, "must have 2"),
    ],
)
def test_numbers_that_do_not_fit_are_named(entry: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_numbers({"x": entry, "y": {"values": ["1"]}}, claimed(2, 1), "here")


@given(st.integers(-1000, 1000), st.integers(-6, 6))
def test_numbers_are_truncated_toward_zero(numerator: int, exponent: int) -> None:
    found = Dyadic(numerator, exponent).__trunc__()
    assert not found.lost
    assert found.polynomial * 2**found.exponent == int(Fraction(numerator) * Fraction(2) ** exponent)


def test_what_a_ring_refutes_is_executed_again_from_its_numbers() -> None:
    prop = toy.IN_RING.goal()
    assert isinstance(prop, RingProperty)
    found = decided(prop).counterexample
    assert found is not None and found.inputs and found.replays
