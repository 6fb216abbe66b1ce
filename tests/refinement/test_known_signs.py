"""Signs that ``[requires]`` or sums of squares decide tell clamps and orders, and no others."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "B": "f32", "C": "f32 out"}
LIMITS = {"A": "f32", "B": "f32", "D": "f32", "C": "f32 out"}
INTEGERS = {"A": "s32", "B": "s32", "C": "s32 out"}

SQUARE = "mul.f32 %f1, %A, %A; fma.rn.f32 %f1, %B, %B, %f1; mul.f32 %f2, %A, %B; add.f32 %f2, %f2, %f2; "
"""``A² + B²`` and ``2AB``."""
APART = f"{SQUARE} sub.f32 %f3, %f1, %f2; "
MEAN = "add.f32 %f1, %A, %B; mul.f32 %f1, %f1, 0f3F000000; mul.f32 %f2, %A, %A; fma.rn.f32 %f2, %B, %B, %f2; "
VARIANCE = f"{MEAN} mul.f32 %f2, %f2, 0f3F000000; neg.f32 %f3, %f1; fma.rn.f32 %f3, %f3, %f1, %f2; "
FORMULA = "C[i] = ((A[i] - B[i]) / 2) ** 2"
LARGEST = "abs.f32 %f1, %A; abs.f32 %f2, %B; max.f32 %f1, %f1, %f2; div.rn.f32 %f3, %A, %f1; "
SCALED = "C[i] = A[i] / max(abs(A[i]), abs(B[i]))"


@pytest.mark.parametrize(
    ("body", "formula", "verdict"),
    [
        (f"{VARIANCE} max.f32 %C, %f3, 0f00000000;", FORMULA, "verified"),
        (f"{VARIANCE} setp.lt.f32 %p1, %f3, 0f00000000; selp.f32 %C, 0f00000000, %f3, %p1;",
         FORMULA, "verified"),
        (f"{VARIANCE} max.f32 %C, %f3, 0f3A83126F;", FORMULA, "refuted"),  # 1e-3
        (f"{VARIANCE} min.f32 %C, %f3, 0f00000000;", FORMULA, "refuted"),
        (f"{VARIANCE} mov.f32 %C, %f3;", "C[i] = max(((A[i] - B[i]) / 2) ** 2, 0)", "undecided"),
        (f"{APART} max.f32 %C, %f3, 0f00000000;", "C[i] = (A[i] - B[i]) ** 2", "verified"),
        (f"{SQUARE} add.f32 %f2, %f2, %A; sub.f32 %f3, %f1, %f2; max.f32 %C, %f3, 0f00000000;",
         "C[i] = (A[i] - B[i]) ** 2 - A[i]", "refuted"),
        (f"{LARGEST} max.f32 %f3, %f3, 0fBF800000; min.f32 %C, %f3, 0f3F800000;", SCALED, "verified"),
        (f"{LARGEST} max.f32 %f3, %f3, 0fBF800000; min.f32 %C, %f3, 0f3F400000;", SCALED, "refuted"),  # 0.75
    ],
)  # fmt: skip
def test_a_limit_that_no_number_passes_is_idle(body: str, formula: str, verdict: str) -> None:
    assert result_of(body, formula, ARRAYS).verdict == verdict


def test_a_choice_by_what_roundings_may_turn_stays() -> None:
    body = f"{VARIANCE} setp.lt.f32 %p1, %f3, 0f00000000; selp.f32 %C, 0f42F60000, %f3, %p1;"
    assert result_of(body, FORMULA, ARRAYS).verdict == "undecided"


@pytest.mark.parametrize(
    ("body", "formula", "requires", "verdict"),
    [
        ("max.f32 %C, %A, %B;", "C[i] = B[i]", ["A[i] <= B[i]"], "verified"),
        ("max.f32 %C, %A, %B;", "C[i] = B[i]", ["A[i] <= B[i]", "A[i] > -1"], "verified"),
        ("max.f32 %C, %A, %B;", "C[i] = B[i]", ["-B[i] < A[i] <= B[i]"], "verified"),
        ("max.f32 %C, %A, %B;", "C[i] = B[i]", ["A[i] <= B[i] or A[i] <= 0"], "refuted"),
        ("max.f32 %C, %A, %B;", "C[i] = B[i]", ["A[i] <= B[i] if i < 4"], "refuted"),
        ("max.f32 %C, %A, %B;", "C[i] = B[i]", ["A[i] <= B[i] + 1"], "refuted"),
        ("setp.lt.f32 %p1, %A, %B; selp.f32 %C, 1.0, 2.0, %p1;", "C[i] = 1", ["A[i] < B[i]"], "verified"),
        ("setp.lt.f32 %p1, %A, %B; selp.f32 %C, 1.0, 2.0, %p1;", "C[i] = 1", ["A[i] <= B[i]"], "refuted"),
    ],
)  # fmt: skip
def test_required_orders_decide(body: str, formula: str, requires: list[str], verdict: str) -> None:
    body = body.replace("1.0", "0f3F800000").replace("2.0", "0f40000000")
    assert result_of(body, formula, ARRAYS, requires=requires).verdict == verdict


@pytest.mark.parametrize(
    ("requires", "verdict"), [("B[i] <= D[i]", "verified"), ("B[i] <= D[i] + 1", "refuted")]
)
def test_limits_in_order_may_be_applied_in_any(requires: str, verdict: str) -> None:
    body = (
        "setp.lt.f32 %p1, %A, %B; setp.gt.f32 %p2, %A, %D;"
        "selp.f32 %f1, %D, %A, %p2; selp.f32 %C, %B, %f1, %p1;"
    )
    result = result_of(body, "C[i] = min(max(A[i], B[i]), D[i])", LIMITS, requires=[requires])
    assert result.verdict == verdict


def test_a_difference_that_wraps_is_no_order() -> None:
    body = "sub.s32 %r1, %A, %B; setp.le.s32 %p1, %r1, 0; selp.s32 %C, %B, %A, %p1;"
    assert result_of(body, "C[i] = B[i]", INTEGERS, requires=["A[i] <= B[i]"]).verdict == "refuted"
    body = "max.s32 %C, %A, %B;"
    assert result_of(body, "C[i] = B[i]", INTEGERS, requires=["A[i] <= B[i]"]).verdict == "verified"


def test_an_order_of_some_elements_is_none_of_others() -> None:
    body = (
        "setp.lt.f32 %p1, %A, %B; setp.gt.f32 %p2, %A, %D;"
        "selp.f32 %f1, %D, %A, %p2; selp.f32 %C, %B, %f1, %p1;"
    )
    formula = "C[i] = min(max(A[i], B[i]), D[i])"
    requires = ["B[i] <= D[i] if i < 16", "abs(B[i]) <= 9", "abs(D[i]) <= 9"]
    result = result_of(body, formula, LIMITS, requires=requires)
    assert result.verdict == "refuted"
    assert "16 of 32 elements" in str(result.findings[0])
