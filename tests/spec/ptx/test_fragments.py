"""Fragments against loops over lanes and elements, and the register counts that ptxas accepts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ptx_lane_loops import field, places, quad_pair_places

from mmaproof.spec.formats import F16, F32, FORMATS
from mmaproof.spec.fragment import Fragment, Packing
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.catalogue import ALL_FORMS
from mmaproof.spec.ptx.mma_forms import MmaForm
from mmaproof.spec.ptx.quad_pairs import accumulator_layout, multiplicand_layout
from mmaproof.spec.ptx.resolution import Multiplication, multiplication
from mmaproof.spec.ptx.variant import Family

ALG = NumpyAlgebra()

PRODUCTS: tuple[Multiplication, ...] = tuple(
    multiplication(variant) for form in ALL_FORMS if isinstance(form, MmaForm) for variant in form.variants()
)
"""Every ``mma`` and ``mma.sp``."""

REGISTERS = """
mma m8n8k4 f16 2 2 f16:4 f32:8
mma m8n8k4 f64 1 1 f64:2
mma m16n8k4 f64 2 1 f64:4
mma m16n8k8 f64 4 2 f64:4
mma m16n8k16 f64 8 4 f64:4
mma m16n8k4 tf32 2 1 f32:4
mma m16n8k8 tf32 4 2 f32:4
mma m16n8k8 f16 2 1 f16:2 f32:4
mma m16n8k8 bf16 2 1 f32:4
mma m16n8k16 f16 4 2 f16:2 f32:4
mma m16n8k16 bf16 4 2 f32:4
mma m8n8k16 s8 1 1 s32:2
mma m16n8k16 s8 2 1 s32:4
mma m16n8k32 s8 4 2 s32:4
mma m8n8k32 s4 1 1 s32:2
mma m16n8k32 s4 2 1 s32:4
mma m16n8k64 s4 4 2 s32:4
mma m8n8k128 b1 1 1 s32:2
mma m16n8k128 b1 2 1 s32:4
mma m16n8k256 b1 4 2 s32:4
mma m16n8k16 e4m3 2 1 f16:2 f32:4
mma m16n8k32 e4m3 4 2 f16:2 f32:4
mma m16n8k32 e2m3 4 2 f16:2 f32:4
mma m16n8k32 e2m1 4 2 f16:2 f32:4
mma m16n8k64 e2m1 4 2 f32:4
mma.sp m16n8k8 tf32 2 2 f32:4
mma.sp m16n8k16 tf32 4 4 f32:4
mma.sp m16n8k16 f16 2 2 f16:2 f32:4
mma.sp m16n8k16 bf16 2 2 f32:4
mma.sp m16n8k32 f16 4 4 f16:2 f32:4
mma.sp m16n8k32 bf16 4 4 f32:4
mma.sp m16n8k32 s8 2 2 s32:4
mma.sp m16n8k64 s8 4 4 s32:4
mma.sp m16n8k64 s4 2 2 s32:4
mma.sp m16n8k128 s4 4 4 s32:4
mma.sp m16n8k64 e4m3 4 4 f16:2 f32:4
mma.sp m16n8k64 e2m3 4 4 f16:2 f32:4
mma.sp m16n8k64 e2m1 4 4 f16:2 f32:4
mma.sp m16n8k128 e2m1 4 4 f32:4
"""
"""Instruction, shape, type of A and B, registers of A and B, those of C and D by type (ptxas)."""


@pytest.mark.parametrize("row", REGISTERS.strip().splitlines())
def test_an_operand_takes_as_many_registers_as_ptxas_accepts(row: str) -> None:
    family, shape, element, a, b, *accumulators = row.split()
    counts = dict(accumulator.split(":") for accumulator in accumulators)
    forms = [
        form
        for form in PRODUCTS
        if (form.variant.family, str(form.shape)) == (Family(family), shape)
        and form.a.name == form.b.name == element
    ]
    assert {form.c.name for form in forms} == set(counts)
    for form in forms:
        for role, expected in (("a", a), ("b", b), ("c", counts[form.c.name]), ("d", counts[form.d.name])):
            assert form.fragment(role).registers == int(expected), (form.variant, role)


def test_the_table_names_every_shape_and_width() -> None:
    named = {tuple(row.split()[:3]) for row in REGISTERS.strip().splitlines()}
    same = {"u8": "s8", "u4": "s4", "e5m2": "e4m3", "e3m2": "e2m3"}
    found = {
        (form.variant.family.value, str(form.shape), same.get(form.a.name, form.a.name)) for form in PRODUCTS
    }
    assert found == named


def random_registers(fragment: Fragment, seed: int) -> np.ndarray:
    """Return a warp's registers."""
    storage = fragment.packing.word.storage
    return np.random.default_rng(seed).integers(
        0, np.iinfo(storage).max, (32, fragment.registers), dtype=storage, endpoint=True
    )


def encoding(container_value: int, packing: Packing) -> int:
    """Return the encoding in a container: e2m1 in 8 bits is in bits 5 to 2."""
    shift = 2 if packing.format.name == "e2m1" and packing.container == 8 else 0
    return container_value >> shift & ((1 << packing.format.bits) - 1)


def gathered(fragment: Fragment, registers: np.ndarray, held: Iterable[tuple[int, ...]]) -> np.ndarray:
    """Return the matrix, element by element: `held` has lane, number and coordinates of each."""
    matrix = np.full(fragment.shape, -1, dtype=object)
    for lane, i, *place in held:
        container = field(registers, lane, i, fragment.packing.container)
        matrix[tuple(place)] = encoding(container, fragment.packing)
    return matrix


uniform = st.sampled_from([form for form in PRODUCTS if not form.is_quad_pairs])
seeds = st.integers(0, 2**32 - 1)


@given(uniform, st.sampled_from("abcd"), seeds)
def test_gathering_is_a_loop_over_lanes_and_elements(form: Multiplication, role: str, seed: int) -> None:
    fragment = form.fragment(role)
    registers = random_registers(fragment, seed)
    columns = form.products if role == "a" else form.shape.k
    held = places("c" if role in "cd" else role, form.shape.m, columns, fragment.packing.container)
    assert (fragment.gather(ALG, registers) == gathered(fragment, registers, held)).all()


QUAD_PAIRS = {
    **{(role, order): multiplicand_layout(role, order) for role in "ab" for order in ("row", "col")},
    **{("c", fmt.name): accumulator_layout(fmt) for fmt in (F16, F32)},
}


@given(st.sampled_from(list(QUAD_PAIRS)), seeds)
def test_gathering_quad_pairs_is_a_loop_too(operand: tuple[str, str], seed: int) -> None:
    fmt = FORMATS["f32" if operand[1] == "f32" else "f16"]
    fragment = Fragment(QUAD_PAIRS[operand], Packing(fmt, fmt.bits))
    registers = random_registers(fragment, seed)
    held = ((lane, i, *place) for lane, i, place in quad_pair_places(*operand))
    assert (fragment.gather(ALG, registers) == gathered(fragment, registers, held)).all()


@given(st.sampled_from(PRODUCTS), st.sampled_from("abcd"), seeds)
def test_scattering_what_was_gathered_keeps_all_but_padding(
    form: Multiplication, role: str, seed: int
) -> None:
    fragment = form.fragment(role)
    registers = random_registers(fragment, seed)
    padding = registers.dtype.type(fragment.packing.padding)
    assert (fragment.scatter(ALG, fragment.gather(ALG, registers)) == registers & ~padding).all()
