"""Kernels of warpgroups written by hand, right and wrong: a copying warp, named barriers, bulk stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from warpgroup_corpus import CONTRACTS, text_of

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.verification import verify


def verified(folder: Path, name: str, text: str) -> Result:
    kernel, described = folder / f"{name}.ptx", folder / f"{name}.toml"
    kernel.write_text(text, encoding="utf-8")
    described.write_text(CONTRACTS[name], encoding="utf-8")
    return verify(kernel, described).result


EDITS = {
    "ring": ("ring", "", ""),
    "turns": ("turns", "", ""),
    "bytes are expected when they were asked for": (
        "ring",
        "mov.u32 \t%r119, 4608;\n\t// begin inline asm\n"
        "\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r125], %r119;",
        "mbarrier.expect_tx.shared::cta.b64 [%r125], 512;\n\tmov.u32 \t%r119, 4096;\n"
        "\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r125], %r119;",
    ),
    "another named barrier": ("ring", "mov.u32 \t%r103, 1;", "mov.u32 \t%r103, 9;"),
    "a whole warp asks for the store": ("ring", ", %r1, 0;", ", %r38, 0;"),
    "the fence behind the barrier": (
        "turns",
        "// begin inline asm\n\tbar.sync %r7, %r97;\n\t// end inline asm\n\t@%p11",
        "bar.sync %r7, %r97;\n\tfence.proxy.async.shared::cta;\n\t@%p11",
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_right_is_verified(edit: str, tmp_path: Path) -> None:
    name, old, new = EDITS[edit]
    text = text_of(name)
    assert old in text
    found = verified(tmp_path, name, text.replace(old, new))
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


def test_who_waits_for_its_warpgroup_is_told(tmp_path: Path) -> None:
    """One thread of a warpgroup tells that its products are over: the verdict names what that rests on."""
    assert any(
        "one warp has waited" in assumption
        for assumption in verified(tmp_path, "turns", text_of("turns")).assumptions
    )


FREE = (
    "mbarrier.try_wait.parity.shared::cta.b64 passed, [%r115], %r116, %r117;\n@passed bra DONE;\nbra AGAIN;"
)
READ = "cp.async.bulk.wait_group.read 0;"
PROXY = "fence.proxy.async.shared::cta;"

FAULTS = {
    "nobody waits for a stage": ("ring", FREE, "", {Kind.RACE}),
    "the parity of a stage": (
        "ring", "xor.b32  \t%r116, %r152, 1;", "mov.u32 \t%r116, %r152;", {Kind.DEADLOCK}
    ),
    "the parity of the bytes": ("ring", "[%r67], %r143, %r69;", "[%r67], %r40, %r69;", {Kind.RACE}),
    "one warp less releases a stage": ("ring", "%r50, 8;", "%r50, 7;", {Kind.RACE, Kind.UNDEFINED}),
    "a stage is released before it is multiplied": (
        "ring", "wait_group.sync.aligned 0;", "wait_group.sync.aligned 1;", {Kind.RACE, Kind.PENDING}
    ),
    "too many bytes": ("ring", "%r119, 4608;", "%r119, 4624;", {Kind.DEADLOCK}),
    "the store may still read": ("ring", READ, "", {Kind.RACE}),
    "no proxy fence": ("ring", PROXY, "", {Kind.PROXY}),
    "half of the threads meet": ("ring", "%r104, 256;", "%r104, 128;", {Kind.RACE}),
    "more threads than there are": ("ring", "%r104, 256;", "%r104, 288;", {Kind.DEADLOCK}),
    "the rows of the other warpgroup": (
        "ring", "add.s32 \t%r79, %r77, %r78;", "mov.u32 \t%r79, %r77;", {Kind.WRONG_VALUE}
    ),
    "the distance of groups of rows": (
        "ring", "-4611685949707845632", "-4611685984067584000", {Kind.WRONG_VALUE}
    ),
    "the last store is left": ("ring", "cp.async.bulk.wait_group 0;", "", {Kind.UNDEFINED}),
    "no turns": ("turns", "bar.sync %r5, %r46;", "", {Kind.RACE, Kind.DEADLOCK}),
    "the wrong turn": ("turns", "bar.arrive %r6, %r83;", "bar.arrive %r5, %r83;", {Kind.DEADLOCK, Kind.RACE}),
    "nobody begins": ("turns", "bar.arrive %r30, %r31;", "", {Kind.DEADLOCK}),
    "both have one room": ("turns", "add.s32 \t%r9, %r43, %r42;", "mov.u32 \t%r9, %r43;", {Kind.RACE}),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refuted_for_its_reason(fault: str, tmp_path: Path) -> None:
    name, old, new, kinds = FAULTS[fault]
    text = text_of(name)
    assert old in text
    found = verified(tmp_path, name, text.replace(old, new))
    assert found.verdict is Verdict.REFUTED
    assert found.findings[0].kind in kinds, found.findings[0]
