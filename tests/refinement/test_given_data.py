"""What is verified for all data is verified with given data too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mmaproof.refinement.verification import verify

from ..contract_texts import contract_text
from ..elementwise_kernels import THREADS, kernel_text, result_of

KERNELS = {
    "quotient": ("rcp.rn.f32 %f0, %B; mul.f32 %C, %A, %f0;", "A[i] / B[i]"),
    "sigmoid": (
        "neg.f32 %f0, %A; ex2.approx.f32 %f0, %f0; add.f32 %f0, %f0, 0f3F800000; rcp.rn.f32 %f0, %f0; "
        "mul.f32 %C, %f0, %B;",
        "B[i] / (1 + exp2(-A[i]))",
    ),
    "root": ("rsqrt.approx.f32 %f0, %B; mul.f32 %C, %f0, %A;", "A[i] / sqrt(B[i])"),
    "halved": ("mul.f32 %f0, %A, 0f3F000000; fma.rn.f32 %C, %B, 0f3F000000, %f0;", "(A[i] + B[i]) / 2"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_quotients_of_given_numbers_are_those_of_all(name: str) -> None:
    body, formula = KERNELS[name]
    arrays = {"A": "f32", "B": "f32", "C": "f32 out"}
    assert result_of(body, f"C[i] = {formula}", arrays).verdict == "verified"
    for seed in range(2):
        random = np.random.default_rng(seed)
        given = {each: np.float32(random.uniform(0.25, 4, THREADS)).tolist() for each in ("A", "B")}
        result = result_of(body, f"C[i] = {formula}", arrays, values=given)
        assert result.verdict == "verified", (seed, result.findings)


SUMS = "A[i] * B[i] + A[i] + B[i] * 0.1"
ONE_SUM = "mul.f32 %f0, %B, 0f3DCCCCCD; add.f32 %f0, %f0, %A; fma.rn.f32 %C, %A, %B, %f0;"
OTHER_SUM = "mul.f32 %f1, %A, %B; add.f32 %f1, %f1, %A; fma.rn.f32 %C, %B, 0f3DCCCCCD, %f1;"


@pytest.mark.parametrize("fault", ["", "add.f32 %C, %C, 0f3F800000;"])
def test_two_kernels_are_compared_on_given_numbers_as_on_all(fault: str, tmp_path: Path) -> None:
    kinds = {"A": ("f32", False), "B": ("f32", False), "C": ("f32", True)}
    for name, body in {"new": ONE_SUM + fault, "old": OTHER_SUM}.items():
        (tmp_path / f"{name}.ptx").write_text(kernel_text(body, kinds, "sm_90"), encoding="utf-8")
    random = np.random.default_rng(1)
    values = {each: np.float32(random.uniform(-4, 4, THREADS)).tolist() for each in ("A", "B")}
    wanted = contract_text(
        f"C[i] = {SUMS}",
        {"A": f"f32 {THREADS} in", "B": f"f32 {THREADS} in", "C": f"f32 {THREADS} out"},
        extra={name: f"values = {given}" for name, given in values.items()},
        ensures=f"[launch]\ngrid = 1\nblock = {THREADS}",
    )
    wanted = "\n".join(line for line in wanted.splitlines() if not line.startswith(("[ensures]", "formula")))
    (tmp_path / "c.toml").write_text(wanted, encoding="utf-8")
    found = verify(tmp_path / "new.ptx", tmp_path / "c.toml", against=tmp_path / "old.ptx").result
    assert (found.verdict == "verified") != bool(fault), found.findings
    assert fault == "" or found.verdict == "refuted"


def test_a_fault_is_refuted_on_given_numbers_too() -> None:
    body, formula = KERNELS["sigmoid"]
    random = np.random.default_rng(0)
    given = {each: np.float32(random.uniform(0.25, 4, THREADS)).tolist() for each in ("A", "B")}
    wrong = body.replace("neg.f32 %f0, %A", "mov.f32 %f0, %A")
    result = result_of(wrong, f"C[i] = {formula}", {"A": "f32", "B": "f32", "C": "f32 out"}, values=given)
    assert result.verdict == "refuted"
