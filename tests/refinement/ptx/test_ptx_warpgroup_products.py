"""Products of warpgroups: every way in which operands lie, and every way to use them wrongly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from warpgroup_kernels import Kernel

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.verification import verify

RIGHT = (
    Kernel(),
    Kernel(swizzles=(64, 32)),
    Kernel(swizzles=(0, 0), steps=2),
    Kernel(transposed=(True, True), n=64, steps=2),
    Kernel(transposed=(True, False), swizzles=(64, 32)),
    Kernel(transposed=(True, True), swizzles=(0, 0), steps=2),
    Kernel(types=("s32", "s8"), steps=2),
    Kernel(types=("f32", "e4m3")),
    Kernel(types=("f32", "tf32"), steps=4),
    Kernel(types=("f16", "e5m2"), swizzles=(32, 0)),
    Kernel(types=("f16", "f16")),
    Kernel(types=("s32", "u8"), a_in_registers=True, n=8),
    Kernel(selector=1, n=8, steps=2),
    Kernel(selector=0, n=8, a_in_registers=True),
    Kernel(selector=0, n=8, types=("s32", "s8"), swizzles=(64, 0)),
    Kernel(selector=1, n=8, types=("f32", "tf32")),
)


def verified(folder: Path, text: str, contract: str) -> Result:
    kernel, described = folder / "k.ptx", folder / "k.toml"
    kernel.write_text(text)
    described.write_text(contract)
    return verify(kernel, described).result


@pytest.mark.parametrize("kernel", RIGHT, ids=str)
def test_a_product_is_verified(kernel: Kernel, tmp_path: Path) -> None:
    found = verified(tmp_path, kernel.text, kernel.contract)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


STEPS = Kernel(steps=2)
IN_REGISTERS = Kernel(a_in_registers=True, steps=2)
SPARSE = Kernel(selector=1, n=8)
FENCE, COMMIT, WAIT = (
    "wgmma.fence.sync.aligned;",
    "wgmma.commit_group.sync.aligned;",
    "wgmma.wait_group.sync.aligned 0;",
)
PROXY = "fence.proxy.async.shared::cta;"
MEETING = f"{PROXY}\nbar.sync 0;"
ON_DATA = "setp.ne.b16 %p1, %h0, 0; @%p1 bra SKIP;"


def by_halves(instruction: str) -> str:
    """Return an instruction that two warps execute in one place, and the others in another."""
    return f"setp.lt.u32 %p1, %r0, 64; @%p1 bra ONE; {instruction} bra BOTH; ONE: {instruction} BOTH:"


def by_lanes(number: int, instruction: str) -> str:
    """Return an instruction that one thread of each warp executes."""
    return f"and.b32 %r40, %r0, 31; setp.eq.u32 %p1, %r40, {number}; @%p1 {instruction}"


FAULTS = {
    "no fence": (STEPS, FENCE, "", Kind.PENDING),
    "a register of D after the fence": (STEPS, FENCE, f"{FENCE} mov.b32 %f3, 0;", Kind.PENDING),
    "a register of A after the fence": (IN_REGISTERS, FENCE, f"{FENCE} mov.b32 %a1, %a1;", Kind.PENDING),
    "no group": (STEPS, COMMIT, "", Kind.PENDING),
    "no wait": (STEPS, WAIT, "", Kind.PENDING),
    "a group may be pending": (STEPS, WAIT, WAIT.replace("0", "1"), Kind.PENDING),
    "A is overwritten before the wait": (IN_REGISTERS, COMMIT, f"mov.b32 %a0, 0; {COMMIT}", Kind.PENDING),
    "no proxy fence": (STEPS, "fence.proxy.async.shared::cta;", "", Kind.PROXY),
    "a proxy fence for global memory": (STEPS, ".async.shared::cta", ".async.global", Kind.PROXY),
    "no barrier": (STEPS, "bar.sync 0;", "", Kind.RACE),
    "a tile is overwritten before the wait": (
        STEPS, COMMIT, f"{COMMIT} bar.sync 0; st.shared.u16 [%r1], %h0;", Kind.RACE
    ),
    "a tile is overwritten before all have waited": (
        STEPS, WAIT, f"{WAIT} st.shared.u16 [%r1], %h0;", Kind.RACE
    ),
    "the next part of K": (STEPS, "%r1, 16416;", "%r1, 16384;", Kind.WRONG_VALUE),
    "the old D counts": (STEPS, "%d2, %d3, 0,", "%d2, %d3, 1,", Kind.UNINITIALISED),
    "the first product is lost": (STEPS, "%d2, %d3, 1,", "%d2, %d3, 0,", Kind.WRONG_VALUE),
    "A is negated": (STEPS, "%d2, %d3, 1, 1, 1", "%d2, %d3, 1, -1, 1", Kind.WRONG_VALUE),
    "two warps": (
        STEPS, FENCE, f"setp.lt.u32 %p1, %r0, 64; @%p1 bra OUT; {FENCE}", Kind.DIVERGENCE
    ),
    "the descriptors of two warps differ": (
        STEPS, FENCE, f"shr.u32 %r9, %r0, 6; cvt.u64.u32 %d9, %r9; add.u64 %d2, %d2, %d9; {FENCE}",
        Kind.UNDEFINED,
    ),
    "data decide over the proxy fence": (STEPS, PROXY, f"{ON_DATA} {PROXY} SKIP:", Kind.PROXY),
    "the first threads run the proxy fence": (
        STEPS, MEETING, f"bar.sync 0; {by_lanes(0, PROXY)}", Kind.PROXY
    ),
    "the fence in two places": (STEPS, FENCE, by_halves(FENCE), Kind.DIVERGENCE),
    "the group ends in two places": (STEPS, COMMIT, by_halves(COMMIT), Kind.DIVERGENCE),
    "the wait in two places": (STEPS, WAIT, by_halves(WAIT), Kind.DIVERGENCE),
    "metadata of other threads": (SPARSE, "and.b32 %r31, %r0, 31;", "xor.b32 %r31, %r0, 4; "
        "and.b32 %r31, %r31, 31;", Kind.WRONG_VALUE),
    "metadata of no meaning": (SPARSE, "%r30, [%d8];", "%r30, [%d8]; mov.u32 %r30, 0;", Kind.UNDEFINED),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refuted_for_its_reason(fault: str, tmp_path: Path) -> None:
    kernel, old, new, kind = FAULTS[fault]
    assert old in kernel.text
    text = kernel.text.replace(old, new, 1).replace("ret;", "OUT:\nret;")
    found = verified(tmp_path, text, kernel.contract)
    assert found.verdict is Verdict.REFUTED
    assert found.findings[0].kind is kind


HARMLESS = {
    "the fence of proxies behind the barrier": (
        "fence.proxy.async.shared::cta;\nbar.sync 0;",
        "bar.sync 0;\nfence.proxy.async;",
    ),
    "both factors negated": ("%d2, %d3, 1, 1, 1", "%d2, %d3, 1, -1, -1"),
    "an empty group": (COMMIT, f"{COMMIT} {COMMIT}"),
    "a group for each product": ("add.u32 %r9, %r1, 32;", f"{COMMIT} add.u32 %r9, %r1, 32;"),
    "an address in a descriptor that is not masked": ("and.b32 %r9, %r9, 16383;", ""),
    "a store behind a barrier": (WAIT, f"{WAIT} bar.sync 0; st.shared.u16 [%r1], %h0;"),
}


@pytest.mark.parametrize("edit", HARMLESS)
def test_a_harmless_edit_is_verified(edit: str, tmp_path: Path) -> None:
    old, new = HARMLESS[edit]
    assert old in STEPS.text
    assert verified(tmp_path, STEPS.text.replace(old, new, 1), STEPS.contract).verdict is Verdict.VERIFIED


@pytest.mark.parametrize("fault", ["no fence", "no group", "no wait"])
def test_what_ptxas_mends_may_be_taken_for_granted(fault: str, tmp_path: Path) -> None:
    kernel, old, new, _ = FAULTS[fault]
    contract = kernel.contract.replace("[kernel]", '[kernel]\nwgmma = "as-assembled"')
    found = verified(tmp_path, kernel.text.replace(old, new, 1), contract)
    assert found.verdict is Verdict.VERIFIED
    assert any("ptxas inserts" in assumption for assumption in found.assumptions)


def test_what_ptxas_does_not_mend_is_a_fault_all_the_same(tmp_path: Path) -> None:
    kernel, old, new, kind = FAULTS["no proxy fence"]
    contract = kernel.contract.replace("[kernel]", '[kernel]\nwgmma = "as-assembled"')
    found = verified(tmp_path, kernel.text.replace(old, new, 1), contract)
    assert (found.verdict, found.findings[0].kind) == (Verdict.REFUTED, kind)


@pytest.mark.parametrize("alignment", [16, 128, 512])
def test_a_tile_must_be_aligned_to_its_pattern(alignment: int, tmp_path: Path) -> None:
    text = STEPS.text.replace(".align 1024 .b8 tile", f".align {alignment} .b8 tile")
    assert verified(tmp_path, text, STEPS.contract).verdict is Verdict.REFUTED


def test_dynamic_shared_memory_is_taken_to_be_aligned(tmp_path: Path) -> None:
    tile = ".shared .align 1024 .b8 tile[32768];"
    text = STEPS.text.replace(tile, "").replace(".visible", ".extern .shared .align 16 .b8 tile[];\n.visible")
    contract = STEPS.contract.replace("block = 128", "block = 128\ndynamic_shared = 32768")
    found = verified(tmp_path, text, contract)
    assert found.verdict is Verdict.VERIFIED
    assert any(
        "multiple of 1024 bytes; tile is declared with .align 16" in assumption
        for assumption in found.assumptions
    )


def test_a_descriptor_with_bits_of_no_meaning_is_not_supported(tmp_path: Path) -> None:
    text = STEPS.text.replace("and.b32 %r9, %r9, 16383;", "or.b32 %r9, %r9, 16384;", 1)
    found = verified(tmp_path, text, STEPS.contract)
    assert found.verdict is Verdict.UNSUPPORTED


def test_a_tile_that_atomic_operations_change_is_not_supported(tmp_path: Path) -> None:
    text = STEPS.text.replace(MEETING, f"{MEETING} red.shared.or.b32 [%r1], 0; bar.sync 0;")
    assert verified(tmp_path, text, STEPS.contract).verdict is Verdict.UNSUPPORTED


@pytest.mark.parametrize(
    "operands", ["{%f0, %f1, %f2, %f3}, %d2, %d3, 0, 1, 1, 0, 0", "{%f0, %f1, %f2, %f3}"]
)
def test_a_wrong_number_of_operands_is_illegal(operands: str, tmp_path: Path) -> None:
    kernel = Kernel(n=8, types=("f32", "e4m3"))
    text = kernel.text.replace("{%f0, %f1, %f2, %f3}, %d2, %d3, 0, 1, 1", operands)
    assert verified(tmp_path, text, kernel.contract).findings[0].kind is Kind.ILLEGAL


PRODUCERS = "setp.ge.u32 %p1, %r0, 128; @!%p1 bra MULTIPLY; sub.u32 %r0, %r0, 128;"
ARRIVING = "bar.arrive 1, 256; bra OUT; MULTIPLY: bar.sync 1, 256;"
WAITING = "AGAIN: mbarrier.try_wait.parity.shared.b64 %p1, [%r50], 0; @!%p1 bra AGAIN;"
SIGNALLING = f"{PROXY} mbarrier.arrive.shared.b64 %d20, [%r50]; bra OUT; MULTIPLY:"
FIRST_WAITS = f"{SIGNALLING} and.b32 %r40, %r0, 31; setp.ne.u32 %p1, %r40, 0; @%p1 bra NOW; {WAITING} NOW:"


@pytest.mark.parametrize(
    ("meeting", "kind"),
    [
        (f"{PROXY} {ARRIVING}", None),
        (f"{ARRIVING} {PROXY}", None),
        (ARRIVING, Kind.PROXY),
        (f"{SIGNALLING} {WAITING}", None),
        (FIRST_WAITS, Kind.RACE),
        (f"{FIRST_WAITS} bar.warp.sync -1;", None),
    ],
)
def test_other_warps_fill_the_tiles(meeting: str, kind: Kind | None, tmp_path: Path) -> None:
    start = "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r50], 128; bar.sync 0;"
    text = STEPS.text.replace("tile[32768];", "tile[32768]; .shared .align 8 .b64 object;")
    text = text.replace("mov.u32 %r1, tile;", f"mov.u32 %r1, tile; mov.u32 %r50, object; {start} {PRODUCERS}")
    text = text.replace(MEETING, meeting).replace("ret;", "OUT:\nret;")
    found = verified(tmp_path, text, STEPS.contract.replace("block = 128", "block = 256"))
    assert next((finding.kind for finding in found.findings), None) is kind
    assert (found.verdict is Verdict.VERIFIED) is (kind is None)


@pytest.mark.parametrize("fence", ["", FENCE])
def test_products_of_two_shapes_need_a_wait_between(fence: str, tmp_path: Path) -> None:
    wide, narrow = replace(STEPS, n=16), replace(STEPS, n=8)
    second = [line for line in narrow.text.splitlines() if "wgmma.mma_async" in line][1]
    text = wide.text.replace(COMMIT, f"{fence}{second}\n{COMMIT}", 1)
    assert verified(tmp_path, text, wide.contract).findings[0].kind is Kind.PENDING
