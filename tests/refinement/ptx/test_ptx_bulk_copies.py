"""Bulk copies whose bytes complete on barrier objects, and every way to count or to order them wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.verification import verify

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = 2
block = 64
[[param]]
name = "A"
type = "u32"
shape = [2, 4, 64]
[[param]]
name = "C"
type = "u32"
shape = [2, 4, 64]
access = "out"
[ensures]
formula = "C[i, j, k] = A[i, j, k] + 1"
"""

TEXT = """.version 8.6
.target sm_90
.address_size 64
.visible .entry copy(.param .u64 a, .param .u64 c)
{
.reg .b64 %d<16>; .reg .b32 %r<16>; .reg .pred %p<8>;
.shared .align 128 .b8 stages[512];
.shared .align 8 .b8 full[16];
.shared .align 8 .b8 empty[16];
ld.param.u64 %d0, [a];
ld.param.u64 %d1, [c];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mul.wide.u32 %d2, %r1, 1024;
add.u64 %d0, %d0, %d2;
add.u64 %d1, %d1, %d2;
mul.wide.u32 %d2, %r0, 4;
add.u64 %d3, %d1, %d2;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra MADE;
mbarrier.init.shared.b64 [full], 1;
mbarrier.init.shared.b64 [full+8], 1;
mbarrier.init.shared.b64 [empty], 64;
mbarrier.init.shared.b64 [empty+8], 64;
fence.mbarrier_init.release.cluster;
MADE:
bar.sync 0;
mov.u32 %r2, 0;
NEXT:
and.b32 %r3, %r2, 1;
shr.u32 %r4, %r2, 1;
and.b32 %r4, %r4, 1;
mov.u32 %r5, stages;
mad.lo.u32 %r5, %r3, 256, %r5;
mov.u32 %r6, full;
mad.lo.u32 %r6, %r3, 8, %r6;
mov.u32 %r7, empty;
mad.lo.u32 %r7, %r3, 8, %r7;
@%p0 bra WAIT;
xor.b32 %r8, %r4, 1;
FREE:
mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r7], %r8;
@!%p1 bra FREE;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 256;
mul.wide.u32 %d4, %r2, 256;
add.u64 %d4, %d0, %d4;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d4], 256, [%r6];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r6], %r4;
@!%p2 bra WAIT;
mad.lo.u32 %r9, %r0, 4, %r5;
ld.shared.u32 %r10, [%r9];
mbarrier.arrive.shared::cta.b64 _, [%r7];
add.u32 %r10, %r10, 1;
mul.wide.u32 %d5, %r2, 256;
add.u64 %d5, %d3, %d5;
st.global.u32 [%d5], %r10;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p3, %r2, 4;
@%p3 bra NEXT;
ret;
}
"""

STORED = TEXT.replace("st.global.u32 [%d5], %r10;", "").replace(
    "setp.lt.u32 %p3, %r2, 4;\n@%p3 bra NEXT;\n",
    """setp.lt.u32 %p3, %r2, 4;
mad.lo.u32 %r11, %r0, 4, %r5;
bar.sync 0;
st.shared.u32 [%r11], %r10;
fence.proxy.async.shared::cta;
bar.sync 0;
@%p0 bra STORED;
sub.u64 %d6, %d5, %d2;
cp.async.bulk.global.shared::cta.bulk_group [%d6], [%r5], 256;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
STORED:
bar.sync 0;
@%p3 bra NEXT;
""",
)
"""The same, with a copy back by bulk."""


def verified(folder: Path, text: str) -> Result:
    kernel, described = folder / "k.ptx", folder / "k.toml"
    kernel.write_text(text)
    described.write_text(CONTRACT)
    return verify(kernel, described).result


@pytest.mark.parametrize("text", [TEXT, STORED], ids=["load", "store"])
def test_a_ring_of_stages_is_verified(text: str, tmp_path: Path) -> None:
    found = verified(tmp_path, text)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d4]"
ARRIVE = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 256;"
FREE = "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r7], %r8;\n@!%p1 bra FREE;"
WAIT = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r6], %r4;\n@!%p2 bra WAIT;"

TWICE = WAIT.replace("@!%p2 bra WAIT;", "@%p2 bra GO;") + "\n" + WAIT.split("\n", maxsplit=1)[0] + "\nGO:"


FAULTS = {
    "too few bytes are expected": (TEXT, ARRIVE, ARRIVE.replace("256", "240"), {Kind.DEADLOCK}),
    "too many bytes are expected": (TEXT, ARRIVE, ARRIVE.replace("256", "512"), {Kind.DEADLOCK}),
    "no bytes are expected": (TEXT, ARRIVE, "mbarrier.arrive.shared::cta.b64 _, [%r6];", {Kind.RACE}),
    "nobody waits for the bytes": (TEXT, WAIT, "", {Kind.RACE}),
    "nobody waits for the stage": (TEXT, FREE, "", {Kind.RACE}),
    "the parity of the stage": (TEXT, "xor.b32 %r8, %r4, 1;", "mov.u32 %r8, %r4;", {Kind.DEADLOCK}),
    "the parity of the bytes": (TEXT, "shr.u32 %r4, %r2, 1;", "shr.u32 %r4, %r2, 2;", {Kind.RACE}),
    "the stage is released before it is read": (
        TEXT, "ld.shared.u32 %r10, [%r9];\nmbarrier.arrive.shared::cta.b64 _, [%r7];",
        "mbarrier.arrive.shared::cta.b64 _, [%r7];\nld.shared.u32 %r10, [%r9];", {Kind.RACE},
    ),
    "too few arrivals release the stage": (TEXT, "[empty], 64", "[empty], 32", {Kind.RACE, Kind.UNDEFINED}),
    "too many arrivals are waited for": (TEXT, "[empty], 64", "[empty], 65", {Kind.DEADLOCK}),
    "a stage too far": (TEXT, LOAD, f"add.u32 %r5, %r5, 16;\n{LOAD}", {Kind.UNINITIALISED}),
    "a source that is not aligned": (TEXT, "[%d4], 256, [%r6]", "[%d4+8], 256, [%r6]", {Kind.MISALIGNED}),
    "a size that is no multiple": (TEXT, "[%d4], 256, [%r6]", "[%d4], 248, [%r6]", {Kind.UNDEFINED}),
    "the next row": (TEXT, "mul.wide.u32 %d4, %r2, 256;", "mul.wide.u32 %d4, %r3, 256;", {Kind.WRONG_VALUE}),
    "no proxy fence": (STORED, "fence.proxy.async.shared::cta;", "", {Kind.PROXY}),
    "no barrier before the copy": (STORED, "bar.sync 0;\n@%p0 bra STO", "@%p0 bra STO", {Kind.RACE}),
    "the copy back is not waited for": (STORED, "cp.async.bulk.wait_group.read 0;", "", {Kind.RACE}),
    "the copy back is in no group": (STORED, "cp.async.bulk.commit_group;", "", {Kind.RACE}),
    "nobody waits for the second answer": (TEXT, WAIT, TWICE, {Kind.UNSUPPORTED}),
    "bytes are expected when all have arrived": (
        TEXT, f"{ARRIVE}\nmul.wide.u32 %d4, %r2, 256;\nadd.u64 %d4, %d0, %d4;\n{LOAD}, 256, [%r6];",
        "mul.wide.u32 %d4, %r2, 256;\nadd.u64 %d4, %d0, %d4;\n"
        f"{LOAD}, 128, [%r6];\nmbarrier.arrive.shared::cta.b64 _, [%r6];\n"
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r6], 256;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5+128], [%d4+128], 128, [%r6];",
        {Kind.RACE},
    ),
    "a copy over what is written with no proxy fence": (
        TEXT, "MADE:", "MADE:\nst.shared.u32 [stages], 0;", {Kind.PROXY},
    ),
    "a group may be pending": (STORED, "wait_group.read 0", "wait_group.read 1", {Kind.UNDEFINED, Kind.RACE}),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refuted_for_its_reason(fault: str, tmp_path: Path) -> None:
    text, old, new, kinds = FAULTS[fault]
    assert old in text
    found = verified(tmp_path, text.replace(old, new, 1))
    assert found.verdict is (Verdict.UNSUPPORTED if Kind.UNSUPPORTED in kinds else Verdict.REFUTED)
    assert found.findings[0].kind in kinds


IN_PLACE = """
[[param]]
name = "A"
type = "u32"
shape = [2, 4, 64]
access = "inout"
[[param]]
name = "C"
type = "u32"
shape = [2, 4, 64]
access = "out"
[ensures]
formula = ["C[i, j, k] = old(A[i, j, k]) + 1", "A[i, j, k] = 7"]
"""
CLEARED = TEXT.replace("st.global.u32 [%d5], %r10;", "st.global.u32 [%d5], %r10;\nADD").replace(
    "ADD", "sub.u64 %d7, %d5, %d1;\nadd.u64 %d7, %d7, %d0;\nst.global.u32 [%d7], 7;"
)
"""The same, with the source overwritten when it is copied."""


@pytest.mark.parametrize("wait", [True, False])
def test_the_source_of_a_copy_may_be_overwritten_when_its_phase_is_over(wait: bool, tmp_path: Path) -> None:
    text = CLEARED
    if not wait:
        text = text.replace(f"{LOAD}, 256, [%r6];", f"{LOAD}, 256, [%r6];\nst.global.u32 [%d4], 7;")
    kernel, described = tmp_path / "k.ptx", tmp_path / "k.toml"
    kernel.write_text(text)
    described.write_text(CONTRACT[: CONTRACT.index("[[param]]")] + IN_PLACE.lstrip())
    found = verify(kernel, described).result
    assert found.verdict is (Verdict.VERIFIED if wait else Verdict.REFUTED)
    assert [finding.kind for finding in found.findings[:1]] == ([] if wait else [Kind.RACE])


HARMLESS = {
    "the bytes are expected after the copy": (
        TEXT.replace(ARRIVE, ""),
        "[%d4], 256, [%r6];", f"[%d4], 256, [%r6];\n{ARRIVE}",
    ),
    "they are expected apart": (
        TEXT, ARRIVE,
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r6], 256;\n"
        "mbarrier.arrive.shared::cta.b64 _, [%r6];",
    ),
    "two copies": (
        TEXT, "[%r5], [%d4], 256, [%r6];",
        "[%r5], [%d4], 128, [%r6];\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%r5+128], [%d4+128], 128, [%r6];",
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", HARMLESS)
def test_a_harmless_edit_is_verified(edit: str, tmp_path: Path) -> None:
    text, old, new = HARMLESS[edit]
    assert old in text
    found = verified(tmp_path, text.replace(old, new, 1))
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


MAPPED = (
    TEXT.replace(".param .u64 a,", ".param .align 64 .b8 a[128],")
    .replace(".align 128 .b8 stages", ".align 1024 .b8 stages")
    .replace("ld.param.u64 %d0, [a];", "mov.b64 %d0, a;\ncvta.param.u64 %d0, %d0;\nmov.u32 %r12, 0;")
    .replace("add.u64 %d0, %d0, %d2;\n", "")
    .replace("mul.wide.u32 %d4, %r2, 256;\nadd.u64 %d4, %d0, %d4;\n", "")
    .replace(
        LOAD + ", 256",
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], "
        "[%d0, {%r12, %r2, %r1}]",
    )
)
"""The ring of stages, with rows that a tensor map has."""

MAP = """
[[param]]
name = "map"
type = "tensor_map"
to = "A"
box = [1, 1, 64]
"""


def _tables() -> tuple[str, str, str, str, str]:
    """Return the parts of the contract: its head, the map, the array, the output and the formula."""
    array = CONTRACT[CONTRACT.index("[[param]]") : CONTRACT.rindex("[[param]]")]
    head, output = CONTRACT[: CONTRACT.index("[[param]]")], CONTRACT[CONTRACT.rindex("[[param]]") :]
    output, ensures = output.split("[ensures]")
    return head, MAP.lstrip(), array.replace("[[param]]", "[[array]]"), output, "[ensures]" + ensures


def mapped(folder: Path, text: str, edit: tuple[str, str] = ("", "")) -> Result:
    kernel, described = folder / "k.ptx", folder / "k.toml"
    kernel.write_text(text)
    head, tensor, array, output, ensures = _tables()
    described.write_text((head + tensor + output + array + ensures).replace(*edit))
    return verify(kernel, described).result


def test_rows_of_a_tensor_map_are_verified(tmp_path: Path) -> None:
    found = mapped(tmp_path, MAPPED)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ("{%r12, %r2, %r1}", "{%r12, %r3, %r1}", {Kind.WRONG_VALUE}),
        ("{%r12, %r2, %r1}", "{%r2, %r12, %r1}", {Kind.WRONG_VALUE}),
        (ARRIVE, ARRIVE.replace("256", "128"), {Kind.DEADLOCK}),
        (WAIT, "", {Kind.RACE}),
        ("{%r12, %r2, %r1}", "{%r12, %r2}", {Kind.UNDEFINED, Kind.ILLEGAL}),
    ],
)
def test_a_faulty_tensor_copy_is_refuted(old: str, new: str, kinds: set[Kind], tmp_path: Path) -> None:
    assert old in MAPPED
    found = mapped(tmp_path, MAPPED.replace(old, new, 1))
    assert found.verdict is Verdict.REFUTED
    assert found.findings[0].kind in kinds


def test_a_box_that_is_smaller_leaves_bytes_out(tmp_path: Path) -> None:
    found = mapped(tmp_path, MAPPED, ("box = [1, 1, 64]", "box = [1, 1, 32]"))
    assert found.findings[0].kind is Kind.DEADLOCK


def test_a_map_begins_at_a_multiple_of_its_alignment(tmp_path: Path) -> None:
    text = MAPPED.replace(
        ".param .align 64 .b8 a[128], .param .u64 c", ".param .u64 c, .param .align 8 .b8 a[128]"
    )
    kernel, described = tmp_path / "k.ptx", tmp_path / "k.toml"
    kernel.write_text(text)
    head, _, array, output, ensures = _tables()
    described.write_text(head + output + MAP.lstrip() + array + ensures)
    found = verify(kernel, described).result
    assert [finding.kind for finding in found.findings] == [Kind.UNSUPPORTED]
    assert "maps begin at multiples of 64" in found.findings[0].message
    kernel.write_text(text.replace(".align 8 .b8 a", ".align 64 .b8 a"))
    assert verify(kernel, described).result.verdict is Verdict.VERIFIED


def test_the_barrier_of_a_tensor_copy_may_be_named(tmp_path: Path) -> None:
    """A map stands between the addresses, in no space that the instruction names."""
    named = MAPPED.replace("[%d0, {%r12, %r2, %r1}], [%r6];", "[%d0, {%r12, %r2, %r1}], [full];")
    assert named != MAPPED
    found = mapped(tmp_path, named)
    assert Kind.ILLEGAL not in {finding.kind for finding in found.findings}
