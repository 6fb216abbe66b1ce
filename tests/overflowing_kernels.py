"""A kernel of which an index overflows at large sizes, and its contract, to be given an end of its domain."""

from __future__ import annotations

from element_contracts import contract_of

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry doubled(.param .u64 x, .param .u64 y)
{
    .reg .f32 %f<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    shl.b32 %r4, %r2, 6;
    or.b32 %r5, %r4, %r3;
    shl.b32 %r6, %r5, 2;
    cvt.s64.s32 %rd3, %r6;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f0, [%rd4];
    add.f32 %f2, %f0, %f0;
    mul.wide.u32 %rd5, %r5, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.f32 [%rd6], %f2;
    ret;
}
"""

CONTRACT = contract_of("doubled", {"n": "any multiple of 64END"}, ["n // 64"], [64], "Y[i] = X[i] + X[i]")
