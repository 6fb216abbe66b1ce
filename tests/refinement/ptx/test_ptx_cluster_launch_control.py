"""Blocks that ask for others that wait to be launched: right, wrong, and in all ways in which that may go."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_kernels import ClusterKernel, Edit

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.ptx.every_order import _all_ways

REQUEST = (
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [full];"
)
WAIT = "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [full], %r4;\n@!%p1 bra WAIT;"
LOOKED = """ld.shared.b128 %q0, [answer];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0;
@%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r3, _, _, _}, %q0;"""
FENCE = "fence.proxy.async.shared::cta;\nbar.sync 0;"

TILES = ClusterKernel(
    f"""
.version 9.0
.target sm_100a
.address_size 64
.visible .entry tiles(.param .u64 p0, .param .u64 p1)
{{
.reg .pred %p<4>;
.reg .b32 %r<10>;
.reg .b64 %d<10>;
.reg .b128 %q<2>;
.shared .align 16 .b8 answer[16];
.shared .align 8 .b8 full[8];
ld.param.u64 %d0, [p0];
ld.param.u64 %d1, [p1];
mov.u32 %r0, %tid.x;
mov.u32 %r3, %ctaid.x;
mov.u32 %r4, 0;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra MADE;
mbarrier.init.shared::cta.b64 [full], 1;
fence.proxy.async.shared::cta;
MADE:
bar.sync 0;
NEXT:
@%p0 bra ASKED;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16;
{REQUEST}
ASKED:
mad.lo.u32 %r5, %r3, 32, %r0;
mul.wide.u32 %d2, %r5, 4;
add.s64 %d3, %d0, %d2;
add.s64 %d4, %d1, %d2;
ld.global.u32 %r6, [%d3];
add.u32 %r6, %r6, %r3;
st.global.u32 [%d4], %r6;
{WAIT}
xor.b32 %r4, %r4, 1;
{LOOKED}
{FENCE}
@%p2 bra NEXT;
ret;
}}
""",
    """
[kernel]
isa = "ptx"
[launch]
grid = "T"
block = 32
[sizes]
T = 2
[[param]]
name = "A"
type = "u32"
shape = ["T", 32]
[[param]]
name = "C"
type = "u32"
shape = ["T", 32]
access = "out"
[ensures]
formula = "C[t, i] = A[t, i] + t"
""",
)

MULTICAST: tuple[Edit, ...] = (
    ("complete_tx::bytes.b128", "complete_tx::bytes.multicast::cluster::all.b128"),
)
THREE: tuple[Edit, ...] = (("T = 2", "T = 3"),)
OF_PAIRS: tuple[Edit, ...] = (
    *MULTICAST,
    ("T = 2", "T = 4"),
    ("block = 32", "block = 32\ncluster = 2"),
    (".reg .pred", ".reg .b32 %c<4>;\n.reg .pred"),
    (
        "NEXT:\n@%p0 bra ASKED;",
        "mov.u32 %c0, %cluster_ctarank;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "NEXT:\n@%p0 bra ASKED;",
    ),
    ("[full], 16;\n", "[full], 16;\nsetp.ne.u32 %p3, %c0, 0;\n@%p3 bra ASKED;\n"),
    (
        "@%p2 bra NEXT;",
        "@%p2 add.u32 %r3, %r3, %c0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n@%p2 bra NEXT;",
    ),
)
"""What makes clusters of two ask once for both blocks."""

RIGHT: dict[str, tuple[Edit, ...]] = {
    "as it is": (),
    "answers for all blocks of a cluster of one": MULTICAST,
    "three clusters": THREE,
    "clusters of two": OF_PAIRS,
    "a cluster that asks once": (
        ("xor.b32 %r4, %r4, 1;", "add.u32 %r4, %r4, 1;\nsetp.gt.u32 %p3, %r4, 1;\n@%p3 exit;"),
    ),
    "halves of the answer": (
        (
            "ld.shared.b128 %q0, [answer];",
            "ld.shared.v2.b64 {%d5, %d6}, [answer];\nmov.b128 %q1, {%d5, %d6};\nmov.b128 %q0, %q1;",
        ),
    ),
    "one coordinate": (("get_first_ctaid.v4.b32.b128 {%r3, _, _, _}", "get_first_ctaid::x.b32.b128 %r3"),),
}


@pytest.mark.parametrize("edit", RIGHT)
def test_a_kernel_that_takes_over_clusters_is_verified(edit: str, tmp_path: Path) -> None:
    found = TILES.verified(tmp_path, *RIGHT[edit])
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


AFTER_TWO: tuple[Edit, ...] = (
    (".reg .b32 %r<10>;", ".reg .b32 %r<20>;\n.reg .pred %q9;"),
    ("mov.u32 %r4, 0;", "mov.u32 %r4, 0;\nmov.u32 %r11, 0;"),
    (
        "@%p2 bra NEXT;",
        "@%p2 add.u32 %r11, %r11, 1;\n@%p2 bra NEXT;\nsetp.eq.u32 %q9, %r11, 2;\n"
        "@%q9 st.global.u32 [%d4], %r11;",
    ),
)
"""A fault of whoever has taken over two clusters, and no third."""


@pytest.mark.parametrize("edits", [(), AFTER_TWO], ids=["right", "wrong in a way that is not run"])
def test_of_more_clusters_nothing_is_shown(edits: tuple[Edit, ...], tmp_path: Path) -> None:
    found = TILES.verified(tmp_path, ("T = 2", "T = 6"), *edits)
    assert found.verdict is Verdict.UNSUPPORTED
    assert "at most 3 clusters: choose such sizes" in str(found.findings[0])


def test_a_fault_after_two_clusters_is_found_where_all_ways_are_run(tmp_path: Path) -> None:
    assert TILES.verified(tmp_path, *THREE, *AFTER_TWO).verdict is Verdict.REFUTED


def test_all_ways_in_which_clusters_may_be_taken_over() -> None:
    """As many as ways to put distinct things into rows: Lah numbers, added."""
    assert [len([*_all_ways([*range(count)])]) for count in (1, 2, 3, 4)] == [1, 3, 13, 73]


WRONG: dict[str, tuple[tuple[Edit, ...], Kind, str]] = {
    "no branch waits for the result": (((WAIT, ""),), Kind.RACE, "answer"),
    "bytes": (((", 16;\n", ", 8;\n"),), Kind.DEADLOCK, "waits for ever"),
    "the parity stays": ((("xor.b32 %r4, %r4, 1;", ""),), Kind.RACE, "parity"),
    "readers are not waited for": (
        (
            ("block = 32", "block = 64"),
            ('["T", 32]', '["T", 64]'),
            ('["T", 32]', '["T", 64]'),
            ("%r3, 32, %r0", "%r3, 64, %r0"),
            (FENCE, "fence.proxy.async.shared::cta;"),
        ),
        Kind.RACE,
        "answer",
    ),
    "every thread asks": ((("@%p0 bra ASKED;", ""),), Kind.RACE, ""),
    "the other coordinate": ((("{%r3, _, _, _}", "{_, %r3, _, _}"),), Kind.MISSING_OUTPUT, ""),
    "another request after one that failed": (
        (
            ("@%p2 bra NEXT;", "add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p3, %r8, 4;\n@%p3 bra NEXT;"),
            ("mov.u32 %r4, 0;", "mov.u32 %r4, 0;\nmov.u32 %r8, 0;"),
        ),
        Kind.UNDEFINED,
        "that a request before it failed",
    ),
    "work that is taken over is left": ((("@%p2 bra NEXT;", ""),), Kind.MISSING_OUTPUT, ""),
    "the first tile's number stays": (
        (("mad.lo.u32 %r5, %r3, 32, %r0;", "mov.u32 %r9, %ctaid.x;\nmad.lo.u32 %r5, %r9, 32, %r0;"),),
        Kind.MISSING_OUTPUT,
        "",
    ),
    "misaligned": (
        (
            (".align 16 .b8 answer[16];", ".align 16 .b8 answer[32];"),
            ("[answer], [full]", "[answer+8], [full]"),
            ("[answer];", "[answer+8];"),
        ),
        Kind.MISALIGNED,
        "",
    ),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_fault_is_refuted(fault: str, tmp_path: Path) -> None:
    edits, kind, message = WRONG[fault]
    found = TILES.verified(tmp_path, *edits)
    assert found.verdict is Verdict.REFUTED
    assert any(finding.kind is kind and message in finding.message for finding in found.findings), (
        found.findings
    )


def test_who_asks_for_ever_is_stopped_at_the_first_request_too_many(tmp_path: Path) -> None:
    found = TILES.verified(tmp_path, ("@%p2 bra NEXT;", "@!%p2 bra NEXT;"))
    assert found.verdict is Verdict.REFUTED
    assert any("that a request before it failed" in finding.message for finding in found.findings)


def test_what_a_block_alone_does_wrong_is_found_with_who_takes_over(tmp_path: Path) -> None:
    """Where the first takes over all, every block but it is never launched."""
    edit = ("NEXT:", "setp.ne.u32 %p3, %r3, 0;\n@%p3 exit;\nNEXT:")
    found = TILES.verified(tmp_path, edit)
    assert found.verdict is Verdict.REFUTED
    assert found.findings[0].kind is Kind.MISSING_OUTPUT and "if " in found.findings[0].message


PEEKED = """mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], %r4;
selp.u32 %r8, 1, 0, %p1;
mad.lo.u32"""
AHEAD: tuple[Edit, ...] = (
    ("mad.lo.u32", PEEKED),
    ("WAIT:", "setp.ne.u32 %p3, %r8, 0;\n@%p3 bra CAME;\nWAIT:"),
    ("@!%p1 bra WAIT;", "@!%p1 bra WAIT;\nCAME:"),
)
"""What asks ahead whether the answer is there, and waits after its work if it was not."""

AHEAD_RIGHT: dict[str, tuple[Edit, ...]] = {
    "as it is": (),
    "a guard that holds": (
        ("mbarrier.try_wait", "mov.u32 %r9, 1;\nsetp.eq.u32 %p3, %r9, 1;\n@%p3 mbarrier.test_wait"),
    ),
    "the question is asked for nothing on one way": (
        ("setp.ne.u32 %p3, %r8, 0;", "setp.gt.u32 %p3, %r3, 1000;\n@%p3 bra CAME;\nsetp.ne.u32 %p3, %r8, 0;"),
    ),
}


@pytest.mark.parametrize("edit", AHEAD_RIGHT)
def test_an_answer_that_is_looked_at_later_is_verified(edit: str, tmp_path: Path) -> None:
    found = TILES.verified(tmp_path, *AHEAD, *AHEAD_RIGHT[edit])
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


AHEAD_UNSUPPORTED: dict[str, tuple[Edit, ...]] = {
    "what is done in between depends on it": (("add.u32 %r6, %r6, %r3;", "add.u32 %r6, %r6, %r8;"),),
    "another parity is asked for then": (("WAIT:", "xor.b32 %r4, %r4, 1;\nWAIT:"),),
    "nobody asks again": (("@%p3 bra CAME;", "bra CAME;"), ("%r6, %r6, %r3", "%r6, %r6, %r8")),
    "who is told no does something else": (("WAIT:", "st.global.u32 [%d4], %r3;\nWAIT:"),),
}


@pytest.mark.parametrize("case", AHEAD_UNSUPPORTED)
def test_an_answer_that_matters_otherwise_is_unsupported(case: str, tmp_path: Path) -> None:
    found = TILES.verified(tmp_path, *AHEAD, *AHEAD_UNSUPPORTED[case])
    assert found.verdict is Verdict.UNSUPPORTED
    assert "does more than wait" in found.findings[0].message


def test_a_question_of_the_wrong_parity_ahead_is_found(tmp_path: Path) -> None:
    """The same is asked again, so that it is no other question, but one that is answered too early."""
    found = TILES.verified(tmp_path, *AHEAD, ("mov.u32 %r4, 0;", "mov.u32 %r4, 1;"))
    assert found.verdict is Verdict.REFUTED and found.findings[0].kind in (Kind.RACE, Kind.DEADLOCK)


UNSUPPORTED: dict[str, tuple[tuple[Edit, ...], str]] = {
    "an answer of parts of others": (
        (
            (
                "ld.shared.b128 %q0, [answer];",
                "ld.shared.v2.b64 {%d5, %d6}, [answer];\nmov.b128 %q0, {%d6, %d5};",
            ),
        ),
        "of a value that is not the answer to one request",
    ),
    "an answer that is looked at otherwise": (
        (("@%p2 bra NEXT;", "ld.shared.u32 %r7, [answer];\nsetp.ne.u32 %p2, %r7, 0;\n@%p2 bra NEXT;"),),
        "the answer to a request to cancel the launch of a cluster",
    ),
    "the place of none": (
        (
            ("@%p2 clusterlaunchcontrol", "clusterlaunchcontrol"),
            ("@%p2 bra NEXT;", "setp.ne.u32 %p2, %r3, 0;\n@%p2 bra NEXT;"),
        ),
        "the place of a cluster whose launch was not cancelled",
    ),
}


@pytest.mark.parametrize("case", UNSUPPORTED)
def test_what_is_not_modelled_is_told_with_its_line(case: str, tmp_path: Path) -> None:
    edits, message = UNSUPPORTED[case]
    found = TILES.verified(tmp_path, *edits)
    assert found.verdict is Verdict.UNSUPPORTED
    assert message in found.findings[0].message and found.findings[0].line
