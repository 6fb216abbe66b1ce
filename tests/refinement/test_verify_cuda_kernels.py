"""Correct CUDA kernels, compiled by nvcc, are verified against the contracts among the examples."""

from __future__ import annotations

import pytest
from cuda_contracts import CORPUS, KERNELS, contract_of
from sweep_parameters import spread

from mmaproof.refinement.findings.result import Equality
from mmaproof.refinement.verification import verify

INTEGER = {"mma_s4", "wmma_s4", "wmma_s8"}
"""Entries whose outputs are integers, so that nothing less than all bits will do."""


@pytest.mark.parametrize("kernel", spread(KERNELS, 2))
def test_a_correct_kernel_is_verified(kernel: str) -> None:
    result = verify(CORPUS / kernel, contract_of(kernel)).result
    assert (result.verdict, result.findings) == ("verified", ())
    exact = KERNELS[kernel]["entry"] in INTEGER
    assert result.equality is (Equality.BITS if exact else Equality.VALUE)
    assert (result.bound is None) == exact
    assert result.stats["wrong"] == 0


def test_every_kernel_has_a_contract_and_every_contract_a_kernel() -> None:
    assert {path.stem for path in CORPUS.glob("*.toml")} == {each["entry"] for each in KERNELS.values()}
