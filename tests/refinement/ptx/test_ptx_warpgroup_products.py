"""Products of warpgroups: every way in which operands lie, and every way to use them wrongly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from warpgroup_faults import COMMIT, FAULTS, STEPS, WAIT, faulty
from warpgroup_kernels import RIGHT, Kernel

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.verification import verify


def verified(folder: Path, text: str, contract: str) -> Result:
    kernel, described = folder / "k.ptx", folder / "k.toml"
    kernel.write_text(text)
    described.write_text(contract)
    return verify(kernel, described).result


@pytest.mark.parametrize("kernel", RIGHT, ids=str)
def test_a_product_is_verified(kernel: Kernel, tmp_path: Path) -> None:
    found = verified(tmp_path, kernel.text, kernel.contract)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refuted_for_its_reason(fault: str, tmp_path: Path) -> None:
    kernel, *_, kind = FAULTS[fault]
    found = verified(tmp_path, faulty(fault), kernel.contract)
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
    assert any("ptxas inserts" in each for each in found.assumptions)


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
        "multiple of 1024 bytes; tile is declared with .align 16" in each for each in found.assumptions
    )


def test_a_descriptor_with_bits_of_no_meaning_is_not_supported(tmp_path: Path) -> None:
    text = STEPS.text.replace("and.b32 %r9, %r9, 16383;", "or.b32 %r9, %r9, 16384;", 1)
    found = verified(tmp_path, text, STEPS.contract)
    assert found.verdict is Verdict.UNSUPPORTED


def test_products_of_two_shapes_need_a_fence_between(tmp_path: Path) -> None:
    wide, narrow = replace(STEPS, n=16), replace(STEPS, n=8)
    second = [each for each in narrow.text.splitlines() if "wgmma.mma_async" in each][1]
    text = wide.text.replace(COMMIT, f"{second}\n{COMMIT}", 1)
    assert verified(tmp_path, text, wide.contract).findings[0].kind is Kind.PENDING
