"""Clusters: launches, barriers of clusters, shared memory of other blocks, and how long that is there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cluster_kernels import EXCHANGE, Edit
from ptx_machine import Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict
from mmaproof.spec.formats import U32

BARRIER = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
LAST = f"{BARRIER}ret;"
RANK = "xor.b32 %r10, %r1, 1;"
MAPPED = "mapa.shared::cluster.u32 %r11, %r8, %r10;"
REQUIRED = ".reqnctapercluster 2, 1, 1"


def test_an_exchange_between_blocks_is_verified(tmp_path: Path) -> None:
    found = EXCHANGE.verified(tmp_path)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


HARMLESS: dict[str, tuple[Edit, ...]] = {
    "aligned barriers": (
        (BARRIER, "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"),
    ),
    "clusters that the launch asks for": ((REQUIRED, ""), ("grid = 4", "grid = 4\ncluster = 2")),
    "generic addresses": (
        (".reg .b64 %rd<8>;", ".reg .b64 %rd<16>;"),
        (MAPPED, "cvt.u64.u32 %rd10, %r8; cvta.shared.u64 %rd11, %rd10; mapa.u64 %rd12, %rd11, %r10;"),
        ("add.s32 %r16, %r11, %r15;", "cvt.u64.u32 %rd13, %r15; add.s64 %rd14, %rd12, %rd13;"),
        ("ld.shared::cluster.u32 %r17, [%r16];", "ld.u32 %r17, [%rd14];"),
    ),
    "an address that the peer hands over": (
        (".reg .b64 %rd<8>;", ".reg .b64 %rd<16>;"),
        ("align 4 .b8 part[256]", "align 8 .b8 part[264]"),
        ("st.shared.u32 [%r9], %r6;", "st.shared.u32 [%r9], %r6;\ncvt.u64.u32 %rd10, %r8;\n"
         "cvta.shared.u64 %rd11, %rd10;\nst.shared.u64 [part+256], %rd11;"),
        (MAPPED, f"{MAPPED} ld.shared::cluster.u64 %rd12, [%r11+256];"),
        ("add.s32 %r16, %r11, %r15;", "cvt.u64.u32 %rd13, %r15; add.s64 %rd14, %rd12, %rd13;"),
        ("ld.shared::cluster.u32 %r17, [%r16];", "ld.u32 %r17, [%rd14];"),
    ),
    "a write behind a second barrier": (
        (LAST, f"{BARRIER}st.shared.u32 [%r9], %r18;\nret;"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", HARMLESS)
def test_a_harmless_edit_is_verified(edit: str, tmp_path: Path) -> None:
    found = EXCHANGE.verified(tmp_path, *HARMLESS[edit])
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


FAULTS: dict[str, tuple[Edit, Kind, str]] = {
    "no barrier before": ((BARRIER, ""), Kind.LIFETIME, "which may not have begun"),
    "a barrier of the block alone": ((BARRIER, "bar.sync 0;\n"), Kind.LIFETIME, "may not have begun"),
    "no barrier behind": ((LAST, "ret;"), Kind.LIFETIME, "which may have ended"),
    "an arrival that releases nothing": (
        ("barrier.cluster.arrive;", "barrier.cluster.arrive.relaxed;"), Kind.RACE, "with no barrier between"
    ),
    "nobody arrives": (("barrier.cluster.arrive;", ""), Kind.DEADLOCK, "has not arrived at the barrier"),
    "one block does not arrive": (
        (BARRIER, f".reg .pred %p<4>;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bar.sync 1, 128;\n{BARRIER}"),
        Kind.DEADLOCK, "64 of 128 threads of the cluster never arrive, one of them block 1",
    ),
    "nobody waits": (("barrier.cluster.wait;\n", ""), Kind.LIFETIME, "which may not have begun"),
    "some of a warp arrive": (
        (BARRIER, ".reg .pred %p<4>;\nsetp.lt.u32 %p1, %r4, 16;\n@%p1 barrier.cluster.arrive.aligned;\n"
         "@!%p1 barrier.cluster.arrive.aligned;\nbarrier.cluster.wait;\n"),
        Kind.DIVERGENCE, "16 of 32 threads of a warp",
    ),
    "the own rank": ((RANK, "mov.u32 %r10, %r1;"), Kind.WRONG_VALUE, "expected A[0,1,63]"),
    "a rank too far": ((RANK, "add.u32 %r10, %r1, 1;"), Kind.OUT_OF_BOUNDS, "of no block of a cluster of 2"),
    "a load of the own block": (
        ("ld.shared::cluster.u32", "ld.shared.u32"), Kind.OUT_OF_BOUNDS, "of another block of the cluster"
    ),
    "a write before the peer has read": (
        (LAST, "st.shared.u32 [%r9], %r18;\n" + LAST), Kind.RACE, "with no barrier between"
    ),
    "a grid of no whole clusters": (("grid = 4", "grid = 3"), Kind.ILLEGAL, "not a whole number of clusters"),
    "other clusters than required": (
        ("grid = 4", "grid = 4\ncluster = 4"), Kind.ILLEGAL, ".reqnctapercluster asks for 2 × 1 × 1"
    ),
    "no clusters": ((REQUIRED, ""), Kind.ILLEGAL, ".explicitcluster, and the launch has no clusters"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refuted_for_its_reason(fault: str, tmp_path: Path) -> None:
    edit, kind, message = FAULTS[fault]
    found = EXCHANGE.verified(tmp_path, edit)
    assert found.verdict is Verdict.REFUTED
    assert any(finding.kind is kind and message in finding.message for finding in found.findings), (
        found.findings
    )


def test_special_registers_say_where_in_its_cluster_a_block_is() -> None:
    names = (
        "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_nctaid.y", "%clusterid.x", "%clusterid.y",
        "%nclusterid.x", "%cluster_ctarank", "%cluster_nctarank",
    )  # fmt: skip
    reads = "\n".join(
        f"mov.u32 %r5, {name}; st.global.u32 [%d0+{4 * place}], %r5;" for place, name in enumerate(names)
    )
    body = f"""ld.param.u64 %d0, [p0]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y;
    mad.lo.u32 %r0, %r1, 4, %r0; mul.wide.u32 %d1, %r0, {4 * len(names)}; add.u64 %d0, %d0, %d1;
    {reads}"""
    bench = Bench()
    done = bench.run(
        kernel(body, 1, target="sm_90"), [written("c", 4 * 16 * len(names))], grid=(4, 4, 1),
        cluster=(2, 4, 1), block=1,
    )  # fmt: skip
    assert kinds(done) == {}
    left = bench.left(done, "c", U32).reshape(4, 4, len(names))
    y, x = np.indices((4, 4))
    expected = (x % 2, y, 0 * x + 4, x // 2, 0 * x, 0 * x + 2, x % 2 + 2 * y, 0 * x + 8)
    assert (left == np.stack(expected, axis=-1)).all()


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_a_cluster_is_no_larger_than_the_target_allows(target: str) -> None:
    done = Bench().run(kernel("", 0, target=target), [], grid=32, cluster=32)
    assert list(kinds(done)) == [Kind.ILLEGAL]


def test_ranks_of_addresses() -> None:
    body = """ld.param.u64 %d0, [p0]; mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, s;
    getctarank.shared::cluster.u32 %r2, %r1; sub.u32 %r3, 3, %r0; mapa.shared::cluster.u32 %r4, %r1, %r3;
    getctarank.shared::cluster.u32 %r5, %r4; cvt.u64.u32 %d1, %r4; cvta.shared::cluster.u64 %d2, %d1;
    isspacep.shared::cta %p0, %d2; isspacep.shared::cluster %p1, %d2; selp.u32 %r6, 1, 0, %p0;
    selp.u32 %r7, 1, 0, %p1; mul.wide.u32 %d3, %r0, 16; add.u64 %d0, %d0, %d3;
    st.global.v4.u32 [%d0], {%r2, %r5, %r6, %r7};"""
    bench = Bench()
    text = kernel(body, 1, ".shared .align 4 .b8 s[4];", target="sm_90")
    done = bench.run(text, [written("c", 64)], grid=4, cluster=4, block=1)
    assert kinds(done) == {}
    ranks = np.arange(4)
    expected = np.stack([ranks, 3 - ranks, 0 * ranks, 1 + 0 * ranks], axis=1)
    assert (bench.left(done, "c", U32).reshape(4, 4) == expected).all()


def test_atomics_at_a_block_of_a_cluster(tmp_path: Path) -> None:
    """Each of four blocks adds to the first one's count, which says so."""
    body = """ld.param.u64 %d0, [p0]; mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, s; mov.u32 %r9, %tid.x;
    or.b32 %r8, %r0, %r9; setp.ne.u32 %p0, %r8, 0; @!%p0 st.shared.u32 [s], 5;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mapa.shared::cluster.u32 %r4, %r1, 0; ADD
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    @%p0 bra OUT; ld.shared.u32 %r5, [s]; st.global.u32 [%d0], %r5; OUT:"""
    for add, expected in (
        ("red.relaxed.cluster.shared::cluster.add.u32 [%r4], 2;", {}),
        ("atom.shared::cluster.add.u32 %r6, [%r4], 2;", {}),
        ("red.relaxed.cta.shared::cluster.add.u32 [%r4], 2;", {Kind.UNSUPPORTED}),
        ("st.shared::cluster.u32 [%r4], %r0;", {Kind.RACE}),
    ):
        bench = Bench()
        text = kernel(body.replace("ADD", add), 1, ".shared .align 4 .b8 s[4];", target="sm_90")
        done = bench.run(text, [written("c", 4)], grid=4, cluster=4)
        assert set(kinds(done)) == set(expected)
        if not expected:
            assert bench.left(done, "c", U32).tolist() == [5 + 2 * 128]


REGISTERS = """ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 128; @%p0 bra MORE;
setmaxnreg.dec.sync.aligned.u32 40; bra BOTH; MORE: setmaxnreg.inc.sync.aligned.u32 152; BOTH:
mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r0;"""
"""Two warpgroups that have 96 registers for each thread, and share them otherwise."""


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("", "", None),
        ("u32 40", "u32 32", None),
        ("u32 152", "u32 160", Kind.DEADLOCK),
        ("bra BOTH;", "bra BOTH;\nret;", None),
        ("setmaxnreg.dec", "bar.sync 0; setmaxnreg.dec", Kind.DEADLOCK),
        ("%r0, 128; @%p0", "%r0, 144; @%p0", Kind.DIVERGENCE),
        ("u32 152", "u32 88", Kind.UNSUPPORTED),
    ],
)
def test_registers_of_the_pool(old: str, new: str, kind: Kind | None) -> None:
    """Whoever asks for registers waits until others have given them back: not behind a barrier of both."""
    body = REGISTERS.replace(old, new, 1) if old else REGISTERS
    text = kernel(body.replace("BOTH:", "BOTH: bar.sync 0;"), 1, target="sm_90a")
    text = text.replace("(.param .u64 p0)", "(.param .u64 p0) .maxnreg 96")
    done = Bench().run(text, [written("c", 1024)], block=256)
    found = set(kinds(done))  # a thread that waits for ever never comes to the barrier of both, either
    assert found - ({Kind.DIVERGENCE} if kind is Kind.DEADLOCK else set()) == ({kind} if kind else set())
    assert done.assumptions == ()
    unknown = Bench().run(text.replace(".maxnreg 96", ""), [written("c", 1024)], block=256)
    assert kind is not None or "ptxas ignores it" in unknown.assumptions[0]
