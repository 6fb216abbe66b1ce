"""What nobody has written may be a NaN, of which 0 times is no 0."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "C": "f32 out"}

NUMBERS = {
    "times nothing": "mul.f32 %f2, %f1, 0f00000000; add.f32 %C, %f2, %A;",
    "less itself": "sub.f32 %f2, %f1, %f1; add.f32 %C, %f2, %A;",
    "half of a word, times nothing": (
        "mov.b32 {%h1, %h2}, %r1; cvt.f32.f16 %f1, %h1; mul.f32 %f2, %f1, 0f00000000; add.f32 %C, %f2, %A;"
    ),
    "rounded, less itself": (
        "cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f2, %h1; sub.f32 %f2, %f2, %f2; add.f32 %C, %A, %f2;"
    ),
    "beside a greater one": "max.f32 %f2, %f1, %f1; sub.f32 %f2, %f2, %f1; add.f32 %C, %f2, %A;",
    "chosen by data": (
        "setp.gt.f32 %p1, %A, 0f00000000; selp.f32 %f1, %A, %f3, %p1; sub.f32 %f2, %f1, %f1; "
        "add.f32 %C, %f2, %A;"
    ),
    "as it is": "mov.f32 %C, %f1;",
}


@pytest.mark.parametrize("name", NUMBERS)
def test_undefined_numbers_do_not_vanish(name: str) -> None:
    result = result_of(NUMBERS[name], "C[i] = A[i]", ARRAYS)
    assert result.verdict is Verdict.REFUTED
    assert [finding.kind for finding in result.findings] == [Kind.UNINITIALISED]


@pytest.mark.parametrize(
    "body",
    [
        "mul.lo.s32 %r2, %r1, 0; cvt.rn.f32.s32 %f2, %r2; add.f32 %C, %f2, %A;",
        "setp.gt.f32 %p1, %f1, 0f00000000; selp.f32 %C, %A, %A, %p1;",
        "setp.gt.f32 %p1, %A, 0f00000000; selp.f32 %f1, %A, %f3, %p1; add.f32 %f2, %f1, 0f3F800000; "
        "sub.f32 %f2, %f2, 0f3F800000; selp.f32 %C, %f2, %A, %p1;",
        "setp.lt.u32 %p1, %t, 64; mul.f32 %f2, %f1, 0f00000000; selp.f32 %C, %A, %f2, %p1;",
    ],
)
def test_integers_do_and_what_is_not_chosen_does_no_harm(body: str) -> None:
    assert result_of(body, "C[i] = A[i]", ARRAYS).verdict is Verdict.VERIFIED


def test_what_spoils_a_result_of_unknown_error_is_found() -> None:
    body = "ex2.approx.f32 %f2, %A; fma.rn.f32 %C, %f1, 0f00000000, %f2;"
    result = result_of(body, "C[i] = exp2(A[i])", ARRAYS)
    assert result.verdict is Verdict.REFUTED
    assert [finding.kind for finding in result.findings] == [Kind.UNINITIALISED]
