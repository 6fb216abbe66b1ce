"""Bits that a contract demands and numbers refute are refuted, with inputs that replay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mmaproof.refinement.findings import Kind
from mmaproof.refinement.kernel_replay import replay
from mmaproof.refinement.verification import Verification, verify

from ..contract_texts import contract_text
from ..elementwise_kernels import THREADS, kernel_text

KINDS = {"A": ("f32", False), "B": ("f32", False), "C": ("f32", True)}


def verified(folder: Path, body: str, formula: str, ensures: str = "") -> Verification:
    kernel, wanted = folder / "kernel.ptx", folder / "contract.toml"
    kernel.write_text(kernel_text(body, KINDS, "sm_90"), encoding="utf-8")
    arrays = {name: f"{kind} {THREADS} {'out' if out else 'in'}" for name, (kind, out) in KINDS.items()}
    launch = f'equality = "bits"\n{ensures}\n[launch]\ngrid = 1\nblock = {THREADS}'
    wanted.write_text(contract_text(f"C[i] = {formula}", arrays, ensures=launch), encoding="utf-8")
    return verify(kernel, wanted)


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        ("fma.rn.f32 %C, %A, %B, %A;", "A[i] * B[i] + A[i]"),
        ("mul.f32 %f0, %A, %B; mul.f32 %C, %f0, %B;", "A[i] * (B[i] * B[i])"),
        ("add.f32 %f0, %A, %B; sub.f32 %C, %f0, %B;", "A[i]"),
        ("add.rz.f32 %C, %A, %B;", "A[i] + B[i]"),
        ("mul.f32 %f0, %A, %B; fma.rn.f32 %C, %A, 0f40400000, %f0;", "A[i] * (B[i] + 3)"),
    ],
    ids=["fused", "reassociated", "cancelled", "toward zero", "distributed"],
)
def test_other_bits_are_refuted_with_inputs_that_replay(body: str, formula: str, tmp_path: Path) -> None:
    found = verified(tmp_path, body, formula)
    assert found.result.verdict == "refuted"
    assert found.result.findings[0].kind is Kind.WRONG_VALUE
    assert found.counterexample is not None
    saved = tmp_path / "counterexample.json"
    found.counterexample.save(saved)
    document = json.loads(saved.read_text(encoding="utf-8"))
    assert document["bits"] is True
    again = replay(saved, document).difference
    assert again is not None and again == found.counterexample.difference


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        ("mul.f32 %f0, %A, %B; add.f32 %C, %f0, %A;", "A[i] * B[i] + A[i]"),
        ("add.f32 %C, %B, %A;", "A[i] + B[i]"),
        ("mul.f32 %C, %A, 0f40000000;", "A[i] + A[i]"),
    ],
)
def test_what_has_the_same_bits_is_not_refuted(body: str, formula: str, tmp_path: Path) -> None:
    assert verified(tmp_path, body, formula).result.verdict != "refuted"


@pytest.mark.parametrize("body", ["ex2.approx.f32 %f0, %A; mul.f32 %C, %f0, %B;"])
def test_bits_that_are_left_open_refute_nothing(body: str, tmp_path: Path) -> None:
    assert verified(tmp_path, body, "B[i] * exp2(A[i])").result.verdict == "undecided"
