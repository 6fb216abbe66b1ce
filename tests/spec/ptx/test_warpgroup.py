"""Products of warpgroups: numbers, registers and shared memory, sparse A, scales, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.instruction_set import read
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.matrix_descriptor import MatrixDescriptor
from mmaproof.spec.ptx.resolution import Multiplication, multiplication
from mmaproof.spec.ptx.warpgroup import shared_matrix
from mmaproof.spec.ptx.wgmma_forms import WGMMA_FORMS
from mmaproof.spec.values import encodings_of_values, values_of_encodings

ALGEBRA = NumpyAlgebra()
RNG = np.random.default_rng(5)
PRODUCTS = [variants[len(variants) // 3] for form in WGMMA_FORMS for variants in [list(form.variants())]]


def executed(
    text: str, *choices: str, as_registers: bool = False, **arrays: np.ndarray
) -> dict[str, np.ndarray]:
    return read(text).execute(arrays, as_registers=as_registers, rounding=None, choices=choices)


def operands(form: Multiplication) -> dict[str, np.ndarray]:
    m, _, _ = form.shape
    low, high = (0, 2) if form.a.name == "b1" else (0, 4) if form.is_integer else (-3, 4)
    found = {role: RNG.integers(low, high, form.matrix_shape(role)) for role in "abc"}
    if form.sparsity is not None:
        nibbles = (0b0100, 0b1110) if form.sparsity.chunk == 2 else (0b0100, 0b1000, 0b1001, 0b1101, 0b1110)
        found["metadata"] = RNG.choice(nibbles, (m, form.sparsity.chunks)).astype(np.uint8)
    return found


def whole_a(form: Multiplication, given: dict[str, np.ndarray]) -> np.ndarray:
    """Return A with its zeros, from the manual's words: a nibble has the places of the kept elements."""
    if form.sparsity is None:
        return given["a"]
    m, _, k = form.shape
    found, chunk = np.zeros((m, k), dtype=int), form.sparsity.chunk
    for row in range(m):
        for number in range(k // chunk):
            nibble = int(given["metadata"][row, number])
            places = [(nibble & 3) // 2] if chunk == 2 else [nibble & 3, nibble >> 2]
            for at, place in enumerate(places):
                found[row, number * chunk + place] = given["a"][row, number * (chunk // 2) + at]
    return found


@pytest.mark.parametrize("variant", PRODUCTS, ids=str)
@pytest.mark.parametrize("accumulation", ["sequential", "hopper"])
def test_products_of_small_numbers_are_those_of_the_matrices(variant, accumulation: str) -> None:
    form = multiplication(variant)
    given = operands(form)
    found = executed(str(variant), f"accumulation={accumulation}", **given)
    assert (found["d"] == whole_a(form, given) @ given["b"] + given["c"]).all()


def registers(count: int, name: str) -> str:
    return f"{{{', '.join(f'%{name}{i}' for i in range(count))}}}"


def stored(
    form: Multiplication, role: str, matrix: np.ndarray, descriptor: int, memory: np.ndarray, **more
) -> None:
    """Store the bytes of a matrix where a descriptor says."""
    where = shared_matrix(form, role, MatrixDescriptor.decoded(descriptor), **more)
    bits = encodings_of_values(role, matrix.astype(float), form.format(role))
    for at in np.ndindex(matrix.shape):
        line, k = at if role == "a" else at[::-1]
        address, _ = where.address(line, k)
        size = form.format(role).bits // 8
        memory[address : address + size] = np.frombuffer(int(bits[at]).to_bytes(size, "little"), np.uint8)


@pytest.mark.parametrize(
    ("types", "k", "a", "b", "immediates", "sign", "transposed"),
    [
        ("f32.f16.f16", 16, 0x4000004000010040, 0x4000004000010440, "1, 1, 1, 0, 0", 1, ()),
        ("f32.bf16.bf16", 16, 0x8000002000400000, 0x0000000800400400, "1, -1, 1, 1, 1", -1, ("a", "b")),
        ("f16.e4m3.e5m2", 32, 0xC000001000010000, 0x8000002000010400, "0, -1, -1", 1, ()),
        ("f32.tf32.tf32", 8, 0x0000000800400000, 0x4000004000010400, "1, 1, -1", -1, ()),
        ("s32.s8.u8", 32, 0x4000004000010000, 0x4000004000010402, "0", 1, ()),
    ],
)
def test_operands_come_from_shared_memory_where_descriptors_say(
    types: str, k: int, a: int, b: int, immediates: str, sign: int, transposed: tuple[str, ...]
) -> None:
    mnemonic = f"wgmma.mma_async.sync.aligned.m64n24k{k}.{types}"
    form = multiplication(read(mnemonic).written.variant)
    given, memory = operands(form), np.zeros(1 << 16, np.uint8)
    for role, descriptor in (("a", a), ("b", b)):
        stored(form, role, given[role], descriptor, memory, transposed=role in transposed)
    count = form.fragment("d").registers
    old = encodings_of_values("c", given["c"].astype(float), form.c)
    text = f"{mnemonic} {registers(count, 'd')}, {a:#x}, {b:#x}, {immediates};"
    held = {"memory": memory, "c": form.fragment("c").scatter(ALGEBRA, old)}
    if immediates[0] == "0":
        held.pop("c")
    found = form.fragment("d").gather(ALGEBRA, executed(text, as_registers=True, **held)["d"])
    expected = sign * given["a"] @ given["b"] + given["c"] * int(immediates[0])
    assert (values_of_encodings(found, form.d) == expected).all()


def test_a_from_registers_and_metadata() -> None:
    mnemonic = "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8"
    form, descriptor = multiplication(read(mnemonic).written.variant), 0x4000004000010000
    assert form.sparsity is not None
    given, memory = operands(form), np.zeros(1 << 14, np.uint8)
    stored(form, "b", given["b"], descriptor, memory)
    held = {
        "a": form.fragment("a").scatter(ALGEBRA, given["a"].astype(np.uint8)),
        "metadata": form.sparsity.held(0).scatter(ALGEBRA, given["metadata"]),
        "memory": memory,
    }
    text = f"{mnemonic} {registers(4, 'd')}, {registers(4, 'a')}, {descriptor}, %m, 0, 0;"
    found = form.fragment("d").gather(ALGEBRA, executed(text, as_registers=True, **held)["d"])
    assert (found.astype(np.int32) == whole_a(form, given) @ given["b"]).all()


D4 = "{%d0, %d1, %d2, %d3}"
F16 = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        (f"{D4}, %rd0, %rd1, 1, 1, 1, 0, 0", "a-desc of .* must be a number"),
        (f"{D4}, 0x4000004000010000, 64, %p0, 1, 1, 0, 0", "scale-d is %p0: .* spell it as a number"),
        (f"{D4}, 0x4000004000010000, 0xC000001000010000, 0, 1, 1, 0, 0", "no array 'memory'"),
    ],
)
def test_what_the_text_leaves_open_is_refused(operands: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        executed(f"{F16} {operands};", as_registers=True)


@pytest.mark.parametrize("bit", [14, 31, 46, 49, 52, 61])
def test_a_descriptor_with_bits_of_no_known_meaning_is_unsupported(bit: int) -> None:
    with pytest.raises(UnsupportedError, match="no document says"):
        executed(
            f"{F16} {D4}, {1 << bit}, 0, 0, 1, 1, 0, 0;", as_registers=True, memory=np.zeros(4096, np.uint8)
        )


def test_memory_that_ends_before_an_operand_is_refused() -> None:
    text = f"{F16} {D4}, 0x4000004000010000, 0x4000004000010000, 0, 1, 1, 0, 0;"
    with pytest.raises(InputError, match="reads up to byte 8192 of a memory of 4096"):
        executed(text, as_registers=True, memory=np.zeros(4096, np.uint8))


def test_whether_indices_of_metadata_must_increase_is_a_choice() -> None:
    text = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16"
    form = multiplication(read(text).written.variant)
    given = {**operands(form), "metadata": np.full((64, 8), 0b0001, np.uint8)}
    with pytest.raises(InputError, match="metadata 0001 of row 0, chunk 0 is undefined"):
        executed(text, **given)
    swapped = given["a"].reshape(64, 8, 2)[..., ::-1].reshape(64, 16)
    increasing = {**given, "a": swapped, "metadata": np.full((64, 8), 0b0100, np.uint8)}
    assert (
        executed(text, "wgmma-metadata=distinct", **given)["d"] == executed(text, **increasing)["d"]
    ).all()


def test_fp8_keeps_13_fraction_bits_where_hopper_is_chosen() -> None:
    text = "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3"
    a, b = np.zeros((64, 32)), np.zeros((32, 8))
    a[0, :2], b[:2, 0] = (1, 2.0**-6), (1, 2.0**-6)
    c = np.zeros((64, 8))
    c[1, 0] = 1 + 2.0**-14
    found = executed(text, "hopper", a=a, b=b, c=c)["d"]
    assert found[0, 0] == 1 + 2.0**-12 and found[1, 0] == 1
    assert executed(text, a=a, b=b, c=c)["d"][1, 0] == 1 + 2.0**-14


def test_without_scale_d_a_nan_in_the_old_d_does_not_matter() -> None:
    text = f"{F16} {D4}, 0x4000004000010000, 0x4000004000010000, 0, 1, 1, 0, 0;"
    zero = np.zeros((64, 16)), np.zeros((16, 8))
    found = executed(text, a=zero[0], b=zero[1], c=np.full((64, 8), np.nan))
    assert (found["d_bits"] == 0).all()
