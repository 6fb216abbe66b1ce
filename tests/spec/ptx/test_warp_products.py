"""Instructions on registers against loops over lanes and numpy's own products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from ptx_lane_loops import field, places, quad_pair_places

from mmaproof.spec.errors import InputError
from mmaproof.spec.ptx.catalogue import forms
from mmaproof.spec.ptx.choices import Choices
from mmaproof.spec.ptx.operand_arrays import multiply
from mmaproof.spec.ptx.resolution import Multiplication, multiplication
from mmaproof.spec.ptx.variant import Family
from mmaproof.spec.ptx.warp import Immediates

MMA = [variant for form in forms(Family.MMA) for variant in form.variants()]
INTEGERS = [multiplication(variant) for variant in MMA if variant.types[0] == "s32"]
QUAD_PAIRS = [multiplication(variant) for variant in MMA if multiplication(variant).is_quad_pairs]

seeds = st.integers(0, 2**32 - 1)


def execute(form: Multiplication, arrays: dict[str, NDArray[np.uint32]]) -> NDArray[np.uint32]:
    """Run one instruction on registers."""
    d = multiply(form, arrays, Choices(), Immediates())["d"]
    assert d.dtype == np.uint32
    return d


def read(form: Multiplication, registers: NDArray[np.uint32], operand: str) -> NDArray[np.int64]:
    """Return the matrix of integers that registers hold."""
    m, n, k = form.shape
    shape = {"a": (m, k), "b": (k, n), "c": (m, n)}[operand]
    name = form.format(operand).name
    bits = int(name[1:])
    matrix = np.empty(shape, dtype=np.int64)
    for lane, i, row, column in places(operand, m, k, bits):
        value = field(registers, lane, i, bits)
        matrix[row, column] = value - (1 << bits) if name[0] == "s" and value >> (bits - 1) else value
    return matrix


def integer_product(form: Multiplication, registers: dict[str, NDArray[np.uint32]]) -> NDArray[np.int64]:
    """Return D as exact integers."""
    a, b, c = (read(form, registers[operand], operand) for operand in "abc")
    xor = form.variant.bit_operation == "xor"
    products: NDArray[np.int64] = (a[:, :, None] ^ b[None]).sum(1) if xor else a @ b
    return products + c


@given(st.sampled_from(INTEGERS), seeds)
def test_integers_are_multiplied_as_numpy_does(form: Multiplication, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = {
        role: rng.integers(0, 2**32, (32, form.fragment(role).registers), dtype=np.uint32) for role in "abc"
    }
    if rng.random() < 0.5:  # sums that wrap or saturate
        arrays["c"] = rng.choice(np.array([2**31 - 1, 2**31], dtype=np.uint32), arrays["c"].shape)
    total = integer_product(form, arrays)
    if form.variant.satfinite:
        total = total.clip(-(2**31), 2**31 - 1)
    d = execute(form, arrays)
    for lane, i, row, column in places("c", form.shape.m, form.shape.k, 32):
        assert int(d[lane, i]) == int(total[row, column]) % 2**32


def packed(values: NDArray[np.int64], operand: str, kind: str) -> NDArray[np.uint32]:
    """Write matrices (4, rows, columns) to registers, as floats."""
    halves = kind != "f32"
    elements = 4 if operand in "ab" else 8
    held = np.zeros((32, elements), dtype=np.float16 if halves else np.float32)
    for lane, i, place in quad_pair_places(operand, kind):
        held[lane, i] = values[place]
    return held.view(np.uint32)


@given(st.sampled_from(QUAD_PAIRS), seeds)
def test_four_pairs_of_quads_multiply_independently(form: Multiplication, seed: int) -> None:
    rng = np.random.default_rng(seed)
    # integers of few bits: every order of accumulation is exact, in f16 too
    a, b, c = (rng.integers(-9, 10, (4, *shape)) for shape in ((8, 4), (4, 8), (8, 8)))
    arrays = {
        "a": packed(a, "a", form.variant.layouts[0]),
        "b": packed(b, "b", form.variant.layouts[1]),
        "c": packed(c, "c", form.c.name),
    }
    expected = packed(a @ b + c, "c", form.d.name)
    assert (execute(form, arrays) == expected).all()


def test_batches_come_first() -> None:
    form = next(form for form in INTEGERS if not form.variant.satfinite)
    rng = np.random.default_rng(7)
    arrays = {
        role: rng.integers(0, 2**32, (3, 2, 32, form.fragment(role).registers), dtype=np.uint32)
        for role in "abc"
    }
    together = execute(form, arrays)
    assert together.shape == (3, 2, 32, form.fragment("d").registers)
    alone = execute(form, {role: array[2, 1] for role, array in arrays.items()})
    assert (together[2, 1] == alone).all()


def test_padding_is_refused_or_ignored() -> None:
    variant = next(v for v in MMA if v.kind == "f8f6f4" and v.types == ("f32", "e2m1", "e3m2", "f32"))
    form = multiplication(variant)
    arrays = {role: np.zeros((32, form.fragment(role).registers), dtype=np.uint32) for role in "abc"}
    arrays["a"][5, 1] = 0x0000_C300
    with pytest.raises(InputError, match=r"a\[5, 1\] = 0xc300 has padding bits of e2m1 set"):
        execute(form, arrays)
    ignored = multiply(form, arrays, Choices(padding="ignored"), Immediates())["d"]
    assert not ignored.any()
