"""Tensor memory: every layout and way in which operands lie, and every way to use it wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest
from sweep_parameters import few
from tensor_memory_faults import FAULTS, HARMLESS, edited
from tensor_memory_kernels import RIGHT, Kernel

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.verification import verify


def verified(folder: Path, text: str, contract: str) -> Result:
    kernel, described = folder / "k.ptx", folder / "k.toml"
    kernel.write_text(text)
    described.write_text(contract)
    return verify(kernel, described).result


OFTEN = ("0", "6", "8", "13", "18", "20")
"""Kernels of `RIGHT` that are verified at each run."""


@pytest.mark.parametrize("number", few(map(str, range(len(RIGHT))), *OFTEN))
def test_a_product_is_verified(number: str, tmp_path: Path) -> None:
    kernel = RIGHT[int(number)]
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
        "lanes of another warp",
        "M is one that there is not",
        "a descriptor of wgmma",
        "A is stored when it may be read",
        "scale factors are not waited for",
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


SMALL = Kernel(m=64, n=8)
MULTIPLY = "tcgen05.mma.cta_group::1.kind::f16"

REFUSED = {
    "two CTAs": ("cta_group::1", "cta_group::2", "pairs of CTAs are not modelled"),
    "a kept operand": (MULTIPLY, f"{MULTIPLY}.collector::a::use", "operands that are kept, is not modelled"),
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
    found = verified(tmp_path, text.replace(old, new, -1 if case == "two CTAs" else 1), SMALL.contract)
    assert (found.verdict, found.findings[0].kind) == (Verdict.UNSUPPORTED, Kind.UNSUPPORTED)
    assert why in found.findings[0].message


def _with_base_offset(text: str) -> tuple[str, str]:
    """Return the word of the first descriptor, and the same with a base offset of 1."""
    word = text.split("or.b64 %d2, %d2, ")[1].split(";", maxsplit=1)[0]
    return f"%d2, %d2, {word};", f"%d2, %d2, {int(word) | 1 << 49};"
