"""``red.async`` in shared memory of a peer: updates that meet, and ways to count or to order them wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_kernels import Edit
from remote_sums import ARRIVED, CLEARED, EXPECTED, FIRST, READ, RELAXED, SECOND, SUMS

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict

RIGHT: dict[str, tuple[Edit, ...]] = {
    "as it should be": (),
    "the neighbour first": ((f"{FIRST}\n{SECOND}", f"{SECOND}\n{FIRST}"),),
    "a word with no space": ((FIRST, FIRST.replace("shared::cluster.mbarrier", "mbarrier")),),
    "threads of a warp meet": (
        ("xor.b32 %r20, %r11, 4;", "and.b32 %r20, %r11, -5;"),
        ("A[i, j, k] + 2", "A[i, j, k] + where(k % 2 == 0, 3, 1)"),
    ),
    "both by one thread": ((f"{FIRST}\n{SECOND}", f"{FIRST}\n{FIRST.replace('%r17', '%r21')}"),),
}


@pytest.mark.parametrize("case", RIGHT)
def test_sums_that_meet_are_verified(case: str, tmp_path: Path) -> None:
    found = SUMS.verified(tmp_path, *RIGHT[case])
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


WRONG: dict[str, tuple[tuple[Edit, ...], Kind]] = {
    "the sum goes on": (((f"{READ}\nst.shared.u32 [%r12], %r22; //", READ),), Kind.WRONG_VALUE),
    "bytes that do not come": (((EXPECTED, EXPECTED.replace("512", "516")),), Kind.DEADLOCK),
    "the sum is read at once": ((("@!%p3 bra WAIT;", ""),), Kind.RACE),
    "the stage is not waited for": ((("@!%p2 bra FREE;", ""),), Kind.RACE),
    "zeros that are not released": (
        ((f"{CLEARED}\n{ARRIVED}", f"{CLEARED}\n{RELAXED}"),), Kind.RACE
    ),
    "no zeros": (((f"{CLEARED}\n{ARRIVED}", ARRIVED),), Kind.UNINITIALISED),
    "the barrier of the own block": (((FIRST, FIRST.replace("[%r8]", "[%r4]")),), Kind.UNDEFINED),
    "half of a word": (((FIRST, FIRST.replace("[%r11]", "[%r11+2]")),), Kind.MISALIGNED),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_fault_is_refuted_for_its_reason(case: str, tmp_path: Path) -> None:
    edits, kind = WRONG[case]
    found = SUMS.verified(tmp_path, *edits)
    assert found.verdict is Verdict.REFUTED
    assert kind in {finding.kind for finding in found.findings}


LEFT: dict[str, tuple[Edit, str]] = {
    "another operation": (
        (SECOND, SECOND.replace("add.u32", "max.u32")), "for another phase"
    ),
    "bytes of one of two": ((EXPECTED, EXPECTED.replace("512", "256")), "for another phase"),
    "the own block": ((FIRST, FIRST.replace("%r11", "%r12")), "of the thread's own block"),
}  # fmt: skip


@pytest.mark.parametrize("case", LEFT)
def test_what_is_not_modelled_is_told_with_its_line(case: str, tmp_path: Path) -> None:
    edit, message = LEFT[case]
    found = SUMS.verified(tmp_path, edit)
    assert found.verdict is Verdict.UNSUPPORTED
    assert message in found.findings[0].message and found.findings[0].line
