"""Formulas that round to whole numbers which stay real."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "C": "f32 out"}
CONVERSIONS = {"floor": "rmi", "ceil": "rpi", "trunc": "rzi", "rint": "rni"}


@pytest.mark.parametrize("name", CONVERSIONS)
@pytest.mark.parametrize("rounding", CONVERSIONS.values())
def test_only_the_rounding_that_a_formula_names_is_verified(name: str, rounding: str) -> None:
    body = f"cvt.{rounding}.f32.f32 %f1, %A; sub.f32 %C, %A, %f1;"
    verdict = result_of(body, f"C[i] = A[i] - {name}(A[i])", ARRAYS).verdict
    assert verdict is (Verdict.VERIFIED if CONVERSIONS[name] == rounding else Verdict.REFUTED)


def test_a_rounded_number_is_supposed_to_stay_between_whole_ones() -> None:
    body = "fma.rn.f32 %f1, %A, %A, %A; cvt.rmi.f32.f32 %C, %f1;"
    result = result_of(body, "C[i] = floor(A[i] * A[i] + A[i])", ARRAYS)
    assert result.verdict is Verdict.VERIFIED
    assert any(
        "no rounding changes the outcome of a rounding to an integer" in hypothesis.statement
        for hypothesis in result.hypotheses
    )
