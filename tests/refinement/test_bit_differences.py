"""Bits that a contract demands and numbers refute are refuted, with inputs that replay."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.kernel_replay import replay
from mmaproof.refinement.verification import Verification, verify

from .. import power_kernels, pto_kernels
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
        ("rcp.rn.f32 %f0, %B; mul.f32 %C, %A, %f0;", "A[i] / B[i]"),
        ("sub.f32 %f0, %B, %A; neg.f32 %C, %f0;", "A[i] - B[i]"),
    ],
    ids=["fused", "reassociated", "cancelled", "toward zero", "distributed", "reciprocal", "signs of zeros"],
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


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        ("ex2.approx.f32 %f0, %A; mul.f32 %C, %f0, %B;", "B[i] * exp2(A[i])"),
        ("rcp.approx.f32 %f0, %B; mul.f32 %C, %A, %f0;", "A[i] / B[i]"),
        ("sqrt.approx.f32 %f0, 0f40000000; mul.f32 %C, %A, %f0;", "A[i] * sqrt(2)"),
    ],
)
def test_bits_that_are_left_open_refute_nothing(body: str, formula: str, tmp_path: Path) -> None:
    assert verified(tmp_path, body, formula).result.verdict == "undecided"


POWER = """
[kernel]
isa = "power"
entry = "f"
{parameters}
[ensures]
formula = "y[i] = {formula}"
equality = "bits"
"""
IN_C = "void f(const {0}*restrict a, const {0}*restrict b, const {0}*restrict c, {0}*restrict y)"


def _parameters(names: str, fmt: str, shape: list[int]) -> str:
    """Return arrays, the last of which is the output."""
    return "".join(
        f'[[param]]\nname = "{name}"\ntype = "{fmt}"\nshape = {shape}\n'
        f'access = "{"out" if name == names[-1] else "in"}"\n'
        for name in names
    )


@pytest.mark.parametrize("fmt", ["f32", "f64"])
@pytest.mark.parametrize(
    ("expression", "formula", "verdict"),
    [
        ("a[i] + (b[i] + c[i])", "(a[i] + b[i]) + c[i]", "refuted"),
        ("a[i] * b[i] + a[i] * c[i]", "a[i] * (b[i] + c[i])", "refuted"),
        ("a[i] * b[i] + c[i]", "fma(a[i], b[i], c[i])", "refuted"),
        ("a[i] * (1 / b[i])", "a[i] / b[i]", "refuted"),
        ("-(b[i] - a[i])", "a[i] - b[i]", "refuted"),
        ("a[i] * b[i] + c[i]", "a[i] * b[i] + c[i]", "verified"),
        ("a[i] / b[i]", "a[i] / b[i]", "verified"),
    ],
)
def test_bits_of_power(expression: str, formula: str, verdict: str, fmt: str, tmp_path: Path) -> None:
    element = {"f32": "float", "f64": "double"}[fmt]
    text = f"{IN_C.format(element)} {{ for (int i = 0; i < 8; i++) y[i] = {expression}; }}"
    kernel = power_kernels.compiled(text, tmp_path, "-O2", "-ffp-contract=off")
    contract = POWER.format(parameters=_parameters("abcy", fmt, [8]), formula=formula)
    assert power_kernels.verified(kernel, contract).result.verdict == verdict


PTO = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%xp: !pto.ptr<f32>, %yp: !pto.ptr<f32>, %zp: !pto.ptr<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %x = pto.alloc_tile : T
    %y = pto.alloc_tile : T
    %z = pto.alloc_tile : T
VIEWS
    pto.tload ins(%xw : P) outs(%x : T)
    pto.tload ins(%yw : P) outs(%y : T)
BODY
    pto.tstore ins(%z : T) outs(%zw : P)
    return
  }
}
"""
VIEW = """    %{0}v = pto.make_tensor_view %{0}p, shape = [%c8, %c16], strides = [%c16, %c1] : V
    %{0}w = pto.partition_view %{0}v, offsets = [%c0, %c0], sizes = [%c8, %c16] : V -> P
"""
TYPES = (
    ("T", "!pto.tile_buf<vec, 8x16xf32, valid=8x16>"),
    ("V", "!pto.tensor_view<?x?xf32>"),
    ("P", "!pto.partition_tensor_view<8x16xf32>"),
)


@pytest.mark.parametrize(
    ("steps", "formula", "verdict"),
    [
        ("add x y z, add z y z", "X[i, j] + (Y[i, j] + Y[i, j])", "refuted"),
        ("add x y z, mul z x z", "X[i, j] * X[i, j] + Y[i, j] * X[i, j]", "refuted"),
        ("add x y z, sub z y z", "X[i, j]", "refuted"),
        ("add x y z, add z y z", "(X[i, j] + Y[i, j]) + Y[i, j]", "verified"),
        ("div x y z, mul z x z", "X[i, j] * X[i, j] / Y[i, j]", "undecided"),
    ],
)
def test_bits_of_pto(steps: str, formula: str, verdict: str, tmp_path: Path) -> None:
    body = ""
    for step in steps.split(", "):
        opcode, one, other, result = step.split()
        body += f"    pto.t{opcode} ins(%{one}, %{other} : T, T) outs(%{result} : T)\n"
    text = PTO.replace("BODY\n", body).replace("VIEWS\n", "".join(map(VIEW.format, "xyz")))
    for name, spelled in TYPES:
        text = re.sub(rf"\b{name}\b", spelled, text)
    parameters = _parameters("XYZ", "f32", [8, 16])
    contract = (
        f'[kernel]\nisa = "pto"\nprofile = "A5"\nsync = "inserted"\n{parameters}'
        f'[ensures]\nformula = "Z[i, j] = {formula}"\nequality = "bits"\n'
    )
    found = pto_kernels.verified(tmp_path, text, contract).result
    assert found.verdict == verdict, [str(finding) for finding in found.findings]
