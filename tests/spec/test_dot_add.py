"""Fused dot-adds, bit for bit against integer arithmetic on single encodings, and their properties."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import dot_add_reference as reference
import exact_arithmetic as exact
import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.spec.algebra import Operand, Product
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.errors import UnsupportedError
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
    TF32,
    UE4M3,
    UE8M0,
    Bits,
    FloatFormat,
)
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.rounding import Rounding

ALG = NumpyAlgebra()
ZERO, EVEN = Rounding.TOWARD_ZERO, Rounding.NEAREST_EVEN


@dataclass(frozen=True)
class Row:
    """A published model: K products in `steps` chained steps."""

    left: FloatFormat
    right: FloatFormat
    result: FloatFormat
    model: DotAddModel
    products: int
    steps: int = 1
    scale: FloatFormat | None = None
    scales: int = 1

    def __str__(self) -> str:
        scale = f"-{self.scales}{self.scale}" if self.scale else ""
        return f"{self.model}-{self.left}-{self.right}-k{self.products}{scale}-{self.result}"


def rows() -> list[Row]:
    """Every row of the published table, with each of its types and results."""
    table = []

    def add(pairs: list[tuple[FloatFormat, FloatFormat]], bits: int, products: int, **more: Any) -> None:
        for left, right in pairs:
            for result, rounding in ((F32, ZERO), (F16, EVEN)):
                if result is F32 or F16 in (left, right) or left.bits == 8:
                    kept = more.get("kept") if result is F32 else None
                    model = DotAddModel(bits, rounding, kept)
                    table.append(Row(left, right, result, model, products, more.get("steps", 1)))

    half, brain, tf = [(F16, F16)], [(BF16, BF16)], [(TF32, TF32)]
    fp8 = [(E4M3, E4M3), (E5M2, E4M3), (E5M2, E5M2)]
    add(half, 23, 4)  # Volta
    add(half, 24, 8)  # Turing
    add([*half, *brain], 24, 16, steps=2)  # Ampere, Ada
    add(tf, 24, 8, steps=2)
    add(fp8, 13, 32, steps=2, kept=13)  # Ada
    add([*half, *brain], 25, 16)  # Hopper, Blackwell
    add(tf, 25, 8)
    add([*fp8, (E3M2, E2M3), (E2M1, E5M2), (E2M1, E2M1)], 25, 32)
    for left, right in ((E4M3, E5M2), (E3M2, E2M3), (E2M1, E5M2)):  # mxf8f6f4
        table.append(Row(left, right, F32, DotAddModel(25, ZERO), 32, scale=UE8M0))
    fused_groups = DotAddModel(35, ZERO, group=16)
    table.append(Row(E2M1, E2M1, F32, fused_groups, 64, scale=UE8M0, scales=2))
    table.append(Row(E2M1, E2M1, F32, fused_groups, 64, scale=UE4M3, scales=4))
    table.append(Row(E2M1, E2M1, F32, fused_groups, 64, scale=UE8M0, scales=4))
    return table


ROWS = rows()
VECTORS = {row: 60_000 // row.products for row in ROWS}
HOPPER = DotAddModel(25, ZERO)


def chained(row: Row, left: Bits, right: Bits, addend: Bits, scales: tuple[Bits, Bits] | None) -> Bits:
    """Run the steps of an instruction, each on its part of K."""
    taken = row.products // row.steps
    total = Operand(addend, row.result)
    pair = None
    if scales is not None and row.scale is not None:
        pair = (Operand(scales[0], row.scale), Operand(scales[1], row.scale))
    for start in range(0, row.products, taken):
        part = slice(start, start + taken)
        x, y = Operand(left[..., part], row.left), Operand(right[..., part], row.right)
        total = Operand(ALG.dot_add(row.result, row.model, x, y, total, pair), row.result)
    return total.bits


def expected(row: Row, left: Any, right: Any, addend: int, scales: Any) -> int:
    taken = row.products // row.steps
    pair = None if scales is None else ((scales[0], row.scale), (scales[1], row.scale))
    for start in range(0, row.products, taken):
        part = slice(start, start + taken)
        x, y = (left[part], row.left), (right[part], row.right)
        addend = reference.dot_add(row.result, row.model, x, y, (addend, row.result), pair)
    return addend


def drawn(row: Row, vectors: int, seed: int) -> tuple[Bits, Bits, Bits, tuple[Bits, Bits] | None]:
    rng = np.random.default_rng(seed)
    left, right = (reference.factors(fmt, rng, vectors, row.products) for fmt in (row.left, row.right))
    left, right = reference.cancelling(left, right, row.left, rng)
    low, high = reference.exponent_range(row.left, row.right)
    scales = None
    if row.scale is not None:
        of_left, of_right = (reference.factors(row.scale, rng, vectors, row.scales) for _ in range(2))
        scales = of_left, of_right
    return left, right, reference.addends(row.result, rng, vectors, low - 4, high + 8), scales


def test_there_are_enough_vectors() -> None:
    assert sum(VECTORS.values()) >= 100_000


@pytest.mark.sample(12)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_published_model_is_its_exact_arithmetic(row: Row) -> None:
    left, right, addend, scales = drawn(row, VECTORS[row], seed=1)
    computed = chained(row, left, right, addend, scales)
    assert computed.dtype == row.result.storage
    columns = [left.tolist(), right.tolist(), addend.tolist()]
    pairs = [None] * len(left) if scales is None else list(zip(*(s.tolist() for s in scales), strict=True))
    wrong = [
        (f"{got:#x} not {want:#x}", *operands)
        for got, *operands in zip(computed.tolist(), *columns, pairs, strict=True)
        if got != (want := expected(row, *operands))
    ]
    assert not wrong, f"{len(wrong)} of {len(left)}, first {wrong[0]}"


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("result", [F16, F32], ids=str)
def test_every_direction_and_mixed_accumulators(result: FloatFormat, rounding: Rounding) -> None:
    rng = np.random.default_rng(2)
    left, right = (reference.factors(F16, rng, 600, 8) for _ in range(2))
    left, right = reference.cancelling(left, right, F16, rng)
    model = DotAddModel(24, rounding)
    for fmt in (F16, F32):
        addend = reference.addends(fmt, rng, 600, -30, 38)
        computed = dot_add(model, left, right, addend, result=result, addend_format=fmt)
        assert computed.tolist() == [
            reference.dot_add(result, model, (x, F16), (y, F16), (c, fmt))
            for x, y, c in zip(left.tolist(), right.tolist(), addend.tolist(), strict=True)
        ]


def dot_add(
    model: DotAddModel,
    left: Bits,
    right: Bits,
    addend: Bits,
    *,
    result: FloatFormat = F32,
    addend_format: FloatFormat = F32,
) -> Bits:
    """Run one step on f16 factors."""
    return ALG.dot_add(result, model, Operand(left, F16), Operand(right, F16), Operand(addend, addend_format))


def f16(*values: float) -> Bits:
    return np.array(values, dtype=np.float16).view(np.uint16)


def f32(*values: float) -> Bits:
    return np.array(values, dtype=np.float32).view(np.uint32)


def one(model: DotAddModel, left: Bits, right: Bits, addend: float, result: FloatFormat = F32) -> int:
    return int(dot_add(model, left, right, f32(addend)[0], result=result))


# -- the points that make it what it is


def test_terms_are_truncated_each_by_itself() -> None:
    tiny = f16(2.0**-12, 2.0**-12, 2.0**-12, 2.0**-12)
    assert one(DotAddModel(23, ZERO), tiny, tiny, 1.0) == f32(1)[0]
    assert one(DotAddModel(24, ZERO), tiny, tiny, 1.0) == f32(1 + 2.0**-22)[0]
    assert one(DotAddModel(24, ZERO), tiny, tiny, -1.0) == f32(-1 + 2.0**-22)[0]


def test_products_are_not_normalised() -> None:
    """1.5 * 1.5 counts with the exponent 0, not 1."""
    factors = f16(1.5, -1.5, 2.0**-12), f16(1.5, 1.5, 2.0**-12)
    assert one(DotAddModel(24, ZERO), *factors, 0) == f32(2.0**-24)[0]
    assert one(DotAddModel(23, ZERO), *factors, 0) == 0


def test_a_subnormal_has_the_exponent_of_the_least_normal() -> None:
    """2**-24 * 2**15 is aligned at -14 + 15: the addend's last bit is cut off with F = 23, kept with 24."""
    factors = f16(2.0**-24, 0), f16(2.0**15, 0)
    addend = 2.0**-23
    assert one(DotAddModel(23, ZERO), *factors, addend) == f32(2.0**-9)[0]
    assert one(DotAddModel(24, ZERO), *factors, addend) == f32(2.0**-9 + 2.0**-23)[0]


def test_a_zero_pushes_nothing_out() -> None:
    assert one(DotAddModel(10, ZERO), f16(0, 2.0**-14), f16(60000, 1), 0.0) == f32(2.0**-14)[0]
    assert one(DotAddModel(10, ZERO), f16(2.0**-20), f16(1), 0.0) == f32(2.0**-20)[0]


def test_overflow_is_an_infinity_toward_zero_too() -> None:
    largest = float(np.finfo(np.float32).max)
    big = np.full(2, TF32.largest << TF32.padding_bits, dtype=np.uint32)
    sign = np.uint32(TF32.sign_mask)
    for left, infinity in ((big, 0x7F800000), (big | sign, 0xFF800000)):
        computed = ALG.dot_add(F32, HOPPER, Operand(left, TF32), Operand(big, TF32), Operand(f32(0)[0], F32))
        assert computed == infinity
    assert one(HOPPER, f16(1), f16(1), largest) == f32(largest)[0]
    assert one(HOPPER, f16(65504.0), f16(1), 65504.0, result=F16) == 0x7C00
    assert one(HOPPER, f16(-65504.0), f16(1), -65504.0, result=F16) == 0xFC00


@pytest.mark.parametrize(("result", "nan"), [(F16, 0x7FFF), (F32, 0x7FFFFFFF)], ids=str)
def test_the_nan_has_every_magnitude_bit(result: FloatFormat, nan: int) -> None:
    inf = float("inf")
    assert one(HOPPER, f16(0), f16(inf), 0, result) == nan
    assert one(HOPPER, f16(1, -1), f16(inf, inf), 0, result) == nan
    assert one(HOPPER, f16(inf), f16(1), -inf, result) == nan
    assert one(HOPPER, np.array([0xFC01], dtype=np.uint16), f16(1), 0, result) == nan
    assert one(HOPPER, f16(-inf), f16(1), 0, result) == result.sign_mask | (result.infinity or 0)


def test_signs_of_zero() -> None:
    assert one(HOPPER, f16(-0.0), f16(1), -0.0) == 0
    assert one(HOPPER, f16(1), f16(-1), 1) == 0
    assert one(HOPPER, f16(-(2.0**-24)), f16(2.0**-24), 0.0, result=F16) == 0x8000


def test_signs_of_zero_by_the_other_reading() -> None:
    signed = replace(HOPPER, signed_zeros=True)
    assert one(signed, f16(-0.0), f16(1), -0.0) == 1 << 31
    assert one(signed, f16(1), f16(-1), 1) == 0
    assert one(signed, f16(-0.0), f16(1), 0.0) == 0
    below = replace(signed, zero_terms=True)  # cut off at the exponent that the zero's factor brings
    tiny = Operand(np.array([0x80000001], dtype=np.uint32), TF32), Operand(f32(1), TF32)
    assert ALG.dot_add(F32, below, *tiny, Operand(f32(-0.0)[0], F32)) == 1 << 31


def test_a_zero_product_with_the_exponents_of_its_factors() -> None:
    """0 * 2**127 has the exponent 1, or none; the addend is below what F = 10 leaves of 2."""
    zero, big = Operand(f32(0.0), TF32), Operand(f32(2.0**127), TF32)
    addend = Operand(f32(2.0**-12)[0], F32)
    ignored = DotAddModel(10, ZERO)
    assert ALG.dot_add(F32, ignored, zero, big, addend) == f32(2.0**-12)[0]
    assert ALG.dot_add(F32, replace(ignored, zero_terms=True), zero, big, addend) == 0


def test_a_zero_group_with_the_exponents_of_its_scale_factors() -> None:
    opposed = np.array([2, 2], dtype=np.uint8), np.array([2, 10], dtype=np.uint8)
    x, y = (Operand(each, E2M1) for each in opposed)
    pair: Product = (Operand(np.array([131], dtype=np.uint8), UE8M0),) * 2
    addend = Operand(f32(2.0**-12)[0], F32)
    ignored = DotAddModel(10, ZERO, group=2)
    assert ALG.dot_add(F32, ignored, x, y, addend, pair) == f32(2.0**-12)[0]
    assert ALG.dot_add(F32, replace(ignored, zero_terms=True), x, y, addend, pair) == 0


def test_ada_keeps_13_fraction_bits() -> None:
    model = DotAddModel(13, ZERO, 13)
    assert one(model, f16(1), f16(1), 2.0**-13) == f32(1 + 2.0**-13)[0]
    assert one(model, f16(1, 1), f16(1, 1), 2.0**-13) == f32(2)[0]


def test_groups_are_summed_before_they_are_aligned() -> None:
    """Two groups of 2 * 16: aligned one by one at the exponent of 2**10, halves would be lost."""
    half = np.full(32, 1, dtype=np.uint8)  # 0.5
    ones = Operand(np.full(2, 0x38, dtype=np.uint8), UE4M3)
    x, addend = Operand(half, E2M1), Operand(f32(2.0**10)[0], F32)
    for group, sum_of_products in ((16, 8), (1, 0)):
        model = DotAddModel(10, ZERO, group=group)
        computed = ALG.dot_add(F32, model, x, x, addend, (ones, ones))
        assert computed == f32(2.0**10 + sum_of_products)[0]


def test_the_padding_of_tf32_is_ignored() -> None:
    noise = Operand(f32(1) | np.uint32(0x1FFF), TF32)
    exactly_one, zero = Operand(f32(1), TF32), Operand(f32(0)[0], F32)
    assert ALG.dot_add(F32, HOPPER, noise, noise, zero) == ALG.dot_add(
        F32, HOPPER, exactly_one, exactly_one, zero
    )


# -- properties of every step

f16s = st.integers(0, 2**16 - 1)
f32s = st.sampled_from(exact.edge_encodings(F32)) | st.integers(0, 2**32 - 1)
pairs = st.lists(st.tuples(f16s, f16s), min_size=1, max_size=16)
models = st.builds(
    DotAddModel, st.integers(8, 40), st.sampled_from(Rounding), st.none() | st.integers(8, 10),
    zero_terms=st.booleans(), signed_zeros=st.booleans(), positive_underflow=st.booleans(),
)  # fmt: skip


def columns(terms: list[tuple[int, int]]) -> tuple[Bits, Bits]:
    left, right = zip(*terms, strict=True)
    return np.array(left, dtype=np.uint16), np.array(right, dtype=np.uint16)


@settings(max_examples=examples(300), deadline=None)
@given(pairs, f32s, models, st.sampled_from([F16, F32]))
def test_any_step(terms: list[tuple[int, int]], addend: int, model: DotAddModel, result: FloatFormat) -> None:
    left, right = columns(terms)
    computed = int(dot_add(model, left, right, np.uint32(addend), result=result))
    assert computed == reference.dot_add(
        result, model, (left.tolist(), F16), (right.tolist(), F16), (addend, F32)
    )


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), pairs, f32s, models)
def test_the_order_within_a_step_is_open(
    data: st.DataObject, terms: list[tuple[int, int]], addend: int, model: DotAddModel
) -> None:
    swapped = [(y, x) for x, y in data.draw(st.permutations(terms))]
    first, second = (dot_add(model, *columns(each), np.uint32(addend)) for each in (terms, swapped))
    assert first == second


small = st.integers(-32, 32)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(small, small), min_size=1, max_size=16), st.integers(-(2**18), 2**18), models)
def test_small_integers_are_exact(terms: list[tuple[int, int]], addend: int, model: DotAddModel) -> None:
    model = replace(model, fraction_bits=max(model.fraction_bits, 20), result_fraction_bits=None)
    left, right = (f16(*values) for values in zip(*terms, strict=True))
    total = sum(x * y for x, y in terms) + addend
    assert dot_add(model, left, right, f32(addend)[0]) == f32(total)[0]


positive = st.integers(0, F16.largest)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=16), st.integers(8, 35))
def test_more_fraction_bits_lose_no_more_of_positive_terms(terms: list[tuple[int, int]], bits: int) -> None:
    left, right = columns(terms)
    less, more = (dot_add(DotAddModel(f, ZERO), left, right, f32(0)[0]) for f in (bits, bits + 1))
    assert less <= more


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([row for row in ROWS if row.scale is UE8M0]), st.data())
def test_a_power_of_two_scales_the_products(seed: int, row: Row, data: st.DataObject) -> None:
    """Without an addend, while nothing underflows."""
    rng = np.random.default_rng(seed)
    x, y = (reference.factors(fmt, rng, 20, row.products) for fmt in (row.left, row.right))
    a, b = data.draw(st.integers(-20, 20)), data.draw(st.integers(-20, 20))

    def scaled(of_left: int, of_right: int) -> Bits:
        scales: Product = (
            Operand(np.full(row.scales, 127 + of_left, dtype=np.uint8), UE8M0),
            Operand(np.full(row.scales, 127 + of_right, dtype=np.uint8), UE8M0),
        )
        operands = Operand(x, row.left), Operand(y, row.right)
        return ALG.dot_add(F32, row.model, *operands, Operand(f32(0)[0], F32), scales)

    unscaled = scaled(0, 0).view(np.float32).astype(np.float64)
    assert np.array_equal(scaled(a, b).view(np.float32), unscaled * 2.0 ** (a + b), equal_nan=True)


# -- shapes


def test_operands_broadcast_and_blocks_do_not_show() -> None:
    rng = np.random.default_rng(3)
    left, right = reference.factors(F16, rng, 300 * 16, 16), reference.factors(F16, rng, 300 * 8, 16)
    addend = reference.addends(F32, rng, 300 * 128, -20, 20).reshape(300, 16, 8)
    left, right = left.reshape(300, 16, 1, 16), right.reshape(300, 1, 8, 16)
    together = dot_add(HOPPER, left, right, addend)
    assert together.shape == (300, 16, 8)
    for at in ((0, 0, 0), (150, 7, 3), (299, 15, 7)):
        n, i, j = at
        assert together[at] == dot_add(HOPPER, left[n, i, 0], right[n, 0, j], addend[at])
    alone = [dot_add(HOPPER, *operands) for operands in zip(left, right, addend, strict=True)]
    assert np.array_equal(together, np.stack(alone))
    assert dot_add(HOPPER, left[0, 0, 0], right[0, 0, 0], addend[0, 0, 0]).shape == ()


@pytest.mark.parametrize("count", [7, 40_000])
def test_one_row_of_factors_serves_any_number_of_addends(count: int) -> None:
    rng = np.random.default_rng(5)
    row = reference.factors(F16, rng, 1, 16).reshape(1, 1, 1, 16)
    addend = reference.addends(F32, rng, count * 8, -20, 20).reshape(count, 1, 8)
    wide = np.broadcast_to(row, (count, 1, 8, 16))
    expected = dot_add(HOPPER, wide, wide, addend)
    assert np.array_equal(dot_add(HOPPER, row, row, addend), expected)
    assert np.array_equal(dot_add(HOPPER, row, wide, addend), expected)


def test_each_scale_factor_serves_its_part_of_the_row() -> None:
    ones = np.full(64, 2, dtype=np.uint8)  # 1.0
    scales = np.array([127, 128, 129, 130], dtype=np.uint8)
    neutral = np.full(4, 127, dtype=np.uint8)
    model = DotAddModel(35, ZERO, group=16)
    x, zero = Operand(ones, E2M1), Operand(f32(0)[0], F32)
    for pair in ((scales, neutral), (neutral, scales)):
        factors: Product = (Operand(pair[0], UE8M0), Operand(pair[1], UE8M0))
        assert ALG.dot_add(F32, model, x, x, zero, factors) == f32(16 * (1 + 2 + 4 + 8))[0]


@pytest.mark.parametrize(
    ("result", "fmt", "model"),
    [(F64, F16, HOPPER), (BF16, BF16, HOPPER), (F32, F64, HOPPER), (F32, F16, DotAddModel(48, ZERO))],
    ids=str,
)
def test_what_is_not_exact_in_float64_is_refused(
    result: FloatFormat, fmt: FloatFormat, model: DotAddModel
) -> None:
    factor, zero = Operand(np.zeros(16, dtype=fmt.storage), fmt), Operand(f32(0)[0], F32)
    with pytest.raises(UnsupportedError, match=r"fused dot-add has an f16 or f32|more than float64 can sum"):
        ALG.dot_add(result, model, factor, factor, zero)


def test_groups_of_a_wide_format_are_refused() -> None:
    factor, zero = Operand(np.zeros(16, dtype=np.uint16), F16), Operand(f32(0)[0], F32)
    with pytest.raises(
        UnsupportedError, match=r"^dot_add_25_toward_zero_by_16 of 16 terms f16 \* f16 is more"
    ):
        ALG.dot_add(F32, replace(HOPPER, group=16), factor, factor, zero)
