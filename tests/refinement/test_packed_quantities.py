"""Quantised numbers with a zero point, clamped as integers and packed."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "B": "f32", "C": "u8 out"}
BOUNDED = ["abs(A[i]) <= 1e6", "abs(B[i]) <= 1e6"]
PACKED = """cvt.rni.s32.f32 %r1, %A; add.s32 %r1, %r1, 8; max.s32 %r1, %r1, 0; min.s32 %r1, %r1, 15;
cvt.rni.s32.f32 %r2, %B; add.s32 %r2, %r2, 8; max.s32 %r2, %r2, 0; min.s32 %r2, %r2, 15;
shl.b32 %r2, %r2, 4; or.b32 %C, %r1, %r2;"""
FORMULA = """C[i] = u8(min(max(s32(round(A[i])) + 8, 0), 15)
    + 16 * min(max(s32(round(B[i])) + 8, 0), 15))"""


def test_nibbles_with_a_zero_point_are_packed_by_or() -> None:
    assert result_of(PACKED, FORMULA, ARRAYS, requires=BOUNDED).verdict == "verified"


@pytest.mark.parametrize(("old", "new"), [("%r1, %r1, 15", "%r1, %r1, 16"), ("%r2, %r2, 8", "%r2, %r2, 7")])
def test_others_are_not(old: str, new: str) -> None:
    assert old in PACKED
    assert result_of(PACKED.replace(old, new), FORMULA, ARRAYS, requires=BOUNDED).verdict == "refuted"


def test_a_zero_point_may_wrap_where_nothing_bounds_a_number() -> None:
    assert result_of(PACKED, FORMULA, ARRAYS).verdict != "verified"


def test_a_quotient_by_the_greatest_magnitude_needs_no_clamp_of_integers() -> None:
    arrays = {"A": "f32", "B": "f32", "C": "s8 out"}
    body = """abs.f32 %f1, %A; abs.f32 %f2, %B; max.f32 %f1, %f1, %f2; div.rn.f32 %f1, %f1, 0f42FE0000;
    setp.eq.f32 %p1, %f1, 0f00000000; rcp.rn.f32 %f2, %f1; selp.f32 %f2, 0f00000000, %f2, %p1;
    mul.f32 %f3, %A, %f2; cvt.rni.s32.f32 %r1, %f3; min.s32 %r1, %r1, LIMIT; max.s32 %C, %r1, -128;"""
    scale = "(max(abs(A[i]), abs(B[i])) / 127)"
    formula = f"C[i] = s8(round(A[i] * where({scale} == 0, 0, 1 / {scale})))"
    assert result_of(body.replace("LIMIT", "127"), formula, arrays).verdict == "verified"
    assert result_of(body.replace("LIMIT", "126"), formula, arrays).verdict == "refuted"
