"""What is never finite equals nothing over the reals; infinities that only bound do no harm."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import result_of

INFINITY, LEAST, NAN = "0f7F800000", "0fFF800000", "0f7FC00000"
LANES = "setp.lt.u32 %p1, %t, 5; selp.f32 %f1, {then}, {otherwise}, %p1; "


def verdict(body: str, formula: str, of: str = "f32") -> Verdict:
    return result_of(body, f"C[i] = {formula}", {"A": of, "C": "f32 out"}).verdict


@pytest.mark.parametrize("of", ["f32", "f16"])
@pytest.mark.parametrize("constant", [INFINITY, LEAST, NAN])
def test_a_difference_of_infinities_is_not_zero(constant: str, of: str) -> None:
    widened = "cvt.f32.f16 %f3, %A; " if of == "f16" else "mov.b32 %f3, %A; "
    product = widened + f"mul.f32 %f1, %f3, {constant}; sub.f32 %C, %f1, %f1;"
    total = widened + f"add.f32 %f1, %f3, {constant}; fma.rn.f32 %C, %f1, 0f00000000, %f3;"
    assert verdict(product, "0.0", of) is Verdict.REFUTED
    assert verdict(product, "A[i] - A[i]", of) is Verdict.REFUTED
    assert verdict(total, "A[i]", of) is Verdict.REFUTED


@pytest.mark.parametrize("constant", [INFINITY, LEAST, NAN])
def test_no_constant_that_is_infinite_equals_a_finite_one(constant: str) -> None:
    body = f"mov.b32 %C, {constant};"
    for formula in ("3.0", "0.0", "A[i]", "A[i] - A[i]"):
        assert verdict(body, formula) is Verdict.REFUTED


def test_what_is_infinite_in_some_threads_is_wrong_there_only() -> None:
    scaled = LANES.format(then=INFINITY, otherwise="0f40000000") + "mul.f32 %C, %A, %f1;"
    assert verdict(scaled, "2 * A[i]") is Verdict.REFUTED
    right = LANES.format(then="0f3F800000", otherwise="0f40000000") + "mul.f32 %C, %A, %f1;"
    assert verdict(right, "where(i < 5, A[i], 2 * A[i])") is Verdict.VERIFIED


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        (f"max.f32 %C, %A, {LEAST};", "A[i]"),
        (f"min.f32 %C, {INFINITY}, %A;", "A[i]"),
        (f"max.f32 %f1, %A, {LEAST}; max.f32 %f2, %f1, 0f00000000; add.f32 %C, %f2, %f2;", "2 * relu(A[i])"),
        (LANES.format(then=LEAST, otherwise="%A") + "max.f32 %C, %f1, 0f00000000;",
         "where(i < 5, 0, relu(A[i]))"),
        (LANES.format(then=LEAST, otherwise="%A") + "sub.f32 %f2, %f1, 0f3F800000; ex2.approx.f32 %C, %f2;",
         "where(i < 5, 0, exp2(A[i] - 1))"),
    ],
)  # fmt: skip
def test_a_masked_row_of_a_softmax_is_decided(body: str, formula: str) -> None:
    assert verdict(body, formula) is Verdict.VERIFIED


def test_the_wrong_bound_is_no_bound() -> None:
    assert verdict(f"max.f32 %C, %A, {INFINITY};", "A[i]") is Verdict.REFUTED
    assert verdict(f"min.f32 %C, %A, {LEAST};", "A[i]") is Verdict.REFUTED
    assert verdict(f"max.f32 %C, %A, {LEAST};", "relu(A[i])") is Verdict.REFUTED
