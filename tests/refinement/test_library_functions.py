"""Functions of device libraries as terms: against mpmath, and powers by their values at one number."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.normal_forms.functions.library_functions import (
    FUNCTIONS,
    approximate,
    exact,
    exponential,
    powers,
    values,
)
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32

NUMBERS = np.array([-3.5, -0.75, -(2.0**-12), 2.0**-12, 0.5, 1.0, 2.0, 7.25])
EXACT = {
    "exp": mpmath.exp,
    "exp of the opposite": lambda x: mpmath.exp(-x),
    "log2": lambda x: mpmath.log(x, 2),
    "log": mpmath.log,
    "log10": mpmath.log10,
    "log(1 + x)": mpmath.log1p,
    "exp(x) - 1": mpmath.expm1,
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "1 - erf(x)": mpmath.erfc,
    "(1 + erf(x / sqrt(2))) / 2": mpmath.ncdf,
    "log(1 + exp(x))": lambda x: mpmath.log1p(mpmath.exp(x)),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "(exp(x) + exp(-x)) / 2": mpmath.cosh,
    "(exp(x) - exp(-x)) / 2": mpmath.sinh,
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.name)
def test_values_and_terms_are_those_of_mpmath(function: object) -> None:
    assert function in FUNCTIONS
    (known,) = [each for each in FUNCTIONS if each == function]
    numbers = NUMBERS[(known.least < NUMBERS) & (known.greatest > NUMBERS)]
    wanted = np.array([float(EXACT[known.name](mpmath.mpf(float(number)))) for number in numbers])
    assert np.allclose(values(known, numbers), wanted, rtol=1e-14)
    store = TermStore()
    terms = store.inputs("X", F32, np.arange(len(numbers)))
    words = {"X": numbers.astype(np.float32).view(np.uint32).astype(np.uint64)}
    for make in (exact, approximate):
        made = np.array([make(store, known, int(term)) for term in terms], dtype=np.int32)
        got = Assignment(store, words).values(made).astype(np.uint32).view(np.float32)
        assert np.allclose(got, wanted, rtol=1e-6, atol=2e-6), make


@given(st.integers(-8, 8).filter(lambda each: each not in (0, 1)))
def test_a_power_is_known_by_its_value_at_two(exponent: int) -> None:
    (found,) = powers(float(np.float32(2.0**exponent)))
    assert np.allclose(values(found, np.array([3.0, -0.5])), np.array([3.0, -0.5]) ** exponent)


@given(st.sampled_from([0.5, 1.5, 3.5, -0.25, 2.2, 1 / 3, -2 / 3]))
def test_other_powers_are_of_magnitudes_or_of_positive_numbers(exponent: float) -> None:
    found = powers(float(np.float32(2.0**exponent)))
    assert len(found) == (3 if float(np.float32(exponent)) == exponent else 6)
    wanted = 3.0**exponent
    for of_magnitude, with_sign, of_positive in zip(*[iter(found)] * 3, strict=True):
        assert of_positive.least == 0 and np.allclose(values(of_positive, np.array([3.0])), wanted)
        assert np.allclose(values(of_magnitude, np.array([3.0, -3.0])), wanted)
        assert np.allclose(values(with_sign, np.array([3.0, -3.0])), [wanted, -wanted])


def test_what_is_no_power_of_a_plain_number_is_none() -> None:
    assert not any(powers(each) for each in (0.0, np.inf, 2.0, np.pi))
    assert exponential(np.inf) is None and exponential(0.123456789) is None
    found = exponential(10000.0)
    assert found is not None and values(found, np.array([0.5]))[0] == pytest.approx(100.0)
