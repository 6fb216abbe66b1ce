"""Tensor memory: every layout and way in which operands lie, and every way to use it wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest
from sweep_parameters import few
from tensor_memory_faults import AFTER, BEFORE, FAULTS, HARMLESS, IN_CELLS, STEPS, edited, verified
from tensor_memory_kernels import PAIRS, RIGHT, Kernel

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict

KERNELS = (*RIGHT, *PAIRS)
OFTEN = ("0", "6", "8", "13", "18", "20", "23", "24", "28")
"""Kernels of `KERNELS` that are verified at each run."""


@pytest.mark.parametrize("number", few(map(str, range(len(KERNELS))), *OFTEN))
def test_a_product_is_verified(number: str, tmp_path: Path) -> None:
    kernel = KERNELS[int(number)]
    found = verified(tmp_path, kernel.text, kernel.contract)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


@pytest.mark.parametrize(
    "fault",
    few(
        FAULTS,
        "D is read before it is there",
        "the commit is before the last product",
        "all threads of a warp multiply",
        "nothing is freed",
        "they are freed before all have read",
        "a load is not waited for before that",
        "the address of half of them is not read",
        "the target has no tensor memory",
        "lanes of another warp",
        "M is one that there is not",
        "a descriptor of wgmma",
        "A is stored when it may be read",
        "scale factors are not waited for",
        "both CTAs multiply",
        "the other CTA is not told",
        "the CTAs do not wait for each other",
        "one CTA allocates",
        "a product of one CTA among those of two",
    ),
)
def test_a_fault_is_refuted_for_its_reason(fault: str, tmp_path: Path) -> None:
    kernel, old, new, kind = FAULTS[fault]
    found = verified(tmp_path, edited(kernel, old, new), kernel.contract)
    assert (found.verdict, found.findings[0].kind) == (Verdict.REFUTED, kind)
    assert found.findings[0].line


@pytest.mark.parametrize("edit", few(HARMLESS, "an elected thread multiplies"))
def test_a_harmless_edit_is_verified(edit: str, tmp_path: Path) -> None:
    kernel, old, new = HARMLESS[edit]
    found = verified(tmp_path, edited(kernel, old, new), kernel.contract)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


MASK = "and.b32 %r9, %r9, 16383;\n"


def test_an_address_in_a_descriptor_need_not_be_masked(tmp_path: Path) -> None:
    kernel = Kernel(n=8)
    found = verified(tmp_path, kernel.text.replace(MASK, ""), kernel.contract)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())
    assert any("addresses of shared memory are below 2^18" in assumption for assumption in found.assumptions)


def test_bits_beside_an_address_that_is_not_masked_are_illegal(tmp_path: Path) -> None:
    kernel = Kernel(n=8)
    text = kernel.text.replace(MASK, "or.b32 %r9, %r9, 16384;\n")
    assert verified(tmp_path, text, kernel.contract).findings[0].kind is Kind.ILLEGAL


SMALL = Kernel(m=64, n=8)
MULTIPLY = "tcgen05.mma.cta_group::1.kind::f16"

REFUSED = {
    "two CTAs in a cluster of one": ("cta_group::1", "cta_group::2", "clusters have 1 here"),
    "lane 0 in every warp": ("add.u32 %r43, %r40, %r42;", "mov.b32 %r43, %r40;", "is not documented"),
    "a base offset": (", 4611756662317940736;", ", 4612319612271362048;", "a base offset"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_documented_or_modelled_is_refused(case: str, tmp_path: Path) -> None:
    old, new, why = REFUSED[case]
    text = SMALL.text
    if case == "a base offset":
        old, new = _with_base_offset(text)
    assert old in text
    times = -1 if case == "two CTAs in a cluster of one" else 1
    found = verified(tmp_path, text.replace(old, new, times), SMALL.contract)
    assert (found.verdict, found.findings[0].kind) == (Verdict.UNSUPPORTED, Kind.UNSUPPORTED)
    assert why in found.findings[0].message


def test_metadata_in_an_odd_column_are_refused(tmp_path: Path) -> None:
    kernel = Kernel(sparse=True, n=8)
    text = kernel.text.replace("[%r43 + 96]", "[%r43 + 97]").replace("[%r40 + 96]", "[%r40 + 97]")
    found = verified(tmp_path, text, kernel.contract)
    assert found.verdict is Verdict.UNSUPPORTED
    assert "the metadata begins in column" in found.findings[0].message
    selected = kernel.text.replace("[%r43 + 96]", "[%r43 + 97]")
    selected = selected.replace(f"{kernel.idesc():#x}", f"{kernel.idesc() | 1:#x}")
    assert verified(tmp_path, selected, kernel.contract).verdict is Verdict.VERIFIED


def _with_base_offset(text: str) -> tuple[str, str]:
    """Return the word of the first descriptor, and the same with a base offset of 1."""
    word = text.split("or.b64 %d2, %d2, ")[1].split(";", maxsplit=1)[0]
    return f"%d2, %d2, {word};", f"%d2, %d2, {int(word) | 1 << 49};"


STRICT = 'isa = "ptx"\ntcgen05 = "as-written"'


@pytest.mark.parametrize(
    ("kernel", "old", "new", "kind"),
    [
        (IN_CELLS, AFTER, AFTER, None),
        (IN_CELLS, f"bar.sync 0;\n{AFTER}", "bar.sync 0;", Kind.RACE),
        (IN_CELLS, BEFORE, "", Kind.RACE),
        (STEPS, f"bra WAITING;\n{AFTER}", "bra WAITING;", Kind.RACE),
    ],
)
def test_fences_are_asked_for_where_the_contract_says_so(
    kernel: Kernel, old: str, new: str, kind: Kind | None, tmp_path: Path
) -> None:
    text = edited(kernel, old, new)
    found = verified(tmp_path, text, kernel.contract.replace('isa = "ptx"', STRICT))
    assert [finding.kind for finding in found.findings[:1]] == ([] if kind is None else [kind])
    assert found.verdict is (Verdict.VERIFIED if kind is None else Verdict.REFUTED)


def test_a_verdict_without_fences_says_that_it_rests_on_it(tmp_path: Path) -> None:
    text = SMALL.text.replace(AFTER, "").replace(BEFORE, "")
    found = verified(tmp_path, text, SMALL.contract)
    assert found.verdict is Verdict.VERIFIED
    assert any("tcgen05.fence is not needed" in assumption for assumption in found.assumptions)
    told = verified(tmp_path, SMALL.text, SMALL.contract)
    assert not any("tcgen05.fence" in assumption for assumption in told.assumptions)


MASKS = {
    "all zeros": ("0", None),
    "every second pair of columns": (str(1 << 39 | 1 << 40 | 1 << 48), Kind.WRONG_VALUE),
    "a reserved bit": (str(1 << 37), Kind.ILLEGAL),
    "a shift": (str(1 << 39 | 1 << 56), Kind.UNSUPPORTED),
}


@pytest.mark.parametrize("case", MASKS)
def test_columns_that_a_mask_makes_zero(case: str, tmp_path: Path) -> None:
    mask, kind = MASKS[case]
    kernel = Kernel(m=32, n=64, ws=True)
    text = kernel.text.replace("%d3, %r50, %p4;", f"%d3, %r50, %p4, {mask};", 1)
    found = verified(tmp_path, text, kernel.contract)
    assert [finding.kind for finding in found.findings[:1]] == ([] if kind is None else [kind])


def test_lanes_of_a_mask_keep_d(tmp_path: Path) -> None:
    """The second product leaves the lanes of one warp alone: rows 32 to 63 lack its part of K."""
    kernel = Kernel(steps=2)
    masked = "mov.b32 %r60, 0;\nmov.b32 %r61, 0xFFFFFFFF;\n"
    first, second = kernel.text.split("setp.ne.u32 %p4, 1, 0;")
    lanes = "{%r60, %r61, %r60, %r60}"
    text = f"{first}setp.ne.u32 %p4, 1, 0;\n{masked}{second.replace('%r50, %p4;', f'%r50, {lanes}, %p4;', 1)}"
    found = verified(tmp_path, text, kernel.contract)
    assert (found.verdict, found.findings[0].kind) == (Verdict.REFUTED, Kind.WRONG_VALUE)
    assert found.findings[0].message.startswith("D[32,0] lacks A[32,16]*B[16,0]")
    lanes_of_none = text.replace("mov.b32 %r61, 0xFFFFFFFF;", "mov.b32 %r61, 0;")
    assert verified(tmp_path, lanes_of_none, kernel.contract).verdict is Verdict.VERIFIED
