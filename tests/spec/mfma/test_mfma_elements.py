"""The FNUZ formats against ml_dtypes, over every encoding, in numpy and in Z3."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import z3

from mmaproof.smt.float_terms import decoded, is_nan
from mmaproof.spec import float_encoding
from mmaproof.spec.float_encoding import decode, encode
from mmaproof.spec.formats import F64, FloatFormat
from mmaproof.spec.mfma.targets import E4M3FNUZ, E5M2FNUZ
from mmaproof.spec.rounding import Rounding

FORMATS = {E4M3FNUZ: ml_dtypes.float8_e4m3fnuz, E5M2FNUZ: ml_dtypes.float8_e5m2fnuz}
EVERY = np.arange(256, dtype=np.uint8)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_every_encoding_has_the_value_ml_dtypes_gives_it(fmt: FloatFormat) -> None:
    values = EVERY.view(FORMATS[fmt]).astype(np.float64)
    assert np.array_equal(decode(EVERY, fmt), values, equal_nan=True)
    assert np.array_equal(float_encoding.is_nan(EVERY, fmt), np.isnan(values))
    assert not np.signbit(values[0]) and np.isnan(values).tolist() == [code == 0x80 for code in range(256)]
    assert [fmt.exact(code) for code in range(256)] == [
        None if np.isnan(v) else Fraction(v) for v in values.tolist()
    ]


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_nearest_even_agrees_with_ml_dtypes(fmt: FloatFormat) -> None:
    finite = np.unique(decode(EVERY, fmt)[decode(EVERY, fmt) == decode(EVERY, fmt)])
    ties = (finite[1:] + finite[:-1]) / 2
    least = float(fmt.exact(1) or 0)
    value = np.concatenate(
        [finite, ties, ties * 1.001, ties * 0.999, 4 * finite, [-0.0, least / 4, -least / 4]]
    )
    single = np.concatenate([value, [np.inf, -np.inf, np.nan]]).astype(np.float32)
    theirs = single.astype(FORMATS[fmt]).view(np.uint8)
    assert np.array_equal(encode(single.astype(np.float64), fmt, Rounding.NEAREST_EVEN), theirs)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_z3_decodes_every_encoding_as_numpy_does(fmt: FloatFormat) -> None:
    wrong = []
    for code, value in zip(range(256), decode(EVERY, fmt).tolist(), strict=True):
        bits = z3.BitVecVal(code, 8)
        term = decoded(bits, fmt, z3.Float64())
        claim = z3.And(
            is_nan(bits, fmt) == z3.BoolVal(np.isnan(value)),
            z3.fpToIEEEBV(term) == np.float64(value).view(np.uint64).item()
            if not np.isnan(value)
            else z3.fpIsNaN(term),
        )
        if not z3.is_true(z3.simplify(claim)):
            wrong.append((code, value))
    assert not wrong
    assert F64.contains(fmt)
