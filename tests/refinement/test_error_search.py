"""Kernels whose error is above what a contract allows: refuted only by inputs on which it certainly is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.kernel_replay import document_of_kernel, replay
from mmaproof.refinement.verification import Verification, verify

from ..contract_texts import contract_text
from ..document_schemas import validate
from ..elementwise_kernels import THREADS
from .test_verify_accuracy import GEMV, IN_F16, IN_F32, LAUNCH, elementwise

TO_F32 = "cvt.f32.f16 %f2, %h2;"


def product(count: int, accumulation: str, ensures: str, folder: Path, end: str = "") -> Verification:
    loads = "ld.global.b16 %h0, [%d0+{0}]; ld.global.b16 %h1, [%d1+{0}];"
    steps = "\n".join(loads.format(2 * step) + accumulation for step in range(count))
    kernel, contract = folder / "kernel.ptx", folder / "contract.toml"
    kernel.write_text(GEMV.format(row=2 * count, steps=steps, end=end), encoding="utf-8")
    arrays = {"A": f"f16 {THREADS} {count}", "x": f"f16 {count}", "y": f"f32 {THREADS} out"}
    text = contract_text("y[i] = sum(k, A[i, k] * x[k])", arrays, ensures=f"{ensures}\n{LAUNCH}")
    contract.write_text(text, encoding="utf-8")
    return verify(kernel, contract)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("count", "ensures"),
    [(256, "max_relative = 1.5e-5"), (64, 'error = "1.5e-5 * sum(k, abs(A[i, k] * x[k]))"')],
    ids=["S", "formula"],
)
def test_a_dot_product_in_f16_is_refuted_by_inputs_that_replay(
    count: int, ensures: str, tmp_path: Path
) -> None:
    found = product(count, IN_F16, ensures, tmp_path, TO_F32)
    finding, _ = found.result.findings  # and that a product in f16 may overflow
    assert (found.result.verdict, finding.kind) == (Verdict.REFUTED, Kind.INACCURATE)
    assert "its error is" in finding.message and "on the inputs found; allowed: " in finding.message
    assert found.counterexample is not None
    path = tmp_path / "counterexample.json"
    found.counterexample.save(path)
    document = document_of_kernel(path)
    assert document is not None
    validate("kernel-counterexample", document)
    difference = replay(path, document).difference
    assert difference is not None and difference == found.counterexample.difference
    got, exact = (Fraction(float(each)) for each in (difference.kernel, difference.contract))
    i = int(difference.output.removeprefix("y[").removesuffix("]"))
    a, x = (
        np.array([int(bits, 16) for bits in document["inputs"][name]["bits"]], dtype=np.uint16)
        .view(np.float16)
        .tolist()
        for name in ("A", "x")
    )
    products = [Fraction(a[count * i + k]) * Fraction(x[k]) for k in range(count)]
    assert sum(products) == exact
    assert abs(got - exact) > sum(map(abs, products)) * Fraction("1.5e-5")
    total = np.float16(0)
    for each in products:  # a product of two f16, and its sum with a third, are exact in f64 here
        total = np.float16(float(each) + float(total))
    assert float(total) == float(got)
    contract = tmp_path / "contract.toml"
    text = contract.read_text(encoding="utf-8")
    assert text.count("1.5e-5") == 1
    contract.write_text(text.replace("1.5e-5", "0.5"), encoding="utf-8")
    assert replay(path, document).difference is None


def test_a_bound_slightly_above_the_limit_refutes_nothing(tmp_path: Path) -> None:
    """Of 16 fused multiply-adds in f32 it is 9.54e-7; no error comes near it, as the first sums are small."""
    found = product(16, IN_F32, "max_relative = 9.5e-7", tmp_path)
    assert found.result.verdict is Verdict.UNDECIDED
    assert [finding.kind for finding in found.result.findings] == [Kind.UNDECIDED]
    assert "its error may be" in found.result.findings[0].message
    assert found.counterexample is None


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        ("cvt.f32.f16 %f0, %A; cvt.f32.f16 %f1, %B; mul.f32 %C, %f0, %f1;", "C[i] = A[i] * B[i]"),
        ("cvt.f32.f16 %f0, %A; neg.f32 %C, %f0;", "C[i] = -A[i]"),
    ],
)
def test_what_rounds_nothing_is_not_refuted(body: str, formula: str, tmp_path: Path) -> None:
    assert elementwise(body, formula, "max_relative = 1e-30", tmp_path, "f16").verdict is not Verdict.REFUTED


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        ("mul.f32 %f0, %A, %B; mul.f32 %C, %f0, 0f3DCCCCCD;", "C[i] = 0.1 * (A[i] * B[i])"),
        ("mul.f32 %f0, %A, %B; mul.f32 %C, %f0, 0f3EAAAAAB;", "C[i] = A[i] * B[i] / 3"),
        ("rsqrt.approx.f32 %f0, %A; mul.f32 %C, %f0, %B;", "C[i] = B[i] / sqrt(A[i])"),
    ],
)
def test_what_is_not_certain_is_not_refuted(body: str, formula: str, tmp_path: Path) -> None:
    assert elementwise(body, formula, "max_relative = 1e-9", tmp_path).verdict is Verdict.UNDECIDED


def test_one_rounding_is_enough(tmp_path: Path) -> None:
    found = elementwise("mul.f32 %C, %A, %B;", "C[i] = A[i] * B[i]", "max_relative = 1e-9", tmp_path)
    assert found.verdict is Verdict.REFUTED
    (finding,) = found.findings
    assert finding.kind is Kind.INACCURATE
