"""Quotients and square roots in every direction, beside exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.float_encoding import decode
from mmaproof.spec.float_quotients import quotient, square_root
from mmaproof.spec.formats import F16, F32, F64, FloatFormat
from mmaproof.spec.rounding import Rounding

FORMATS = (F16, F32, F64)


def _values(fmt: FloatFormat) -> st.SearchStrategy[float]:
    width = {F16: 16, F32: 32, F64: 64}[fmt]
    return st.floats(width=width, allow_nan=False, allow_infinity=False)


def _is_rounded(bits: int, fmt: FloatFormat, exact: Fraction, rounding: Rounding) -> bool:
    """Tell whether an encoding of a finite magnitude is that of a positive number, rounded."""

    def value(encoding: int) -> Fraction:
        return Fraction(2) ** 2200 if encoding > fmt.largest else fmt.exact(encoding) or Fraction(0)

    own = value(bits)
    below, above = value(max(0, bits - 1)), value(bits + 1)
    if own == exact:
        return True
    match rounding:
        case Rounding.TOWARD_ZERO | Rounding.DOWNWARD:
            return own < exact < above
        case Rounding.UPWARD:
            return below < exact < own
    return abs(own - exact) <= min(abs(below - exact), abs(above - exact))


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@given(data=st.data())
def test_quotients_of_magnitudes(fmt: FloatFormat, rounding: Rounding, data: st.DataObject) -> None:
    x, y = (abs(data.draw(_values(fmt))) or 1.0 for _ in range(2))
    (bits,) = quotient(np.array([x]), np.array([y]), fmt, rounding).tolist()
    if bits <= fmt.largest:
        assert _is_rounded(bits, fmt, Fraction(x) / Fraction(y), rounding)
    else:
        assert Fraction(x) / Fraction(y) > (fmt.exact(fmt.largest) or 0)
        assert rounding in (Rounding.NEAREST_EVEN, Rounding.UPWARD)
    (mirrored,) = quotient(np.array([-x]), np.array([y]), fmt, rounding.mirrored).tolist()
    assert mirrored == bits | fmt.sign_mask


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@given(data=st.data())
def test_square_roots(fmt: FloatFormat, rounding: Rounding, data: st.DataObject) -> None:
    x = abs(data.draw(_values(fmt))) or 2.0
    (bits,) = square_root(np.array([x]), fmt, rounding).tolist()
    own, exact = fmt.exact(bits), Fraction(x)
    assert own is not None
    above, below = fmt.exact(bits + 1) or Fraction(0), fmt.exact(bits - 1) or Fraction(0)
    match rounding:
        case Rounding.TOWARD_ZERO | Rounding.DOWNWARD:
            assert own**2 <= exact < above**2
        case Rounding.UPWARD:
            assert below**2 < exact <= own**2
        case _:
            assert ((own + below) / 2) ** 2 <= exact <= ((own + above) / 2) ** 2


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_special_arguments(fmt: FloatFormat, rounding: Rounding) -> None:
    x = np.array([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.0, math.inf])
    y = np.array([1.0, 1.0, 0.0, 0.0, 2.0, 2.0, 1.0, 0.0, math.inf])
    found = decode(quotient(x, y, fmt, rounding), fmt)
    np.testing.assert_array_equal(
        found, [0.0, -0.0, math.inf, -math.inf, math.inf, -math.inf, *[math.nan] * 3]
    )
    assert np.signbit(found[1])
    roots = decode(square_root(np.array([0.0, -0.0, -1.0, math.inf, math.nan]), fmt, rounding), fmt)
    np.testing.assert_array_equal(roots, [0.0, -0.0, math.nan, math.inf, math.nan])
    assert np.signbit(roots[1])
