"""Block scaling: layouts and selectors against table 37, exact products, rows without scale factors."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.algebra import Operand
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import E2M1, E2M3, E3M2, E4M3, E5M2, UE4M3, UE8M0, FloatFormat
from mmaproof.spec.matrix_product import scaled, spread
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.block_scaling import SCALED, BlockScale, ScaleFactors, Selectors
from mmaproof.spec.ptx.catalogue import forms
from mmaproof.spec.ptx.choices import Choices
from mmaproof.spec.ptx.product import Matrices, product
from mmaproof.spec.ptx.resolution import Multiplication, multiplication
from mmaproof.spec.ptx.variant import Family

ALG = NumpyAlgebra()

TABLE_37 = {
    ("a", 1): ((0, 1, 2, 3), (0, 1)), ("b", 1): ((0, 1, 2, 3), (0, 1, 2, 3)),
    ("a", 2): ((0, 2), (0, 1)), ("b", 2): ((0, 2), (0, 1, 2, 3)),
    ("a", 4): ((0,), (0, 1)), ("b", 4): ((0,), (0, 1, 2, 3)),
}  # fmt: skip
"""Operand and vector size: byte_id, thread_id."""

KEYS = pytest.mark.parametrize(("operand", "size"), TABLE_37)


def lane_of(operand: str, line: int, thread_id: int) -> int:
    """Return the lane that supplies the factors of a row of A or a column of B (C.4)."""
    if operand == "b":
        return 4 * line + thread_id
    return 4 * (line % 8) + 2 * thread_id + line // 8


@KEYS
def test_legal_selectors_are_those_of_table_37(operand: str, size: int) -> None:
    byte_ids, thread_ids = TABLE_37[operand, size]
    block_scale = BlockScale(size, 64, UE8M0)
    for byte_id in range(-1, 6):
        for thread_id in range(-1, 6):
            selectors = Selectors(byte_id, thread_id)
            if byte_id in byte_ids and thread_id in thread_ids:
                block_scale.held(operand, selectors)
            else:
                name = "thread" if byte_id in byte_ids else "byte"
                with pytest.raises(
                    InputError, match=f"{name}-id-{operand} .* scale_vec::{size}X: allowed is"
                ):
                    block_scale.held(operand, selectors)


@KEYS
@given(data=st.data())
def test_factors_are_where_the_table_has_them(operand: str, size: int, data: st.DataObject) -> None:
    factors = ScaleFactors(operand, size)
    selectors = Selectors(*(data.draw(st.sampled_from(legal)) for legal in TABLE_37[operand, size]))
    lines = 16 if operand == "a" else 8
    numbers = data.draw(st.lists(st.integers(0, 255), min_size=lines * size, max_size=lines * size))
    by_line = np.array(numbers, dtype=np.uint8).reshape(lines, size)
    matrix = by_line if operand == "a" else by_line.T
    expected = [0] * 32
    for (line, chunk), number in np.ndenumerate(by_line):
        byte = selectors.byte_id + chunk
        lane = lane_of(operand, line, selectors.thread_id)
        assert factors.slot(line, chunk, selectors) == (lane, byte)
        expected[lane] |= int(number) << (8 * byte)
    held = BlockScale(size, 64, UE8M0).held(operand, selectors)
    registers = held.scatter(ALG, matrix)
    assert registers[:, 0].tolist() == expected
    assert np.array_equal(held.gather(ALG, registers), matrix)


@KEYS
@given(data=st.data())
def test_every_byte_is_read_under_one_selector_pair(operand: str, size: int, data: st.DataObject) -> None:
    words = data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=32, max_size=32))
    registers = np.array(words, dtype=np.uint32)[:, None]
    block_scale, back = BlockScale(size, 64, UE8M0), np.zeros_like(registers)
    for selectors in block_scale.factors(operand).selectors:
        held = block_scale.held(operand, selectors)
        written = held.scatter(ALG, held.gather(ALG, registers))
        assert not (back & written).any()
        back |= written
    assert np.array_equal(back, registers)


def test_elements_that_share_a_factor() -> None:
    table = {
        ("mma", "m16n8k32", 1): 32, ("mma", "m16n8k64", 2): 32, ("mma", "m16n8k64", 4): 16,
        ("mma.sp", "m16n8k64", 1): 64, ("mma.sp", "m16n8k128", 2): 64, ("mma.sp", "m16n8k128", 4): 32,
    }  # fmt: skip
    found = {}
    for instruction in SCALED_INSTRUCTIONS:
        block_scale = instruction.block_scale
        assert block_scale is not None
        family = instruction.variant.family.value
        found[family, str(instruction.shape), block_scale.vector] = block_scale.chunk
    assert found == table


def test_factors_are_spread_over_neighbours() -> None:
    assert spread(np.array([[1, 2]]), 3, 5).tolist() == [[1, 1, 1, 2, 2]]
    assert spread(np.array([[1, 2], [3, 4]]), 3, 6).tolist() == [[1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4]]


def test_the_unused_bit_of_ue4m3_is_refused_with_its_place() -> None:
    block_scale = BlockScale(4, 64, UE4M3)
    factors = np.full((3, 16, 4), 0x7F, dtype=np.uint8)
    block_scale.require_valid("a", factors)
    factors[2, 11, 3] = 0x80
    with pytest.raises(InputError, match="scale_a of row 11, chunk 3 is 0x80: ue4m3 has 7 bits"):
        block_scale.require_valid("a", factors)
    with pytest.raises(InputError, match="scale_b of column 5, chunk 1 is 0xff: ue4m3 has 7 bits"):
        columns = np.zeros((4, 8), dtype=np.uint8)
        columns[1, 5] = 0xFF
        block_scale.require_valid("b", columns)


PAIRS = [(fmt, UE8M0) for fmt in (E4M3, E5M2, E3M2, E2M3, E2M1)] + [(E2M1, UE4M3), (E4M3, UE4M3)]


def number(encoding: int, fmt: FloatFormat) -> Fraction | None:
    """Return the value of an encoding, None for what is not finite."""
    return fmt.exact(encoding & ((1 << fmt.magnitude_bits + fmt.signed) - 1))


@pytest.mark.parametrize(("element", "scale"), PAIRS, ids=[f"{a}-{b}" for a, b in PAIRS])
def test_scaled_elements_are_exact(element: FloatFormat, scale: FloatFormat) -> None:
    elements, factors = (np.arange(1 << fmt.bits, dtype=np.uint8) for fmt in (element, scale))
    outcome = scaled(ALG, Operand(elements[:, None], element), Operand(factors, scale), SCALED)
    assert outcome.format == SCALED
    xs, ys = [number(i, element) for i in elements.tolist()], [number(i, scale) for i in factors.tolist()]
    values = {int(bits): SCALED.exact(int(bits)) for bits in np.unique(outcome.bits)}
    for i, x in enumerate(xs):
        for y, bits in zip(ys, outcome.bits[i].tolist(), strict=True):
            assert values[bits] == (None if x is None or y is None else x * y)


@given(
    fmt=st.sampled_from([E4M3, E5M2, E3M2, E2M3, E2M1]),
    seed=st.integers(0, 1000),
    factor=st.integers(0, 254),
)
def test_a_power_of_two_commutes_with_the_product(fmt: FloatFormat, seed: int, factor: int) -> None:
    x, y = (
        Operand(bits.astype(np.uint8), fmt)
        for bits in np.random.default_rng(seed).integers(0, 1 << fmt.bits, (2, 64))
    )
    power = Operand(np.full(64, factor, dtype=np.uint8), UE8M0)

    def times(left: Operand, right: Operand) -> Operand:
        return scaled(ALG, left, right, SCALED)

    left, right = times(times(x, power), y), times(times(x, y), power)
    assert np.array_equal(left.bits, right.bits)
    assert np.array_equal(left.bits, times(x, times(y, power)).bits)


SCALED_INSTRUCTIONS = tuple(
    multiplication(variant)
    for family in (Family.MMA, Family.MMA_SP)
    for form in forms(family)
    if form.scale_type
    for variant in form.variants()
)


def random_operands(instruction: Multiplication, seed: int) -> Matrices:
    """Return operands of any encodings, with every scale factor 1."""
    assert instruction.block_scale is not None
    rng = np.random.default_rng(seed)
    (m, n, k), x = instruction.shape, instruction.block_scale.vector
    one = 0x38 if instruction.block_scale.format == UE4M3 else 0x7F
    metadata = None
    if instruction.sparsity is not None:
        legal = np.array(instruction.sparsity.legal_nibbles, dtype=np.uint8)
        metadata = rng.choice(legal, (m, instruction.sparsity.chunks))
    return Matrices(
        rng.integers(0, 1 << instruction.a.bits, (m, instruction.products), dtype=np.uint8),
        rng.integers(0, 1 << instruction.b.bits, (k, n), dtype=np.uint8),
        rng.normal(size=(m, n)).astype(np.float32).view(np.uint32),
        np.full((m, x), one, dtype=np.uint8),
        np.full((x, n), one, dtype=np.uint8),
        metadata,
    )


@pytest.mark.parametrize("accumulation", ["sequential", "blackwell"])
@given(
    instruction=st.sampled_from([i for i in SCALED_INSTRUCTIONS if i.variant.kind == "mxf8f6f4"]),
    seed=st.integers(0, 1000),
)
def test_factors_of_one_give_the_result_of_kind_f8f6f4(
    accumulation: str, instruction: Multiplication, seed: int
) -> None:
    operands = random_operands(instruction, seed)
    written = instruction.variant
    modifiers = replace(written, kind="f8f6f4", block_scale=False, scale_vec=None, types=written.types[:4])
    plain = multiplication(modifiers)
    assert plain.block_scale is None
    choices = Choices(accumulation)
    unscaled = product(ALG, plain, replace(operands, scale_a=None, scale_b=None), choices)
    assert np.array_equal(product(ALG, instruction, operands, choices), unscaled)
