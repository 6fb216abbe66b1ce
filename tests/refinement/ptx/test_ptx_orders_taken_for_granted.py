"""Orders that PTX does not name and kernels rely on: faults, unless the contract takes them for granted."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_kernels import RING
from tensor_memory_faults import (
    AFTER,
    BEFORE,
    COMMIT,
    COPIED,
    PAIR,
    SCALED,
    WAIT_LOAD,
    edited,
    verified,
)

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict
from mmaproof.spec.ptx.matrix_descriptor import MatrixDescriptor
from mmaproof.spec.ptx.tensor_memory.shared_descriptor import encoded

MADE = "fence.mbarrier_init.release.cluster;"
RELAXED = (("isa =", 'mbarrier = "as-assembled"\nisa ='), (MADE, ""))


def test_objects_that_no_fence_has_published_may_be_taken_for_seen(tmp_path: Path) -> None:
    found = RING.verified(tmp_path, *RELAXED)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())
    assert any("fence.mbarrier_init is not needed" in assumption for assumption in found.assumptions)


def test_objects_that_are_made_behind_the_barrier_are_not(tmp_path: Path) -> None:
    made = "mbarrier.init.shared::cta.b64 [full], 64;"
    start = "barrier.cluster.wait.acquire.aligned;"
    late = (made, ""), (start, f"{start}\n@%p0 bra LATE;\n{made}\nLATE:")
    found = RING.verified(tmp_path, *RELAXED, *late)
    assert found.verdict is Verdict.REFUTED


ROWS = encoded(MatrixDescriptor(0, 128, 128, 0))
AGAIN = "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r40 + 96], %d5;"
IN_ORDER = COPIED.contract.replace("isa =", 'tcgen05 = "in-order"\nisa =')


def test_a_copy_over_what_a_product_reads_may_be_taken_to_follow_it(tmp_path: Path) -> None:
    text = edited(COPIED, COMMIT, f"{AGAIN}\n{COMMIT}")
    found = verified(tmp_path, text, COPIED.contract)
    assert [finding.kind for finding in found.findings] == [Kind.RACE]
    assert 'tcgen05 = "in-order"' in found.findings[0].message
    found = verified(tmp_path, text, IN_ORDER)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())
    assert any("as CUTLASS has it" in assumption for assumption in found.assumptions)


def test_a_copy_of_another_thread_is_not(tmp_path: Path) -> None:
    addressed = (
        f"mov.u64 %d20, {ROWS};\nshr.u32 %r62, %r1, 4;\ncvt.u64.u32 %d21, %r62;\nor.b64 %d20, %d20, %d21;"
    )
    again = f"setp.eq.u32 %p5, %r0, 32;\n@%p5 {AGAIN.replace('%d5', '%d20')}"
    text = edited(COPIED, f"{COMMIT}\nISSUED:", f"{COMMIT}\nISSUED:\n{addressed}\n{again}")
    found = verified(tmp_path, text, IN_ORDER)
    assert found.findings[0].kind is Kind.RACE, found.findings


@pytest.mark.parametrize(("number", "verdict"), [(1, Verdict.VERIFIED), (2, Verdict.UNSUPPORTED)])
def test_the_number_of_scale_factors_in_their_address_is_that_of_the_descriptor(
    number: int, verdict: Verdict, tmp_path: Path
) -> None:
    before, _, behind = SCALED.text.rpartition("[%r40 + 96]")
    found = verified(tmp_path, f"{before}[%r40 + {96 + (number << 30)}]{behind}", SCALED.contract)
    assert found.verdict is verdict
    if verdict is Verdict.VERIFIED:
        assert any(
            "bits 31..30 of an address of scale factors" in assumption for assumption in found.assumptions
        )


def multiplied_again(count: int) -> str:
    """Return the pair that multiplies again behind arrivals, at .cta scope, of all that have read D."""
    told = f"""{WAIT_LOAD}
{BEFORE}
mov.u32 %r61, gone;
mapa.shared::cluster.u32 %r62, %r61, 0;
mbarrier.arrive.shared::cluster.b64 _, [%r62];
@!%p2 bra READ;
GONE:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r61], 0;
@!%p3 bra GONE;
{AFTER}
tcgen05.mma.cta_group::2.kind::f16 [%r40], %d2, %d3, %r50, %p4;
tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r3], %h2;
READ:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 1;
@!%p3 bra READ;
"""
    made = "@%p2 mbarrier.init.shared::cta.b64 [%r3], 1;"
    text = edited(PAIR, WAIT_LOAD, told)
    text = text.replace(made, f"{made}\n@%p2 mbarrier.init.shared::cta.b64 [gone], {count};")
    return text.replace(".shared .align 8 .b64 done;", ".shared .align 8 .b64 done, gone;")


def test_a_product_over_cells_that_were_read_follows_arrivals_at_a_narrow_scope(tmp_path: Path) -> None:
    found = verified(tmp_path, multiplied_again(256), PAIR.contract)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())
    assert any("at .cta scope" in assumption for assumption in found.assumptions)


def test_a_product_that_half_of_the_arrivals_let_begin_is_a_race(tmp_path: Path) -> None:
    found = verified(tmp_path, multiplied_again(128), PAIR.contract)
    assert (found.verdict, found.findings[0].kind) == (Verdict.REFUTED, Kind.RACE)
