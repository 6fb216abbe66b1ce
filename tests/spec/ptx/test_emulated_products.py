"""Float products as the machine code computes them, against the sequence written out for one element."""

from __future__ import annotations

import dot_add_reference as reference
import numpy as np
import pytest

from mmaproof.spec.algebra import Operand
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.float_encoding import decode
from mmaproof.spec.formats import E4M3, E5M2, F16, F32, F64, TF32, Bits, FloatFormat
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.accumulation import float_sum
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.choices import PRESETS, Choices, choices_named
from mmaproof.spec.ptx.resolution import Multiplication, multiplication
from mmaproof.spec.rounding import Rounding

ALG = NumpyAlgebra()
ROWS = 400
ZERO, EVEN = Rounding.TOWARD_ZERO, Rounding.NEAREST_EVEN


def form(text: str) -> Multiplication:
    return multiplication(parse(text).variant)


def as_f16(encoding: int, fmt: FloatFormat) -> int:
    value = decode(np.array([encoding], dtype=fmt.storage), fmt)
    return int(value.astype(np.float16).view(np.uint16)[0])


def added(a: int, b: int, fmt: FloatFormat) -> int:
    """Return the IEEE sum, to nearest, with the NaN of the hardware."""
    native, word = {F16: (np.float16, np.uint16), F32: (np.float32, np.uint32)}[fmt]
    with np.errstate(all="ignore"):
        total = np.array(a, dtype=word).view(native) + np.array(b, dtype=word).view(native)
    return fmt.sign_mask - 1 if np.isnan(total) else int(total.view(word))


def drawn(form: Multiplication, seed: int) -> tuple[Operand, Operand, Operand]:
    rng = np.random.default_rng(seed)
    a, b, c = (form.floats(fmt) for fmt in (form.a, form.b, form.c))
    left, right = (reference.factors(fmt, rng, ROWS, form.products) for fmt in (a, b))
    return Operand(left, a), Operand(right, b), Operand(reference.addends(c, rng, ROWS, -16, 16), c)


def computed(form: Multiplication, x: Operand, y: Operand, c: Operand, choices: Choices) -> Bits:
    return np.asarray(float_sum(ALG, form, x, y, c, None, choices))


EMULATED = [
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
    "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e4m3.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32",
]


@pytest.mark.parametrize("architecture", ["hopper", "blackwell-sm100"])
@pytest.mark.parametrize("text", EMULATED)
def test_fp8_is_widened_summed_by_halves_of_each_word_and_c_added_last(text: str, architecture: str) -> None:
    instruction = form(text)
    x, y, c = drawn(instruction, 3)
    result = instruction.floats(instruction.d)
    model = DotAddModel(25, EVEN if result == F16 else ZERO)
    halves = [[k for k in range(instruction.products) if k % 4 // 2 == half] for half in (0, 1)]
    expected = []
    for left, right, addend in zip(x.bits.tolist(), y.bits.tolist(), c.bits.tolist(), strict=True):
        total = 0
        for half in halves:
            factors = [
                ([as_f16(row[k], fmt) for k in half], F16)
                for row, fmt in ((left, x.format), (right, y.format))
            ]
            total = reference.dot_add(result, model, *factors, (total, result))
        expected.append(added(addend, total, result))
    got = computed(instruction, x, y, c, PRESETS[architecture])
    assert got.tolist() == expected
    whole = computed(instruction, x, y, c, PRESETS["blackwell"]) if "k64" not in text else got ^ 1
    assert (got != whole).any()


def test_native_fp8_is_one_step() -> None:
    instruction = form(EMULATED[0])
    x, y, c = drawn(instruction, 4)
    model = DotAddModel(25, ZERO)
    expected = [
        reference.dot_add(F32, model, (left, E4M3), (right, E5M2), (addend, F32))
        for left, right, addend in zip(x.bits.tolist(), y.bits.tolist(), c.bits.tolist(), strict=True)
    ]
    assert computed(instruction, x, y, c, PRESETS["blackwell"]).tolist() == expected


@pytest.mark.parametrize("architecture", ["turing", "ampere", "hopper", "blackwell"])
def test_an_f16_c_is_an_ordinary_f32_number_when_it_is_aligned(architecture: str) -> None:
    instruction = form("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16")
    x, y, c = drawn(instruction, 5)
    widened = Operand(c.bits.view(np.float16).astype(np.float32).view(np.uint32), F32)
    same = form("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32")
    choices = PRESETS[architecture]
    assert np.array_equal(computed(instruction, x, y, c, choices), computed(same, x, y, widened, choices))


def test_a_subnormal_f16_c_cuts_nothing_off() -> None:
    """2**-24 as an f16 would be aligned at -14: of products at 2**-40 nothing below 2**-39 is left there."""
    instruction = form("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16")
    x, y = (np.zeros((1, 16), dtype=np.uint16) for _ in range(2))
    x[0, 0], y[0, 0] = (np.array([v], dtype=np.float16).view(np.uint16)[0] for v in (2.0**-24, 2.0**-18))
    c = np.array([2.0**-24], dtype=np.float16).view(np.uint16)
    operands = Operand(x, F16), Operand(y, F16), Operand(c, F16)
    total = computed(instruction, *operands, PRESETS["hopper"])
    assert total.view(np.float32)[0] == 2.0**-24 + 2.0**-42


def test_an_f16_d_of_an_f32_c_is_rounded_twice() -> None:
    instruction = form("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32")
    x, y, c = drawn(instruction, 6)
    single = computed(form("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"), x, y, c, PRESETS["hopper"])
    with np.errstate(all="ignore"):
        narrowed = single.view(np.float32).astype(np.float16).view(np.uint16)
    narrowed = np.where(np.isnan(single.view(np.float32)), 0x7FFF, narrowed)
    assert np.array_equal(computed(instruction, x, y, c, PRESETS["hopper"]), narrowed)


def test_wmma_on_tf32_takes_four_products_at_a_time() -> None:
    instruction = form("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32")
    x, y, c = drawn(instruction, 7)
    model, total = DotAddModel(25, ZERO), c.bits
    for part in (slice(0, 4), slice(4, 8)):
        halves = (Operand(each.bits[:, part], TF32) for each in (x, y))
        total = ALG.dot_add(F32, model, *halves, Operand(total, F32))
    assert np.array_equal(computed(instruction, x, y, c, PRESETS["hopper"]), total)


def test_the_nan_of_f64() -> None:
    instruction = form("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64")
    one = np.float64([1, 1, 1, 1]).view(np.uint64)
    nan, infinity = (
        Operand(np.float64("nan").view(np.uint64), F64),
        Operand(np.float64("inf").view(np.uint64), F64),
    )
    factors = Operand(one, F64), Operand(one, F64)
    for names, expected in (([], 0x7FF8), (["f64-nan=negative"], 0xFFF8)):
        choices = choices_named(names)
        assert int(computed(instruction, *factors, nan, choices)) >> 48 == expected
        assert int(computed(instruction, *factors, infinity, choices)) >> 48 == 0x7FF0


def test_readings_of_zeros_reach_the_model() -> None:
    instruction = form("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32")
    fmt = instruction.floats(instruction.a)
    x, y = np.zeros((2, 8), dtype=np.uint16)
    y[0] = np.float32([2.0**127]).view(np.uint32)[0] >> 16
    c = Operand(np.float32(2.0**-26).view(np.uint32), F32)
    found = [
        int(computed(instruction, Operand(x, fmt), Operand(y, fmt), c, choices_named(["hopper", *more])))
        for more in ([], ["zero-products=factors"])
    ]
    assert found == [int(c.bits), 0]
    minus = Operand(np.uint32(1 << 31), F32)
    found = [
        int(
            computed(
                instruction,
                Operand(x | 0x8000, fmt),
                Operand(y, fmt),
                minus,
                choices_named(["hopper", *more]),
            )
        )
        for more in ([], ["zero-sign=negative"])
    ]
    assert found == [0, 1 << 31]
    assert instruction.a != E5M2
