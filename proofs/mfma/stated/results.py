"""What single MFMAs give, in encodings: one row of A, one column of B, one element of C, all else 0.

Sources: CDNA4 ISA, chapter 7; for what no document says the open points of the specification, each by name:
sums are fused multiply-adds, k increasing from C (MMA-Sim, arXiv 2511.10909, for f32 and f64). The numbers
are computed by hand.
"""

from __future__ import annotations

from ...text_tables import rows

_RESULTS = """
instruction                      | target | choice            | A                 | B                 | C                | D
f32_32x32x2_f32                  | gfx942 |                   | 3f800000 3f800000 | 3f800000 3f800000 | 4b800000         | 4b800000
f32_32x32x2_f32                  | gfx942 |                   | 3f800000 4c000000 | 3f800000 3f800000 | cc000000         | 00000000
f32_32x32x2_f32                  | gfx942 |                   | 4c000000 3f800000 | 3f800000 3f800000 | cc000000         | 3f800000
f32_32x32x2_f32                  | gfx942 |                   | 3f800001          | 3f800001          | bf800002         | 28800000
f32_32x32x2_f32                  | gfx942 |                   | 40000000 40400000 | 40400000 3f800000 | 3f800000         | 41200000
f32_32x32x2_f32                  | gfx942 |                   | 7f800000          | 00000000          | 00000000         | 7fc00000
f32_32x32x2_f32                  | gfx942 |                   | 7f800000          | 3f800000          | ff800000         | 7fc00000
f32_32x32x2_f32                  | gfx942 |                   | 7f800000          | bf800000          | 3f800000         | ff800000
f32_32x32x2_f32                  | gfx942 |                   | 00000001          | 3f800000          | 00000000         | 00000001
f32_32x32x2_f32                  | gfx942 | subnormals=kept    | 00000001         | 3f800000          | 00000000         | 00000001
f32_32x32x2_f32                  | gfx942 | subnormals=flushed | 00000001         | 3f800000          | 00000000         | 00000000
f32_32x32x2_f32                  | gfx942 | subnormals=flushed | 3f800000         | 00000001          | 00000000         | 00000000
f32_32x32x2_f32                  | gfx942 | subnormals=flushed | 00000000         | 00000000          | 00000001         | 00000001
f32_32x32x2_f32                  | gfx942 | subnormals=flushed | 00800000         | 3f000000          | 00000000         | 00400000
f32_32x32x1_2b_f32               | gfx942 |                   | 80000000          | 3f800000          | 80000000         | 80000000
f32_32x32x1_2b_f32               | gfx942 |                   | 00000000          | 3f800000          | 80000000         | 00000000
f32_32x32x1_2b_f32               | gfx942 |                   | 3f800000          | 3f800000          | bf800000         | 00000000
f32_32x32x2f32                   | gfx90a |                   | 00000001          | 3f800000          | 00000000         | 00000001
f32_32x32x8_f16                  | gfx942 |                   | 3c01              | 3c01              | bf804000         | 35800000
f32_32x32x8_f16                  | gfx942 |                   | 0001              | 3c00              | 00000000         | 33800000
f32_32x32x8_f16                  | gfx942 | subnormals=flushed | 0001             | 3c00              | 00000000         | 00000000
f32_32x32x8_f16                  | gfx942 | subnormals=flushed | 0000             | 3c00              | 00000001         | 00000000
f32_32x32x8_f16                  | gfx942 |                   | 0000              | 3c00              | 00000001         | 00000001
f32_32x32x8f16                   | gfx908 |                   | 0001              | 3c00              | 00000000         | 33800000
f32_32x32x8f16                   | gfx90a |                   | 0001              | 3c00              | 00000000         | 00000000
f32_32x32x8f16                   | gfx90a |                   | 3c00              | 8001              | 80000000         | 00000000
f32_32x32x8f16                   | gfx90a |                   | 0000              | 3c00              | 00000001         | 00000000
f32_32x32x8f16                   | gfx90a |                   | 0400              | 3c00              | 00000000         | 38800000
f32_32x32x8f16                   | gfx90a | subnormals=kept    | 0001             | 3c00              | 00000000         | 33800000
f32_32x32x8bf16_1k               | gfx90a |                   | 0080              | 3f00              | 00000000         | 00000000
f32_32x32x8bf16_1k               | gfx90a |                   | 8080              | 3f00              | 00000000         | 80000000
f32_32x32x8bf16_1k               | gfx90a | subnormals=kept    | 0080             | 3f00              | 00000000         | 00400000
f32_32x32x8_bf16                 | gfx942 |                   | 0080              | 3f00              | 00000000         | 00400000
f32_32x32x8_bf16                 | gfx942 | subnormals=flushed | 0080             | 3f00              | 00000000         | 00000000
f32_32x32x8_bf16                 | gfx942 |                   | 3f81              | 4000              | 3f800000         | 40410000
f32_32x32x4_xf32                 | gfx942 |                   | 3f801fff          | 3f800000          | 00000000         | 3f800000
f32_32x32x4_xf32                 | gfx942 |                   | 3f800000          | 3f803fff          | 00000000         | 3f802000
f32_32x32x4_xf32                 | gfx942 | xf32=rounded       | 3f801fff         | 3f800000          | 00000000         | 3f802000
f32_32x32x4_xf32                 | gfx942 | xf32=rounded       | 3f801000         | 3f800000          | 00000000         | 3f800000
f32_32x32x4_xf32                 | gfx942 | xf32=rounded       | 3f800000         | 3f803000          | 00000000         | 3f804000
f32_16x16x32_fp8_bf8             | gfx942 |                   | 40                | 40                | 00000000         | 3f800000
f32_16x16x32_fp8_bf8             | gfx950 |                   | 40                | 40                | 00000000         | 40800000
f32_16x16x32_bf8_fp8             | gfx942 |                   | 44                | 41                | 00000000         | 40100000
f32_16x16x32_fp8_fp8             | gfx942 |                   | 80                | 40                | 00000000         | 7fc00000
f32_32x32x8f16                   | gfx908 |                   | 3c00 3c00 3c00 3c00 | 3c00 3c00 3c00 3c00 | 4b800000 | 4b800000
f32_32x32x8f16                   | gfx908 | accumulation=pairwise | 3c00 3c00 3c00 3c00 | 3c00 3c00 3c00 3c00 | 4b800000 | 4b800002
f32_32x32x8f16                   | gfx90a | accumulation=pairwise | 6c00 0000 3c00 3c00 | 6c00 0000 3c00 3c00 | 00000000 | 4b800001
f32_32x32x8f16                   | gfx908 | accumulation=pairwise | 3c00 0000 0000 0000 3c00 | 3c00 0000 0000 0000 3c00 | 4b800000 | 4b800000
f32_32x32x4bf16                  | gfx908 | accumulation=pairwise | 3f80 0000 3f80 0000 | 3f80 0000 3f80 0000 | 4b800000 | 4b800000
f32_32x32x4bf16                  | gfx908 | accumulation=pairwise | 3f80 3f80 | 3f80 3f80 | 4b800000 | 4b800001
f32_32x32x8bf16_1k               | gfx90a | accumulation=pairwise | 3f80 0000 3f80 0000 | 3f80 0000 3f80 0000 | 4b800000 | 4b800001
f32_32x32x2f32                   | gfx908 | accumulation=pairwise | 3f800000 3f800000 | 3f800000 3f800000 | 4b800000 | 4b800000
i32_16x16x32_i8                  | gfx942 |                   | 80                | 80                | 00000000         | 00004000
i32_16x16x32_i8                  | gfx942 |                   | 80                | 7f                | 00000000         | ffffc080
i32_16x16x32_i8                  | gfx942 |                   | 01                | 01                | 7fffffff         | 80000000
i32_16x16x32_i8                  | gfx942 | integer-overflow=clamp | 01           | 01                | 7fffffff         | 7fffffff
i32_16x16x32_i8                  | gfx942 | integer-overflow=clamp | ff           | 01                | 80000000         | 80000000
i32_16x16x32_i8                  | gfx942 | integer-overflow=clamp | 01 ff        | 01 01             | 7fffffff         | 7fffffff
i32_16x16x32_i8                  | gfx942 | accumulation=unspecified | 02         | 03                | 00000001         | 00000007
f64_16x16x4_f64                  | gfx942 |                   | 3ff0000000000000  | 4000000000000000  | 4010000000000000 | 4018000000000000
f64_16x16x4_f64 neg:[1,0,0]      | gfx942 |                   | 3ff0000000000000  | 4000000000000000  | 4010000000000000 | 4000000000000000
f64_16x16x4_f64 neg:[0,1,0]      | gfx942 |                   | 3ff0000000000000  | 4000000000000000  | 4010000000000000 | 4000000000000000
f64_16x16x4_f64 neg:[0,0,1]      | gfx942 |                   | 3ff0000000000000  | 4000000000000000  | 4010000000000000 | c000000000000000
f64_16x16x4_f64 neg:[1,1,1]      | gfx942 |                   | 3ff0000000000000  | 4000000000000000  | 4010000000000000 | c000000000000000
f64_16x16x4_f64                  | gfx942 | subnormals=flushed | 0000000000000001 | 3ff0000000000000  | 0000000000000000 | 0000000000000001
f64_16x16x4_f64 cbsz:3 abid:9    | gfx942 |                   | 3ff0000000000000  | 4000000000000000  | 0000000000000000 | 4000000000000000
f64_16x16x4f64                   | gfx90a |                   | 3ff0000000000001  | 3ff0000000000001  | bff0000000000002 | 3970000000000000
"""  # noqa: E501 - a table

RESULTS = rows(_RESULTS)
"""Instruction with modifiers, target, choice; elements of A's first row, of B's first column; C and D."""

_CONSTANTS = """
instruction     | C                   | D
f32_32x32x8_f16 | 1.0                 | 3f800000
f32_32x32x8_f16 | 0x3f800000          | 3f800000
f32_32x32x8_f16 | 0.15915494309189532 | 3e22f983
f32_32x32x8_f16 | 1                   | 00000001
f32_32x32x8_f16 | -16                 | 7fc00000
i32_16x16x32_i8 | 5                   | 00000005
i32_16x16x32_i8 | -16                 | fffffff0
i32_16x16x32_i8 | 64                  | 00000040
i32_16x16x32_i8 | 1.0                 | unknown
i32_16x16x32_i8 | 0.5                 | unknown
i32_16x16x32_i8 | 0.15915494309189532 | unknown
f64_16x16x4_f64 | 0.5                 | 3fe0000000000000
f64_16x16x4_f64 | 3                   | 0000000000000003
f64_16x16x4_f64 | -1                  | 7ff8000000000000
"""

CONSTANTS = rows(_CONSTANTS)
"""A constant C, and the D that it is with A and B 0, of which NaNs are the default ones."""

UNDEFINED = (
    ("f32_32x32x8_f16 blgp:1", "gfx942", "", "unsupported"),
    ("f32_16x16x4_xf32 blgp:1", "gfx942", "", "refused"),
    ("f32_32x32x4_xf32 blgp:1", "gfx942", "", "unsupported"),
    ("f64_16x16x4f64 blgp:1", "gfx90a", "", "unsupported"),
    ("f32_32x32x8f16 blgp:1", "gfx90a", "", "computed"),
    ("f32_32x32x2_f32 blgp:1", "gfx942", "", "computed"),
    ("f32_32x32x4_2b_f16 blgp:1", "gfx942", "", "computed"),
    ("f32_32x32x2_f32", "gfx942", "accumulation=unspecified", "refused"),
    ("f32_32x32x2_f32", "gfx942", "accumulation=other", "refused"),
    ("f32_32x32x2_f32", "gfx942", "accumulation=pairwise", "computed"),
    ("f32_32x32x8_f16", "gfx942", "accumulation=pairwise", "refused"),
    ("f32_32x32x4_xf32", "gfx942", "accumulation=pairwise", "refused"),
    ("f32_16x16x32_fp8_fp8", "gfx942", "accumulation=pairwise", "refused"),
    ("i32_16x16x32_i8", "gfx942", "accumulation=pairwise", "computed"),
    ("f32_32x32x2_f32", "gfx90a", "", "refused"),
)
"""What no document says, or has no value: instruction, target, choice, and what comes of executing it."""
