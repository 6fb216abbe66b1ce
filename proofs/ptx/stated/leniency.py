"""What the manual excludes and ptxas takes all the same: examples, and how they are named.

ptxas of CUDA 13.0 took each (and refuses those marked 13.5 from CUDA 13.5 on); it refuses the others.
"""

from __future__ import annotations

_C4 = "{f32_0, f32_1, f32_2, f32_3}"
_R4, _R2 = "{b32_0, b32_1, b32_2, b32_3}", "{b32_4, b32_5}"
_C8 = "{f32_0, f32_1, f32_2, f32_3, f32_4, f32_5, f32_6, f32_7}"
_MMA = "mma.sync.aligned"
_FP8 = f"{_MMA}.m16n8k32.row.col.kind"
_SCALED = f"{_FP8}::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 {_C4}, {_R4}, {_R2}, {_C4}"

TAKEN = (
    # text, target, version, who contradicts
    (f"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {_C4}, {_R4}, {_R4}, {_C4}, b32_0, 3",
     "sm_120a", "9.0", "f16-sparsity-selector"),
    (f"{_MMA}.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {_C4}, {_R2}, {{b32_4}}, {_C4}",
     "sm_120a", "9.0", "f8f6f4-m16n8k16"),
    (f"{_MMA}.m16n8k16.row.col.kind::f8f6f4.f32.e5m2.e4m3.f32 {_C4}, {_R2}, {{b32_4}}, {_C4}",
     "sm_120a", "9.0", "f8f6f4-m16n8k16"),
    (f"{_FP8}::mxf4.f32.e4m3.e4m3.f32 {_C4}, {_R4}, {_R2}, {_C4}",
     "sm_120a", "9.0", "mx-kinds-without-scale"),
    (f"{_FP8}::mxf8f6f4.f32.e4m3.e5m2.f32 {_C4}, {_R4}, {_R2}, {_C4}",
     "sm_120a", "9.0", "mx-kinds-without-scale"),
    (f"{_FP8}::mxf4nvf4.f32.e4m3.e4m3.f32 {_C4}, {_R4}, {_R2}, {_C4}",
     "sm_120a", "9.0", "mx-kinds-without-scale"),
    (f"{_FP8}::f8f6f4.f32.e4m3.e4m3.f32 {_C4}, {_R4}, {_R2}, {_C4}", "sm_100a", "8.6", "f8f6f4-targets"),
    (f"{_FP8}::f8f6f4.f32.e4m3.e4m3.f32 {_C4}, {_R4}, {_R2}, {_C4}", "sm_103a", "8.8", "f8f6f4-targets"),
    (f"{_MMA}.m8n8k4.row.col.f32.bf16.bf16.f32 {_C8}, {{b32_0, b32_1}}, {{b32_2, b32_3}}, {_C8}",
     "sm_120a", "9.0", "bf16-m8n8k4"),
    (f"{_MMA}.m16n8k32.row.col.s32.s4.s4.s32.xor.popc {_R4}, {_R2}, {{b32_4}}, {_R4}",
     "sm_120a", "9.0", "bit-operation-on-4-bit-integers"),
    (f"{_MMA}.m16n8k32.row.col.s32.u4.s4.s32.and.popc {_R4}, {_R2}, {{b32_4}}, {_R4}",
     "sm_120a", "9.0", "bit-operation-on-4-bit-integers"),
    (f"{_MMA}.m16n8k16.row.col.f32.e4m3.e4m3.f32 {_C4}, {_R2}, {_R2}, {_C4}", "sm_120a", "9.0",
     "fp8-m16n8k16-b"),
    ("ldmatrix.sync.aligned.m8n8.x8.shared.b16 {b32_0}, [b64_0]", "sm_120a", "9.0", "x8"),
    ("ldmatrix.sync.aligned.m8n8.x2.row.shared.b16 {b32_0, b32_1}, [b64_0]", "sm_120a", "9.0",
     "layout-of-moves"),
    ("movmatrix.sync.aligned.row.m8n8.trans.b16 b32_0, b32_1", "sm_120a", "9.0", "layout-of-moves"),
    ("wmma.load.c.sync.aligned.row.m8n8k32.f32 {b32_0, b32_1}, [b64_0]", "sm_120a", "9.0",
     "wmma-integer-shapes-f32"),
    ("wmma.load.c.sync.aligned.row.m8n8k128.f32 {b32_0, b32_1}, [b64_0]", "sm_120a", "9.0",
     "wmma-integer-shapes-f32"),
    ("wmma.load.a.sync.aligned.row.m16n16k16.s8 {b32_0, b32_1}, [b64_0], 17", "sm_120a", "9.0",
     "wmma-stride"),
    ("movmatrix.sync.aligned.m8n8.trans.b16 pred_0, b32_1",
     "sm_120a", "9.0", "unchecked-register-classes"),
    (f"{_SCALED}, b32_0, {{0, b64_1}}, b32_1, {{0, 0}}",
     "sm_120a", "9.0", "unchecked-register-classes"),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b32_0}, [b8_0]",
     "sm_120a", "9.0", "unchecked-register-classes"),
    (f"{_MMA}.m16n8k32.row.col.s32.s8.s8.s32 {_R4}, {_R4}, {{0f00000000, 0f00000000}}, {_R4}",
     "sm_120a", "9.0", "unchecked-constants"),
    (f"{_SCALED}, 0f00000000, {{0, 0}}, b32_1, {{0, 0}}", "sm_120a", "9.0", "unchecked-constants"),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b32_0}, [b64_0]", "sm_88", "7.8", "sm-88-version"),
    # neither the neighbours of these, nor what is legal
    (f"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {_C4}, {_R2}, {_R2}, {_C4}, b32_0, 5",
     "sm_120a", "9.0", ""),
    (f"mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {_R2}, {_R4}, {_R4}, {_R2}, b32_0, 3",
     "sm_120a", "9.0", ""),
    (f"{_MMA}.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {_C4}, {_R2}, {{b32_4}}, {_C4}",
     "sm_120a", "9.0", ""),
    (f"{_FP8}::mxf4.f32.e2m1.e2m1.f32 {_C4}, {_R4}, {_R2}, {_C4}", "sm_120a", "9.0", ""),
    (f"{_FP8}::f8f6f4.f32.e4m3.e4m3.f32 {_C4}, {_R4}, {_R2}, {_C4}", "sm_90a", "8.6", ""),
    (f"{_FP8}::f8f6f4.f32.e4m3.e4m3.f32 {_C4}, {_R4}, {_R2}, {_C4}", "sm_100", "8.6", ""),
    (f"{_MMA}.m16n8k32.row.col.s32.s8.s8.s32.xor.popc {_R4}, {_R4}, {_R2}, {_R4}", "sm_120a", "9.0", ""),
    (f"{_MMA}.m16n8k16.row.col.f32.bf16.bf16.f32 {_C4}, {_R2}, {_R2}, {_C4}", "sm_120a", "9.0", ""),
    ("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {b32_0}, [b64_0]", "sm_120a", "9.0", "text"),
    ("wmma.load.c.sync.aligned.row.m16n16k16.s8 {b32_0, b32_1}, [b64_0]", "sm_120a", "9.0", ""),
    ("movmatrix.sync.aligned.m8n8.trans.b16 b64_0, b32_1", "sm_120a", "9.0", ""),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b32_0}, [b64_0]", "sm_90", "7.7", ""),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b32_0}, [b64_0]", "sm_120a", "9.0", ""),
)  # fmt: skip
"""Instruction, target, PTX version, name of the contradiction; none where ptxas refuses or all is well."""
