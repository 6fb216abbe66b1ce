"""Kernels that Triton compiled: every correct one is verified, every faulty one refuted for its fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from frozen_table import cheapest, frozen
from triton_contracts import CORPUS, KERNELS, contract

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Equality, Verdict
from mmaproof.refinement.verification import Verification, verify

CORRECT = [name for name, facts in KERNELS.items() if facts["fault"] is None]
FAULTY = [name for name in KERNELS if name not in CORRECT]

SIGNS = {
    "a_stride": Kind.WRONG_VALUE,
    "b_advance": Kind.WRONG_VALUE,
    "k_loop_short": Kind.WRONG_VALUE,
    "program_order": Kind.MISSING_OUTPUT,
    "no_k_mask": Kind.OUT_OF_BOUNDS,
    "no_k_mask_a": Kind.OUT_OF_BOUNDS,
    "k_mask_constant": Kind.OUT_OF_BOUNDS,
    "mask_fill": Kind.WRONG_VALUE,
    "no_n_mask_store": Kind.OUT_OF_BOUNDS,
    "bias_axis": Kind.WRONG_VALUE,
}
"""What must be found where a fault is."""


def verified(name: str, directory: Path) -> Verification:
    written = directory / "contract.toml"
    written.write_text(contract(KERNELS[name]), encoding="utf-8")
    return verify(CORPUS / name, written)


def test_the_corpus_has_both() -> None:
    assert len(CORRECT) == 29
    assert len(FAULTY) == 13
    assert {facts["fault"] for facts in KERNELS.values()} == {None, *SIGNS}


def test_the_frozen_verdicts_are_those_of_the_sources() -> None:
    """``tests/tools/test_frozen_verdicts.py`` verifies the kernels."""
    for name, facts in KERNELS.items():
        verdict, equality, kinds = frozen("Triton products", name)
        if facts["fault"] is None:
            assert (verdict, kinds) == (Verdict.VERIFIED, ()), name
            assert equality == (Equality.BITS if whole(name) else Equality.VALUE), name
        else:
            assert verdict == Verdict.REFUTED, name
            assert SIGNS[facts["fault"]] in kinds, name


def whole(name: str) -> bool:
    """Tell whether sums are of integers."""
    return bool(KERNELS[name]["types"]["accumulator"] == "s32")


@pytest.mark.parametrize("name", cheapest("Triton products", CORRECT, whole))
def test_a_correct_kernel_is_verified(name: str, tmp_path: Path) -> None:
    result = verified(name, tmp_path).result
    assert (result.verdict, result.findings) == (Verdict.VERIFIED, ())
    assert result.equality is (Equality.BITS if whole(name) else Equality.VALUE)
    assert (result.bound is None) == whole(name)


@pytest.mark.parametrize(
    "name", cheapest("Triton products", FAULTY, lambda name: SIGNS[KERNELS[name]["fault"]])
)
def test_a_faulty_kernel_is_refuted_for_its_fault(name: str, tmp_path: Path) -> None:
    found = verified(name, tmp_path)
    assert found.result.verdict is Verdict.REFUTED
    sign = SIGNS[KERNELS[name]["fault"]]
    matching = [finding for finding in found.result.findings if finding.kind is sign]
    assert matching
    assert all(finding.line for finding in matching if sign is not Kind.MISSING_OUTPUT)
    if sign is Kind.WRONG_VALUE:
        assert found.counterexample is not None
        assert found.counterexample.difference.output.startswith("C[")
