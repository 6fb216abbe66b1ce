"""Masks of two sizes at once, of a tile that is transposed, are settled for what is stored."""

from __future__ import annotations

from pathlib import Path

import pytest
from edited_kernels import edited
from element_contracts import contract_of
from quantified_kernels import prove_blocks

from mmaproof.spec.errors import UnsupportedError

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry transposed(.param .u64 x, .param .u64 y, .param .u32 m, .param .u32 n)
{
    .reg .pred %p<4>;
    .reg .f32 %f<2>;
    .reg .b32 %r<14>;
    .reg .b64 %rd<9>;
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [m];
    ld.param.u32 %r2, [n];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ctaid.y;
    mov.u32 %r5, %tid.x;
    mov.u32 %r6, %tid.y;
    shl.b32 %r3, %r3, 3;
    shl.b32 %r4, %r4, 3;
    or.b32 %r7, %r3, %r6;
    or.b32 %r8, %r4, %r5;
    setp.lt.u32 %p0, %r7, %r1;
    setp.lt.u32 %p1, %r8, %r2;
    and.pred %p0, %p0, %p1;
    mov.f32 %f0, 0f00000000;
    mad.lo.u32 %r9, %r7, %r2, %r8;
    mul.wide.u32 %rd3, %r9, 4;
    add.s64 %rd4, %rd1, %rd3;
    @%p0 ld.global.f32 %f0, [%rd4];
    mov.u32 %r10, tile;
    mad.lo.u32 %r11, %r6, 8, %r5;
    mad.lo.u32 %r11, %r11, 4, %r10;
    st.shared.f32 [%r11], %f0;
    bar.sync 0;
    mad.lo.u32 %r12, %r5, 8, %r6;
    mad.lo.u32 %r12, %r12, 4, %r10;
    ld.shared.f32 %f1, [%r12];
    or.b32 %r7, %r4, %r6;
    or.b32 %r8, %r3, %r5;
    setp.lt.u32 %p2, %r7, %r2;
    setp.lt.u32 %p3, %r8, %r1;
    and.pred %p2, %p2, %p3;
    mad.lo.u32 %r9, %r7, %r1, %r8;
    mul.wide.u32 %rd5, %r9, 4;
    add.s64 %rd6, %rd2, %rd5;
    @%p2 st.global.f32 [%rd6], %f1;
    ret;
}
"""

CONTRACT = contract_of(
    "transposed", dict.fromkeys("MN", "any up to 10000"), ["(M + 7) // 8", "(N + 7) // 8"], [8, 8],
    "Y[i, j] = X[j, i]", output="NM", passed="MN",
)  # fmt: skip


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "transposed.ptx"
    path.write_text(KERNEL, encoding="utf-8")
    return path


def test_tiles_are_transposed_for_every_size(kernel: Path) -> None:
    shown = prove_blocks(kernel, CONTRACT).domains
    assert {each.name: each.most for each in shown} == {"M": 10000, "N": 10000}


FAULTS = {
    "not transposed": ("mad.lo.u32 %r12, %r5, 8, %r6;", "mad.lo.u32 %r12, %r6, 8, %r5;"),
    "loads are masked by one more": ("setp.lt.u32 %p0, %r7, %r1;", "setp.le.u32 %p0, %r7, %r1;"),
    "loads are masked by one less": (
        "setp.lt.u32 %p0, %r7, %r1;",
        "add.u32 %r13, %r7, 1;\nsetp.lt.u32 %p0, %r13, %r1;",
    ),
    "either mask of a load is enough": ("and.pred %p0, %p0, %p1;", "or.pred %p0, %p0, %p1;"),
    "one mask of a load": ("and.pred %p0, %p0, %p1;", "and.pred %p0, %p0, %p0;"),
    "the masks are exchanged": ("setp.lt.u32 %p3, %r8, %r1;", "setp.lt.u32 %p3, %r8, %r2;"),
    "one mask of a store": ("and.pred %p2, %p2, %p3;", "and.pred %p2, %p2, %p2;"),
    "no barrier": ("bar.sync 0;", ""),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_masks_of_two_sizes_are_not_shown(kernel: Path, fault: str, tmp_path: Path) -> None:
    wrong = edited(tmp_path, kernel, FAULTS[fault])
    with pytest.raises(UnsupportedError):
        prove_blocks(wrong, CONTRACT)
