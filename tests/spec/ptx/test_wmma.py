"""The memory operand of wmma: strides, fragment sizes, addresses, checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import FORMATS, Format
from mmaproof.spec.ptx.variant import Family, Shape, Variant
from mmaproof.spec.ptx.wmma import MemoryOperand, memory_operand, memory_operands
from mmaproof.spec.ptx.wmma_forms import WMMA_FORMS

OPERANDS = {str(operand): operand for operand in memory_operands()}

DEFAULT_STRIDES = {
    "m16n16k16": (16, 16, 16, 16, 16, 16),
    "m8n32k16": (16, 8, 32, 16, 32, 8),
    "m32n8k16": (16, 32, 8, 16, 8, 32),
    "m8n8k32": (32, None, None, 32, 8, 8),
    "m8n8k128": (128, None, None, 128, 8, 8),
    "m16n16k8": (8, 16, 16, 8, 16, 16),
    "m8n8k4": (4, 8, 8, 4, 8, 8),
}
"""Table C.9: A row, A col, B row, B col, C row, C col."""

REGISTERS = {
    ("m16n16k16", "f16"): (8, 8), ("m8n32k16", "f16"): (8, 8), ("m32n8k16", "f16"): (8, 8),
    ("m16n16k16", "bf16"): (4, 4), ("m8n32k16", "bf16"): (2, 8), ("m32n8k16", "bf16"): (8, 2),
    ("m16n16k8", "tf32"): (4, 4), ("m16n16k16", "s8"): (2, 2), ("m8n32k16", "u8"): (1, 4),
    ("m32n8k16", "s8"): (4, 1),
    ("m8n8k32", "s4"): (1, 1), ("m8n8k128", "b1"): (1, 1), ("m8n8k4", "f64"): (1, 1),
}  # fmt: skip
"""Table A.5: A and B."""

ACCUMULATORS = {
    ("m16n16k16", "f16"): 4, ("m8n32k16", "f32"): 8, ("m32n8k16", "s32"): 8, ("m16n16k8", "f32"): 8,
    ("m8n8k32", "s32"): 2, ("m8n8k128", "s32"): 2, ("m8n8k4", "f64"): 2,
}  # fmt: skip


def test_default_strides_are_those_of_the_table() -> None:
    found = {shape: [None] * 6 for shape in DEFAULT_STRIDES}
    for operand in OPERANDS.values():
        column = 2 * "abc".find(operand.role.replace("d", "c")) + (operand.layout == "col")
        known: Any = found[str(operand.shape)]
        assert known[column] in (None, operand.minimum_stride)
        known[column] = operand.minimum_stride
    assert {shape: tuple(strides) for shape, strides in found.items()} == DEFAULT_STRIDES


def fragment_bytes(shape: str, role: str, element: str) -> set[int]:
    return {
        operand.fragment_bytes
        for operand in OPERANDS.values()
        if (str(operand.shape), operand.role, operand.format.name) == (shape, role, element)
    }


def test_fragments_have_the_registers_of_the_table() -> None:
    for (shape, element), counts in REGISTERS.items():
        size = 8 if element == "f64" else 4
        for role, count in zip("ab", counts, strict=True):
            assert fragment_bytes(shape, role, element) == {size * count}
    for (shape, element), count in ACCUMULATORS.items():
        for role in "cd":
            assert fragment_bytes(shape, role, element) == {(8 if element == "f64" else 4) * count}


def test_every_load_and_store_has_an_operand() -> None:
    moves = [
        variant
        for form in WMMA_FORMS
        for variant in form.variants()
        if variant.family in (Family.WMMA_LOAD, Family.WMMA_STORE)
    ]
    assert {str(memory_operand(variant)) for variant in moves} == set(OPERANDS)


@st.composite
def transfers(draw: st.DrawFn) -> tuple[MemoryOperand, int, int, int]:
    """An operand, and a pointer, stride and seed that its rules allow."""
    operand = OPERANDS[draw(st.sampled_from(sorted(OPERANDS)))]
    unit = max(1, 8 * operand.fragment_bytes // operand.format.bits)
    least = -(-operand.minimum_stride // unit)
    stride = unit * draw(st.integers(least, least + 4))
    pointer = operand.fragment_bytes * draw(st.integers(0, 3))
    return operand, pointer, stride, draw(st.integers(0, 2**32))


def plain_element(memory: Any, bit: int, fmt: Format) -> int:
    """Bits of memory as one little-endian number."""
    return int.from_bytes(memory.tobytes(), "little") >> bit & ((1 << fmt.bits) - 1)


@given(transfers())
def test_elements_are_where_layout_and_stride_put_them(case: Any) -> None:
    operand, pointer, stride, seed = case
    generator = np.random.default_rng(seed)
    memory = generator.integers(0, 256, pointer + operand.span(stride) + 5, dtype=np.uint8)
    matrix = operand.load(memory, pointer, stride)
    assert matrix.shape == operand.extents
    for row, column in generator.integers(0, operand.extents, (8, 2)).tolist():
        place = row * stride + column if operand.layout == "row" else column * stride + row
        bit = 8 * pointer + place * operand.format.bits
        assert matrix[row, column] == plain_element(memory, bit, operand.format)
        byte, low = operand.address(pointer, row, column, stride)
        assert 8 * byte + low == bit


@given(transfers())
def test_a_store_writes_the_matrix_and_nothing_else(case: Any) -> None:
    operand, pointer, stride, seed = case
    generator = np.random.default_rng(seed)
    memory, other = generator.integers(0, 256, (2, pointer + operand.span(stride) + 5), dtype=np.uint8)
    matrix = operand.load(other, pointer, stride)
    written = operand.store(memory, pointer, matrix, stride)
    assert (operand.load(written, pointer, stride) == matrix).all()
    assert (operand.store(written, pointer, operand.load(memory, pointer, stride), stride) == memory).all()
    assert (written[:pointer] == memory[:pointer]).all() and (written[-5:] == memory[-5:]).all()


@given(transfers())
def test_batch_axes_come_first(case: Any) -> None:
    operand, pointer, stride, seed = case
    memory = np.random.default_rng(seed).integers(0, 256, (3, 2, 9000), dtype=np.uint8)
    if pointer + operand.span(stride) > memory.shape[-1]:
        memory = np.tile(memory, 4)
    loaded = operand.load(memory, pointer, stride)
    assert loaded.shape == (3, 2, *operand.extents)
    assert (loaded[2, 1] == operand.load(memory[2, 1], pointer, stride)).all()
    stored = operand.store(memory[0, 0], pointer, loaded, stride)
    assert (operand.load(stored, pointer, stride) == loaded).all()


SEED_EXAMPLE = MemoryOperand(Shape(16, 16, 16), "a", FORMATS["f16"], "row")


def test_the_alignment_rule_of_the_manuals_example() -> None:
    memory = np.zeros(4096, dtype=np.uint8)
    assert SEED_EXAMPLE.fragment_bytes == 32
    for pointer in range(0, 129, 16):
        for stride in range(16, 65, 8):
            if pointer % 32 == 0 and 2 * stride % 32 == 0:
                SEED_EXAMPLE.load(memory, pointer, stride)
            else:
                with pytest.raises(InputError, match="must be a multiple of 32"):
                    SEED_EXAMPLE.load(memory, pointer, stride)


@pytest.mark.parametrize(
    ("pointer", "stride", "message"),
    [
        (0, 15, "m16n16k16 f16 a .row: the stride is 15 elements; allowed: 16 (a whole row) to 2^32 - 1"),
        (0, 1 << 32, "m16n16k16 f16 a .row: the stride is 4294967296 elements; allowed: 16 (a whole row) to "
                     "2^32 - 1"),
        (40, 16, "m16n16k16 f16 a .row: the pointer 0x28 must be a multiple of 32, the fragment's bytes"),
        (0, 24, "m16n16k16 f16 a .row: a stride of 24 elements is 48 bytes; it must be a multiple of 32, the "
                "fragment's bytes, so that every row is aligned"),
        (32, 16, "m16n16k16 f16 a .row: bytes 0x20 to 0x21f are not inside a memory of 512"),
        (-32, 16, "m16n16k16 f16 a .row: bytes -0x20 to 0x1df are not inside a memory of 512"),
    ],
)  # fmt: skip
def test_faults_are_named(pointer: int, stride: int, message: str) -> None:
    with pytest.raises(InputError) as raised:
        SEED_EXAMPLE.load(np.zeros(512, dtype=np.uint8), pointer, stride)
    assert str(raised.value) == message


def test_a_matrix_of_another_shape_is_not_stored() -> None:
    operand = memory_operand(Variant(Family.WMMA_STORE, Shape(8, 32, 16), ("f32",), ("col",), role="d"))
    with pytest.raises(InputError, match=r"a matrix of \(8, 32\) is stored, not \(32, 8\)"):
        operand.store(np.zeros(4096, dtype=np.uint8), 0, np.zeros((32, 8), dtype=np.uint32))


def test_a_missing_stride_is_the_least() -> None:
    memory = np.arange(512, dtype=np.int64).astype(np.uint8)
    assert (SEED_EXAMPLE.load(memory, 0) == SEED_EXAMPLE.load(memory, 0, 16)).all()
