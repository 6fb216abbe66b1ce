"""``cp.async`` of what data count off in a table: copied from each place that they may lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.verification import verify

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry looked_up(.param .u64 w, .param .u64 t, .param .u64 y)
{
    .reg .b16 %h<2>; .reg .b32 %r<8>; .reg .f32 %f<3>; .reg .b64 %d<10>;
    .shared .align 16 .b8 tile[128];
    ld.param.u64 %d1, [w]; ld.param.u64 %d2, [t]; ld.param.u64 %d3, [y];
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %d4, %r1; add.s64 %d5, %d1, %d4;
    ld.global.u8 %r2, [%d5];
    and.b32 %r3, %r2, MASK;
    mad.wide.u32 %d6, %r3, 4, %d2;
    shl.b32 %r4, %r1, 2; mov.u32 %r5, tile; add.s32 %r6, %r5, %r4;
    cp.async.ca.shared.global [%r6], [%d6+OFFSET], 4;
    cp.async.wait_all;
    bar.sync 0;
    ld.shared.f32 %f1, [%r6];
    mul.wide.u32 %d7, %r1, 4; add.s64 %d8, %d3, %d7;
    st.global.f32 [%d8], %f1;
    ret;
}
"""

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
block = 32
[[param]]
name = "w"
type = "u4"
shape = [32, 2]
[[param]]
name = "t"
type = "f32"
shape = [16]
[[param]]
name = "y"
type = "f32"
shape = [32]
access = "out"
[ensures]
formula = "y[i] = lookup(w[i, 0], TABLE)"
"""


@pytest.mark.parametrize(
    ("mask", "offset", "verdict", "says"),
    [
        (15, 0, "verified", ""),
        (7, 0, "refuted", "y[0] "),
        (15, 4, "refuted", "out-of-bounds"),
    ],
)
def test_a_copy_from_a_table(mask: int, offset: int, verdict: str, says: str, tmp_path: Path) -> None:
    kernel, contract = tmp_path / "kernel.ptx", tmp_path / "contract.toml"
    kernel.write_text(KERNEL.replace("MASK", str(mask)).replace("OFFSET", str(offset)), encoding="utf-8")
    table = ", ".join(f"t[{entry}]" for entry in range(16))
    contract.write_text(CONTRACT.replace("TABLE", table), encoding="utf-8")
    result = verify(kernel, contract).result
    assert result.verdict == verdict, result.findings
    assert says in "\n".join(map(str, result.findings))
