"""Sums of what is taken of the bits of one integer are that integer, whatever each summand is."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

APART = "and.b32 %r0, %A, {low}; and.b32 %r1, %A, {top};"
AS_INTEGERS = APART + "sub.s32 %r2, %r0, %r1; cvt.rn.f32.s32 %C, %r2;"
AS_FLOATS = APART + "cvt.rn.f32.s32 %f0, %r0; cvt.rn.f32.s32 %f1, %r1; sub.f32 %C, %f0, %f1;"
CUT = "xor.b32 %r0, %A, 65535; add.s32 %r0, %r0, %B; cvt.u16.u32 %h0, %r0; cvt.rn.f32.{0} %C, %h0;"


@pytest.mark.parametrize("body", [AS_INTEGERS, AS_FLOATS])
@pytest.mark.parametrize(("low", "top", "right"), [(127, 128, True), (7, 8, False), (127, 64, False)])
def test_a_sign_taken_off_makes_the_same_number_again(body: str, low: int, top: int, right: bool) -> None:
    result = result_of(body.format(low=low, top=top), "C[i] = A[i]", {"A": "s8", "C": "f32 out"})
    assert result.verdict == ("verified" if right else "refuted"), result.findings


@pytest.mark.parametrize(("read", "right"), [("s16", True), ("u16", False)])
def test_low_bits_of_a_sum_are_the_sum_of_low_bits(read: str, right: bool) -> None:
    arrays = {"A": "u8", "B": "u8", "C": "f32 out"}
    result = result_of(CUT.format(read), "C[i] = B[i] - A[i] - 1", arrays)
    assert result.verdict == ("verified" if right else "refuted"), result.findings
