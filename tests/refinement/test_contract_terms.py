"""The terms that a contract expects have the values that plain numpy computes for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from contract_texts import contract_of, contract_text
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.contract.contract import Contract, Instance
from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.expected.contract_terms import covered, expected_terms
from mmaproof.refinement.expected.reference_result import reference
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.store import INPUT, TermStore
from mmaproof.spec.errors import InputError
from mmaproof.spec.float_encoding import decode, encode
from mmaproof.spec.formats import S32, FloatFormat, Format, IntegerFormat
from mmaproof.spec.rounding import Rounding

MATRICES = {"A": "f16 M K", "B": "f16 K N", "C": "f32 M N out"}
INTEGERS = {"A": "s8 M K", "B": "s8 K N", "C": "s32 M N out"}
SIZES = {"M": 3, "N": 5, "K": 4}
PRODUCT = "C[i, j] = sum(k, A[i, k] * B[k, j])"


def random_encodings(generator: np.random.Generator, count: int, fmt: Format) -> Any:
    if isinstance(fmt, IntegerFormat):
        top = min(fmt.bits, 63)
        return generator.integers(0, 1 << top, count).astype(np.uint64)
    assert isinstance(fmt, FloatFormat)
    reals = generator.integers(-8, 9, count) / 4
    return encode(np.abs(reals) if not fmt.signed else reals, fmt, Rounding.NEAREST_EVEN)


def random_inputs(instance: Instance, seed: int = 0) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    found = {a.name: random_encodings(generator, a.elements, a.format) for a in instance.arrays.values()}
    symbolic = {s.name: random_encodings(generator, 1, s.format) for s in instance.scalars.values()}
    return {**found, **symbolic}


def evaluated(instance: Instance, name: str, inputs: Mapping[str, Any]) -> Any:
    store = TermStore()
    output = instance.arrays[name]
    terms = expected_terms(instance, output, store)
    assert terms.shape == output.shape
    words = Assignment(store, inputs).values(terms)
    fmt = output.format
    if isinstance(fmt, FloatFormat):
        return decode(words.astype(fmt.storage), fmt)
    signs = words.astype(object)
    return np.where(signs > fmt.maximum, signs - (1 << fmt.bits), signs) if fmt.signed else signs


def assert_agrees(contract: Contract, seed: int = 0) -> None:
    for instance in contract.instances():
        inputs = random_inputs(instance, seed)
        for name, expected in reference(instance, inputs).items():
            found = evaluated(instance, name, inputs)
            fmt = instance.arrays[name].format
            if isinstance(fmt, IntegerFormat):
                assert (found == expected).all()
            else:
                tolerance = 2.0**-fmt.fraction_bits
                np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-5)


FORMULAS = {
    "product": (PRODUCT, MATRICES, {}),
    "bias first": ("C[i, j] = bias[j] + sum(k, A[i, k] * B[k, j])", {**MATRICES, "bias": "f16 N"}, {}),
    "bias and relu": (
        "C[i, j] = f16(relu(sum(k, A[i, k] * B[k, j]) + bias[j]))",
        {**MATRICES, "C": "f16 M N out", "bias": "f32 N"},
        {},
    ),
    "alpha and beta": (
        "C[i, j] = alpha * sum(k, A[i, k] * B[k, j]) + beta * old(C[i, j])",
        {**MATRICES, "C": "f32 M N inout"},
        {"scalars": {"alpha": "f32", "beta": "f32 0.5"}},
    ),
    "explicit range": (
        "C[i, j] = sum(k < 2, A[i, k] * B[k + 1, j])",
        MATRICES,
        {},
    ),
    "index without data": ("C[i, j] = sum(k < 3, B[0, j])", MATRICES, {}),
    "constant summand": ("C[i, j] = sum(k < 3, 1.5) + A[i, 0]", MATRICES, {}),
    "sum of sums": ("C[i, j] = sum(k, A[i, k]) + sum(k, B[k, j])", MATRICES, {}),
    "nested sum": ("C[i, j] = sum(k, A[i, k] * sum(l, B[k, l]))", MATRICES, {}),
    "sum of a sum": ("C[i, j] = sum(k, A[i, k] + B[k, j])", MATRICES, {}),
    "mean": ("C[i, j] = sum(k, A[i, k]) / K - B[0, j] / 2.5", MATRICES, {}),
    "indices as numbers": ("C[i, j] = (i - j) * A[i, 0] / (j + 1)", MATRICES, {}),
    "triangle": ("C[i, j] = where(i < j and not j == 4, A[i, j % K], -1.5)", MATRICES, {}),
    "scaled blocks": (
        "C[i, j] = sum(k, A[i, k] * SA[i, k // 2] * B[k, j] * SB[j, k // 2])",
        {"A": "e2m1 M K", "B": "e4m3 K N", "SA": "ue8m0 M 2", "SB": "ue8m0 N 2", "C": "f32 M N out"},
        {},
    ),
    "dequantised": (
        "C[i, j] = scale[j] * sum(k, A[i, k] * (W[j, k] - 8))",
        {"A": "f16 M K", "W": "u4 N K", "scale": "f32 N", "C": "f32 M N out"},
        {},
    ),
    "sparse": (
        "C[i, j] = sum(s, X[i, s] * B[s // 2 * 4 + (E[i] >> 2 * s & 3), j])",
        {"X": "f16 M 4", "B": "f16 8 N", "E": "u32 M", "C": "f32 M N out"},
        {"extra": {"E": "values = [0x94, 0xE1, 0x44]"}},
    ),
    "convolution": (
        "Y[n, o, p, q] = sum(c, r, s, X[n, c, p + r, q + s] * W[o, c, r, s])",
        {"X": "f16 2 3 5 4", "W": "f16 2 3 3 2", "Y": "f32 2 2 3 3 out"},
        {},
    ),
    "padded convolution": (
        "Y[p, q] = sum(r, s, where(0 <= p + r - 1 < 5 and 0 <= q + s - 1 < 4, X[p + r - 1, q + s - 1], 0)"
        " * W[r, s])",
        {"X": "f16 5 4", "W": "f16 3 3", "Y": "f32 5 4 out"},
        {},
    ),
    "batched": (
        "C[b, i, j] = sum(k, A[b, i, k] * B[b, k, j])",
        {"A": "bf16 2 M K", "B": "bf16 2 K N", "C": "bf16 2 M N out"},
        {},
    ),
    "double": (PRODUCT, {"A": "f64 M K", "B": "f32 K N", "C": "f64 M N out"}, {}),
    "functions": ("C[i, j] = fma(A[i, 0], rcp(exp2(B[0, j])), max(A[i, 1], B[1, j], 0.25))", MATRICES, {}),
    "quotients of data": ("C[i, j] = exp2(A[i, 0]) / (exp2(B[0, j]) + 1)", MATRICES, {}),
    "extrema over indices": (
        "C[i, j] = max(k, A[i, k] * B[k, j]) - min(k < K - 1, A[i, k + 1])",
        MATRICES,
        {},
    ),
    "extrema of integers": ("C[i, j] = max(k, A[i, k] * B[k, j]) - min(k, B[k, j])", INTEGERS, {}),
    "products": ("C[i, j] = prod(k, A[i, k]) * prod(k < 2, B[k + 1, j])", MATRICES, {}),
    "running": ("C[i, j] = prod(k, where(k <= j, A[i, k], 1.0)) + prod(k < 0, B[0, j])", MATRICES, {}),
    "extents by indices": (
        "C[i, j] = sum(k < i + 1, A[i, k]) * prod(k < j, B[0, k]) + max(k < i + j + 1, A[0, k % K])",
        MATRICES,
        {},
    ),
    "multiplied integers": ("C[i, j] = prod(k, A[i, k] - B[k, j])", {**INTEGERS, "C": "f32 M N out"}, {}),
    "sum of products": ("C[i, j] = sum(k, prod(l, A[i, l] - B[k, j]))", MATRICES, {}),
    "masked extrema": ("C[i, j] = max(k, where(k <= i, A[i, k], -inf)) + B[0, j]", MATRICES, {}),
    "named parts": (
        "C[i, j] = total[j] * scaled[i, 0] / 4 + scaled[i, K - 1]",
        MATRICES,
        {"let": ["half = 0.5", "scaled[i, k] = half * A[i, k]", "total[i] = sum(k, B[k, i])"]},
    ),
    "transposed copy": ("C[i, j] = A[j, i]", {"A": "e5m2 N M", "C": "e5m2 M N out"}, {}),
    "narrow output": (PRODUCT, {**MATRICES, "C": "e4m3 M N out"}, {}),
    "part of the output": (
        "C[i, 1] = A[i, 0] if i != 1",
        {"A": "f16 M K", "C": "f16 M N inout"},
        {},
    ),
    "diagonal": ("C[i, i] = A[i, 0]", {"A": "f16 M K", "C": "f16 M N inout"}, {}),
    "integers": (PRODUCT, INTEGERS, {}),
    "unsigned and signed": (PRODUCT, {**INTEGERS, "A": "u8 M K"}, {}),
    "four bits": (PRODUCT, {**INTEGERS, "A": "s4 M K", "B": "u4 K N"}, {}),
    "one bit": (PRODUCT, {**INTEGERS, "A": "b1 M K", "B": "b1 K N"}, {}),
    "wrapping": (PRODUCT, {"A": "s32 M K", "B": "u32 K N", "C": "s32 M N out"}, {}),
    "wrapping to bytes": (PRODUCT + " - 3 * A[i, 0]", {**INTEGERS, "C": "u8 M N out"}, {}),
    "zero point": (
        "C[i, j] = sum(k, (A[i, k] - za) * (B[k, j] - 3))",
        INTEGERS,
        {"scalars": {"za": 's8 "any"'}},
    ),
    "three factors": ("C[i, j] = -sum(k, A[i, k] * B[k, j] * A[i, 0])", INTEGERS, {}),
    "clamped": (
        "C[i, j] = s8(max(min(sum(k, A[i, k] * B[k, j]), 127), -128))",
        {**INTEGERS, "C": "s8 M N out"},
        {},
    ),
    "cast wraps": ("C[i, j] = 2 * s8(A[i, 0] * B[0, j])", INTEGERS, {}),
    "requantised": (
        "C[i, j] = s8(round(scale * sum(k, A[i, k] * B[k, j])))",
        {**INTEGERS, "C": "s8 M N out"},
        {"scalars": {"scale": "f32 0.004"}},
    ),
    "truncated": ("C[i, j] = s32(1.75 * A[i, j % K])", INTEGERS, {}),
    "integers to floats": (PRODUCT, {**INTEGERS, "C": "f16 M N out"}, {"sizes": {**SIZES, "K": 2}}),
    "given weights": (
        "C[i, j] = sum(k, A[i, k] * W[k])",
        {"A": "s8 M K", "W": "s8 K", "C": "s32 M N out"},
        {"extra": {"W": "values = [1, -128, 127, 5]"}},
    ),
    "two outputs": (
        [PRODUCT, "D[i] = sum(k, A[i, k])"],
        {**MATRICES, "D": "f32 M out"},
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("accumulate", ["unspecified", "sequential"])
def test_terms_have_the_values_of_the_reference(name: str, accumulate: str) -> None:
    formula, arrays, details = FORMULAS[name]
    given = {"sizes": SIZES, "ensures": f'accumulate = "{accumulate}"', **details}
    for seed in range(3):
        assert_agrees(contract_of(formula, arrays, **given), seed)


def test_the_reference_is_a_matrix_product() -> None:
    instance = contract_of(PRODUCT, INTEGERS, sizes={"M": 7, "N": 6, "K": 9}).instance(
        {"M": 7, "N": 6, "K": 9}
    )
    inputs = random_inputs(instance)
    a, b = (inputs[name].astype(np.uint8).view(np.int8).astype(int) for name in "AB")
    assert (reference(instance, inputs)["C"] == a.reshape(7, 9) @ b.reshape(9, 6)).all()


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 5), st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_any_sizes(m: int, n: int, k: int, seed: int) -> None:
    assert_agrees(contract_of(PRODUCT, MATRICES, sizes={"M": m, "N": n, "K": k}), seed)


def test_a_sequential_sum_is_the_chain_of_fused_multiply_adds() -> None:
    contract = contract_of(
        PRODUCT, {"A": "f32 1 K", "B": "f32 K 1", "C": "f32 1 1 out"}, sizes={"K": 6},
        ensures='accumulate = "sequential"',
    )  # fmt: skip
    instance = next(contract.instances())
    generator = np.random.default_rng(1)
    a, b = generator.standard_normal((2, 6)).astype(np.float32)
    found = evaluated(instance, "C", {"A": a.view(np.uint32), "B": b.view(np.uint32)})
    total = np.float32(0)
    for x, y in zip(
        a, b, strict=True
    ):  # the product of two f32 is exact in f64, the sum rounds to f32 rarely twice
        total = np.float32(np.float64(x) * np.float64(y) + np.float64(total))
    assert found.item() == total


def test_what_a_formula_does_not_cover_is_what_it_was() -> None:
    contract = contract_of("C[i, 1] = A[i] if i != 1", {"A": "f16 3", "C": "f16 3 2 inout"})
    instance = next(contract.instances())
    store = TermStore()
    terms = expected_terms(instance, instance.arrays["C"], store)
    mask = covered(instance, instance.arrays["C"])
    assert mask.tolist() == [[False, True], [False, False], [False, True]]
    names = [[store.operation(term).attribute for term in row] for row in terms]
    assert names == [["C", "A"], ["C", "C"], ["C", "A"]]
    assert store.arguments(terms)[..., 0].tolist() == [[0, 0], [2, 3], [4, 2]]


def test_leaves_are_numbered_by_shape_whatever_the_strides() -> None:
    contract = contract_of(
        "C[i, j] = A[j, i]", {"A": "f16 2 3", "C": "f16 3 2 out"}, extra={"A": 'strides = "column-major"'}
    )
    instance = next(contract.instances())
    store = TermStore()
    terms = expected_terms(instance, instance.arrays["C"], store)
    assert store.are(INPUT, terms).all()
    assert store.arguments(terms)[..., 0].tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_product_of_matrices_has_one_vector_for_each_row_and_column() -> None:
    sizes = {"M": 16, "N": 16, "K": 8}
    instance = contract_of(PRODUCT, MATRICES, sizes=sizes).instance(sizes)
    store = TermStore()
    expected_terms(instance, instance.arrays["C"], store)
    elements, vectors, dots, zero = 2 * 16 * 8, 32, 256, 1
    assert len(store) <= elements + vectors + dots + zero + 256  # and the output's old elements


def test_integer_accumulations_are_those_of_matrix_units() -> None:
    instance = next(contract_of(PRODUCT, INTEGERS, sizes=SIZES).instances())
    store = TermStore()
    operation = store.operation(int(expected_terms(instance, instance.arrays["C"], store)[0, 0]))
    assert (operation.name, operation.result) == ("dot", S32)
    assert [fmt.name for fmt in operation.operands] == ["s8", "s8", "s32"]


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (
            "C[i, j] = sum(k, A[i, k + 1] * B[k, j])",
            "column 18: index 2 of A is 4 at i = 0, k = 3, outside 0 to 3",
        ),
        ("C[i, j] = A[i - 1, 0]", "column 11: index 1 of A is -1 at i = 0, outside 0 to 2"),
        (
            "C[i, j] = sum(k, A[i, k] * B[j, k])",
            "k takes 5 values as index 2 of B, but 4 as index 2 of A; state its extent: sum(k < ...",
        ),
        ("C[i, j] = A[i, 0] / (i - i)", "the divisor of / is 0"),
        ("C[i, j] = A[i // j, 0]", "the divisor of // is 0"),
        ("C[i, j] = where(i < 2, A[i + 1, 0], A[i + 1, 0])", "column 37: index 1 of A is 3 at i = 2"),
        ("C[i, j] = sum(k < M - 4, A[i, 0])", "k takes -1 values"),
        ("C[i, j] = max(k < M - 3, A[i, 0])", "k takes 0 values"),
        ("C[i, j] = i << 62 - j << 8", "an integer of more than 62 bits"),
    ],
)
def test_indices_that_mean_nothing_are_errors(formula: str, message: str) -> None:
    instance = next(contract_of(formula, MATRICES, sizes=SIZES).instances())
    for evaluate in (
        lambda: expected_terms(instance, instance.arrays["C"], TermStore()),
        lambda: reference(instance, random_inputs(instance)),
    ):
        with pytest.raises(InputError) as caught:
            evaluate()
        assert message in str(caught.value)
        assert str(caught.value).startswith("test.toml:")


def test_an_integer_beyond_64_bits_asks_for_a_cast() -> None:
    arrays = {"A": "s64 M K", "B": "s64 K N", "C": "f32 M N out"}
    instance = next(contract_of(PRODUCT, arrays, sizes=SIZES).instances())
    with pytest.raises(InputError, match=r"beyond 64 bits; make it wrap with a cast such as s32"):
        expected_terms(instance, instance.arrays["C"], TermStore())


def test_the_reference_names_what_is_missing() -> None:
    instance = next(contract_of(PRODUCT, MATRICES, sizes=SIZES).instances())
    with pytest.raises(InputError, match="no values for A"):
        reference(instance, {})


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("sum(k < j + 1, A[i, k])", "sum(k < N, where(k < j + 1, A[i, k], 0))"),
        ("sum(k < j, l < k, A[i, k] * A[i, l])", None),
        ("prod(k < j, A[i, k])", "prod(k < N - 1, where(k < j, A[i, k], 1.0))"),
        ("max(k < j + 1, A[i, k])", "max(k < N, where(k < j + 1, A[i, k], -inf))"),
        ("min(k < j + 1, A[i, k])", "min(k < N, where(k < j + 1, A[i, k], inf))"),
        ("before[j]", "sum(k < N - 1, where(k < j, A[0, k], 0))"),
    ],
)
def test_an_index_goes_as_far_as_other_indices_say(short: str, long: str | None) -> None:
    """Beyond its own extent nothing counts, and nothing is read that only others need."""
    arrays = {"A": "f32 M N", "C": "f32 M N out"}
    let = {"let": ["before[j] = sum(k < j, A[0, k])"]}
    found = []
    for body in (short, long or "sum(k < N - 1, l < N - 2, where(k < j and l < k, A[i, k] * A[i, l], 0))"):
        instance = next(contract_of(f"C[i, j] = {body}", arrays, sizes={"M": 2, "N": 4}, **let).instances())
        found.append(reference(instance, random_inputs(instance))["C"])
    assert (found[0] == found[1]).all()


def test_a_condition_of_inputs_has_no_such_extents() -> None:
    text = contract_text("C[i] = A[i]", {"A": "f32 4", "C": "f32 4 out"})
    with pytest.raises(InputError, match="unknown name i"):
        parse_contract(text + '[requires]\nconditions = "max(k < i, A[k]) < A[i]"\n', "test.toml")
