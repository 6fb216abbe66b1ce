"""Pipelines that Triton compiled for Blackwell are verified; edits are refuted for what they break."""

from __future__ import annotations

from pathlib import Path

import pytest
from sweep_parameters import few
from triton_tensor_memory_faults import CORPUS, FAULTS, HARMLESS, KERNELS, edited

from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.verification import verify


def verified(folder: Path, kernel: str, text: str) -> Result:
    path = folder / f"{kernel}.ptx"
    path.write_text(text, encoding="utf-8")
    return verify(path, CORPUS / f"{kernel}.toml").result


@pytest.mark.parametrize("kernel", few(KERNELS, "by_roles", "scaled", "pairs"))
def test_a_pipeline_is_verified(kernel: str) -> None:
    found = verify(CORPUS / f"{kernel}.ptx", CORPUS / f"{kernel}.toml").result
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


@pytest.mark.parametrize(
    "fault",
    few(
        FAULTS,
        "a stage is filled under a product",
        "D is given back before it is loaded",
        "the stage is given back at once",
        "scale factors of the next columns",
        "bytes of one CTA are not expected",
        "the other CTA is not told",
    ),
)
def test_a_faulty_pipeline_is_refuted(fault: str, tmp_path: Path) -> None:
    kernel, old, new, kind = FAULTS[fault]
    found = verified(tmp_path, kernel, edited(kernel, old, new))
    assert found.verdict is Verdict.REFUTED
    assert found.findings[0].kind is kind


@pytest.mark.parametrize("edit", few(HARMLESS, "a fence more"))
def test_a_harmless_edit_is_verified(edit: str, tmp_path: Path) -> None:
    kernel, old, new = HARMLESS[edit]
    found = verified(tmp_path, kernel, edited(kernel, old, new))
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())
