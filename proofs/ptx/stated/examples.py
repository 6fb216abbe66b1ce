"""The examples of the notes on warp-level matrix instructions, which are the PTX manual's, as printed.

Ellipses are written out, and the factors of wmma on tf32, of which the notes declare too few, are declared.
"""

from __future__ import annotations

_X8 = "{x0, x1, x2, x3, x4, x5, x6, x7}"
_D8, _A8, _B8, _C8 = (_X8.replace("x", name) for name in "dabc")
_D4, _D2, _C2, _A4, _B4 = (
    "{d0, d1, d2, d3}", "{d0, d1}", "{c0, c1}", "{a0, a1, a2, a3}", "{b0, b1, b2, b3}",
)  # fmt: skip
_R = "%Rd<4>:b32, %Ra<4>:b32, %Rb<2>:b32, %Rc<4>:b32"
_ONE = "%Rd<2>:b32, %Ra:b32, %Rb:b32, %Rc<2>:b32"
_RD, _RA, _RC = "{%Rd0, %Rd1, %Rd2, %Rd3}", "{%Ra0, %Ra1, %Ra2, %Ra3}", "{%Rc0, %Rc1, %Rc2, %Rc3}"
_SINGLE = "{%Rd0, %Rd1}, {%Ra}, {%Rb}, {%Rc0, %Rc1}"

EXAMPLES = (
    # registers, instruction, the rules it breaks
    ("x<8>:b32, p:u64, s:u32", f"wmma.load.a.sync.aligned.row.m16n16k16.f16 {_X8}, [p], s;", ""),
    ("x<8>:b32, ptr:u64", f"wmma.load.b.sync.aligned.m16n16k16.row.f16 {_X8}, [ptr];", ""),
    ("x<8>:b32, ptr:u64", f"wmma.load.c.sync.aligned.m16n16k16.col.f32 {_X8}, [ptr];", ""),
    ("x<4>:b32, ptr:u64", "wmma.load.a.sync.aligned.m32n8k16.row.u8 {x0,x1,x2,x3}, [ptr];", ""),
    ("x0:b32, ptr:u64", "wmma.load.a.sync.aligned.m8n8k32.row.s4 {x0}, [ptr];", ""),
    ("x<4>:b32, ptr:u64", "wmma.load.a.sync.aligned.m16n16k16.row.bf16 {x0,x1,x2,x3}, [ptr];", ""),
    ("x<4>:b32, ptr:u64", "wmma.load.a.sync.aligned.m16n16k8.row.tf32 {x0,x1,x2,x3}, [ptr];", ""),
    ("x<4>:b32, ptr:u64", "wmma.load.a.sync.aligned.m8n8k4.row.f64 {x0}, [ptr];", "register-class"),
    ("d<8>:b32, ptr:u64", f"wmma.store.d.sync.m16n16k16.row.f32 [ptr], {_D8};", "aligned"),
    ("d<8>:b32, ptr:u64", f"wmma.store.d.sync.aligned.m16n16k16.row.s32 [ptr], {_D8};", ""),
    ("d<2>:b32, ptr:u64", "wmma.store.d.sync.aligned.m8n8k128.row.s32 [ptr], {d0, d1};", ""),
    ("d<2>:f64, ptr:u64", "wmma.store.d.sync.aligned.m8n8k4.row.f64 [ptr], {d0, d1};", ""),
    ("a<8>:b32, A:global", f"wmma.load.a.sync.aligned.m16n16k16.global.row.f16 {_A8}, [A];", ""),
    ("b<8>:b32, B:global", f"wmma.load.b.sync.aligned.m16n16k16.global.col.f16 {_B8}, [B];", ""),
    ("c<8>:b32, C:global", f"wmma.load.c.sync.aligned.m16n16k16.global.row.f32 {_C8}, [C];", ""),
    ("a<8>:b32, b<8>:b32, c<8>:b32, d<8>:b32",
     f"wmma.mma.sync.aligned.m16n16k16.row.col.f32.f32 {_D8}, {_A8}, {_B8}, {_C8};", ""),
    ("d<8>:b32, D:global", f"wmma.store.d.sync.aligned.m16n16k16.global.col.f32 [D], {_D8};", ""),
    ("a:b32, b<4>:b32, c<8>:b32, d<8>:b32",
     f"wmma.mma.sync.aligned.m8n32k16.row.col.s32.s8.s8.s32 {_D8}, {{a}}, {_B4}, {_C8};", ""),
    ("a:b32, b:b32, c<2>:b32, d<2>:b32",
     f"wmma.mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {_D2}, {{a}}, {{b}}, {_C2};", ""),
    ("a:b32, b:b32, c<2>:b32, d<2>:b32",
     f"wmma.mma.xor.popc.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {_D2}, {{a}}, {{b}}, {_C2};", ""),
    ("a:f64, b:f64, c<2>:f64, d<2>:f64",
     f"wmma.mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {_D2}, {{a}}, {{b}}, {_C2};", ""),
    ("a<4>:b32, b<4>:b32, c<8>:b32, d<8>:b32",
     f"wmma.mma.sync.aligned.m16n16k8.row.col.f32.tf32.tf32.f32 {_D8}, {_A4}, {_B4}, {_C8};", ""),
    (_ONE, f"mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {_SINGLE};", ""),
    (_ONE, f"mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.u4.s32 {_SINGLE};", ""),
    (_R.replace("%Rb<2>", "%Rb"),
     f"mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.u8.s32 {_RD}, {{%Ra0, %Ra1}}, {{%Rb}}, {_RC};", ""),
    (_R.replace("%Rb<2>", "%Rb"),
     f"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u4.s4.s32 {_RD}, {{%Ra0, %Ra1}}, {{%Rb}}, {_RC};", ""),
    (_R, f"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {_RD}, {_RA}, {{%Rb0, %Rb1}}, {_RC};",
     ""),
    (_R, f"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.u4.s32 {_RD}, {_RA}, {{%Rb0, %Rb1}}, {_RC};",
     ""),
)  # fmt: skip
"""On sm_90 from PTX 7.8 on."""
