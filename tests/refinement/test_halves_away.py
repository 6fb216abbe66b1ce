"""Rounding to the nearest integer with halves away from zero, as kernels and contracts write it."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "C": "f32 out"}
AWAY = "where(A[i] < 0, ceil(A[i] - 0.5), floor(A[i] + 0.5))"
COPIED = "copysign.f32 %f1, %A, 0f3F000000; add.rz.f32 %f1, %A, %f1; cvt.rzi.f32.f32 %C, %f1;"
CHOSEN = (
    "setp.ge.f32 %p1, %A, 0f00000000; selp.f32 %f1, 0f3F000000, 0fBF000000, %p1; "
    "add.f32 %f1, %A, %f1; cvt.rzi.f32.f32 %C, %f1;"
)
SIDES = (
    "add.f32 %f1, %A, 0f3F000000; cvt.rmi.f32.f32 %f1, %f1; add.f32 %f2, %A, 0fBF000000; "
    "cvt.rpi.f32.f32 %f2, %f2; setp.gt.f32 %p1, %A, 0f00000000; selp.f32 %C, %f1, %f2, %p1;"
)
TO_INTEGER = (
    "max.f32 %f3, %A, 0fC2FE0000; min.f32 %f3, %f3, 0f42FE0000; setp.lt.f32 %p1, %f3, 0f00000000; "
    "selp.f32 %f1, 0fBF000000, 0f3F000000, %p1; add.f32 %f1, %f3, %f1; cvt.rzi.s32.f32 %C, %f1;"
)
CLAMPED = "max(-127, min(127, A[i]))"


@pytest.mark.parametrize("body", [COPIED, CHOSEN, SIDES], ids=["copied sign", "chosen half", "chosen side"])
def test_halves_go_away_from_zero(body: str) -> None:
    assert result_of(body, f"C[i] = {AWAY}", ARRAYS).verdict == "verified"


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        (COPIED, "cvt.rzi", "cvt.rni"),
        (COPIED, "%A, 0f3F000000", "%A, 0f3F400000"),
        (CHOSEN, "0f3F000000, 0fBF000000", "0fBF000000, 0f3F000000"),
        (CHOSEN, "setp.ge.f32 %p1, %A, 0f00000000", "setp.ge.f32 %p1, %A, 0f3F800000"),
    ],
)
def test_other_roundings_are_refuted(body: str, old: str, new: str) -> None:
    assert old in body
    assert result_of(body.replace(old, new), f"C[i] = {AWAY}", ARRAYS).verdict == "refuted"


@pytest.mark.parametrize(("old", "new"), [("%f1, %f2, %p1", "%f2, %f1, %p1"), ("cvt.rpi", "cvt.rzi")])
def test_choices_that_differ_next_to_steps_are_not_verified(old: str, new: str) -> None:
    assert old in SIDES
    assert result_of(SIDES.replace(old, new), f"C[i] = {AWAY}", ARRAYS).verdict != "verified"


def test_halves_above_are_not_those_away_from_zero() -> None:
    assert result_of(COPIED, "C[i] = floor(A[i] + 0.5)", ARRAYS).verdict != "verified"


@pytest.mark.parametrize(("half", "verdict"), [("0f3F000000", "verified"), ("0f3E800000", "refuted")])
def test_a_conversion_towards_zero_truncates(half: str, verdict: str) -> None:
    body = TO_INTEGER.replace("0f3F000000", half)
    formula = f"C[i] = s32({AWAY.replace('A[i]', CLAMPED)})"
    assert result_of(body, formula, {"A": "f32", "C": "s32 out"}).verdict == verdict
