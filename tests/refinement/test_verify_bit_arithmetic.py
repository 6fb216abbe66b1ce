"""Kernels that do arithmetic by shifts and masks, and move bits by arithmetic, are decided."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import Kernel, result_of

KERNELS = {
    # -- signs are bits too
    "a byte through a signed shift": Kernel(
        "shl.b32 %r1, %A, 16; shr.s32 %r2, %r1, 16; and.b32 %C, %r2, 255;",
        "C[i] = A[i]", {"A": "u8", "C": "u32 out"}, ("%r2, 255", "%r1, 255"),
    ),
    "the upper byte of a pair by a signed shift": Kernel(
        "prmt.b32 %r1, %A, %B, 0x4040; shr.s32 %r2, %r1, 24; and.b32 %C, %r2, 0xff;",
        "C[i] = B[i]", {"A": "u8", "B": "u8", "C": "u32 out"}, (", 24", ", 16"),
    ),
    "a nibble by bfe.s32 and a mask": Kernel(
        "shl.b32 %r1, %A, 8; bfe.s32 %r2, %r1, 8, 16; and.b32 %r3, %r2, 0xff; cvt.rn.f32.u32 %C, %r3;",
        "C[i] = A[i]", {"A": "u8", "C": "f32 out"}, ("8, 16", "4, 16"),
    ),
    "sign-extended bytes packed and taken out": Kernel(
        "and.b32 %r1, %A, 0xffff; shl.b32 %r2, %B, 16; or.b32 %r3, %r1, %r2;"
        "shl.b32 %r4, %r3, 16; shr.s32 %r5, %r4, 16; shr.s32 %r6, %r3, 16; sub.s32 %C, %r5, %r6;",
        "C[i] = A[i] - B[i]", {"A": "s8", "B": "s8", "C": "s32 out"}, ("0xffff", "0xff"),
    ),
    "cvt.s32.s8 and a mask": Kernel(
        "cvt.s32.s8 %r1, %A; and.b32 %r2, %r1, 0xff; cvt.s32.s8 %C, %r2;",
        "C[i] = A[i]", {"A": "s8", "C": "s32 out"}, ("0xff;", "0x7f;"),
    ),
    "prmt with signs": Kernel(
        "prmt.b32 %r1, %A, 0, 0x8880; prmt.b32 %C, %r1, 0, 0x9910;",
        "C[i] = A[i]", {"A": "s8", "C": "s32 out"}, ("0x9910", "0x9900"),
    ),
    "4-bit floats looked up by prmt with a selector of data": Kernel(
        "and.b32 %r1, %A, 7; prmt.b32 %r2, 0xc0800000, 0xc0804000, %r1;"
        "prmt.b32 %r3, 0x3f3f3f00, 0x40404040, %r1;"
        "shl.b32 %r4, %r3, 24; and.b32 %r5, %r2, 255; shl.b32 %r6, %r5, 16; or.b32 %C, %r4, %r6;",
        "C[i] = lookup(A[i] & 7, 0, 0.5, 1, 1.5, 2, 3, 4, 6)", {"A": "u8", "C": "f32 out"},
        ("0xc0804000", "0xc0804080"),
    ),
    "a product of halves of a word": Kernel(
        "and.b32 %r1, %A, 0xffff; shl.b32 %r2, %B, 16; or.b32 %r3, %r1, %r2;"
        "mov.b32 {%h1, %h2}, %r3; mul.wide.s16 %C, %h1, %h2;",
        "C[i] = A[i] * B[i]", {"A": "s8", "B": "s8", "C": "s32 out"}, ("wide.s16", "wide.u16"),
    ),
    "both nibbles of a byte": Kernel(
        "shl.b32 %r1, %A, 28; shr.s32 %r2, %r1, 28; shl.b32 %r3, %A, 24; shr.s32 %r4, %r3, 28;"
        "and.b32 %r5, %r2, 15; shl.b32 %r6, %r4, 4; or.b32 %r7, %r5, %r6; cvt.s32.s8 %C, %r7;",
        "C[i] = A[i]", {"A": "s8", "C": "s32 out"}, ("%r3, 28", "%r3, 24"),
    ),
    "nibbles added up": Kernel(
        "and.b32 %r1, %A, 15; shl.b32 %r2, %A, 24; shr.s32 %r3, %r2, 28; shl.b32 %r4, %r3, 4;"
        "add.s32 %C, %r4, %r1;",
        "C[i] = A[i]", {"A": "s8", "C": "s32 out"}, ("%r2, 28", "%r2, 24"),
    ),
    # -- multiplications that move bits
    "mul.wide.u16 by 256 and or": Kernel(
        "cvt.u16.u32 %h1, %A; mul.wide.u16 %r1, %h1, 256; or.b32 %C, %r1, %B;",
        "C[i] = 256 * A[i] + B[i]", {"A": "u8", "B": "u8", "C": "u32 out"}, ("256", "128"),
    ),
    "mul.lo by 65536 and or": Kernel(
        "mul.lo.u32 %r1, %A, 65536; or.b32 %r2, %r1, %B; mul.lo.s32 %r3, %r2, 256; shr.u32 %C, %r3, 8;",
        "C[i] = 65536 * A[i] + B[i]", {"A": "u8", "B": "u8", "C": "u32 out"}, ("%r3, 8;", "%r3, 7;"),
    ),
    "mad.lo as or": Kernel(
        "mad.lo.s32 %r1, %A, 256, %B; mad.lo.s32 %r2, %B, 0x10000, %r1;"
        "shr.u32 %r3, %r2, 8; and.b32 %C, %r3, 255; and.b32 %D, %r2, 255;",
        ["C[i] = A[i]", "D[i] = B[i]"],
        {"A": "u8", "B": "u8", "C": "u32 out", "D": "u32 out"}, ("%r2, 8", "%r2, 16"),
    ),
    "add as or": Kernel(
        "shl.b32 %r1, %A, 8; add.s32 %r2, %r1, %B; shr.u32 %C, %r2, 8;",
        "C[i] = A[i]", {"A": "u8", "B": "u8", "C": "u32 out"}, ("%A, 8", "%A, 7"),
    ),
    "an exponent put in place by a product": Kernel(
        "mul.wide.u16 %C, %A, 32768; mul.lo.u32 %C, %C, 2;",
        "C[i] = A[i]", {"A": "bf16", "C": "f32 out"}, ("32768", "16384"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_is_verified(name: str) -> None:
    result = KERNELS[name].result()
    assert result.verdict is Verdict.VERIFIED, result.findings


@pytest.mark.parametrize("name", KERNELS)
def test_a_faulty_kernel_is_refuted(name: str) -> None:
    assert KERNELS[name].faulty_result().verdict is Verdict.REFUTED


def test_what_is_read_as_another_type_is_told() -> None:
    body = "and.b32 %r1, %A, 255; cvt.rn.f32.u32 %C, %r1;"
    result = result_of(body, "C[i] = A[i]", {"A": "s8", "C": "f32 out"})
    assert "C[0] uses u8(A[0]), expected A[0]" in str(result.findings[0])
