"""A product of no depth is 0, and what a kernel reads of it nevertheless is out of bounds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.verification import Verification, verify

from ..cuda_contracts import CORPUS, contract_of


def verified_without_depth(kernel: str, folder: Path, ensures: str = "") -> Verification:
    contract = contract_of(kernel).read_text(encoding="utf-8")
    contract = re.sub(r"(?m)^K = .*$", "K = 0", contract)
    contract = re.sub(r"(?m)^formula = .*$", ensures, contract) if ensures else contract
    path = folder / "contract.toml"
    path.write_text(contract, encoding="utf-8")
    return verify(CORPUS / kernel, path)


@pytest.mark.parametrize("kernel", ["simt_f32_sm80.ptx", "mma_s4_sm80.ptx", "mma_f64_sm80.ptx"])
def test_loops_that_are_not_entered(kernel: str, tmp_path: Path) -> None:
    result = verified_without_depth(kernel, tmp_path).result
    assert result.verdict is Verdict.VERIFIED


def test_a_first_tile_that_is_always_loaded(tmp_path: Path) -> None:
    result = verified_without_depth("mma_f16_sm80.ptx", tmp_path).result
    assert result.verdict is Verdict.REFUTED
    assert {finding.kind for finding in result.findings} == {"out-of-bounds"}
    assert "would be A[0,0], column 0 of 0" in result.findings[0].message


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [("C[i, j] = 0", Verdict.VERIFIED), ("C[i, j] = sum(k < K + 1, i + j)", Verdict.REFUTED)],
)
def test_it_is_nothing_but_zero(formula: str, verdict: Verdict, tmp_path: Path) -> None:
    verification = verified_without_depth("mma_s4_sm80.ptx", tmp_path, f'formula = "{formula}"')
    assert verification.result.verdict is verdict


def test_a_reference_in_numpy_of_no_depth(tmp_path: Path) -> None:
    (tmp_path / "reference.py").write_text(
        "import numpy as np\n\ndef product(A, B):\n    return A.astype(np.int32) @ B.astype(np.int32)\n"
    )
    found = verified_without_depth("wmma_s8_sm80.ptx", tmp_path, 'reference = "reference.py:product"')
    assert found.result.verdict is Verdict.VERIFIED
