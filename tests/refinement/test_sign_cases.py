"""Kernels that choose by a sign, and what they do where the number is one of the two zeros."""

from __future__ import annotations

from ..elementwise_kernels import result_of

CHOICE = (
    "setp.gt.f32 %p1, %A, 0f00000000; setp.eq.f32 %p2, %A, 0f00000000; shr.u32 %r1, %A, 31; "
    "cvt.rn.f32.u32 %f1, %r1; selp.f32 %f2, {at_zero}, 0f00000000, %p2; selp.f32 %C, %A, %f2, %p1;"
)


def verdict(at_zero: str) -> str:
    body = CHOICE.format(at_zero=at_zero)
    return str(result_of(body, "C[i] = max(A[i], 0)", {"A": "f32", "C": "f32 out"}).verdict.value)


def test_a_choice_by_a_sign_is_an_extremum() -> None:
    assert verdict("0f00000000") == "verified"


def test_the_opposite_of_zero_is_looked_at_too() -> None:
    """Its sign bit is 1, which only this zero has."""
    assert verdict("%f1") == "refuted"
    assert verdict("0f3F800000") == "refuted"
