"""A function of one element is called affine exactly where all its values are on a line, to the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mmaproof.refinement.terms.value_tables import Affine, _affine
from mmaproof.spec.float_encoding import decode, encode
from mmaproof.spec.formats import BF16, F16, F32, F64, S16, S32, U8, FloatFormat, Format, IntegerFormat
from mmaproof.spec.rounding import Rounding

ENCODINGS = np.arange(1 << 16, dtype=np.uint64)


def reals(fmt: Format, bits: np.ndarray) -> np.ndarray:
    if isinstance(fmt, FloatFormat):
        return decode(bits.astype(fmt.storage), fmt)
    assert isinstance(fmt, IntegerFormat)
    return bits.astype(np.int16 if fmt.signed else np.uint64).astype(np.float64)


def on_line(natural: Format, fmt: FloatFormat, slope: float, offset: float) -> np.ndarray:
    """Return encodings of what is on a line, rounded to the format."""
    with np.errstate(invalid="ignore", over="ignore"):
        line = slope * reals(natural, ENCODINGS) + offset
    return encode(line, fmt, Rounding.NEAREST_EVEN).astype(np.uint64)


LINES = [
    (F16, F32, 1.0, 0.0),
    (F16, F32, -(2.0**-20), 0.0),
    (F16, F64, 2.0**-400, 0.0),
    (F16, F64, 3.0, 2.0**-20),
    (F16, F64, 1 + 2.0**-30, 0.0),  # the products are exact, but float64 is not enough to see it at once
    (F16, F64, 2.0**-600, 0.0),
    (BF16, F32, 0.0, 5.0),
    (S16, F32, 0.5, 1024.0),
    (S16, F64, 2.0**900, 0.0),
]


@pytest.mark.sample(4)
@pytest.mark.parametrize(("natural", "fmt", "slope", "offset"), LINES)
def test_what_is_on_a_line_is_affine(natural: Format, fmt: FloatFormat, slope: float, offset: float) -> None:
    found = _affine(ENCODINGS, natural, on_line(natural, fmt, slope, offset), fmt)
    assert found == Affine(Fraction(slope), Fraction(offset))


@pytest.mark.sample(10)
@pytest.mark.parametrize(("natural", "fmt", "slope", "offset"), LINES)
@pytest.mark.parametrize("place", [1, 2, 1000, 30001, 0x7BFF])
def test_one_value_beside_the_line_is_noticed(
    natural: Format, fmt: FloatFormat, slope: float, offset: float, place: int
) -> None:
    values = on_line(natural, fmt, slope, offset)
    values[place] ^= 1
    assert _affine(ENCODINGS, natural, values, fmt) is None


@pytest.mark.parametrize("slope", [1.0, 2.0**-3])
def test_roundings_are_no_line(slope: float) -> None:
    """Sums that the format, or even float64, does not have are rounded by whoever computes them."""
    assert _affine(ENCODINGS, F16, on_line(F16, F32, slope, 1024.0), F32) is None
    assert _affine(ENCODINGS, F16, on_line(F16, F64, slope, 2.0**40), F64) is None


def test_infinities_and_wide_integers() -> None:
    assert _affine(ENCODINGS, F16, on_line(F16, F16, 2.0, 0.0), F16) is None  # overflows
    wide = (ENCODINGS * 65537) & 0xFFFFFFFF
    assert _affine(ENCODINGS, S16, wide, S32) is None
    eight = np.arange(256, dtype=np.uint64)
    assert _affine(eight, U8, eight, S32) == Affine(Fraction(1), Fraction(0))
