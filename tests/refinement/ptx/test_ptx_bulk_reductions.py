"""Bulk reductions in global memory, of bytes and of boxes of tensors, right and wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_kernels import ClusterKernel, Edit

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict

SUM = ClusterKernel(
    """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry rd(.param .u64 a, .param .u64 c)
{
.reg .b64 %d<16>; .reg .b32 %r<32>; .reg .pred %p<8>;
.shared .align 128 .b8 tile[256];
ld.param.u64 %d0, [a];
ld.param.u64 %d1, [c];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
setp.ne.u32 %p0, %r0, 0;
mad.lo.u32 %r2, %r1, 64, %r0;
mul.wide.u32 %d2, %r2, 4;
add.u64 %d3, %d0, %d2;
ld.global.u32 %r3, [%d3];
mov.u32 %r4, tile;
mad.lo.u32 %r5, %r0, 4, %r4;
st.shared.u32 [%r5], %r3;
fence.proxy.async.shared::cta;
bar.sync 0;
@%p0 bra OUT;
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r4], 256;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
OUT:
ret;
}
""",
    """
[kernel]
isa = "ptx"
[launch]
grid = 3
block = 64
[[param]]
name = "A"
type = "u32"
shape = [3, 64]
[[param]]
name = "C"
type = "u32"
shape = [64]
access = "inout"
[ensures]
formula = "C[i] = old(C[i]) + sum(j, A[j, i])"
""",
)
"""Each of three blocks adds its row to one that all share."""

REDUCED = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r4], 256;"
WAIT = "cp.async.bulk.wait_group.read 0;"
BOX: tuple[Edit, ...] = (
    (".param .u64 c)", ".param .align 64 .b8 cm[128])"),
    ("ld.param.u64 %d1, [c];", "mov.b64 %d1, cm;\ncvta.param.u64 %d1, %d1; mov.u32 %r9, 0;"),
    (REDUCED, "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%d1, {%r9}], [%r4];"),
    ('[[param]]\nname = "C"', '[[param]]\nname = "m"\ntype = "tensor_map"\nto = "C"\nbox = [64]\n\n'
                             '[[array]]\nname = "C"'),
)  # fmt: skip
"""What makes it a reduction of a box."""


@pytest.mark.parametrize(
    "edits",
    [(), BOX, ((REDUCED, REDUCED.replace("bulk_group", "bulk_group.L2::cache_hint")[:-1] + ", %d9;"),)],
)
def test_a_reduction_is_verified(edits: tuple[Edit, ...], tmp_path: Path) -> None:
    found = SUM.verified(tmp_path, *edits)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


FAULTS: dict[str, tuple[tuple[Edit, ...], Kind]] = {
    "no proxy fence": ((("fence.proxy.async.shared::cta;", ""),), Kind.PROXY),
    "no barrier": ((("bar.sync 0;", ""),), Kind.RACE),
    "nobody waits": (((WAIT, ""),), Kind.UNDEFINED),
    "the source is written too early": (((WAIT, f"st.shared.u32 [%r4], %r0; {WAIT}"),), Kind.RACE),
    "another operation": (((".add.u32", ".max.u32"),), Kind.WRONG_VALUE),
    "too few bytes": ((("256;\ncp", "128;\ncp"),), Kind.WRONG_VALUE),
    "a place that is not aligned": ((("[%d1], [%r4], 256", "[%d1+8], [%r4], 240"),), Kind.MISALIGNED),
    "a copy in place of it": (((".reduce", ""), (".bulk_group.add.u32", ".bulk_group")), Kind.RACE),
    "what is read of it": (((WAIT, f"{WAIT} ld.global.u32 %r9, [%d1];"),), Kind.UNSUPPORTED),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_for_its_reason(fault: str, tmp_path: Path) -> None:
    edits, kind = FAULTS[fault]
    found = SUM.verified(tmp_path, *edits)
    assert found.verdict is not Verdict.VERIFIED
    assert kind in {finding.kind for finding in found.findings}
