"""Integers that floats are rounded to, of which the format has all, are whole floats."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "C": "f32 out"}


@pytest.mark.parametrize(
    ("body", "requires", "formula", "verdict"),
    [
        ("cvt.rzi.s32.f32 %r1, %A; cvt.rn.f32.s32 %C, %r1;", "abs(A[i]) <= 2e9", "trunc(A[i])", "verified"),
        ("cvt.rzi.s32.f32 %r1, %A; cvt.rn.f32.s32 %C, %r1;", "0 <= A[i] < 9", "floor(A[i])", "verified"),
        ("cvt.rzi.s32.f32 %r1, %A; cvt.rn.f32.s32 %C, %r1;", "-1 <= A[i] < 9", "floor(A[i])", "refuted"),
        ("cvt.rpi.s32.f32 %r1, %A; cvt.rn.f32.s32 %C, %r1;", "abs(A[i]) <= 9", "ceil(A[i])", "verified"),
        ("cvt.rmi.s32.f32 %r1, %A; cvt.rn.f32.s32 %C, %r1;", "abs(A[i]) <= 9", "trunc(A[i])", "refuted"),
        ("cvt.rzi.u32.f32 %r1, %A; cvt.rn.f32.u32 %C, %r1;", "-3 <= A[i] < 9", "trunc(A[i])", "refuted"),
        (  # floor(A) is an integer, and stays it where it is converted toward zero
            "cvt.rmi.f32.f32 %f1, %A; cvt.rzi.s32.f32 %r1, %f1; cvt.rn.f32.s32 %C, %r1;",
            "abs(A[i]) <= 9",
            "floor(A[i])",
            "verified",
        ),
        (  # the fraction
            "cvt.rzi.s32.f32 %r1, %A; cvt.rn.f32.s32 %f1, %r1; sub.f32 %C, %A, %f1;",
            "0 <= A[i] < 9",
            "A[i] - floor(A[i])",
            "verified",
        ),
        (  # integers are added to and multiplied
            "cvt.rzi.s32.f32 %r1, %A; mul.lo.s32 %r1, %r1, 1003; cvt.rn.f32.s32 %C, %r1;",
            "abs(A[i]) <= 1e6",
            "1003 * trunc(A[i])",
            "verified",
        ),
        (  # which wraps
            "cvt.rzi.s32.f32 %r1, %A; mul.lo.s32 %r1, %r1, 1003; cvt.rn.f32.s32 %C, %r1;",
            "abs(A[i]) <= 1e7",
            "1003 * trunc(A[i])",
            "refuted",
        ),
    ],
)
def test_an_integer_that_a_float_is_rounded_to(body: str, requires: str, formula: str, verdict: str) -> None:
    assert result_of(body, f"C[i] = {formula}", ARRAYS, requires=[requires]).verdict.value == verdict


def test_numbers_that_no_bound_keeps_in_the_format_are_none() -> None:
    body = "cvt.rzi.s32.f32 %r1, %A; cvt.rn.f32.s32 %C, %r1;"
    for bound in ("3e9", "1e30"):
        found = result_of(body, "C[i] = trunc(A[i])", ARRAYS, requires=[f"abs(A[i]) <= {bound}"])
        assert found.verdict.value != "verified"
