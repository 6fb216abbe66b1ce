"""What is verified for all data is verified with given data too."""

from __future__ import annotations

import numpy as np
import pytest

from ..elementwise_kernels import THREADS, result_of

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


def test_a_fault_is_refuted_on_given_numbers_too() -> None:
    body, formula = KERNELS["sigmoid"]
    random = np.random.default_rng(0)
    given = {each: np.float32(random.uniform(0.25, 4, THREADS)).tolist() for each in ("A", "B")}
    wrong = body.replace("neg.f32 %f0, %A", "mov.f32 %f0, %A")
    result = result_of(wrong, f"C[i] = {formula}", {"A": "f32", "B": "f32", "C": "f32 out"}, values=given)
    assert result.verdict == "refuted"
