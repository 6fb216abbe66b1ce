"""The format table: published facts, ml_dtypes and numpy, exact rationals, over every encoding."""

from fractions import Fraction

import exact_arithmetic as exact
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError
from mmaproof.spec.float_encoding import decode, encode, is_nan, rounded
from mmaproof.spec.formats import (
    BF16,
    E2M1,
    E2M3,
    E3M2,
    E4M3,
    E5M2,
    F16,
    F32,
    F64,
    FORMATS,
    TF32,
    UE4M3,
    UE8M0,
    FloatFormat,
    IntegerFormat,
    Special,
    format_named,
    numpy_type,
)
from mmaproof.spec.power.rank_k_update import SIGNIFICAND_24
from mmaproof.spec.rounding import Rounding

FLOATS = [fmt for fmt in FORMATS.values() if isinstance(fmt, FloatFormat)]
SMALL = [fmt for fmt in FLOATS if fmt.bits <= 16]
WITH_ML_DTYPES = [fmt for fmt in SMALL if fmt is not UE4M3]
INTEGERS = [fmt for fmt in FORMATS.values() if isinstance(fmt, IntegerFormat)]


def encodings(fmt: FloatFormat) -> np.ndarray:
    """Return every encoding of a small format; of ue4m3 those whose unused bit is zero."""
    return np.arange(1 << (fmt.magnitude_bits + fmt.signed), dtype=fmt.storage)


def two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


# One row for each format, from its standard: sign, exponent and fraction bits, bias, NaN codes, infinities,
# largest, least normal, least subnormal. The IEEE-like wide formats give their codes as ranges.
FACTS = {
    F16: ((1, 5, 10), 15, {*range(0x7C01, 0x8000), *range(0xFC01, 0x10000)}, {0x7C00, 0xFC00},
          65504, two(-14), two(-24)),
    BF16: ((1, 8, 7), 127, {*range(0x7F81, 0x8000), *range(0xFF81, 0x10000)}, {0x7F80, 0xFF80},
           (2 - two(-7)) * two(127), two(-126), two(-133)),
    E4M3: ((1, 4, 3), 7, {0x7F, 0xFF}, set(), 448, two(-6), two(-9)),
    E5M2: ((1, 5, 2), 15, {0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF}, {0x7C, 0xFC}, 57344, two(-14), two(-16)),
    E3M2: ((1, 3, 2), 3, set(), set(), 28, two(-2), two(-4)),
    E2M3: ((1, 2, 3), 1, set(), set(), Fraction("7.5"), 1, two(-3)),
    E2M1: ((1, 2, 1), 1, set(), set(), 6, 1, Fraction("0.5")),
    UE8M0: ((0, 8, 0), 127, {0xFF}, set(), two(127), two(-127), None),
    UE4M3: ((0, 4, 3), 7, {0x7F}, set(), 448, two(-6), two(-9)),
}  # fmt: skip


@pytest.mark.parametrize("fmt", FACTS, ids=str)
def test_published_facts(fmt: FloatFormat) -> None:
    fields, bias, nans, infinities, largest, least_normal, least_subnormal = FACTS[fmt]
    assert (int(fmt.signed), fmt.exponent_bits, fmt.fraction_bits) == fields
    assert fmt.bias == bias
    every = encodings(fmt)
    assert set(every[is_nan(every, fmt)].tolist()) == nans
    assert set(every[np.isinf(decode(every, fmt))].tolist()) == infinities
    assert fmt.exact(fmt.largest) == largest == max(filter(None, map(fmt.exact, every.tolist())))
    assert two(fmt.minimum_exponent) == least_normal
    assert two(fmt.maximum_exponent) <= largest < two(fmt.maximum_exponent + 1)
    assert fmt.exact(fmt.subnormals << fmt.fraction_bits) == least_normal
    assert fmt.exact(1) == (least_normal * 2 if least_subnormal is None else least_subnormal)
    assert fmt.exact(0) == (least_normal if least_subnormal is None else 0)
    assert two(fmt.quantum) == (least_normal if least_subnormal is None else least_subnormal)


def test_published_facts_of_wide_formats() -> None:
    assert F32.exact(F32.largest) == (2 - two(-23)) * two(127)
    assert F64.exact(F64.largest) == (2 - two(-52)) * two(1023)
    assert TF32.exact(TF32.largest << 13) == (2 - two(-10)) * two(127)
    assert TF32.exact(1 << 13) == two(-136)
    assert (F32.infinity, F32.default_nan) == (0x7F800000, 0x7FC00000)
    assert (F64.infinity, F64.default_nan) == (0x7FF0000000000000, 0x7FF8000000000000)
    assert SIGNIFICAND_24.exact(1 << 34 | 1023 << 23 | 1) == -(1 + two(-23))


def test_tf32_ignores_its_padding() -> None:
    bits = np.array([0x3F800000, 0x3F801FFF, 0x3F802000, 0x7F800001, 0xFF801FFF, 0x7F802000], dtype=np.uint32)
    assert decode(bits, TF32)[:3].tolist() == [1.0, 1.0, 1 + 2**-10]
    assert np.isinf(decode(bits, TF32)).tolist() == [False] * 3 + [True] * 2 + [False]
    assert is_nan(bits, TF32).tolist() == [False] * 5 + [True]
    assert [TF32.exact(int(b)) for b in bits[:2]] == [1, 1]


def test_ue4m3_ignores_its_unused_bit() -> None:
    assert decode(np.uint8([0x38, 0xB8]), UE4M3).tolist() == [1.0, 1.0]
    assert UE4M3.exact(0xB8) == 1
    assert is_nan(np.uint8([0x7F, 0xFF]), UE4M3).all()


@pytest.mark.parametrize("fmt", WITH_ML_DTYPES, ids=str)
def test_every_encoding_has_the_value_numpy_gives_it(fmt: FloatFormat) -> None:
    every = encodings(fmt)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        values = every.view(numpy_type(fmt)).astype(np.float64)
    assert np.array_equal(decode(every, fmt), values, equal_nan=True)
    assert np.array_equal(np.signbit(decode(every, fmt)), np.signbit(values))
    assert np.array_equal(is_nan(every, fmt), np.isnan(values))
    expected = [Fraction(v) if np.isfinite(v) else None for v in values.tolist()]
    assert [fmt.exact(e) for e in every.tolist()] == expected


@pytest.mark.parametrize("fmt", [*SMALL, F32, F64, TF32, SIGNIFICAND_24], ids=str)
def test_decoding_agrees_with_exact_rationals(fmt: FloatFormat) -> None:
    rng = np.random.default_rng(1)
    every = encodings(fmt) if fmt.bits <= 16 else exact.random_encodings(fmt, rng, 4000)
    values = decode(every, fmt)
    for encoding, value in zip(every.tolist(), values.tolist(), strict=True):
        number = exact.decode(encoding, fmt)
        assert number.nan == np.isnan(value)
        assert fmt.exact(encoding) == (number.value if number.finite else None)
        if number.finite:
            assert (number.value, number.negative) == (Fraction(value), np.signbit(value))
        elif not number.nan:
            assert value == (-np.inf if number.negative else np.inf)


@pytest.mark.parametrize("rounding", Rounding, ids=lambda r: r.name)
@pytest.mark.parametrize("fmt", SMALL, ids=str)
def test_encoding_inverts_decoding(fmt: FloatFormat, rounding: Rounding) -> None:
    every = encodings(fmt)
    default = np.where(is_nan(every, fmt), fmt.default_nan or 0, every)
    assert np.array_equal(encode(decode(every, fmt), fmt, rounding), default)


@pytest.mark.parametrize("fmt", SMALL, ids=str)
def test_rounding_between_every_two_neighbours(fmt: FloatFormat) -> None:
    """Encodings are ordered as magnitudes: the result is one of two adjacent integers, the even one in a tie.

    ue8m0 has no fraction to be even: a tie goes to the greater magnitude (IEEE 754-2019 section 4.3.1).
    """
    low = np.arange(fmt.largest, dtype=np.uint64)
    high = low + np.uint64(1)
    middle = (decode(low.astype(fmt.storage), fmt) + decode(high.astype(fmt.storage), fmt)) / 2
    even = np.where((low % 2 == 0) & (fmt.fraction_bits > 0), low, high)
    for negative in (False, True) if fmt.signed else (False,):
        sign = np.uint64(fmt.sign_mask * negative)
        for point, nearest in (
            (np.nextafter(middle, 0), low),
            (middle, even),
            (np.nextafter(middle, np.inf), high),
        ):
            value = -point if negative else point
            expected = {
                Rounding.NEAREST_EVEN: nearest,
                Rounding.TOWARD_ZERO: low,
                Rounding.UPWARD: low if negative else high,
                Rounding.DOWNWARD: high if negative else low,
            }
            for rounding, magnitude in expected.items():
                assert np.array_equal(encode(value, fmt, rounding), magnitude | sign)


@st.composite
def numbers_near(draw: st.DrawFn, fmt: FloatFormat) -> float:
    """Draw a float64 at, between or just off the edges of a format, or beyond them."""
    edges = [v for e in exact.edge_encodings(fmt) if (v := exact.decode(e, fmt)).finite]
    left = float(draw(st.sampled_from(edges)).value)
    place = draw(st.sampled_from(["at", "halfway", "beyond", "anywhere"]))
    match place:
        case "halfway":
            left *= 1 + draw(st.sampled_from([1, 3, -1])) * 2.0 ** -(fmt.precision + 1)
        case "beyond":
            left *= draw(st.sampled_from([2.0, 2.0**-1, 2.0**10, 2.0**-30]))
        case "anywhere":
            left *= draw(st.floats(0.5, 2))
    return float(draw(st.sampled_from([left, np.nextafter(left, 0), np.nextafter(left, np.inf)])))


@pytest.mark.parametrize("fmt", [*SMALL, F32, TF32], ids=str)
@given(data=st.data())
def test_encoding_agrees_with_exact_rationals(fmt: FloatFormat, data: st.DataObject) -> None:
    value = data.draw(numbers_near(fmt))
    for rounding in Rounding:
        encoded = encode(np.array([value]), fmt, rounding)
        expected = exact.round_exact(Fraction(value), fmt, rounding, bool(np.signbit(value)))
        assert int(encoded[0]) == expected, (value.hex(), rounding)


@pytest.mark.parametrize("fmt", WITH_ML_DTYPES, ids=str)
def test_nearest_even_agrees_with_ml_dtypes(fmt: FloatFormat) -> None:
    """On float32 numbers: from float64, ml_dtypes 0.6 rounds twice, by way of float32."""
    finite = np.unique(decode(encodings(fmt), fmt))
    finite = finite[np.isfinite(finite)]
    ties = (finite[1:] + finite[:-1]) / 2
    rng = np.random.default_rng(2)
    anything = decode(rng.integers(0, 1 << 32, 20000, dtype=np.uint32), F32)
    value = np.concatenate([finite, ties, ties * (1 + 2.0**-22), ties * (1 - 2.0**-22), 2 * finite, anything])
    with np.errstate(over="ignore", invalid="ignore"):
        single = value.astype(np.float32)
        theirs = single.astype(numpy_type(fmt)).view(fmt.storage)
    ours = encode(single.astype(np.float64), fmt, Rounding.NEAREST_EVEN)
    nan = np.isnan(single)
    # ml_dtypes 0.6 takes 1.25 * 2**-127, a float32 subnormal, to 2**-126 instead of ue8m0's 2**-127
    compared = ~nan & (np.abs(single) >= np.finfo(np.float32).tiny) if fmt is UE8M0 else ~nan
    assert np.array_equal(ours[compared], theirs[compared])
    # a NaN has no encoding here; ml_dtypes takes -0, PTX cvt.satfinite and mmaproof the largest number
    assert (ours[nan] == (fmt.largest if fmt.special is Special.FINITE else fmt.default_nan)).all()


OVERFLOWS = {  # round(2 * largest), -2 * largest, ±infinity, NaN
    E5M2: (0x7C, 0xFC, 0x7C, 0xFC, 0x7E),
    E4M3: (0x7F, 0xFF, 0x7F, 0xFF, 0x7F),
    E2M1: (0x07, 0x0F, 0x07, 0x0F, 0x07),
    UE4M3: (0x7F, 0x7F, 0x7F, 0x7F, 0x7F),
    UE8M0: (0xFF, 0xFF, 0xFF, 0xFF, 0xFF),
}


@pytest.mark.parametrize("fmt", OVERFLOWS, ids=str)
def test_what_stands_for_overflow_and_nan(fmt: FloatFormat) -> None:
    beyond = 2 * float(fmt.exact(fmt.largest) or 0)
    value = np.array([beyond, -beyond, np.inf, -np.inf, np.nan])
    assert tuple(encode(value, fmt, Rounding.NEAREST_EVEN).tolist()) == OVERFLOWS[fmt]


@pytest.mark.parametrize("fmt", [fmt for fmt in SMALL if fmt.signed], ids=str)
def test_directed_overflow_stops_at_the_largest_number_on_the_inner_side(fmt: FloatFormat) -> None:
    beyond = np.array([2.0**130, -(2.0**130)])
    inner = np.array([fmt.largest, fmt.largest | fmt.sign_mask])
    outer = encode(np.array([np.inf, -np.inf]), fmt, Rounding.NEAREST_EVEN)
    assert np.array_equal(encode(beyond, fmt, Rounding.TOWARD_ZERO), inner)
    assert np.array_equal(encode(beyond, fmt, Rounding.UPWARD), [outer[0], inner[1]])
    assert np.array_equal(encode(beyond, fmt, Rounding.DOWNWARD), [inner[0], outer[1]])


def test_unsigned_formats_have_no_negative_numbers_and_ue8m0_no_zero() -> None:
    value = np.array([-1.0, -(2.0**-40), 0.0, -0.0])
    assert encode(value, UE4M3, Rounding.NEAREST_EVEN).tolist() == [0x7F, 0x7F, 0, 0]
    assert encode(value, UE8M0, Rounding.NEAREST_EVEN).tolist() == [0xFF] * 4
    assert encode(np.array([2.0**-128, 2.0**-140]), UE8M0, Rounding.TOWARD_ZERO).tolist() == [0, 0]


@pytest.mark.parametrize("fmt", INTEGERS, ids=str)
def test_integer_formats(fmt: IntegerFormat) -> None:
    assert fmt.maximum - fmt.minimum == 2**fmt.bits - 1
    assert fmt.minimum == (-(2 ** (fmt.bits - 1)) if fmt.signed else 0)
    assert fmt.storage.itemsize * 8 >= fmt.bits
    carrier = numpy_type(fmt)
    ends = np.array([fmt.minimum, fmt.maximum], dtype=object).astype(carrier)
    assert ends.astype(object).tolist() == [fmt.minimum, fmt.maximum]


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=str)
def test_formats_are_found_by_name(fmt: FloatFormat | IntegerFormat) -> None:
    assert format_named(fmt.name) is fmt
    assert str(fmt) == fmt.name


def test_long_integer_names() -> None:
    assert [format_named(name).name for name in ("int8", "uint4", "int64")] == ["s8", "u4", "s64"]


def test_unknown_format_is_one_clear_line() -> None:
    with pytest.raises(InputError, match=r"^unknown format 'f17'; known: b1, s2, .*, ue4m3$"):
        format_named("f17")


@pytest.mark.parametrize("fmt", [TF32, UE4M3, SIGNIFICAND_24], ids=str)
def test_formats_without_a_numpy_type(fmt: FloatFormat) -> None:
    with pytest.raises(InputError, match=rf"^{fmt} has no numpy type; these have: f16, bf16, "):
        numpy_type(fmt)


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("fmt", FLOATS, ids=str)
def test_what_is_rounded_is_the_value_of_what_is_encoded(fmt: FloatFormat, rounding: Rounding) -> None:
    words = np.random.default_rng(5).integers(0, 1 << 64, 2000, dtype=np.uint64)
    codes = (words >> np.uint64(64 - fmt.bits)).astype(fmt.storage)
    values = np.concatenate([words.view(np.float64), decode(codes, fmt)])
    values = values[np.isfinite(values)]
    if fmt is F64:
        np.testing.assert_array_equal(rounded(values, fmt, rounding), values)
    np.testing.assert_array_equal(rounded(values, fmt, rounding), decode(encode(values, fmt, rounding), fmt))


@pytest.mark.parametrize("fmt", [BF16, E5M2], ids=str)
def test_a_single_infinity_is_encoded_as_one_of_many(fmt: FloatFormat) -> None:
    """A scalar of numpy takes no assignment."""
    infinity = np.float64(np.inf)
    assert (
        encode(infinity, fmt, Rounding.NEAREST_EVEN)
        == encode(np.array([infinity]), fmt, Rounding.NEAREST_EVEN)[0]
    )
