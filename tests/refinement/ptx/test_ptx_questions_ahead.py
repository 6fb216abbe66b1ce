"""Threads that ask whether a phase is over, and look at the answer later: what else may depend on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_kernels import ClusterKernel, Edit

from mmaproof.refinement.findings.result import Verdict

ASK = "mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], %r4;"
AGAIN = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], %r4;\n@!%p2 bra WAIT;"

KERNEL = ClusterKernel(
    f"""
.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1)
{{
.reg .pred %p<8>;
.reg .b32 %r<20>;
.reg .b64 %d<8>;
.shared .align 16 .b8 data[128];
.shared .align 8 .b8 full[8];
ld.param.u64 %d0, [p0];
ld.param.u64 %d1, [p1];
mov.u32 %r0, %tid.x;
and.b32 %r1, %r0, 31;
mul.wide.u32 %d2, %r1, 4;
add.u64 %d3, %d0, %d2;
add.u64 %d4, %d1, %d2;
mov.u32 %r3, data;
mad.lo.u32 %r3, %r1, 4, %r3;
mov.u32 %r4, 0;
mov.u32 %r5, 1;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra MADE;
mbarrier.init.shared::cta.b64 [full], 64;
MADE:
bar.sync 0;
setp.gt.u32 %p3, %r0, 31;
@%p3 bra STORE;
mbarrier.arrive.shared::cta.b64 _, [full];
{ASK}
selp.u32 %r8, 1, 0, %p1;
// work
setp.ne.u32 %p4, %r8, 0;
@%p4 bra CAME;
WAIT:
{AGAIN}
CAME:
ld.shared.u32 %r9, [%r3];
st.global.u32 [%d4], %r9;
ret;
STORE:
// before
ld.global.u32 %r9, [%d3];
st.shared.u32 [%r3], %r9;
mbarrier.arrive.shared::cta.b64 _, [full];
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
shape = [32]
[[param]]
name = "C"
type = "u32"
shape = [32]
access = "out"
[ensures]
formula = "C[i] = A[i]"
""",
)
"""The first warp reads what the second stores: it asks ahead, and waits if it was told no."""

ROUND = "mbarrier.arrive.shared::cta.b64 _, [full];\n"


def _waits(label: str, parity: str) -> str:
    return f"{label}:\nmbarrier.try_wait.parity.shared::cta.b64 %p5, [full], {parity};\n@!%p5 bra {label};\n"


RIGHT: dict[str, tuple[Edit, ...]] = {
    "as it is": (),
    "asked before the own arrival": ((ROUND + ASK, f"{ASK}\n{ROUND}"),),
    "it is known to be over": ((ASK, _waits("FIRST", "%r4") + ASK),),
    "who asks again fences": (
        ("// work", "// work\nadd.u32 %r10, %r1, 1;"),
        (
            "setp.ne.u32 %p4, %r8, 0;\n@%p4 bra CAME;\nWAIT:",
            "WAIT:\nfence.acq_rel.cta;",
        ),
    ),
    "all fence": (("// work", "fence.proxy.async.shared::cta;"),),
    "another register is overwritten": (("// work", "add.u32 %r10, %r1, 7;\nadd.u32 %r10, %r10, 1;"),),
}


@pytest.mark.parametrize("edits", RIGHT.values(), ids=RIGHT)
def test_a_question_ahead_is_as_good_as_waiting(edits: tuple[Edit, ...], tmp_path: Path) -> None:
    found = KERNEL.verified(tmp_path, *edits)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


NOT_LOOKED_AT: tuple[Edit, ...] = (("setp.ne.u32 %p4, %r8, 0;\n@%p4 bra CAME;\n", ""),)

DEPENDING: dict[str, tuple[Edit, ...]] = {
    "a sum in place": (("// work", "add.u32 %r8, %r8, 7;\nst.global.u32 [%d4], %r8;"), *NOT_LOOKED_AT),
    "a vote in place": (
        (
            "// work",
            "vote.sync.any.pred %p1, %p1, 0xffffffff;\nselp.u32 %r8, 1, 0, %p1;\nst.global.u32 [%d4], %r8;",
        ),
        *NOT_LOOKED_AT,
    ),
    "a shuffle in place": (
        (
            "// work",
            "shfl.sync.bfly.b32 %r8, %r8, 1, 31, 0xffffffff;\nst.global.u32 [%d4], %r8;",
        ),
        *NOT_LOOKED_AT,
    ),
    "the number of a barrier": (("// work", "bar.sync %r8, 32;"), *NOT_LOOKED_AT),
    "the carry": (
        (
            "// work",
            "add.cc.u32 %r10, %r8, 0xffffffff;\naddc.u32 %r11, %r1, 0;\nst.global.u32 [%d4], %r11;",
        ),
        *NOT_LOOKED_AT,
    ),
    "the bits of a number": (
        (".reg .pred", ".reg .b16 %h<2>;\n.reg .pred"),
        (
            "// work",
            "cvt.rn.bf16.u32 %h0, %r8;\nmov.b16 %h1, 0x3f80;\nsetp.eq.b16 %p6, %h0, %h1;\n"
            "mov.u32 %r10, 3;\n@%p6 add.u32 %r10, %r10, 1;\nst.global.u32 [%d4], %r10;",
        ),
        *NOT_LOOKED_AT,
    ),
    "only who is told no fences": (("CAME:", "fence.proxy.async.shared::cta;\nCAME:"),),
    "who is told yes acquires nothing": ((ASK, ASK.replace("parity", "parity.relaxed.cta")),),
}


@pytest.mark.parametrize("edits", DEPENDING.values(), ids=DEPENDING)
def test_what_depends_on_the_answer_is_not_taken_for_the_same(
    edits: tuple[Edit, ...], tmp_path: Path
) -> None:
    found = KERNEL.verified(tmp_path, *edits)
    assert found.verdict is Verdict.UNSUPPORTED
    assert "does more than wait" in found.findings[0].message


def test_who_asks_again_without_acquiring_does_not_wait_as_well(tmp_path: Path) -> None:
    """What is run is the first question, which acquires."""
    at_once = (("selp.u32 %r8, 1, 0, %p1;\n// work\nsetp.ne.u32 %p4, %r8, 0;\n@%p4", "@%p1"),)
    assert KERNEL.verified(tmp_path, *at_once).verdict is Verdict.VERIFIED
    relaxed = (AGAIN, AGAIN.replace("parity", "parity.relaxed.cta"))
    found = KERNEL.verified(tmp_path, *at_once, relaxed)
    assert found.verdict is Verdict.UNSUPPORTED
    assert "polls something else after a failed poll" in found.findings[0].message


def test_a_phase_that_is_over_at_the_question_is_not_a_later_one(tmp_path: Path) -> None:
    """Who asks for phase -1 is told yes, and goes on; who was told no would wait for phase 1."""
    edits = (
        (ROUND + ASK, ASK.replace("%r4", "%r5") + f"\n{ROUND}"),
        ("// work", _waits("FIRST", "%r4") + ROUND),
        (AGAIN, AGAIN.replace("%r4", "%r5")),
        ("// before", ROUND + _waits("SECOND", "%r4")),
    )
    found = KERNEL.verified(tmp_path, *edits)
    assert found.verdict is Verdict.UNSUPPORTED
    assert "has already polled for phase -1" in found.findings[0].message


def test_a_barrier_that_is_made_again_is_another_one(tmp_path: Path) -> None:
    edits = (
        (ROUND + ASK, ASK.replace("%r4", "%r5") + f"\n{ROUND}"),
        (
            "// work",
            "bar.sync 0;\n@%p0 bra DONE;\nmbarrier.inval.shared::cta.b64 [full];\n"
            "mbarrier.init.shared::cta.b64 [full], 64;\nDONE:\nbar.sync 0;",
        ),
        (AGAIN, AGAIN.replace("%r4", "%r5")),
        (f"{ROUND}ret;\n}}", f"{ROUND}bar.sync 0;\nbar.sync 0;\nret;\n}}"),
    )
    found = KERNEL.verified(tmp_path, *edits)
    assert found.verdict is not Verdict.VERIFIED
