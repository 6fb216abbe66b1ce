"""Pipelines that Triton compiled for Hopper and Blackwell, for every K, and for every M and N.

With a fault they are not shown. ``pytest -m sweep tests/refinement/ptx/test_ptx_any_size_pipelines.py`` takes
half an hour.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
import triton_tensor_memory_faults
import triton_warpgroup_faults
from quantified_kernels import prove_blocks, prove_size

from mmaproof.refinement.findings.result import Equality
from mmaproof.refinement.ptx.any_size.size_proofs import BlockProof, SizeProof
from mmaproof.spec.errors import UnsupportedError

CORPORA = {"Hopper": triton_warpgroup_faults, "Blackwell": triton_tensor_memory_faults}

MODELLED = {
    ("Hopper", "by_pointers"): 64, ("Hopper", "by_maps"): 64, ("Hopper", "by_roles"): 64,
    ("Blackwell", "by_pointers"): 32, ("Blackwell", "by_roles"): 64,
}  # fmt: skip
"""The kernels whose sum has one loop, with what K is a multiple of here."""


def proof_of(folder: Path, corpus: str, kernel: str, text: str) -> SizeProof:
    """Prove a kernel of a corpus, as it is or edited, for every K up to 100,000."""
    path = folder / f"{kernel}.ptx"
    path.write_text(text, encoding="utf-8")
    contract = (CORPORA[corpus].CORPUS / f"{kernel}.toml").read_text(encoding="utf-8")
    domain = f'K = "any multiple of {MODELLED[corpus, kernel]} up to 100000"'
    return prove_size(re.sub(r"(?m)^K = .*$", domain, contract), path)


def grid_proof_of(folder: Path, corpus: str, kernel: str, text: str) -> BlockProof:
    """Prove a kernel of a corpus, as it is or edited, for every M and N up to 4,096."""
    path = folder / f"{kernel}.ptx"
    path.write_text(text, encoding="utf-8")
    contract = (CORPORA[corpus].CORPUS / f"{kernel}.toml").read_text(encoding="utf-8")
    rows = 128 if "(M + 127)" in contract else 64
    for size, step in (("M", rows), ("N", 32)):
        contract = re.sub(rf"(?m)^{size} = .*$", f'{size} = "any multiple of {step} up to 4096"', contract)
    return prove_blocks(path, contract)


def faults_of(corpus: str, module: ModuleType) -> list[tuple[str, str]]:
    """Return the faults of the kernels that are shown."""
    return [(corpus, name) for name, (kernel, *_) in module.FAULTS.items() if (corpus, kernel) in MODELLED]


@pytest.mark.sweep
@pytest.mark.parametrize(("corpus", "kernel"), MODELLED)
def test_a_pipeline_is_shown_for_every_k(corpus: str, kernel: str, tmp_path: Path) -> None:
    text = (CORPORA[corpus].CORPUS / f"{kernel}.ptx").read_text(encoding="utf-8")
    proof = proof_of(tmp_path, corpus, kernel, text)
    assert proof.equality is Equality.VALUE and not proof.limit
    assert proof.first <= 512


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("corpus", "fault"), [each for corpus in CORPORA for each in faults_of(corpus, CORPORA[corpus])]
)
def test_a_fault_is_not_shown(corpus: str, fault: str, tmp_path: Path) -> None:
    module = CORPORA[corpus]
    kernel, old, new, _ = module.FAULTS[fault]
    with pytest.raises(UnsupportedError):
        proof_of(tmp_path, corpus, kernel, module.edited(kernel, old, new))


@pytest.mark.sweep
@pytest.mark.parametrize(("corpus", "kernel"), MODELLED)
def test_a_pipeline_is_shown_for_every_number_of_tiles(corpus: str, kernel: str, tmp_path: Path) -> None:
    text = (CORPORA[corpus].CORPUS / f"{kernel}.ptx").read_text(encoding="utf-8")
    assert not grid_proof_of(tmp_path, corpus, kernel, text).limit


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("corpus", "fault"), [each for corpus in CORPORA for each in faults_of(corpus, CORPORA[corpus])]
)
def test_a_fault_is_not_shown_for_every_number_of_tiles(corpus: str, fault: str, tmp_path: Path) -> None:
    module = CORPORA[corpus]
    kernel, old, new, _ = module.FAULTS[fault]
    with pytest.raises(UnsupportedError):
        grid_proof_of(tmp_path, corpus, kernel, module.edited(kernel, old, new))
