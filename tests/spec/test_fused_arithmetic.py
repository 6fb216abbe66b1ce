"""Fused products and sums in every rounding direction, bit for bit against exact rational arithmetic."""

import exact_arithmetic as exact
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mmaproof.spec.algebra import Operand
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.float_encoding import round_significand
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
    Bits,
    FloatFormat,
)
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power.rank_k_update import SIGNIFICAND_24
from mmaproof.spec.rounding import Rounding

ALG = NumpyAlgebra()
FLOATS = [fmt for fmt in FORMATS.values() if isinstance(fmt, FloatFormat)]
BELOW_F64 = [fmt for fmt in FLOATS if fmt is not F64]


def check(result: FloatFormat, products: list[tuple[Operand, Operand]], addends: list[Operand]) -> None:
    """Compare `fused` with exact arithmetic on every element, in every direction."""
    computed = np.stack([ALG.fused(result, rounding, products, addends) for rounding in Rounding], axis=-1)
    operands = [operand for product in products for operand in product] + addends
    columns = [[(bits, operand.format) for bits in operand.bits.tolist()] for operand in operands]
    for row, (*terms,) in zip(computed.tolist(), zip(*columns, strict=True), strict=True):
        factors, rest = terms[: 2 * len(products)], terms[2 * len(products) :]
        pairs = list(zip(factors[::2], factors[1::2], strict=True))
        expected = exact.fused_in_every_direction(result, pairs, rest)
        assert row == expected, describe(result, terms, row, expected)


def describe(result: FloatFormat, terms: list[exact.EncodedTerm], row: list[int], expected: list[int]) -> str:
    operands = ", ".join(f"{fmt} {bits:#x}" for bits, fmt in terms)
    outcomes = (
        f"{r.name} {g:#x} not {e:#x}" for r, g, e in zip(Rounding, row, expected, strict=True) if g != e
    )
    return f"{operands} -> {result}: {', '.join(outcomes)}"


# result, x, y, addend; every operand combination that an instruction has, and formats at their own edges
MULTIPLY_ADDS = [
    (F16, F16, F16, F16),
    (F32, F16, F16, F32),
    (F32, BF16, BF16, F32),
    (F32, BF16, BF16, SIGNIFICAND_24),
    (SIGNIFICAND_24, BF16, BF16, SIGNIFICAND_24),
    (BF16, BF16, BF16, BF16),
    (F32, TF32, TF32, F32),
    (F32, F16, F16, F64),
    (TF32, TF32, TF32, TF32),
    (F32, E4M3, E5M2, F32),
    (F16, E5M2, E4M3, F16),
    (E4M3, E5M2, E4M3, E4M3),
    (E5M2, E5M2, E5M2, E5M2),
    (E3M2, E2M1, E2M3, E3M2),
    (F64, F32, BF16, F64),
    (UE4M3, UE8M0, UE4M3, UE4M3),
    (UE8M0, UE8M0, UE8M0, UE8M0),
]


def fma_operands(
    result: FloatFormat, x: FloatFormat, y: FloatFormat, a: FloatFormat, count: int
) -> tuple[Operand, Operand, Operand]:
    """Draw `count` cases: two thirds with bits that meet at a chosen distance, a third any and edges."""
    rng = np.random.default_rng(5)
    built = exact.fused_operands(x, y, a, result, rng=rng, count=count - count // 3)
    drawn = [exact.random_encodings(fmt, rng, count // 3) for fmt in (x, y, a)]
    bits: list[Bits] = [np.concatenate(pair) for pair in zip(built, drawn, strict=True)]
    return Operand(bits[0], x), Operand(bits[1], y), Operand(bits[2], a)


@pytest.mark.parametrize("count", [10_000, pytest.param(50_000, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("fmt", [F32, F64], ids=str)
def test_fused_multiply_add_of_many_operand_triples(fmt: FloatFormat, count: int) -> None:
    x, y, a = fma_operands(fmt, fmt, fmt, fmt, count)
    check(fmt, [(x, y)], [a])


@pytest.mark.parametrize("formats", MULTIPLY_ADDS, ids=lambda f: "-".join(map(str, f)))
def test_fused_multiply_add_of_mixed_formats(
    formats: tuple[FloatFormat, FloatFormat, FloatFormat, FloatFormat],
) -> None:
    x, y, a = fma_operands(*formats, count=2500)
    check(formats[0], [(x, y)], [a])


@pytest.mark.parametrize("fmt", FLOATS, ids=str)
def test_every_edge_with_every_edge(fmt: FloatFormat) -> None:
    edges = np.array(exact.edge_encodings(fmt), dtype=fmt.storage)
    left, right = (Operand(grid.ravel(), fmt) for grid in np.meshgrid(edges, edges))
    check(fmt, [(left, right)], [])
    check(fmt, [], [left, right])


@pytest.mark.parametrize("fmt", [BF16, E4M3, F32, F64], ids=str)
def test_fused_multiply_add_of_every_third_edge(fmt: FloatFormat) -> None:
    edges = exact.edge_encodings(fmt)[::3]
    grids = np.meshgrid(*[np.array(edges, dtype=fmt.storage)] * 3)
    x, y, a = (Operand(grid.ravel(), fmt) for grid in grids)
    check(fmt, [(x, y)], [a])


@pytest.mark.parametrize("result", [F32, F16, SIGNIFICAND_24], ids=str)
@pytest.mark.parametrize("fmt", [F16, BF16, E4M3, E5M2], ids=str)
def test_sum_of_two_products(fmt: FloatFormat, result: FloatFormat) -> None:
    x, y, _ = fma_operands(result, fmt, fmt, result, 2000)
    rng = np.random.default_rng(6)
    other_x = Operand(rng.permutation(x.bits), fmt)
    other_y = Operand(np.where(rng.random(2000) < 0.5, y.bits ^ fmt.storage.type(fmt.sign_mask), y.bits), fmt)
    check(result, [(x, y), (other_x, y)], [])
    check(result, [(x, y), (x, other_y)], [])


@pytest.mark.parametrize("result", [*FLOATS, SIGNIFICAND_24], ids=str)
@pytest.mark.parametrize("fmt", [F16, F32, F64, TF32, E4M3, SIGNIFICAND_24], ids=str)
def test_conversion(fmt: FloatFormat, result: FloatFormat) -> None:
    rng = np.random.default_rng(7)
    near, _, _ = exact.fused_operands(fmt, fmt, result, result, rng=rng, count=300)
    check(result, [], [Operand(np.concatenate([near, exact.random_encodings(fmt, rng, 300)]), fmt)])


def single(fmt: FloatFormat, encoding: int) -> Operand:
    return Operand(np.array([encoding], dtype=fmt.storage), fmt)


def test_a_sum_that_rounding_twice_would_break() -> None:
    """2**-24 (1 - 2**-46) + 1 + 2**-23 lies below a tie of f32 by less than float64 can hold."""
    product = single(F32, 0x3F7FFFFE), single(F32, 0x33800001)
    result = ALG.fused(F32, Rounding.NEAREST_EVEN, [product], [single(F32, 0x3F800001)])
    assert result.tolist() == [0x3F800001]


@pytest.mark.parametrize(
    ("left", "right", "downward", "otherwise"),
    [(0, 0, 0, 0), (1, 1, 1, 1), (0, 1, 1, 0), (1, 0, 1, 0)],
)
@pytest.mark.parametrize("fmt", [F16, BF16, F32, F64], ids=str)
def test_the_sign_of_an_exact_zero(
    fmt: FloatFormat, left: int, right: int, downward: int, otherwise: int
) -> None:
    """IEEE 754-2019 section 6.3: like signs are kept, unlike ones give +0, but -0 when rounding down."""
    one = fmt.bias << fmt.fraction_bits
    for rounding in Rounding:
        sign = fmt.sign_mask * (downward if rounding is Rounding.DOWNWARD else otherwise)
        zeros = [single(fmt, fmt.sign_mask * negative) for negative in (left, right)]
        assert ALG.fused(fmt, rounding, addends=zeros).tolist() == [sign]
        assert ALG.fused(fmt, rounding, [(single(fmt, one), zeros[0])], zeros[1:]).tolist() == [sign]
        if left != right:
            ones = [single(fmt, one | fmt.sign_mask * negative) for negative in (left, right)]
            assert ALG.fused(fmt, rounding, addends=ones).tolist() == [sign]


@pytest.mark.parametrize("fmt", [F16, BF16, F32, F64, E5M2], ids=str)
def test_an_infinite_addend_outweighs_a_product_that_would_overflow(fmt: FloatFormat) -> None:
    largest, infinity = single(fmt, fmt.largest), (fmt.infinity or 0) | fmt.sign_mask
    for rounding in Rounding:
        result = ALG.fused(fmt, rounding, [(largest, largest)], [single(fmt, infinity)])
        assert result.tolist() == [infinity]


def encodings(fmt: FloatFormat) -> st.SearchStrategy[int]:
    occupied = fmt.magnitude_bits + fmt.padding_bits + fmt.signed
    return st.one_of(st.sampled_from(exact.edge_encodings(fmt)), st.integers(0, (1 << occupied) - 1))


@given(st.data())
def test_any_operation_on_any_formats(data: st.DataObject) -> None:
    result = data.draw(st.sampled_from(FLOATS))
    formats = st.sampled_from(FLOATS if result is F64 else BELOW_F64)
    products = st.integers(0, 1 if result is F64 else 2)
    factors = [data.draw(formats) for _ in range(2 * data.draw(products))]
    pairs = [
        (single(x, data.draw(encodings(x))), single(y, data.draw(encodings(y))))
        for x, y in zip(factors[::2], factors[1::2], strict=True)
    ]
    count = data.draw(st.integers(0 if pairs else 1, 2 - len(pairs)))
    addends = [single(fmt, data.draw(encodings(fmt))) for fmt in (data.draw(formats) for _ in range(count))]
    check(result, pairs, addends)


@given(x=encodings(F64), y=encodings(F64), shift=st.integers(-60, 60), rounding=st.sampled_from(Rounding))
def test_a_product_less_its_rounding_is_its_rounding_error(
    x: int, y: int, shift: int, rounding: Rounding
) -> None:
    """Massive cancellation: ``x * y - round(x * y)``, moved by a few units so that it is not always exact."""
    rounded = int(ALG.fused(F64, rounding, [(single(F64, x), single(F64, y))])[0])
    moved = min(max((rounded ^ F64.sign_mask) + shift, 0), (1 << 64) - 1)
    check(F64, [(single(F64, x), single(F64, y))], [single(F64, moved)])


@pytest.mark.parametrize("fmt", [F32, F64, F16], ids=str)
@pytest.mark.parametrize(
    "shapes",
    [
        ((), (), ()),
        ((3,), (), (3,)),
        ((), (), (5,)),
        ((2, 1), (1, 3), (2, 3)),
        ((700, 4, 1), (700, 1, 4), (700, 4, 4)),
        ((1, 4, 1), (3000, 1, 4), (4, 4)),
        ((9000,), (1,), ()),
        ((2, 9000), (2, 1), (9000,)),
        ((0, 4, 1), (0, 1, 4), (0, 4, 4)),
    ],
    ids=str,
)
def test_operands_broadcast(fmt: FloatFormat, shapes: tuple[tuple[int, ...], ...]) -> None:
    rng = np.random.default_rng(8)
    arrays = [
        exact.random_encodings(fmt, rng, int(np.prod(shape, dtype=int))).reshape(shape) for shape in shapes
    ]
    x, y, a = (Operand(bits, fmt) for bits in arrays)
    flat = [Operand(bits.ravel(), fmt) for bits in np.broadcast_arrays(*arrays)]
    for rounding in (Rounding.NEAREST_EVEN, Rounding.DOWNWARD):
        result = ALG.fused(fmt, rounding, [(x, y)], [a])
        assert result.dtype == fmt.storage
        assert result.shape == np.broadcast_shapes(*shapes)
        # one row of a wide operand at a time, so that no block boundary is the same
        assert np.array_equal(
            result.ravel(),
            np.concatenate(
                [
                    ALG.fused(
                        fmt,
                        rounding,
                        [tuple(Operand(o.bits[start : start + 999], fmt) for o in flat[:2])],
                        [Operand(flat[2].bits[start : start + 999], fmt)],
                    )
                    for start in range(0, max(1, result.size), 999)
                ]
            ),
        )


@given(
    significand=st.one_of(st.integers(0, 2**62 - 1), st.integers(0, 61).map(lambda place: 1 << place)),
    exponent=st.integers(-5000, 5000),
    negative=st.booleans(),
    fmt=st.sampled_from([*FLOATS, SIGNIFICAND_24]),
)
@example(significand=2**62 - 1, exponent=F32.quantum - 62, negative=False, fmt=F32)
@example(significand=2**62 - 1, exponent=F32.quantum - 63, negative=True, fmt=F32)
@example(significand=2**62 - 1, exponent=F32.quantum - 64, negative=False, fmt=F32)
@example(significand=2**62 - 1, exponent=F32.quantum - 65, negative=True, fmt=F32)
@example(significand=2**62 - 1, exponent=-62, negative=True, fmt=F64)
@example(significand=2**56 - 1, exponent=4100, negative=True, fmt=F64)
@example(significand=1, exponent=-1300, negative=True, fmt=F64)
@example(significand=0, exponent=1100, negative=True, fmt=F16)
def test_rounding_an_integer_significand(
    significand: int, exponent: int, negative: bool, fmt: FloatFormat
) -> None:
    value = significand * exact.power_of_two(exponent) * (-1 if negative else 1)
    for rounding in Rounding:
        encoded = round_significand(
            np.array([negative]), np.array([significand], np.uint64), np.array([exponent]), fmt, rounding
        )
        assert int(encoded[0]) == exact.round_exact(value, fmt, rounding, negative)


def test_what_is_not_supported_is_refused() -> None:
    half, wide, double = single(F16, 0), single(F32, 0), single(F64, 0)
    nearest = Rounding.NEAREST_EVEN
    with pytest.raises(UnsupportedError, match=r"^a fused sum takes one or two terms, not 0$"):
        ALG.fused(F32, nearest)
    with pytest.raises(UnsupportedError, match=r"^a fused sum takes one or two terms, not 3$"):
        ALG.fused(F32, nearest, [(half, half), (half, half)], [wide])
    with pytest.raises(UnsupportedError, match=r"^f64 \* f16 rounded to f32 is not supported$"):
        ALG.fused(F32, nearest, [(double, half)])
    with pytest.raises(UnsupportedError, match=r"^f64 \+ f64 rounded to f32 is not supported$"):
        ALG.fused(F32, nearest, [], [double, double])
    with pytest.raises(UnsupportedError, match=r"^a fused sum of two products in f64 is not supported$"):
        ALG.fused(F64, nearest, [(double, double), (double, double)])
