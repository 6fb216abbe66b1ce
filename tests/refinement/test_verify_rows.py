"""Functions of rows that Triton compiled, from softmax to attention: verified, and refuted with faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from row_contracts import CORPUS, KERNELS, contract

from mmaproof.refinement.result import Verdict
from mmaproof.refinement.verification import verify


@pytest.mark.parametrize("name", KERNELS)
def test_the_verdict_is_that_of_the_source(name: str, tmp_path: Path) -> None:
    written = tmp_path / "contract.toml"
    written.write_text(contract(name), encoding="utf-8")
    found = verify(CORPUS / name, written)
    if KERNELS[name]["fault"] is None:
        assert (found.result.verdict, found.result.findings) == (Verdict.VERIFIED, ())
    else:
        assert found.result.verdict is Verdict.REFUTED, found.result.findings


def test_every_kernel_has_three_faults() -> None:
    for kernel in {facts["kernel"] for facts in KERNELS.values()}:
        assert sum(facts["kernel"] == kernel and bool(facts["fault"]) for facts in KERNELS.values()) >= 3
