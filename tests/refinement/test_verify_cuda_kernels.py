"""Correct CUDA kernels, compiled by nvcc, are verified against the contracts among the examples."""

from __future__ import annotations

import pytest
from cuda_contracts import CORPUS, KERNELS, contract_of
from frozen_table import cheapest, frozen

from mmaproof.refinement.findings.result import Equality
from mmaproof.refinement.verification import verify

INTEGER = {"mma_s4", "wmma_s4", "wmma_s8"}
"""Entries whose outputs are integers, so that nothing less than all bits will do."""


def exact(kernel: str) -> bool:
    """Tell whether all bits of the outputs are to be those of the formula."""
    return KERNELS[kernel]["entry"] in INTEGER


def test_the_frozen_verdicts_are_those_of_the_sources() -> None:
    """``tests/tools/test_frozen_verdicts.py`` verifies the kernels."""
    for kernel in KERNELS:
        equality = Equality.BITS if exact(kernel) else Equality.VALUE
        assert frozen("CUDA", kernel) == ("verified", equality, ()), kernel


@pytest.mark.parametrize("kernel", cheapest("CUDA", KERNELS, exact))
def test_a_correct_kernel_is_verified(kernel: str) -> None:
    result = verify(CORPUS / kernel, contract_of(kernel)).result
    assert (result.verdict, result.findings) == ("verified", ())
    assert result.equality is (Equality.BITS if exact(kernel) else Equality.VALUE)
    assert (result.bound is None) == exact(kernel)
    assert result.stats["wrong"] == 0


def test_every_kernel_has_a_contract_and_every_contract_a_kernel() -> None:
    assert {path.stem for path in CORPUS.glob("*.toml")} == {kernel["entry"] for kernel in KERNELS.values()}
