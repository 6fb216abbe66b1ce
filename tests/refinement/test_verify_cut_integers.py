"""Integers of which only the low bits are kept: verified where that is all, refuted where it is not."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

PRODUCT = "mul.lo.s32 %r0, %A, %B;"
KEPT = {
    "s32": "cvt.s32.s16 %C, %r0;",
    "shifted": "shl.b32 %r1, %r0, 16; shr.s32 %C, %r1, 16;",
    "f32": "cvt.u16.u32 %h0, %r0; cvt.rn.f32.s16 %C, %h0;",
}
"""The low half of a sum in a register, read as a signed integer."""


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize(("types", "fits"), [("s8 s8", True), ("s16 s8", False), ("u8 u8", False)])
def test_only_a_cut_that_loses_something_is_refuted(kept: str, types: str, fits: bool) -> None:
    left, right = types.split()
    out = "f32" if kept == "f32" else "s32"
    arrays = {"A": left, "B": right, "C": f"{out} out"}
    widened = "cvt.s32.s16 %r2, %A; mul.lo.s32 %r0, %r2, %B;" if left == "s16" else PRODUCT
    result = result_of(widened + KEPT[kept], "C[i] = A[i] * B[i]", arrays, target="sm_80")
    assert result.verdict == ("verified" if fits else "refuted"), result.findings


@pytest.mark.parametrize("times", [1, 2, 3])
def test_the_sum_of_two_products_of_bytes_needs_seventeen_bits(times: int) -> None:
    """2 * (-128)**2 is one more than 16 bits hold; 127 * 128 * 2 is within."""
    body = PRODUCT + "mad.lo.s32 %r0, %A, %B, %r0;" * (times - 1) + KEPT["s32"]
    result = result_of(body, f"C[i] = {times} * A[i] * B[i]", {"A": "s8", "B": "s8", "C": "s32 out"})
    assert result.verdict == ("verified" if times == 1 else "refuted")
