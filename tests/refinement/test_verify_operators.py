"""CUDA kernels of what stands around a product: verified, however they are written; faults are named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from edited_kernels import edited
from frozen_table import cheapest, frozen
from operator_kernels import CORPUS, KERNELS, contract_of

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.verification import verify

FAULTS = [file for file, facts in KERNELS.items() if facts["fault"]]


def kind(file: str) -> str:
    """Return the frozen kind of the first finding."""
    return frozen("CUDA operators", file)[2][0]


def test_the_frozen_verdicts_are_those_of_the_sources() -> None:
    """``tests/tools/test_frozen_verdicts.py`` verifies the kernels, edited ones and faulty ones too."""
    for file, facts in KERNELS.items():
        verdict, _, findings = frozen("CUDA operators", file)
        assert verdict == (Verdict.REFUTED if facts["fault"] else Verdict.VERIFIED), file
        assert bool(findings) == bool(facts["fault"]), file


@pytest.mark.parametrize("file", cheapest("CUDA operators", FAULTS, kind))
def test_a_fault_is_refuted_by_name(file: str) -> None:
    found = verify(CORPUS / file, contract_of(file))
    assert found.result.verdict is Verdict.REFUTED
    assert re.search(KERNELS[file]["says"], found.result.findings[0].message), found.result.findings[0]


def test_every_kernel_has_at_least_three_faults_and_edits_that_change_nothing() -> None:
    for kernel in {facts["kernel"] for facts in KERNELS.values()}:
        rows = [facts for facts in KERNELS.values() if facts["kernel"] == kernel]
        assert sum(row["fault"] is not None for row in rows) >= 3, kernel
        assert any(row["edit"] for row in rows), kernel


def test_the_files_are_those_that_are_described() -> None:
    assert {path.name for path in CORPUS.glob("*.ptx")} == set(KERNELS)
    kernels = {facts["kernel"] for facts in KERNELS.values()}
    assert {path.stem for path in CORPUS.glob("*.toml")} - {"variants"} == kernels
    assert {path.stem for path in CORPUS.glob("*.cu")} == kernels


@pytest.mark.sweep
def test_a_formula_that_is_too_long_is_refuted_by_numbers(tmp_path: Path) -> None:
    """Without its power of two, a gelu is a choice by a polynomial of high degree, of an undefined number."""
    file = "gemm_gelu_f16_sm90.ptx"
    kernel = edited(tmp_path, CORPUS / file, ("ex2.approx.ftz.f32 \t%f185, %f184;", ""))
    result = verify(kernel, contract_of(file)).result
    assert result.verdict is Verdict.REFUTED
    assert result.findings[0].kind is Kind.UNINITIALISED
