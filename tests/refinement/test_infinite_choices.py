"""Choices of infinities: what cancels over the reals is a NaN in a kernel where the infinity is chosen."""

from __future__ import annotations

import pytest

from mmaproof.refinement.result import Verdict

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "M": "s8", "B": "f32", "C": "f32 out"}
MASKED = "setp.ne.s32 %p1, %M, 0; selp.f32 %f1, %A, 0fFF800000, %p1; "
OF_BOTH = MASKED + "selp.f32 %f2, %B, 0fFF800000, %p1; "

LOST = {
    "less itself": (MASKED + "sub.f32 %f2, %f1, %f1; add.f32 %C, %f2, %B;", "C[i] = B[i]"),
    "times 0": (MASKED + "mul.f32 %f2, %f1, 0f00000000; add.f32 %C, %f2, %B;", "C[i] = B[i]"),
    "times its reciprocal": (
        MASKED + "rcp.approx.f32 %f2, %f1; mul.f32 %f3, %f2, %f1; mul.f32 %C, %B, %f3;",
        "C[i] = B[i]",
    ),
    "added and taken away": (MASKED + "add.f32 %f2, %f1, %B; sub.f32 %C, %f2, %f1;", "C[i] = B[i]"),
    "chosen by a sign": (
        "setp.gt.f32 %p1, %A, 0f00000000; selp.f32 %f1, %A, 0f7F800000, %p1; "
        "add.f32 %f2, %f1, %B; sub.f32 %C, %f2, %f1;",
        "C[i] = B[i]",
    ),
    "a tile that is masked as a whole": (
        MASKED + "sub.f32 %f2, %f1, %f1; ex2.approx.f32 %f3, %f2; max.f32 %f4, %f1, %B; "
        "sub.f32 %f5, %f1, %f4; ex2.approx.f32 %f6, %f5; mul.f32 %f7, %f3, %f6; sub.f32 %f8, %B, %f4; "
        "ex2.approx.f32 %f9, %f8; add.f32 %f10, %f7, %f9; div.rn.f32 %C, %f9, %f10;",
        "C[i] = exp2(B[i]) / (exp2(where(M[i] != 0, A[i], -inf)) + exp2(B[i]))",
    ),
}

SOFTMAX = (
    "max.f32 %f4, %f1, {other}; sub.f32 %f5, %f1, %f4; ex2.approx.f32 %f6, %f5; sub.f32 %f8, {other}, %f4; "
    "ex2.approx.f32 %f9, %f8; add.f32 %f10, %f6, %f9; div.rn.f32 %C, %f9, %f10;"
)

KEPT = {
    "one is masked": (
        MASKED + SOFTMAX.format(other="%B"),
        "C[i] = exp2(B[i]) / (exp2(where(M[i] != 0, A[i], -inf)) + exp2(B[i]))",
    ),
    "all are masked: the divisor is 0": (
        OF_BOTH + SOFTMAX.format(other="%f2"),
        "C[i] = exp2(where(M[i] != 0, B[i], -inf)) "
        "/ (exp2(where(M[i] != 0, A[i], -inf)) + exp2(where(M[i] != 0, B[i], -inf)))",
    ),
    "another sum": (MASKED + "add.f32 %C, %B, %f1;", "C[i] = where(M[i] != 0, A[i], -inf) + B[i]"),
}


@pytest.mark.parametrize("name", LOST)
def test_what_is_no_number_is_not_verified(name: str) -> None:
    result = result_of(*LOST[name], ARRAYS)
    assert result.verdict is Verdict.REFUTED
    assert "is no number: where an infinity is chosen" in result.findings[0].message


@pytest.mark.parametrize("name", KEPT)
def test_what_the_contract_has_no_number_for_either_is_verified(name: str) -> None:
    assert result_of(*KEPT[name], ARRAYS).verdict is Verdict.VERIFIED


def test_numbers_that_only_a_rounding_tells_apart_are_not_taken_for_equal() -> None:
    body = "cvt.rn.f16.f32 %h1, %A; cvt.f32.f16 %f1, %h1; setp.eq.f32 %p1, %f1, %A; selp.f32 %C, %A, %B, %p1;"
    assert result_of(body, "C[i] = where(A[i] == A[i], A[i], B[i])", ARRAYS).verdict is not Verdict.VERIFIED
