"""Kernels that are NaN whatever their inputs are, and such that choose otherwise in time."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "B": "f32", "Y": "f32 out"}
FORMULA = "Y[i] = exp2(A[i] - max(A[i], B[i])) + exp2(B[i] - max(A[i], B[i]))"
PAIR = (
    "max.f32 %f9, %f1, %f3; {base} sub.f32 %f1, %f1, %f8; ex2.approx.f32 %f1, %f1; sub.f32 %f3, %f3, %f8;"
    "ex2.approx.f32 %f3, %f3; mul.f32 %f4, %f4, %f3; fma.rn.f32 %f2, %f2, %f1, %f4; mov.f32 %f1, %f9;"
)
"""The maximum %f1 and the sum %f2 of a pair, and of %f3 and %f4, in %f1 and %f2."""

PLAIN, GUARDED = (
    "mov.f32 %f8, %f9;",
    ("setp.eq.f32 %p1, %f9, 0fFF800000; selp.f32 %f8, 0f00000000, %f9, %p1;"),
)
EMPTY = "mov.f32 %f{0}, 0fFF800000; mov.f32 %f{1}, 0f00000000;"
ONE = "mov.f32 %f{0}, %{2}; mov.f32 %f{1}, 0f3F800000;"


def merged(base: str) -> str:
    """Return a kernel that merges two empty pairs, and then the inputs."""
    first = EMPTY.format(1, 2) + EMPTY.format(3, 4) + PAIR.format(base=base)
    return (
        first + "".join(ONE.format(3, 4, each) + PAIR.format(base=base) for each in "AB") + "mov.f32 %Y, %f2;"
    )


def test_infinities_that_are_subtracted_make_a_kernel_nan_for_all_inputs() -> None:
    result = result_of(merged(PLAIN), FORMULA, ARRAYS)
    assert result.verdict == "refuted"
    (finding,) = result.findings
    assert (finding.kind.value, finding.message.split(" (")[0]) == (
        "wrong-value",
        "Y[0] is NaN for all inputs",
    )


def test_a_maximum_of_finite_inputs_is_not_minus_infinity() -> None:
    result = result_of(merged(GUARDED), FORMULA, ARRAYS)
    assert result.verdict == "verified", result.findings


@pytest.mark.parametrize("operands", ["%f1, %f1", "%f2, %f2"])
def test_what_is_computed_is_not_taken_for_a_number(operands: str) -> None:
    """2^A times 2^-A is NaN where one of them is infinite and the other 0; then the kernel is 0."""
    body = (
        "ex2.approx.f32 %f1, %A; neg.f32 %f2, %A; ex2.approx.f32 %f2, %f2; mul.f32 %f1, %f1, %f2;"
        f"setp.num.f32 %p1, {operands}; setp.ge.and.f32 %p1, %f1, 0f00000000, %p1;"
        "selp.f32 %Y, %A, 0f00000000, %p1;"
    )
    assert result_of(body, "Y[i] = A[i]", {"A": "f32", "Y": "f32 out"}).verdict != "verified"
