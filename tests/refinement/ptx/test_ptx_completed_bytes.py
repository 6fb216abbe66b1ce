"""``mbarrier.complete_tx``: bytes that a thread says have come, right and wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_kernels import ClusterKernel, Edit

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict

COMPLETE = "@%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [full], 8;"

TOLD = ClusterKernel(
    f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry told(.param .u64 p0, .param .u64 p1)
{{
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %d<8>;
.shared .align 8 .b8 full[8];
.shared .align 4 .b8 word[4];
ld.param.u64 %d0, [p0];
ld.param.u64 %d1, [p1];
mov.u32 %r0, %tid.x;
setp.eq.u32 %p0, %r0, 0;
setp.eq.u32 %p1, %r0, 32;
mul.wide.u32 %d2, %r0, 4;
add.s64 %d3, %d0, %d2;
add.s64 %d4, %d1, %d2;
@%p0 mbarrier.init.shared::cta.b64 [full], 1;
bar.sync 0;
@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 8;
{COMPLETE}
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
@!%p2 bra WAIT;
ld.global.u32 %r1, [%d3];
st.global.u32 [%d4], %r1;
ret;
}}
""",
    """
[kernel]
isa = "ptx"
[launch]
grid = 1
block = 64
[[param]]
name = "A"
type = "u32"
shape = [64]
[[param]]
name = "C"
type = "u32"
shape = [64]
access = "out"
[ensures]
formula = "C[i] = A[i]"
""",
)

HALVES = (COMPLETE, f"{COMPLETE.replace('8;', '4;')}\n{COMPLETE.replace('8;', '4;')}")
RIGHT: dict[str, tuple[Edit, ...]] = {
    "as it is": (),
    "in two parts": (HALVES,),
    "of a generic address": (
        (COMPLETE, "cvta.shared.u64 %d5, %d6;\n@%p1 mbarrier.complete_tx.b64 [%d5], 8;"),
        ("bar.sync 0;", "bar.sync 0;\nmov.u64 %d6, full;"),
    ),
}


@pytest.mark.parametrize("edit", RIGHT)
def test_bytes_that_come_end_a_phase(edit: str, tmp_path: Path) -> None:
    found = TOLD.verified(tmp_path, *RIGHT[edit])
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


PASSED = (
    (COMPLETE, f"@%p1 st.shared.u32 [word], %r0;\n{COMPLETE}"),
    (
        "ld.global.u32 %r1, [%d3];",
        "ld.shared.u32 %r2, [word];\nld.global.u32 %r1, [%d3];\nadd.u32 %r1, %r1, %r2;",
    ),
)
"""A word that is passed on by bytes alone, which are relaxed."""

WRONG: dict[str, tuple[tuple[Edit, ...], Kind, str]] = {
    "too few": (((COMPLETE, COMPLETE.replace("8;", "4;")),), Kind.DEADLOCK, "4 bytes still expected"),
    "none": (((COMPLETE, ""),), Kind.DEADLOCK, "8 bytes still expected"),
    "before the barrier is there": (
        ((COMPLETE, ""), ("bar.sync 0;", f"{COMPLETE}\nbar.sync 0;")), Kind.RACE, "full"
    ),
    "memory is not told": (PASSED, Kind.RACE, "word"),
}  # fmt: skip


@pytest.mark.parametrize("fault", WRONG)
def test_a_fault_is_refuted(fault: str, tmp_path: Path) -> None:
    edits, kind, message = WRONG[fault]
    found = TOLD.verified(tmp_path, *edits)
    assert found.verdict is Verdict.REFUTED
    assert any(finding.kind is kind and message in finding.message for finding in found.findings), (
        found.findings
    )
