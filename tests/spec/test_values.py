"""Numbers become encodings only when the format represents them exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import FORMATS, FloatFormat, Format, IntegerFormat, format_named
from mmaproof.spec.values import checked_encodings, encodings_of_values, values_of_encodings

INTEGERS = [fmt for fmt in FORMATS.values() if isinstance(fmt, IntegerFormat)]
FLOATS = [fmt for fmt in FORMATS.values() if isinstance(fmt, FloatFormat)]
BY_NAME = FORMATS.values()


def canonical(bits: np.ndarray, fmt: Format) -> np.ndarray:
    """Tell which encodings are the only one of a number."""
    if isinstance(fmt, IntegerFormat):
        return np.ones(bits.shape, dtype=bool)
    unused = bits & ~np.array(fmt.sign_mask | (1 << fmt.magnitude_bits) - 1 << fmt.padding_bits, bits.dtype)
    return (unused == 0) & np.array([fmt.exact(int(b)) is not None for b in bits])


@pytest.mark.parametrize("fmt", [f for f in BY_NAME if f.bits <= 16], ids=str)
def test_every_number_of_a_format_survives_the_way_through_values(fmt: Format) -> None:
    bits = np.arange(1 << fmt.bits, dtype=fmt.storage)
    bits = bits[canonical(bits, fmt)]
    np.testing.assert_array_equal(encodings_of_values("x", values_of_encodings(bits, fmt), fmt), bits)


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_an_array_of_the_formats_own_type_keeps_every_bit(name: str) -> None:
    fmt = format_named(name)
    rng = np.random.default_rng(3)
    bits = rng.integers(0, np.iinfo(fmt.storage).max, 4096, dtype=fmt.storage, endpoint=True)
    np.testing.assert_array_equal(encodings_of_values("x", values_of_encodings(bits, fmt), fmt), bits)


@given(st.sampled_from(INTEGERS), st.integers(-(2**63), 2**64 - 1))
def test_an_integer_is_taken_exactly_when_it_is_in_range(fmt: IntegerFormat, value: int) -> None:
    array = np.array(value, dtype=np.int64 if value < 2**63 else np.uint64)
    if fmt.minimum <= value <= fmt.maximum:
        assert int(encodings_of_values("x", array, fmt)) == value % (1 << fmt.bits)
    else:
        with pytest.raises(InputError, match=f"x = {value} is not exactly representable in {fmt}"):
            encodings_of_values("x", array, fmt)


def representable(value: int, fmt: FloatFormat) -> bool:
    odd = abs(value)
    while odd and odd % 2 == 0:
        odd //= 2
    largest = fmt.exact(fmt.largest << fmt.padding_bits)
    assert largest is not None
    return odd < 1 << fmt.precision and abs(value) <= largest


@example(format_named("f64"), 2**64 - 1024)
@example(format_named("f64"), -(2**63))
@given(
    st.sampled_from([f for f in FLOATS if f.signed]),
    st.integers(-(2**63), 2**64 - 1)
    | st.integers(-(2**12), 2**12)
    | st.integers(0, 63).map(lambda e: 1 << e),
)
def test_an_integer_is_a_float_exactly_when_its_significand_fits(fmt: FloatFormat, value: int) -> None:
    array = np.array([value], dtype=np.int64 if value < 2**63 else np.uint64)
    if representable(value, fmt):
        assert fmt.exact(int(encodings_of_values("x", array, fmt)[0])) == value
    else:
        with pytest.raises(InputError, match=r"x\[0\] = .* is not exactly representable"):
            encodings_of_values("x", array, fmt)


@pytest.mark.parametrize(
    ("value", "name"),
    [(0.1, "f32"), (1e6, "f16"), (1.5, "s8"), (-1.0, "u8"), (np.nan, "s8"), (np.inf, "e4m3"),
     (2.0**-200, "f32"), (np.nan, "e2m1"), (np.inf, "s32"), (-1.0, "ue4m3"), (1 + 2.0**-8, "bf16")],
)  # fmt: skip
def test_other_numbers_are_refused(value: float, name: str) -> None:
    with pytest.raises(InputError, match=f"not exactly representable in {name}"):
        encodings_of_values("x", np.array([[1.0, value]]), format_named(name))


@pytest.mark.parametrize(
    ("number", "kind", "name"),
    [(np.inf, "f2", "s32"), (-np.inf, "f2", "s64"), (np.inf, "f2", "u16"), (2.0**63, "f8", "s64"),
     (2.0**64, "f4", "u64"), (2.0**31, "f4", "s32")],
)  # fmt: skip
def test_limits_are_not_rounded_to_the_type_of_the_numbers(number: float, kind: str, name: str) -> None:
    with pytest.raises(InputError, match=f"not exactly representable in {name}"):
        encodings_of_values("x", np.array([1.0, number], dtype=kind), format_named(name))


def test_signs_of_zeros_and_infinities_are_kept() -> None:
    bits = encodings_of_values("x", np.array([0.0, -0.0, np.inf, -np.inf, np.nan]), FORMATS["f32"])
    assert [f"{b:08x}" for b in bits] == ["00000000", "80000000", "7f800000", "ff800000", "7fc00000"]


@pytest.mark.parametrize("array", [np.array(["1"]), np.array([1j]), np.array([True]), np.zeros(1, "V2")])
def test_what_is_no_real_number_is_refused(array: np.ndarray) -> None:
    with pytest.raises(InputError, match="x has dtype"):
        encodings_of_values("x", array, FORMATS["f32"])


def test_byte_order_does_not_matter() -> None:
    values = np.array([1.5, -2.0])
    for dtype in (">f4", "<f4", ">f8", "<f8"):
        bits = encodings_of_values("x", values.astype(dtype), FORMATS["f32"])
        np.testing.assert_array_equal(bits, values.astype(np.float32).view(np.uint32))


def test_encodings_are_unsigned_and_no_wider_than_the_format() -> None:
    assert checked_encodings("x_bits", np.array([15], dtype=np.uint64), FORMATS["s4"]).dtype == np.uint8
    with pytest.raises(InputError, match=r"x_bits\[1\] = 0x10 is wider than the 4 bits of s4"):
        checked_encodings("x_bits", np.array([15, 16], dtype=np.uint8), FORMATS["s4"])
    with pytest.raises(InputError, match="x_bits has dtype int64"):
        checked_encodings("x_bits", np.array([1]), FORMATS["s4"])
