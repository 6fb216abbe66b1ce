"""Rounding by bits: what is added before low bits are dropped rounds to nearest, and nothing else does."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

NARROW = {"A": "f32", "C": "bf16 out"}
WIDE = {"A": "f32", "C": "f32 out"}
EVEN = "mov.b32 %r0, %A; shr.u32 %r1, %r0, 16; and.b32 %r1, %r1, 1; add.s32 %r2, %r0, %r1; "
BF16 = EVEN + "add.s32 %r2, %r2, 32767; shr.u32 %r3, %r2, 16; cvt.u16.u32 %C, %r3;"
BF16_WIDE = EVEN + "add.s32 %r2, %r2, 32767; and.b32 %r3, %r2, -65536; mov.b32 %C, %r3;"
TF32 = (
    "mov.b32 %r0, %A; bfe.u32 %r1, %r0, 13, 1; add.s32 %r1, %r1, 4095; add.s32 %r2, %r1, %r0; "
    "and.b32 %r3, %r2, -8192; mov.b32 %C, %r3;"
)
AWAY = "mov.b32 %r0, %A; add.s32 %r1, %r0, 32768; shr.u32 %r2, %r1, 16; cvt.u16.u32 %C, %r2;"
NAN_KEPT = BF16.replace("%C, %r3", "%h1, %r3") + "setp.nan.f32 %p1, %A, %A; selp.b16 %C, 32767, %h1, %p1;"
NAN_BY_BITS = (
    BF16.replace("%C, %r3", "%h1, %r3")
    + "and.b32 %r4, %r0, 2147483647; setp.gt.u32 %p1, %r4, 2139095040; selp.b16 %C, 32767, %h1, %p1;"
)
INFINITY_CUT = (
    EVEN
    + "add.s32 %r2, %r2, 32767; shr.u32 %r3, %r2, 16; shr.u32 %r5, %r0, 16; and.b32 %r4, %r0, 2139095040; "
    "setp.eq.s32 %p1, %r4, 2139095040; selp.b32 %r6, %r5, %r3, %p1; cvt.u16.u32 %C, %r6;"
)
RIGHT = {
    "bf16": (BF16, NARROW),
    "bf16 in f32": (BF16_WIDE, WIDE),
    "tf32": (TF32, WIDE),
    "ties away": (AWAY, NARROW),
    "NaN apart": (NAN_KEPT, NARROW),
    "NaN apart by bits": (NAN_BY_BITS, NARROW),
    "infinities apart": (INFINITY_CUT, NARROW),
}
FAULTS = [
    ("bf16", "32767", "32766"),
    ("bf16", "32767", "65535"),
    ("bf16", "%r0, 16; and", "%r0, 17; and"),
    ("bf16", "%r1, %r1, 1;", "%r1, %r1, 3;"),
    ("bf16", "add.s32 %r2, %r0, %r1", "sub.s32 %r2, %r0, %r1"),
    ("bf16", "add.s32 %r2, %r0, %r1", "add.s32 %r2, %r0, %r0"),
    ("bf16 in f32", "-65536", "-32768"),
    ("bf16 in f32", "mov.b32 %r0, %A", "neg.f32 %f0, %A; mov.b32 %r0, %f0"),
    ("tf32", "%r0, 13, 1", "%r0, 12, 1"),
    ("tf32", "4095", "4096"),
    ("ties away", "32768", "32769"),
    ("ties away", "32768", "98304"),
    ("NaN apart", "setp.nan.f32 %p1, %A, %A", "setp.num.f32 %p1, %A, %A"),
    ("NaN apart", "setp.nan.f32 %p1, %A, %A", "setp.gt.f32 %p1, %A, 0f42800000"),
    ("NaN apart by bits", "2139095040", "2130706432"),
    ("NaN apart by bits", "%r0, 2147483647", "%r0, 4294967295"),
    ("NaN apart by bits", "setp.gt", "setp.le"),
    ("infinities apart", "%r5, %r3, %p1", "%r5, %r5, %p1"),
    ("infinities apart", "shr.u32 %r5, %r0, 16", "shr.u32 %r5, %r0, 15"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_a_number_that_is_rounded_by_its_bits_is_that_number(name: str) -> None:
    body, arrays = RIGHT[name]
    result = result_of(body, "C[i] = A[i]", arrays)
    assert result.verdict == "verified", result.findings


@pytest.mark.parametrize(("name", "old", "new"), FAULTS)
def test_other_bits_are_another_number(name: str, old: str, new: str) -> None:
    """Two of them are truncations, which are roundings too."""
    body, arrays = RIGHT[name]
    assert old in body
    cut = new == "%r5, %r5, %p1"
    assert (result_of(body.replace(old, new), "C[i] = A[i]", arrays).verdict == "verified") == cut


@pytest.mark.parametrize(("name", "bound", "verified"), [
    ("bf16", "2^-8", True), ("bf16", "2^-9", False), ("bf16 in f32", "2^-8", True),
    ("ties away", "2^-8", True),
])  # fmt: skip
def test_the_rounding_counts(name: str, bound: str, verified: bool) -> None:
    body, arrays = RIGHT[name]
    result = result_of(body, "C[i] = A[i]", arrays, ensures=f'max_relative = "{bound}"')
    assert (result.verdict == "verified") == verified, result.findings
