"""NumpyAlgebra's integers, registers, signs and NaNs; its arithmetic is in test_fused_arithmetic."""

import exact_arithmetic as exact
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.algebra import Algebra, Operand
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.formats import (
    B1,
    BF16,
    E2M1,
    E3M2,
    F16,
    F32,
    F64,
    FORMATS,
    S4,
    S8,
    S16,
    S32,
    S64,
    U4,
    U8,
    U16,
    U32,
    U64,
    FloatFormat,
    Format,
    IntegerFormat,
)
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power.rank_k_update import SIGNIFICAND_24

ALG = NumpyAlgebra()
EXACT_INTEGERS = [S4, U4, S8, U8, S16, U16, S32, U32, S64]
FLOATS = [fmt for fmt in FORMATS.values() if isinstance(fmt, FloatFormat)]
int64s = st.integers(-(2**63), 2**63 - 1)


def operand(fmt: FloatFormat, *encodings: int) -> Operand:
    return Operand(np.array(encodings, dtype=fmt.storage), fmt)


def test_it_is_an_algebra() -> None:
    algebra: Algebra = ALG
    assert algebra.constant(5, S4).dtype == np.uint8


# -- integers


@pytest.mark.parametrize("fmt", EXACT_INTEGERS, ids=str)
@given(data=st.data())
def test_integer_and_wrap_are_inverse(fmt: IntegerFormat, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(fmt.minimum, fmt.maximum), min_size=1))
    encoded = ALG.wrap(np.array(values, dtype=np.int64), fmt)
    assert encoded.dtype == fmt.storage
    assert encoded.tolist() == [value % 2**fmt.bits for value in values]
    assert ALG.integer(encoded, fmt).tolist() == values


@pytest.mark.parametrize("fmt", [*EXACT_INTEGERS, U64, B1], ids=str)
@given(value=int64s)
def test_wrap_saturate_and_in_range_of_any_exact_integer(fmt: IntegerFormat, value: int) -> None:
    number = ALG.whole(value)
    clamped = min(max(value, fmt.minimum), fmt.maximum)
    assert int(ALG.wrap(number, fmt)) == value % 2**fmt.bits
    assert int(ALG.saturate(number, fmt)) == clamped % 2**fmt.bits
    assert bool(ALG.in_range(number, fmt)) == (clamped == value)


@pytest.mark.parametrize("fmt", [S4, U4, S8, U8, S16, U16, S32, U32], ids=str)
def test_the_ends_of_integer_formats(fmt: IntegerFormat) -> None:
    low, high = fmt.minimum, fmt.maximum
    value = np.array([low - 1, low, high, high + 1])
    assert ALG.in_range(value, fmt).tolist() == [False, True, True, False]
    assert ALG.integer(ALG.saturate(value, fmt), fmt).tolist() == [low, low, high, high]
    assert ALG.integer(ALG.wrap(value, fmt), fmt).tolist() == [high, low, high, low]


def test_u64_has_no_exact_integers_here() -> None:
    with pytest.raises(UnsupportedError, match=r"^exact integers are int64 here, which can't hold u64$"):
        ALG.integer(np.array([0], dtype=np.uint64), U64)


@given(value=st.integers(-(2**31), 2**31 - 1))
def test_whole_is_the_integer_of_its_encoding(value: int) -> None:
    assert ALG.same(ALG.whole(value), ALG.integer(ALG.constant(value % 2**32, S32), S32))


# -- registers


@pytest.mark.parametrize("fmt", [B1, U4, S8, BF16, F32, F64], ids=str)
@given(data=st.binary(min_size=16, max_size=16))
def test_unpack_reads_most_significant_first(fmt: Format, data: bytes) -> None:
    number = int.from_bytes(data, "big")
    count = 128 // fmt.bits
    places = range(128 - fmt.bits, -1, -fmt.bits)
    elements = ALG.unpack(np.frombuffer(data, dtype=np.uint8), fmt)
    assert elements.dtype == fmt.storage
    assert elements.shape == (count,)
    assert elements.tolist() == [(number >> place) % 2**fmt.bits for place in places]
    assert ALG.pack(elements, fmt).tobytes() == data


@pytest.mark.parametrize("fmt", [B1, S4, U8, F16, F32, F64], ids=str)
def test_registers_keep_batch_axes(fmt: Format) -> None:
    rng = np.random.default_rng(3)
    data = rng.integers(0, 256, (3, 5, 16), dtype=np.uint8)
    elements = ALG.unpack(data, fmt)
    assert elements.shape == (3, 5, 128 // fmt.bits)
    assert np.array_equal(elements[2, 4], ALG.unpack(data[2, 4], fmt))
    assert np.array_equal(ALG.pack(elements, fmt), data)
    strided = np.moveaxis(np.ascontiguousarray(np.moveaxis(elements, 0, -1)), -1, 0)
    assert np.array_equal(ALG.pack(strided, fmt), data)


@pytest.mark.parametrize("fmt", [E3M2, SIGNIFICAND_24], ids=str)
def test_elements_that_do_not_fill_bytes_are_refused(fmt: Format) -> None:
    message = rf"^{fmt} elements do not fill whole bytes$"
    with pytest.raises(UnsupportedError, match=message):
        ALG.unpack(np.zeros(16, dtype=np.uint8), fmt)
    with pytest.raises(UnsupportedError, match=message):
        ALG.pack(np.zeros(16, dtype=fmt.storage), fmt)


@given(immediate=st.integers(0, 255), count=st.integers(1, 8))
def test_flags_come_most_significant_first(immediate: int, count: int) -> None:
    flags = ALG.flags(immediate, count)
    expected = [digit == "1" for digit in f"{immediate % 2**count:0{count}b}"]
    assert flags.tolist() == expected
    assert ALG.flags([immediate, 0], count).tolist() == [expected, [False] * count]


def test_where_broadcasts() -> None:
    chosen = ALG.where(ALG.flags(0b10, 2), np.uint8([[1], [2]]), ALG.constant(9, S8))
    assert chosen.tolist() == [[1, 9], [2, 9]]
    assert chosen.dtype == np.uint8


# -- fields of words


FIELDS = [
    (B1, list(range(32)), U32),
    (U4, [0, 4, 8, 12, 16, 20, 24, 28], U32),
    (U8, [8], U16),
    (E3M2, [0, 8, 16, 24], U32),
    (E2M1, [2, 10, 18, 26], U32),
    (F16, [0, 16], U32),
    (F32, [0, 32], U64),
    (U64, [0], U64),
]


@pytest.mark.parametrize(("fmt", "positions", "word"), FIELDS, ids=str)
@given(data=st.data())
def test_words_hold_their_fields_and_nothing_else(
    fmt: Format, positions: list[int], word: Format, data: st.DataObject
) -> None:
    fields = data.draw(
        st.lists(st.integers(0, 2**fmt.bits - 1), min_size=len(positions), max_size=len(positions))
    )
    array = np.array(fields, dtype=fmt.storage)
    words = ALG.assemble(array, fmt, positions, word)
    assert words.dtype == word.storage
    assert int(words) == sum(field << low for field, low in zip(fields, positions, strict=True))
    for field, low in zip(fields, positions, strict=True):
        extracted = ALG.extract(words, low, fmt)
        assert extracted.dtype == fmt.storage
        assert int(extracted) == field


def test_fields_keep_batch_axes() -> None:
    words = np.arange(6, dtype=np.uint32).reshape(2, 3) * 0x01010101
    fields = np.stack([ALG.extract(words, low, U8) for low in (0, 8, 16, 24)], axis=-1)
    assert fields.shape == (2, 3, 4)
    assert np.array_equal(ALG.assemble(fields, U8, [0, 8, 16, 24], U32), words)


# -- arbitrary functions


def test_an_arbitrary_function_is_one_function_that_tells_its_arguments_apart() -> None:
    rng = np.random.default_rng(5)
    left = rng.integers(0, 16, (16, 1, 128), dtype=np.uint8)
    right = rng.integers(0, 16, (1, 8, 128), dtype=np.uint8)
    last = rng.integers(0, 2**32, (16, 8, 1), dtype=np.uint32)
    arguments = [(left, S4), (right, S4), (last, S32)]
    values = ALG.arbitrary("open", arguments, S32)
    assert values.shape == (16, 8)
    assert values.dtype == np.uint32
    assert np.array_equal(values, ALG.arbitrary("open", arguments, S32))
    assert values[3, 5] == ALG.arbitrary("open", [(left[3], S4), (right[:, 5], S4), (last[3, 5], S32)], S32)
    assert len(set(values.flat)) == values.size
    for other in (
        ALG.arbitrary("other", arguments, S32),
        ALG.arbitrary("open", [(left[..., ::-1], S4), (right, S4), (last, S32)], S32),
        ALG.arbitrary("open", [(left, S4), (right, S4), (last ^ np.uint32(1 << 31), S32)], S32),
        ALG.arbitrary("open", [(left ^ np.uint8(1), S4), (right, S4), (last, S32)], S32),
    ):
        assert not (values == other).any()


@pytest.mark.parametrize("result", [B1, S4, U8, E3M2, F16, F32, U64], ids=str)
def test_an_arbitrary_function_takes_every_value(result: Format) -> None:
    arguments = np.arange(4096, dtype=np.uint16)[:, None]
    values = ALG.arbitrary("open", [(arguments, U16)], result)
    assert values.dtype == result.storage
    assert len(set(values.tolist())) >= min(2**result.bits, 3900)
    assert int(values.max()).bit_length() == result.bits


# -- signs and NaNs


@pytest.mark.parametrize("fmt", FLOATS, ids=str)
def test_classes_agree_with_exact_arithmetic(fmt: FloatFormat) -> None:
    encodings = (
        exact.edge_encodings(fmt) + exact.random_encodings(fmt, np.random.default_rng(4), 500).tolist()
    )
    numbers = [exact.decode(encoding, fmt) for encoding in encodings]
    values = operand(fmt, *encodings)
    assert ALG.is_nan(values).tolist() == [n.nan for n in numbers]
    assert ALG.is_infinite(values).tolist() == [not n.finite and not n.nan for n in numbers]
    assert ALG.is_zero(values).tolist() == [n.magnitude == 0 for n in numbers]


@pytest.mark.parametrize("fmt", [fmt for fmt in FLOATS if fmt.signed], ids=str)
def test_negation_flips_every_sign_but_a_nan_s(fmt: FloatFormat) -> None:
    encodings = exact.edge_encodings(fmt)
    negated = ALG.negate(operand(fmt, *encodings))
    assert negated.dtype == fmt.storage
    assert negated.tolist() == [e if exact.decode(e, fmt).nan else e ^ fmt.sign_mask for e in encodings]


def test_negation_of_nans() -> None:
    values = operand(F32, 0x7F800001, 0xFFC00000, 0x7F800000, 0)
    assert ALG.negate(values).tolist() == [0x7F800001, 0xFFC00000, 0xFF800000, 0x80000000]


def test_equality_as_numbers() -> None:
    left = operand(F32, 0x00000000, 0x7FC00000, 0x7F800001, 0x3F800000, 0x7F800000, 0x3F800000)
    right = operand(F32, 0x80000000, 0xFFC01234, 0x7FC00000, 0x3F800000, 0xFF800000, 0x7FC00000)
    assert ALG.ieee_equal(left, right).tolist() == [True, True, True, True, False, False]
    assert ALG.same(left.bits, right.bits).tolist() == [False, False, False, True, False, False]
    assert ALG.ieee_equal(operand(BF16, 0x3F80), operand(F16, 0x3C00)).tolist() == [True]


NAN = 0x7FC00000


def propagated(*operands: Operand, outcome: int = NAN, fmt: FloatFormat = F32) -> int:
    return int(ALG.propagate_nan(operand(fmt, outcome), operands)[0])


def test_the_first_nan_operand_wins() -> None:
    one, first, second = operand(F32, 0x3F800000), operand(F32, 0x7FC00011), operand(F32, 0xFFC00022)
    assert propagated(one, first, second) == 0x7FC00011
    assert propagated(second, one, first) == 0xFFC00022
    assert propagated(one, one) == NAN


def test_a_nan_is_made_quiet_and_keeps_sign_and_payload() -> None:
    assert propagated(operand(F32, 0x7F800001)) == 0x7FC00001
    assert propagated(operand(F32, 0xFF801234)) == 0xFFC01234
    assert propagated(operand(F64, 0xFFF0000000000001), outcome=0x7FF8 << 48, fmt=F64) == 0xFFF8000000000001


def test_a_narrow_nan_is_widened_with_its_payload_left_aligned() -> None:
    assert propagated(operand(F16, 0x7C01)) == 0x7FC02000
    assert propagated(operand(BF16, 0x7FC1)) == 0x7FC10000
    assert propagated(operand(BF16, 0xFF81)) == 0xFFC10000
    wide = ALG.propagate_nan(
        operand(SIGNIFICAND_24, SIGNIFICAND_24.default_nan or 0), [operand(BF16, 0xFF81)]
    )
    assert propagated(Operand(wide, SIGNIFICAND_24)) == 0xFFC10000


def test_a_wide_nan_keeps_the_leading_bits_of_its_payload() -> None:
    assert propagated(operand(F32, 0xFF802000), outcome=0x7E00, fmt=F16) == 0xFE01


@given(st.data())
def test_each_element_is_propagated_by_itself(data: st.DataObject) -> None:
    edges = st.sampled_from(exact.edge_encodings(F32))
    rows = data.draw(st.lists(st.tuples(edges, edges, edges), min_size=1, max_size=8))
    outcome, first, second = (operand(F32, *column) for column in zip(*rows, strict=True))
    together = ALG.propagate_nan(outcome, [first, second])
    alone = [
        propagated(operand(F32, left), operand(F32, right), outcome=encoding)
        for encoding, left, right in rows
    ]
    assert together.tolist() == alone
    for encoding, (before, _, _) in zip(alone, rows, strict=True):
        assert exact.decode(before, F32).nan or encoding == before


def test_propagation_broadcasts() -> None:
    outcome = Operand(np.full((2, 3), NAN, dtype=np.uint32), F32)
    columns = operand(F32, 0, 0x7F800001, 0)
    rows = Operand(np.array([[0], [0xFFC00002]], dtype=np.uint32), F32)
    expected = [[NAN, 0x7FC00001, NAN], [0xFFC00002, 0x7FC00001, 0xFFC00002]]
    assert ALG.propagate_nan(outcome, [columns, rows]).tolist() == expected
    scalar = ALG.propagate_nan(
        Operand(ALG.constant(NAN, F32), F32), [Operand(ALG.constant(0x7F800005, F32), F32)]
    )
    assert scalar.shape == ()
    assert int(scalar) == 0x7FC00005
