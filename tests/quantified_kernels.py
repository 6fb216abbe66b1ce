"""Kernels of the corpora at sizes of which some may be any number of a domain, and proofs about them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import triton_contracts
from cuda_contracts import CORPUS, contract_of

from mmaproof.refinement.contract.contract import Contract
from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.machine.front_end import read_kernel
from mmaproof.refinement.ptx.any_size.block_proofs import BlockProver
from mmaproof.refinement.ptx.any_size.size_proofs import BlockProof, SizeProof
from mmaproof.refinement.ptx.front_end import PtxKernel

SIMT = CORPUS / "simt_f32_sm80.ptx"
TRITON = triton_contracts.CORPUS / "gemm_f16_f16_f16_32x64x32_s2_sm80.ptx"
RAGGED = triton_contracts.CORPUS / "gemm_f16_f32_f32_32x32x32_s1_ragged_sm80.ptx"


def stated(kernel: Path, rows: str | int, columns: str | int, depth: str | int) -> str:
    """Return the contract of a CUDA kernel at other sizes."""
    text = contract_of(kernel.name).read_text(encoding="utf-8")
    sizes = f"[sizes]\nM = {json.dumps(rows)}\nN = {json.dumps(columns)}\nK = {json.dumps(depth)}\n\n"
    return re.sub(r"\[?\[sizes\].*?(?=\[\[param\]\])", lambda _: sizes, text, flags=re.DOTALL)


def of_triton(name: str, rows: str | int, columns: str | int, depth: str | int) -> str:
    """Return the contract of a Triton kernel at other sizes."""
    return triton_contracts.for_sizes(name, {"M": rows, "N": columns, "K": depth})


def contract_and_kernel(text: str, path: Path) -> tuple[Contract, PtxKernel]:
    """Read a contract, and the kernel in a file that it is about."""
    contract = parse_contract(text)
    kernel = read_kernel("ptx", path, contract.entry, contract.target)
    assert isinstance(kernel, PtxKernel)
    return contract, kernel


def prove_size(text: str, path: Path) -> SizeProof:
    """Prove a kernel for every number of the one size of a contract, by induction."""
    contract, kernel = contract_and_kernel(text, path)
    assert contract.quantified is not None
    (domain,) = contract.quantified.domains
    return kernel.for_every(contract, {}, domain, lambda what: None)


def prove_blocks(path: Path, text: str, last: str = "") -> BlockProof:
    """Prove a kernel for all numbers of the sizes by which its grid grows, and of one other."""
    contract, kernel = contract_and_kernel(text, path)
    prover = BlockProver(kernel, contract, lambda what: None)
    inner = next((other for other in prover.others if other.name == last), None)
    return prover.proof({}, inner)
