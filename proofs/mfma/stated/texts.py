"""What llvm-mc 19 makes of lines for gfx942: their words, or nothing.

Measured; blanks at the ends of lines are not kept. That abid is below 2^cbsz it does not check: lines that
break only that rule are not among them.
"""

from __future__ import annotations

_LINES = """
0x04020500d3cc8000 | V_MFMA_F32_32X32X8_F16 a[0:15], v[0:1], v[2:3], a[0:15]
0x04020500d3cc8000 | v_mfma_f32_32x32x8_f16_e64 acc[0:15], v[0:1], v[2:3], acc[0:15]
refused            | v_mfma_f32_32x32x8_f16 A[0:15], V[0:1], v[2:3], a[0:15]
0x04020500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0x0:0xf],v[ 0 : 1 ],v[0+2:(1+1)*1+1],a[0:15] // comment
0x04020500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], [v0,v1], [v2, v3], a[0:15] ; comment
refused            | v_mfma_f32_32x32x8_f16 a[0:15], [v0,v2], [v2, v3], a[0:15]
0x22020500d3cc8900 | v_mfma_f32_32x32x8_f16 a[0:15] v[0:1] v[2:3] 0 cbsz:1 abid:1 blgp:1
0x04020500d3cc8100 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15], cbsz:1
0x04020500d3cc8900 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz:1, abid:1
0x04020500d3cc8100 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz: 1
0x04020500d3cc8100 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz :1
0x04020500d3cc8100 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz:0x1
0x04020500d3cc8200 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz:1+1
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz:1 cbsz:1
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] abid:1 cbsz:1
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] CBSZ:1
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] op_sel:[0,0,0]
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] neg_lo:[0,0,0]
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] clamp
0x02060500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0x1
0x03ca0500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 1.0
0x03ca0500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 1.
0x03c20500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], .5
0x03ca0500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 1e0
0x03ca0500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0x3f800000
0x03ca0500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 1065353216
0x03e20500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0.15915494
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0.1591549
0x03e20500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0.15915494309189532
0x02020500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0.0
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], -0.0
0x03020500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 64
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 65
0x03420500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], -16
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], -17
0x02120500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 3+1
0x03060500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], -(1)
0x020e0500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0b11
0x03060500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0xffffffff
0x03060500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0xffffffffffffffff
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0x3ff0000000000000
0x03ce0500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], - 1.0
0x03d20500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 2.00
0x03e20500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0x3e22f983
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], s0
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz
0x04020500d3cc8100 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] /* c */ cbsz:1
0x04020300d3c00000 | v_mfma_f32_32x32x1_2b_f32 v[0:31], v[0], v[1:1], v[0:31]
0xa4020500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:[1,0,1]
0x24020500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:[1,0]
0xa4020500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:[ 1 , 0 , 1 ]
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:[1,0,2]
0x22020500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0 neg:[1]
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0 neg:[1,1,1,1]
0xa4020500d3ef1900 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] cbsz:1 abid:3 neg:[1,0,1]
0x03e20500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0.15915494309189532
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0.15915494
0x02060500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 1
0x03c20500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0.5
0x03ca0500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0x3ff0000000000000
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0x3f800000
0x03e20500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0x3fc45f306dc9c882
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0 blgp:0
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0xffffffff
0x03060500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0xffffffffffffffff
0x03c20500d3d70000 | v_mfma_i32_16x16x32_i8 v[0:3], v[0:1], v[2:3], 0.5
refused            | v_mfma_i32_16x16x32_i8 v[0:3], v[0:1], v[2:3], v[0:3] blgp:-1
refused            | v_mfma_i32_16x16x32_i8 v[254:257], v[0:1], v[2:3], v[0:3]
refused            | v_mfma_i32_16x16x32_i8 v[3:0], v[0:1], v[2:3], v[0:3]
refused            | v_mfma_i32_16x16x32_i8 v[0:3], v[0:1], v[2:3]
0x04020500d3cc8000 |   v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]
0x04020500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] /* x */ /* y */
0x04020500d3cc8000 | /* x */ v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]
refused            | v_mfma_f32_32x32x8_f16 a[0:15],, v[0:1], v[2:3], a[0:15]
0x04020500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15],
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15], a[0:15]
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3]
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] v
0xe4020500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz:0 abid:0 blgp:7
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] blgp:3 cbsz:0
0xa4020500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz:0 blgp:5
0x04020500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz:-1+1
0x04420502d3cc8010 | v_mfma_f32_32x32x8_f16 a[2*8:31], v[4-2:1+2], v[2:3], a[16:31]
0x1c0a0500d3cc8002 | v_mfma_f32_32x32x8_f16 acc[2:17], acc[0:1], acc[2:3], acc[2:17]
0x02020902d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], [v2, v3], [v4,v5], 0
refused            | v_mfma_f32_32x32x8_f16 a[0:15], [v2, a3], [v4,v5], 0
refused            | v_mfma_f32_32x32x8_f16 a[0:15], [v3, v2], [v4,v5], 0
refused            | v_mfma_f32_32x32x8_f16 a[0:15], [v2], [v4,v5], 0
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[1:0], v[2:3], 0
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v2, v[2:3], 0
0x03c60500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], -0.5
0x03c60500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], -.5
0x02060500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], +1
0x03da0500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 4.0e0
0x03da0500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 40e-1
0x02220500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 2*4
0x020a0500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 8-2*3
0x02220500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], (1+1)*4
0x03020500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0x40
0x03020500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0X40
0x03420500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0xfffffff0
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0xffffffef
0x03420500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 4294967280
0x03de0500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0xc0800000
0x03c60500d3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0xbf000000
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0x4080000000
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], vcc
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], v[0:15
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], x
refused            | v_mfma_f32_32x32x8_f16 a[0:15], v[256:257], v[2:3], 0
0x020205fed3cc8000 | v_mfma_f32_32x32x8_f16 a[0:15], v[254:255], v[2:3], 0
refused            | v_mfma_f32_32x32x8_f16 a[0:15], s[0:1], v[2:3], 0
0x3403ff00d3c08900 | v_mfma_f32_32x32x1_2b_f32 a[0:31], v0, a255, a[0:31] cbsz:1 abid:1 blgp:1
0x5207ff07d3c08900 | v_mfma_f32_32x32x1_2b_f32 a[0:31], v[7:7], a[255], 1 cbsz:1 abid:1 blgp:2
refused            | v_mfma_f32_32x32x1_2b_f32 a[0:31], v7x, a[255], 1
0x1207ff07d3c08000 | v_mfma_f32_32x32x1_2b_f32 a[0:31], v07, a[255], 1
0x1a060710d3c00000 | v_mfma_f32_32x32x1_2b_f32 v[0:31], a[0x10], a[0b11], 1
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], a[0:1]
0x84020500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:[0,0,1]
0x44020500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:[0,1,0]
0xe4020500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:[1,1,1]
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:1
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:[1,,1]
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:[]
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:[-1,0,0]
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] blgp:1
0x03c60500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0xbfe0000000000000
0x03420500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0xfffffffffffffff0
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0xffffffffffffffef
refused            | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 0xbf000000
0x03420500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], -16
0x03da0500d3ef0000 | v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], 4.0
0xc4020b04d3d2fc00 | v_mfma_i32_4x4x4_16b_i8 a[0:3], v4, v5, a[0:3] cbsz:4 abid:15 blgp:6
0x040a0b04d3d29a00 | v_mfma_i32_4x4x4_16b_i8 a[0:3], v4, v5, a[2:5] cbsz:2 abid:3
0x03de0b04d3d28000 | v_mfma_i32_4x4x4_16b_i8 a[0:3], v4, v5, -4.0
0x14120500d3f20008 | v_mfma_f32_16x16x32_fp8_bf8 v[8:11], v[0:1], a[2:3], v[4:7]
refused            | v_mfma_f32_16x16x32_fp8_f16 v[8:11], v[0:1], a[2:3], v[4:7]
"""

LINES = {
    text: None if word.strip() == "refused" else int(word, 16)
    for word, _, text in (line.partition(" | ") for line in _LINES.strip().splitlines())
}
"""The word of each line, None of one that is refused."""

PRINTED = {
    "V_MFMA_F32_4X4X1_16B_F32 acc[0:3], [v0], v[1:1], a[0:3]":
        "v_mfma_f32_4x4x1_16b_f32 a[0:3], v0, v1, a[0:3]",
    "v_mfma_f32_32x32x8_f16 a[0:15] v[0:1] [v2,v3] 0 blgp:1":
        "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0 blgp:1",
}  # fmt: skip
"""Lines, and how llvm-mc prints them."""

UNMODELLED = (
    "v_smfmac_f32_16x16x32_f16",
    "v_smfmac_f32_32x32x16_bf16",
    "v_mfma_scale_f32_16x16x128_f8f6f4",
    "v_mfma_ld_scale_b32",
    "v_mfma_f32_16x16x128_f8f6f4",
    "v_accvgpr_read_b32",
    "v_accvgpr_write_b32",
)
"""What belongs to the instruction set, and is no dense product with fixed types."""

UNKNOWN = ("v_mfma_f32_32x32x9_f16", "v_mfma_f32", "v_fma_f32", "v_mfma_f16_32x32x8_f16")
"""What no target has."""
