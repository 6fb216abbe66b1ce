"""Barrier objects of other blocks of a cluster, asynchronous stores and multicast copies, right and wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_kernels import MULTICAST, PRODUCT, RING, ClusterKernel, Edit
from paired_copies import PAIRED

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict

KERNELS = {"ring": RING, "multicast": MULTICAST, "product": PRODUCT, "paired": PAIRED}

FENCE = ("fence.mbarrier_init.release.cluster;", "")
START = ("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;", "bar.sync 0;")
END = ("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;", "")

FULL = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];"
STORED = f"st.shared::cluster.u32 [%r11], %r17;\n{FULL}"
ASYNC = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r11], %r17, [%r8];"
BY_BYTES: tuple[Edit, ...] = (
    (STORED, ASYNC),
    ("CONSUME:", "CONSUME:\n@!%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;"),
    ("[full], 64", "[full], 1"),
)
"""What makes the ring one of asynchronous stores."""

MASK = "mov.u16 %h0, 3;"
OWN_ALONE: tuple[Edit, ...] = (
    ("[empty], 2", "[empty], 1"),
    ("[empty+8], 2", "[empty+8], 1"),
    ("mapa.shared::cluster.u32 %r17, %r9, %r0;", "mov.u32 %r17, %r9;"),
    ("setp.gt.u32 %p3, %r0, 1;", "setp.gt.u32 %p3, %r0, 0;"),
)
"""What makes each block of the product release its stages to itself alone."""


TO_BOTH: tuple[Edit, ...] = (
    ("complete_tx::bytes\n    [%r4]", "complete_tx::bytes.multicast::cluster\n    [%r4]"),
    ("{%r5, %r1}], [%r3];", "{%r5, %r1}], [%r3], %h0;"),
    ("@%p0 bra COPIED;", "@%p0 bra COPIED;\n@%p1 bra COPIED;"),
    ("C[i, j] = A[i, j]", "C[i, j] = A[0, j]"),
)
"""What makes the pair one of which the first copies for both."""


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_of_two_blocks_is_verified(name: str, tmp_path: Path) -> None:
    found = KERNELS[name].verified(tmp_path)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


HARMLESS: dict[str, tuple[ClusterKernel, tuple[Edit, ...]]] = {
    "stores whose bytes complete": (RING, BY_BYTES),
    "an arrival that releases makes barriers known": (
        RING, (FENCE, ("barrier.cluster.arrive.relaxed", "barrier.cluster.arrive"))
    ),
    "scopes of the cluster": (
        MULTICAST,
        (
            ("mbarrier.arrive.shared::cluster.b64 _, [%r17]",
             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r17]"),
            ("mbarrier.arrive.shared::cluster.b64 _, [%r18]",
             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r18]"),
            ("try_wait.parity.shared::cta.b64 %p1", "try_wait.parity.acquire.cluster.shared::cta.b64 %p1"),
        ),
    ),
    "a copy for both, of bytes for the first": (PAIRED, TO_BOTH),
    "the barrier of the other, by its bits": (
        PAIRED, (("mapa.shared::cluster.u32 %r3, %r2, 0;", "and.b32 %r3, %r2, 0xFEFFFFFF;"),)
    ),
    "the order of arrivals": (
        PRODUCT,
        (
            ("%r17, %r9, %r0;", "%r17, %r9, %r31;"),
            ("mapa.shared::cluster.u32 %r17", "xor.b32 %r31, %r0, %r1;\nmapa.shared::cluster.u32 %r17"),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", HARMLESS)
def test_a_harmless_edit_is_verified(edit: str, tmp_path: Path) -> None:
    kernel, edits = HARMLESS[edit]
    found = kernel.verified(tmp_path, *edits)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


def test_one_warp_may_tell_for_its_warpgroup(tmp_path: Path) -> None:
    """One thread releases a stage, behind its own wait alone: that all warps have read it is supposed."""
    found = PRODUCT.verified(tmp_path, ("bar.sync 0;", ""))
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())
    assert any("when one warp has waited" in assumption for assumption in found.assumptions)


def test_scopes_of_a_block_are_taken_to_order_reads_alone(tmp_path: Path) -> None:
    """A stage that is written again needs no more; one that is read needs arrivals that release it."""
    wait = ("try_wait.parity.acquire.cluster.shared::cta.b64 %p2", "try_wait.parity.shared::cta.b64 %p2")
    found = RING.verified(tmp_path, ("_, [%r9]", "_, [%r9] "), wait)
    assert found.verdict is Verdict.VERIFIED
    assert any("at .cta scope" in assumption for assumption in found.assumptions)


FAULTS: dict[str, tuple[ClusterKernel, tuple[Edit, ...], Kind, str]] = {
    "bytes for a barrier of another block": (
        PAIRED, (("2d.cta_group::2", "2d.cta_group::1"),), Kind.UNDEFINED, "names a barrier of rank 0"
    ),
    "bytes of one of a pair": (PAIRED, (("[full], 512", "[full], 256"),), Kind.RACE, "or for the next"),
    "the barrier of the other of a pair": (
        PAIRED, (("%r2, 0;", "%r2, 1;"),), Kind.DEADLOCK, "bytes still expected"
    ),
    "bytes of a copy for both": (
        PAIRED, (*TO_BOTH, ("[full], 512", "[full], 256")), Kind.RACE, "or for the next"
    ),
    "nobody tells the other of a pair": (
        PAIRED, (("TOLD:\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;", "TOLD:"),),
        Kind.RACE, "is not waited for",
    ),
    "barriers that are not published": (RING, (FENCE,), Kind.RACE, "uses full+0x0"),
    "a peer that has not begun": (RING, (START,), Kind.LIFETIME, "may not have begun"),
    "a peer that has ended": (RING, (END,), Kind.LIFETIME, "may have ended"),
    "an arrival of the scope of a block": (
        RING, ((FULL, "mbarrier.arrive.shared::cluster.b64 _, [%r8];"),), Kind.RACE, "reads stage+0x0"
    ),
    "a wait of the scope of a block": (
        RING, (("acquire.cluster.shared::cta.b64 %p3", "shared::cta.b64 %p3"),), Kind.RACE, "reads stage+0x0"
    ),
    "too few arrivals": (RING, (("[full], 64", "[full], 32"),), Kind.RACE, "or for the next"),
    "too many arrivals": (RING, (("[full], 64", "[full], 65"),), Kind.DEADLOCK, "64 of 65 arrivals"),
    "the own barrier": (RING, (("_, [%r8]", "_, [%r4]"),), Kind.DEADLOCK, "0 of 64 arrivals"),
    "the own stage": (RING, (("[%r11], %r17", "[%r12], %r17"),), Kind.UNINITIALISED, "stage+0x0"),
    "the stage is released before it is read": (
        RING,
        (
            ("ld.shared.u32 %r18, [%r12];\n", ""),
            ("add.u32 %r18,", "ld.shared.u32 %r18, [%r12]; add.u32 %r18,"),
        ),
        Kind.RACE, "writes stage+0x0, which block 1",
    ),
    "a barrier of another block is asked": (
        RING, (("%p3, [full]", "%p3, [%r8]"),), Kind.OUT_OF_BOUNDS, "of another block of the cluster"
    ),
    "bytes of stores that do not come": (
        RING, (*BY_BYTES[:1], (BY_BYTES[1][0], BY_BYTES[1][1].replace("256", "260")), BY_BYTES[2]),
        Kind.DEADLOCK, "4 bytes still expected",
    ),
    "bytes of stores at the own barrier": (
        RING, ((STORED, ASYNC.replace("[%r8]", "[%r4]")), *BY_BYTES[1:]), Kind.UNDEFINED, "barrier that it"
    ),
    "a mask without the peer": (
        MULTICAST, ((MASK, "mov.u16 %h0, 1;"),), Kind.DEADLOCK, "bytes still expected"
    ),
    "a mask of a block that is not there": (
        MULTICAST, ((MASK, "mov.u16 %h0, 7;"),), Kind.OUT_OF_BOUNDS, "names blocks that a cluster of 2 lacks"
    ),
    "bytes of one half": (
        MULTICAST, (("_, [%r11], 256", "_, [%r11], 128"),), Kind.RACE, "is not waited for"
    ),
    "both halves in one place": (
        MULTICAST, (("add.u32 %r14, %r10, %r3;", "mov.u32 %r14, %r10;"),), Kind.RACE, "is not waited for"
    ),
    "one half of B in place of the other": (
        PRODUCT, (("mad.lo.u32 %r14, %r1, 256, %r7;",
                   "xor.b32 %r30, %r1, 1; mad.lo.u32 %r14, %r30, 256, %r7;"),),
        Kind.WRONG_VALUE, "uses A[0,0]*B[8,0], expected A[0,0]*B[0,0]",
    ),
    "stages are released to the own block alone": (PRODUCT, OWN_ALONE, Kind.RACE, "writes tiles+0x1000"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refuted_for_its_reason(fault: str, tmp_path: Path) -> None:
    kernel, edits, kind, message = FAULTS[fault]
    found = kernel.verified(tmp_path, *edits)
    assert found.verdict is Verdict.REFUTED
    assert any(finding.kind is kind and message in finding.message for finding in found.findings), (
        found.findings
    )


def from_shared(
    fence: str = "fence.proxy.async.shared::cta;", sync: str = "bar.sync 1;", behind: str = ""
) -> tuple[Edit, ...]:
    """Return what makes the ring copy each stage from shared memory of its own, of which it has one."""
    copied = f"""mov.u32 %r21, own; add.u32 %r22, %r21, %r10; st.shared.u32 [%r22], %r17; {fence}
    {sync}
    @!%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], [%r21], 256, [%r8];
    {behind}"""
    declared = ".shared .align 8 .b8 full[8];"
    return (STORED, copied), *BY_BYTES[1:], (declared, f".shared .align 128 .b8 own[256];\n{declared}")


COPIED: dict[str, tuple[tuple[Edit, ...], Kind | None, str]] = {
    "as it should be": (from_shared(), None, ""),
    "no proxy fence": (from_shared(fence=""), Kind.PROXY, "reads own+0x0"),
    "no barrier": (from_shared(sync=""), Kind.RACE, "reads own+0x4"),
    "the source is written again": (
        from_shared(behind="st.shared.u32 [%r22], %r10;"), Kind.RACE, "may still read asynchronously"
    ),
    "the source may have ended": ((*from_shared(), END), Kind.LIFETIME, "of shared memory of block 0"),
    "the source is not waited for": (
        (*from_shared(), ("@!%p2 bra FREE;", "")), Kind.RACE, "may still read asynchronously"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COPIED)
def test_copies_from_shared_memory_to_a_peer(case: str, tmp_path: Path) -> None:
    edits, kind, message = COPIED[case]
    found = RING.verified(tmp_path, *edits)
    assert found.verdict is (Verdict.REFUTED if kind else Verdict.VERIFIED)
    assert not kind or any(finding.kind is kind and message in finding.message for finding in found.findings)


FOUR: tuple[Edit, ...] = (
    (".reqnctapercluster 2", ".reqnctapercluster 2, 2"),
    ("mul.lo.u32 %r3, %r1, 128;", "shr.u32 %r25, %r1, 1; and.b32 %r26, %r1, 1; add.u32 %r27, %r26, 2;\n"
     "mul.lo.u32 %r3, %r25, 128;"),
    ("mul.lo.u32 %r4, %r2, 2048;", "mul.lo.u32 %r4, %r2, 4096;"),
    (MASK, "setp.eq.u32 %p6, %r26, 0; selp.u16 %h0, 5, 10, %p6;"),
    ("%r12, 0;", "%r12, %r26;"),
    ("%r12, 1;", "%r12, %r27;"),
    ("grid = 4", "grid = [4, 2]"),
    ("shape = [2, 2, 4, 64]", "shape = [2, 4, 4, 64]"),
)  # fmt: skip
"""What makes the multicast one of clusters of two by two blocks: each pair of a column shares its stages."""


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("5, 10", "5, 10", None),
        ("5, 10", "10, 5", Kind.RACE),
        ("5, 10", "15, 15", Kind.RACE),
        ("5, 10", "3, 12", Kind.RACE),
        ("%r18, %r12, %r27;", "%r18, %r12, %r25;", Kind.RACE),
    ],
)
def test_pairs_of_a_cluster_of_four(old: str, new: str, kind: Kind | None, tmp_path: Path) -> None:
    found = MULTICAST.verified(tmp_path, *FOUR, (old, new))
    assert found.verdict is (Verdict.REFUTED if kind else Verdict.VERIFIED)
    assert not kind or found.findings[0].kind is kind


FENCES: dict[str, tuple[Edit, ...]] = {
    "by another thread": (
        ("fence.mbarrier_init.release.cluster;\nMADE:", "MADE:\nsetp.eq.u32 %p7, %r0, 1;\n"
         "@%p7 fence.mbarrier_init.release.cluster;"),
    ),
    "before the barriers are made": (
        FENCE, ("mbarrier.init.shared::cta.b64 [full], 64;",
                "fence.mbarrier_init.release.cluster;\nmbarrier.init.shared::cta.b64 [full], 64;"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fence", FENCES)
def test_a_fence_publishes_what_its_thread_has_made(fence: str, tmp_path: Path) -> None:
    found = RING.verified(tmp_path, *FENCES[fence])
    assert {finding.kind for finding in found.findings} == {Kind.RACE}


def test_a_copy_that_nobody_waits_for_outlives_its_block(tmp_path: Path) -> None:
    spare = """@%p0 bra OUT; sub.u64 %d0, %d0, 256; mov.u32 %r26, full; mov.u32 %r27, stage;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r26], 128;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r27], [%d0], 128, [%r26]; OUT: ret;"""
    found = MULTICAST.verified(tmp_path, ("ret;", spare))
    assert [finding.kind for finding in found.findings] == [Kind.LIFETIME]


SPINNING: tuple[Edit, ...] = (
    (".shared .align 8 .b8 full[8];", ".shared .align 4 .b8 flag[4];\n.shared .align 8 .b8 full[8];"),
    ("mbarrier.init.shared::cta.b64 [full], 64;", "st.shared.u32 [flag], 0;"),
    ("arrive.relaxed.aligned", "arrive.aligned"),
    (FULL, "bar.sync 1; add.u32 %r29, %r14, 1; mov.u32 %r30, flag; mapa.shared::cluster.u32 %r31, %r30, 1;"
           "st.release.cluster.shared::cluster.u32 [%r31], %r29;"),
    ("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [full], %r15;\n@!%p3 bra WAIT;",
     "ld.acquire.cluster.shared::cta.u32 %r28, [flag];\nsetp.le.u32 %p3, %r28, %r14;\n@%p3 bra WAIT;"),
)  # fmt: skip
"""What makes a block wait for a word that its peer writes."""

UNSUPPORTED: dict[str, tuple[tuple[Edit, ...], str]] = {
    "a word that a peer writes": (SPINNING, "a word in shared memory of another block"),
    "a store to the own block": (
        ((STORED, ASYNC.replace("%r11", "%r12")), *BY_BYTES[1:]), "shared memory of the thread's own block"
    ),
    "a fence of the own block behind stores to a peer": (
        ((STORED, f"st.shared::cluster.u32 [%r11], %r17;\nfence.proxy.async.shared::cta;\n{FULL}"),),
        "after stores to shared memory of other blocks",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNSUPPORTED)
def test_what_is_not_modelled_is_told_with_its_line(case: str, tmp_path: Path) -> None:
    edits, message = UNSUPPORTED[case]
    found = RING.verified(tmp_path, *edits)
    assert found.verdict is Verdict.UNSUPPORTED
    assert message in found.findings[0].message and found.findings[0].line
