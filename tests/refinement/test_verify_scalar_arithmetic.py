"""Conversions of integer sums, quotients by constants, and decoded scales are decided."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.result import Equality, Verdict

from ..elementwise_kernels import Kernel

SMALL = {"A": "s8", "B": "s8", "C": "f32 out"}
BYTES = {"A": "u8", "B": "u8", "C": "f32 out"}
SCALED = {"A": "u8", "B": "u8", "S": "f32", "C": "f32 out"}
FLOATS = {"A": "f32", "C": "f32 out"}

DIFFERENCE = "sub.s32 %r1, %A, %B; cvt.rn.f32.s32 %C, %r1;"
DECODED = (
    "shl.b32 %r1, %A, 23; setp.eq.u32 %p1, %A, 0; selp.b32 %r2, 0x00400000, %r1, %p1;"
    "setp.eq.u32 %p2, %A, 255; selp.b32 %C, 0x7fc00000, %r2, %p2;"
)

KERNELS = {
    "a difference of signed bytes": Kernel(DIFFERENCE, "C[i] = A[i] - B[i]", SMALL, ("sub", "add")),
    "a difference of converted bytes": Kernel(
        DIFFERENCE, "C[i] = f32(A[i]) - f32(B[i])", SMALL, ("%A, %B", "%B, %A")
    ),
    "a difference of unsigned bytes": Kernel(
        DIFFERENCE, "C[i] = A[i] - B[i]", BYTES, (".f32.s32", ".f32.u32")
    ),
    "a sum of halves": Kernel(
        "cvt.s32.s16 %r1, %A; cvt.s32.s16 %r2, %B; add.s32 %r3, %r1, %r2; cvt.rn.f32.s32 %C, %r3;",
        "C[i] = f32(A[i]) + B[i]", {"A": "s16", "B": "s16", "C": "f32 out"}, ("s32.s16 %r2", "s32.s8 %r2"),
    ),
    "a difference in 16 bits": Kernel(
        "cvt.u16.u32 %h1, %A; cvt.u16.u32 %h2, %B; sub.s16 %h3, %h1, %h2; cvt.rn.f32.s16 %C, %h3;",
        "C[i] = f32(A[i]) - f32(B[i])", BYTES, (".f32.s16", ".f32.u16"),
    ),
    "a negated byte": Kernel(
        "neg.s32 %r1, %A; cvt.rn.f32.s32 %C, %r1;", "C[i] = -f32(A[i])", SMALL, ("neg", "abs")
    ),
    "a zero point and a scale": Kernel(
        f"{DIFFERENCE.replace('%C', '%f1')} mul.rn.f32 %C, %f1, %S;",
        "C[i] = (f32(A[i]) - f32(B[i])) * S[i]", SCALED, ("sub", "add"),
    ),
    "a zero point taken off after the product": Kernel(
        f"{DIFFERENCE.replace('%C', '%f1')} mul.rn.f32 %C, %f1, %S;",
        "C[i] = A[i] * S[i] - B[i] * S[i]", SCALED, ("sub", "add"),
    ),
    "a constant zero point": Kernel(
        "add.s32 %r1, %A, -128; cvt.rn.f32.s32 %f1, %r1; mul.rn.f32 %C, %f1, %S;",
        "C[i] = (A[i] - 128) * S[i]", SCALED, ("-128", "-127"),
    ),
    "a zero point of a multiple": Kernel(
        "shl.b32 %r1, %B, 1; sub.s32 %r2, %A, %r1; cvt.rn.f32.s32 %C, %r2;",
        "C[i] = f32(A[i]) - 2 * f32(B[i])", BYTES, ("%B, 1", "%B, 2"),
    ),
    # -- quotients
    "div.rn by a power of two": Kernel(
        "div.rn.f32 %C, %A, 0f41000000;", "C[i] = A[i] / 8", FLOATS, ("41", "40")
    ),
    "div.rn by a power of two below 1": Kernel(
        "div.rn.f32 %C, %A, 0f3E000000;", "C[i] = A[i] * 8", FLOATS, ("3E", "3F")
    ),
    "div.full by a power of two": Kernel(
        "div.full.f32 %C, %A, 0f41000000;", "C[i] = A[i] / 8", FLOATS, ("41", "40")
    ),
    "div.rn by three": Kernel("div.rn.f32 %C, %A, 0f40400000;", "C[i] = A[i] / 3", FLOATS, ("404", "405")),
    "div.full by three": Kernel(
        "div.full.f32 %C, %A, 0f40400000;", "C[i] = A[i] / 3", FLOATS, ("404", "405")
    ),
    "div.approx by minus ten": Kernel(
        "div.approx.f32 %C, %A, 0fC1200000;", "C[i] = -A[i] / 10", FLOATS, ("C12", "C13")
    ),
    "div.rn.ftz by three, and a sum": Kernel(
        "div.rn.ftz.f32 %f1, %A, 0f40400000; add.rn.f32 %C, %f1, %A;", "C[i] = A[i] / 3 + A[i]",
        FLOATS, ("404", "405"),
    ),
    "div.rn.f64 by four": Kernel(
        "div.rn.f64 %C, %A, 0d4010000000000000;", "C[i] = A[i] / 4",
        {"A": "f64", "C": "f64 out"}, ("401", "402"),
    ),
    # -- scales
    "a scale, its smallest value included": Kernel(
        DECODED, "C[i] = A[i]", {"A": "ue8m0", "C": "f32 out"}, ("0x00400000", "0")
    ),
    "a scale of bf16": Kernel(
        "cvt.u16.u32 %h1, %A; shl.b16 %h2, %h1, 7; setp.eq.u16 %p1, %h1, 0; selp.b16 %h3, 0x0040, %h2, %p1;"
        "setp.eq.u16 %p2, %h1, 255; selp.b16 %C, 0x7fff, %h3, %p2;",
        "C[i] = A[i]", {"A": "ue8m0", "C": "bf16 out"}, (", 7", ", 8"),
    ),
    "a scaled element": Kernel(
        f"{DECODED.replace('%C', '%f1')} mul.rn.f32 %C, %f1, %S;",
        "C[i] = A[i] * S[i]", {"A": "ue8m0", "S": "f32", "C": "f32 out"}, (", 23", ", 22"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_is_verified(name: str) -> None:
    result = KERNELS[name].result()
    assert result.verdict is Verdict.VERIFIED, result.findings


@pytest.mark.parametrize("name", KERNELS)
def test_a_faulty_kernel_is_refuted(name: str) -> None:
    assert KERNELS[name].faulty_result().verdict is Verdict.REFUTED


def test_a_quotient_by_a_power_of_two_is_exact() -> None:
    for name in ("div.rn by a power of two", "div.rn by a power of two below 1", "div.rn.f64 by four"):
        assert KERNELS[name].result().equality is Equality.BITS
