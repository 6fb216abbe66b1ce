"""Integer polynomials times powers of two: the arithmetic of numbers, and truncation that admits a loss."""

from __future__ import annotations

from fractions import Fraction
from math import trunc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy.polys.domains import ZZ
from sympy.polys.rings import ring

from mmaproof.smt.dyadic import Dyadic

_, N, M = ring("n, m", ZZ)


def polynomials() -> st.SearchStrategy[Any]:
    coefficient = st.integers(-8, 8)
    return st.builds(lambda a, b, c: a * N + b * M + c * N * M, coefficient, coefficient, coefficient)


def dyadics() -> st.SearchStrategy[Dyadic]:
    return st.builds(Dyadic, polynomials(), st.integers(-4, 4))


def value(number: Dyadic, n: int, m: int) -> Fraction:
    assert not number.lost
    return Fraction(int(number.polynomial.evaluate([(N, n), (M, m)]))) * Fraction(2) ** number.exponent


@given(dyadics(), dyadics(), st.integers(-5, 5), st.integers(-5, 5), st.integers(-6, 6))
def test_operations_are_those_of_numbers(x: Dyadic, y: Dyadic, n: int, m: int, places: int) -> None:
    left, right, power = value(x, n, m), value(y, n, m), 2.0**places
    assert value(x + y, n, m) == left + right
    assert value(x * y, n, m) == left * right
    assert value(x * power, n, m) == left * Fraction(power)
    assert value(x / power, n, m) == left / Fraction(power)
    assert value(0.0 + x, n, m) == left
    assert x * power / power == x
    assert (x == y) == (y == x)
    if x == y:
        assert left == right


@given(dyadics(), st.integers(-5, 5), st.integers(-5, 5))
def test_truncation_changes_nothing_or_is_a_loss(x: Dyadic, n: int, m: int) -> None:
    truncated = trunc(x)
    if truncated.lost:
        assert truncated != x and truncated != truncated + truncated
        assert (truncated * 2.0).lost and (truncated + x).lost and (x * truncated).lost
    else:
        assert truncated == x
        assert value(x, n, m).denominator == 1


@pytest.mark.parametrize(
    ("number", "whole"),
    [(2 * N, True), (4 * N + 2, True), (N, False), (2 * N + 1, False), (2 * N * M + M, False)],
)
def test_a_half_is_whole_if_every_coefficient_is_even(number: Any, whole: bool) -> None:
    assert trunc(Dyadic(number, -1)).lost is not whole


def test_numpy_computes_with_them() -> None:
    numbers = np.array([Dyadic(N), Dyadic(M)], dtype=object)
    scaled = numbers * np.array([4.0, 0.5])
    assert [each.lost for each in np.trunc(scaled)] == [False, True]
    assert (numbers.sum(initial=0.0) == Dyadic(N + M)) and not (numbers == 0).any()
    assert Dyadic(N - N) == 0


def test_a_factor_that_is_no_power_of_two_is_refused() -> None:
    with pytest.raises(ValueError, match=r"3\.0 is not a power of two"):
        Dyadic(N) * 3.0
