"""Tile products against exact arithmetic, in every form, and what their order of summation changes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pto_products import (
    FACTORS,
    MICROSCALED,
    PLAIN,
    SCALED_FACTORS,
    element_types,
    exact_product,
    formats_by_role,
    operand_bits,
)

from mmaproof.smt.ring_algebra import RingAlgebra, polynomial_variables
from mmaproof.smt.z3_algebra import Z3Algebra
from mmaproof.spec.algebra import Operand
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.formats import F32, S8, S32, UE8M0, Bits, Format
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.pto.catalogue import OPERATIONS, Operation
from mmaproof.spec.pto.choices import OPEN_POINTS, PRESETS, Choices, choices_named, choices_of
from mmaproof.spec.pto.element_types import element_type_named
from mmaproof.spec.pto.products import SCALED, formats_of, product
from mmaproof.spec.pto.targets import A5, CPU, alias
from mmaproof.spec.pto.tile import Location
from mmaproof.spec.rounding import Rounding
from mmaproof.spec.values import encodings_of_values

ALG = NumpyAlgebra()
NPU_CHOICES, CPU_CHOICES = choices_of(A5), choices_of(CPU)
WIDE_CHOICES = PRESETS["cpu-2026-06"]

seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 3))


def computed(
    operation: Operation, formats: dict[str, Format], operands: dict[str, Bits], choices: Choices
) -> Bits:
    with np.errstate(all="ignore"):
        return product(ALG, operation, **operands, formats=formats, choices=choices)


@pytest.mark.parametrize("choices", [NPU_CHOICES, CPU_CHOICES], ids=["npu", "cpu"])
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("operation", PLAIN, ids=str)
@settings(max_examples=8, deadline=None)
@given(size=sizes, seed=seeds)
def test_float_products_are_the_chain_of_fused_multiply_adds(
    operation: Operation, factor: str, choices: Choices, size: tuple[int, int, int], seed: int
) -> None:
    types = element_types(operation, factor, factor, "f32")
    formats, operands = (
        formats_by_role(types),
        operand_bits(operation, types, size, np.random.default_rng(seed)),
    )
    wanted = exact_product(operation, formats, operands, added_last=choices is CPU_CHOICES)
    np.testing.assert_array_equal(computed(operation, formats, operands, choices), wanted)


@pytest.mark.sample(48)
@pytest.mark.parametrize("choices", [NPU_CHOICES, CPU_CHOICES, WIDE_CHOICES], ids=["npu", "cpu", "wide"])
@pytest.mark.parametrize("b", SCALED_FACTORS)
@pytest.mark.parametrize("a", SCALED_FACTORS)
@pytest.mark.parametrize("operation", MICROSCALED[:3], ids=str)
@settings(max_examples=6, deadline=None)
@given(size=st.tuples(st.integers(1, 2), st.integers(1, 70), st.integers(1, 2)), seed=seeds)
def test_scaled_products_are_exact_before_they_are_added(
    operation: Operation, a: str, b: str, choices: Choices, size: tuple[int, int, int], seed: int
) -> None:
    types = element_types(operation, a, b, "f32")
    formats, operands = (
        formats_by_role(types),
        operand_bits(operation, types, size, np.random.default_rng(seed)),
    )
    wanted = exact_product(
        operation, formats, operands, added_last=choices is CPU_CHOICES, in_f64=choices is WIDE_CHOICES
    )
    np.testing.assert_array_equal(computed(operation, formats, operands, choices), wanted)


@pytest.mark.parametrize("operation", PLAIN, ids=str)
@settings(max_examples=20, deadline=None)
@given(size=sizes, seed=seeds)
def test_integer_products_wrap(operation: Operation, size: tuple[int, int, int], seed: int) -> None:
    types = element_types(operation, "i8", "i8", "i32")
    formats, operands = (
        formats_by_role(types),
        operand_bits(operation, types, size, np.random.default_rng(seed)),
    )
    wanted = exact_product(operation, formats, operands)
    for choices in (NPU_CHOICES, CPU_CHOICES):
        np.testing.assert_array_equal(computed(operation, formats, operands, choices), wanted)


def test_the_largest_integer_sum_wraps_to_the_least() -> None:
    operands = {"a": np.array([[1]], dtype=np.uint8), "b": np.array([[1]], dtype=np.uint8)}
    operands["c"] = np.array([[2**31 - 1]], dtype=np.uint32)
    d = computed(OPERATIONS["tmatmul.acc"], {"a": S8, "b": S8, "d": S32}, operands, NPU_CHOICES)
    assert d == 1 << 31


@pytest.mark.parametrize(("name", "start"), [("tmatmul.bias", "bias"), ("tmatmul.acc", "c")])
def test_two_ones_after_2_to_the_24_are_lost_one_by_one(name: str, start: str) -> None:
    ones = np.array([[1.0, 1.0]], dtype=np.float32)
    operands = {"a": ones.view(np.uint32), "b": ones.T.copy().view(np.uint32)}
    operands[start] = np.array([[2.0**24]], dtype=np.float32).view(np.uint32)
    formats: dict[str, Format] = dict.fromkeys("abd", F32)
    results = {
        choice: computed(OPERATIONS[name], formats, operands, replace(Choices(), accumulation=choice)).view(
            np.float32
        )
        for choice in ("seeded", "added-last")
    }
    assert results == {"seeded": 2.0**24, "added-last": 2.0**24 + 2}


def test_presets_of_the_simulator_say_its_version() -> None:
    versions = {name: preset for name, preset in PRESETS.items() if name.startswith("cpu-")}
    assert PRESETS["cpu"] == versions[max(versions)] == choices_of(CPU)
    assert {name: preset.microscaled_sum for name, preset in versions.items()} == {
        "cpu-2026-06": "f64", "cpu-2026-07": "accumulator",
    }  # fmt: skip


def test_an_older_simulated_scaled_sum_rounds_once() -> None:
    operation = OPERATIONS["tmatmul.mx"]
    types = element_types(operation, "f8E5M2", "f8E5M2", "f32")
    formats = formats_by_role(types)
    values = {
        "a": [[2.0**13, 1.0, 1.0]],
        "b": [[2.0**11], [1.0], [1.0]],
        "scale_a": [[1.0]],
        "scale_b": [[1.0]],
    }
    operands = {role: encodings_of_values(role, np.array(v), formats[role]) for role, v in values.items()}
    sums = [
        computed(operation, formats, operands, choices).view(np.float32)
        for choices in (WIDE_CHOICES, CPU_CHOICES, NPU_CHOICES)
    ]
    assert sums == [2.0**24 + 2, 2.0**24, 2.0**24]


@pytest.mark.parametrize("role", ["scale_a", "scale_b"])
@pytest.mark.parametrize("choices", [NPU_CHOICES, CPU_CHOICES], ids=["npu", "cpu"])
def test_a_nan_scale_factor_makes_its_row_or_column_nan(role: str, choices: Choices) -> None:
    operation = OPERATIONS["tmatmul.mx"]
    types = element_types(operation, "f4E2M1x2", "f4E2M1x2", "f32")
    operands = operand_bits(operation, types, (2, 64, 2), np.random.default_rng(0))
    for scale in ("scale_a", "scale_b"):
        operands[scale] = np.full_like(operands[scale], 127)
    operands[role][(1, 0) if role == "scale_a" else (0, 1)] = 0xFF
    nan = np.isnan(computed(operation, formats_by_role(types), operands, choices).view(np.float32))
    expected = [[False, False], [True, True]] if role == "scale_a" else [[False, True], [False, True]]
    assert nan.tolist() == expected


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "f4E2M1x2"])
def test_every_element_times_every_scale_factor_is_exact(name: str) -> None:
    fmt = element_type_named(name).format
    elements = np.arange(1 << fmt.bits, dtype=np.uint8)[:, None]  # type: ignore[union-attr]
    factors = np.arange(256, dtype=np.uint8)
    pair = (Operand(elements, fmt), Operand(factors, UE8M0))  # type: ignore[arg-type]
    scaled = ALG.fused(SCALED, Rounding.NEAREST_EVEN, [pair])
    wide = ALG.fused(replace(SCALED, name="wide", fraction_bits=20, bits=30), Rounding.NEAREST_EVEN, [pair])
    assert ALG.ieee_equal(
        Operand(scaled, SCALED), Operand(wide, replace(SCALED, name="wide", fraction_bits=20, bits=30))
    ).all()


def test_tf32_mode_rounds_factors_and_nothing_else() -> None:
    one_and_a_bit = np.array([[1 + 2.0**-11, 1 + 2.0**-12]], dtype=np.float32)
    bits = one_and_a_bit.view(np.uint32)
    one = np.ones((2, 1), dtype=np.float32).view(np.uint32)
    formats: dict[str, Format] = dict.fromkeys("abd", F32)
    bias = np.array([[2.0**-20]], dtype=np.float32).view(np.uint32)
    operands = {"a": bits, "b": one, "bias": bias}
    sums = {}
    for mode in ("off", "e8m10", "e8m11"):
        choices = replace(Choices(), tf32=mode)
        sums[mode] = computed(OPERATIONS["tmatmul.bias"], formats, operands, choices).view(np.float32).item()
    tiny = 2.0**-20
    assert sums == {
        "off": 2 + 2.0**-11 + 2.0**-12 + tiny,
        "e8m10": 2 + tiny,
        "e8m11": 2 + 2.0**-11 + tiny,
    }


def test_flushing_takes_subnormals_for_zeros_of_their_sign() -> None:
    flush = replace(Choices(), subnormals="flushed")
    formats: dict[str, Format] = dict.fromkeys("abd", F32)
    least, one = 1, 0x3F800000
    cases = {
        (least, one, 0): 0,
        (one, least, 0): 0,
        (one, one, least): one,
        (least | 1 << 31, one, 1 << 31): 1 << 31,
    }
    for (a, b, c), wanted in cases.items():
        operands = {r: np.array([[bits]], dtype=np.uint32) for r, bits in zip("abc", (a, b, c), strict=True)}
        assert computed(OPERATIONS["tmatmul.acc"], formats, operands, flush) == wanted
    tiny = np.array([[2.0**-100]], dtype=np.float32).view(np.uint32)
    operands = {"a": tiny, "b": np.array([[2.0**-40]], dtype=np.float32).view(np.uint32)}
    assert computed(OPERATIONS["tmatmul"], formats, operands, Choices()) != 0
    assert computed(OPERATIONS["tmatmul"], formats, operands, flush) == 0


@pytest.mark.parametrize("operation", PLAIN[:3], ids=str)
@pytest.mark.parametrize("accumulation", ["seeded", "added-last"])
def test_over_the_reals_every_order_is_the_product(operation: Operation, accumulation: str) -> None:
    shapes = {"a": (2, 3), "b": (3, 2), "c": (2, 2), "bias": (1, 2)}
    x = polynomial_variables({role: shapes[role] for role in operation.inputs})
    choices = replace(Choices(), accumulation=accumulation)
    formats: dict[str, Format] = dict.fromkeys("abd", F32)
    d = product(RingAlgebra(), operation, **x, formats=formats, choices=choices)
    start = x.get("c", x.get("bias", 0))
    assert (d == x["a"] @ x["b"] + start).all()


@pytest.mark.parametrize("operation", PLAIN[:3], ids=str)
def test_symbolic_products_are_those_of_numpy(operation: Operation) -> None:
    import z3

    types = element_types(operation, "i8", "i8", "i32")
    formats = formats_by_role(types)
    operands = operand_bits(operation, types, (2, 3, 2), np.random.default_rng(1))
    constants = {
        role: np.frompyfunc(partial(z3.BitVecVal, bv=formats[role].bits), 1, 1)(array.astype(object))
        for role, array in operands.items()
    }
    d = product(Z3Algebra(), operation, **constants, formats=formats, choices=NPU_CHOICES)
    numbers = np.vectorize(lambda term: z3.simplify(term).as_long())(d)
    np.testing.assert_array_equal(numbers, computed(operation, formats, operands, NPU_CHOICES))


def test_batches_broadcast() -> None:
    operation = OPERATIONS["tmatmul.mx.bias"]
    types = element_types(operation, "f8E4M3FN", "f8E5M2", "f32")
    formats, rng = formats_by_role(types), np.random.default_rng(3)
    drawn = [operand_bits(operation, types, (2, 40, 3), rng) for _ in range(3)]
    stacked = {role: np.stack([one[role] for one in drawn]) for role in operation.inputs}
    stacked["b"] = stacked["b"][:1]
    together = computed(operation, formats, stacked, NPU_CHOICES)
    for index, one in enumerate(drawn):
        alone = computed(operation, formats, {**one, "b": drawn[0]["b"]}, NPU_CHOICES)
        np.testing.assert_array_equal(together[index], alone)


def test_an_unspecified_order_depends_on_every_operand() -> None:
    operation = OPERATIONS["tmatmul.mx.acc"]
    types = element_types(operation, "f8E4M3FN", "f8E4M3FN", "f32")
    formats = formats_by_role(types)
    operands = operand_bits(operation, types, (2, 64, 2), np.random.default_rng(4))
    choices = PRESETS["unspecified"]
    before = computed(operation, formats, operands, choices)
    for role in operation.inputs:
        changed = {**operands, role: operands[role].copy()}
        changed[role][0, 0] ^= 1
        assert (computed(operation, formats, changed, choices) != before).any()


def test_hifloat8_has_no_encoding() -> None:
    tile = alias(A5, Location.LEFT, element_type_named("hif8"), (16, 32))
    with pytest.raises(UnsupportedError, match="hif8"):
        formats_of({"a": tile})


def test_every_reading_is_one_of_its_open_point() -> None:
    for point in OPEN_POINTS:
        assert getattr(Choices(), point.attribute) == point.default
        for preset in PRESETS.values():
            assert getattr(preset, point.attribute) in point.option_names


def test_choices_are_the_profiles_unless_named() -> None:
    assert choices_named([], A5).accumulation == "seeded"
    assert choices_named([], CPU).accumulation == "added-last"
    assert choices_named(["npu", "tf32=e8m10"], CPU) == replace(NPU_CHOICES, tf32="e8m10")
