"""For each rule on a PTX instruction, instructions that break it and no other, and what repairs them.

Sources: PTX ISA 9.1 sections 9.7.14.2 to 9.7.14.6, the notes and constraints of each instruction; ptxas.
"""

from __future__ import annotations

NAMES = (
    "%r<40>: b32, %f<20>: f32, %d<20>: f64, %h<20>: b16, %l<4>: b64, %p<4>: pred, tile: shared, far: global"
)
"""The declarations of the names in instructions below."""

_F4, _F4C = "{%f0, %f1, %f2, %f3}", "{%f4, %f5, %f6, %f7}"
_R4, _R2 = "{%r0, %r1, %r2, %r3}", "{%r4, %r5}"
_HALF = f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {_F4}, {_R4}, {_R2}, {_F4C}"
_SPARSE = f"mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {_R4}, {_R2}, {_R2}, {_R4}, %r8, 0"
_F4X = f"{_F4}, {_R4}, {_R2}, {_F4C}"
_SCALED = (
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 "
    f"{_F4X}, %r8, {{0, 0}}, %r9, {{0, 0}}"
)
_NVF4 = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
_LOAD = "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [tile]"
_WMMA_LOAD = "wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0, %r1}, [%l0], 16"
_WMMA = "wmma.mma.sync.aligned.row.col.m16n16k16"

WITNESSES: tuple[tuple[str, str, str, str, str, str], ...] = (
    # rule, target, version, what is legal, and the change of it that breaks the rule: this to that
    ("shape", "sm_90", "8.0", _HALF, "m16n8k16", "m16n8k48"),
    ("multiplicand-types", "sm_90", "8.0", _HALF, "f32.f16.f16.f32", "f32.f16.bf16.f32"),
    ("multiplicand-types", "sm_90", "8.0", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
     "tf32.tf32", "tf32.f16"),
    ("multiplicand-types", "sm_90", "8.0", f"{_WMMA}.s32.s8.s8.s32", "s8.s8", "s8.u8"),
    ("element-type", "sm_90", "8.0", _LOAD, ".b16", ".b8"),
    ("kind", "sm_120a", "8.7", "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32",
     ".kind::f8f6f4", ""),
    ("kind", "sm_120a", "8.7", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
     ".row.col", ".row.col.kind::f8f6f4"),
    ("block-scale", "sm_120a", "8.7", _SCALED, ".block_scale", ""),
    ("scale-vector", "sm_120a", "8.7", _SCALED, "2X", "1X"),
    ("scale-vector", "sm_120a", "8.7", _NVF4, ".scale_vec::4X", ""),
    ("scale-type", "sm_120a", "8.7", _SCALED, "ue8m0", "ue4m3"),
    ("accumulator-types", "sm_90", "8.0", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
     "f32.f16.f16.f32", "f32.f16.f16.f16"),
    ("type-count", "sm_90", "8.0", f"{_WMMA}.f32.f32", "f32.f32", "f32.f16.f16.f32"),
    ("layout", "sm_90", "8.0", _HALF, "row.col", "row.row"),
    ("layout", "sm_90", "8.0", "wmma.load.a.sync.aligned.row.m8n8k32.s4", ".row", ".col"),
    ("satfinite", "sm_90", "8.0", _HALF, "m16n8k16.row.col", "m16n8k16.row.col.satfinite"),
    ("satfinite", "sm_90", "8.0", "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
     "row.col", "row.col.satfinite"),
    ("rounding", "sm_90", "8.0", _HALF, "f16.f32", "f16.f32.rn"),
    ("bit-operation", "sm_90", "8.0", "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc",
     "xor", "or"),
    ("popc", "sm_90", "8.0", "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc", ".popc", ""),
    ("metadata-variant", "sm_120a", "8.7",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16", "::ordered_metadata", ""),
    ("transposition", "sm_120a", "8.7", "stmatrix.sync.aligned.m16n8.x4.trans.b8", ".trans", ""),
    ("transposition", "sm_120a", "8.7", "ldmatrix.sync.aligned.m8n16.x4.b8x16.b6x16_p32", ".x4", ".x4.trans"),
    ("count", "sm_120a", "8.7", "ldmatrix.sync.aligned.m16n16.x2.trans.b8", "x2", "x4"),
    ("state-space", "sm_90", "8.0", "ldmatrix.sync.aligned.m8n8.x2.shared.b16", "shared", "global"),
    ("target-version", "sm_90", "7.8", _HALF, "7.8", "7.7"),
    ("target", "sm_80", "8.0", _HALF, "sm_80", "sm_75"),
    ("target", "sm_120a", "8.7", _SCALED, "sm_120a", "sm_120"),
    ("ptx-version", "sm_75", "6.5", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "6.5", "6.4"),
    ("ptx-version", "sm_80", "7.1", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
     "7.1", "7.0"),
    ("ptx-version", "sm_120a", "9.1", _NVF4.replace("ue4m3", "ue8m0"), "9.1", "9.0"),
    ("cta-version", "sm_80", "7.8", _LOAD.replace("shared", "shared::cta"), "7.8", "7.7"),
    ("satfinite-removed", "sm_75", "6.4", f"{_WMMA}.f16.f16.satfinite", "6.4", "6.5"),
    ("sync", "sm_90", "8.0", _HALF, ".sync", ""),
    ("aligned", "sm_90", "8.0", _HALF, ".aligned", ""),
    ("aligned", "sm_70", "6.3", f"{_WMMA}.f16.f16", "6.3", "6.2"),
    ("aligned", "sm_70", "6.2", f"{_WMMA.replace('.aligned', '')}.f16.f16", "6.2", "6.3"),
    ("operand-count", "sm_90", "8.0", _HALF, f", {_F4C}", ""),
    ("operand-sort", "sm_90", "8.0", _HALF, _R2, "%r4"),
    ("operand-sort", "sm_90", "8.0", _SPARSE, "%r8, 0", "%r8, %r9"),
    ("operand-sort", "sm_90", "8.0", _LOAD, "[tile]", "[16]"),
    ("braces", "sm_90", "8.6", _SPARSE.replace("%r8", "{%r8}"), "sm_90", "sm_100"),
    ("register-count", "sm_90", "8.0", _HALF, _R4, _R2),
    ("register-class", "sm_90", "8.0", _HALF, _R4, _F4),
    ("register-class", "sm_120a", "8.7", _SCALED, "{0, 0}, %r9", "{%r1, %r2}, %r9"),
    ("constant", "sm_90", "8.0", _HALF, _F4C, "{0, 0, 0, 0}"),
    ("constant", "sm_90", "8.0", _HALF.replace(_F4C, "{0f00000000, 0f00000000, 0f00000000, 0f00000000}"),
     "0f00000000", "0d0000000000000000"),
    ("sink", "sm_90", "8.0", _HALF, "%r5", "_"),
    ("sink", "sm_90", "8.0", _HALF, _F4, "{_, _, _, _}"),
    ("selector", "sm_120a", "8.7", _SCALED, "%r8, {0, 0}", "%r8, {1, 0}"),
    ("selector", "sm_120a", "8.7", _SCALED, "%r8, {0, 0}", "%r8, {0, 2}"),
    ("selector", "sm_90", "8.0", _SPARSE, "%r8, 0", "%r8, 2"),
    ("stride", "sm_90", "8.0", _WMMA_LOAD, ", 16", ", 8"),
    ("stride", "sm_90", "8.0", _WMMA_LOAD, ", 16", ", 20"),
    ("guard", "sm_90", "8.0", f"@%p0 {_HALF}", "@%p0", "@%r0"),
    ("declaration", "sm_90", "8.0", _HALF, "%r5", "%r99"),
    ("declaration", "sm_90", "8.0", f"@%p0 {_HALF}", "@%p0", "@%p9"),
    ("address-space", "sm_90", "8.0", _LOAD, "[tile]", "[far]"),
)  # fmt: skip
"""Rule, target, PTX version, a legal instruction, and what of all that is replaced by what."""
