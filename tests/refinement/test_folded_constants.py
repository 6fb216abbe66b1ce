"""What a formula makes of literals alone is folded as compilers fold it, in the run on numbers as well."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

THIRD, HALF, ONE = "0f3EAAAAAB", "0f3F000000", "0f3F800000"


@pytest.mark.parametrize(
    ("operation", "one", "other", "formula"),
    [
        ("add", THIRD, ONE, "0.3333333432674408 + 1.0"),
        ("add", THIRD, HALF, "0.3333333432674408 + 0.5"),
        ("mul", THIRD, THIRD, "0.3333333432674408 * 0.3333333432674408"),
    ],
)
def test_where_they_are_rounded_the_run_agrees(operation: str, one: str, other: str, formula: str) -> None:
    body = (
        f"mov.f32 %f1, {one}; mov.f32 %f2, {other}; {operation}.rn.f32 %f1, %f1, %f2; sub.rn.f32 %C, %B, %f1;"
    )
    result = result_of(body, f"C[i] = B[i] - ({formula})", {"A": "f32", "B": "f32", "C": "f32 out"})
    assert result.verdict.value == "verified", result.findings
