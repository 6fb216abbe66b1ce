"""Quotients of terms, which are products with reciprocals; bounds that only large or small numbers reach."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "B": "f32", "C": "f32 out"}


@pytest.mark.parametrize("how", ["rn", "full", "approx.ftz"])
@pytest.mark.parametrize(
    ("body", "formula"),
    [
        ("div.{how}.f32 %C, %A, %B;", "A[i] * rcp(B[i])"),
        (
            "add.f32 %f0, %A, %B; div.{how}.f32 %f1, %B, %f0; mul.f32 %C, %f1, %A;",
            "A[i] * B[i] * rcp(A[i] + B[i])",
        ),
        ("mov.f32 %f0, 0f3F800000; div.{how}.f32 %f1, %f0, %B; mul.f32 %C, %f1, %A;", "A[i] * rcp(B[i])"),
    ],
)
def test_a_quotient_is_a_product_with_a_reciprocal(body: str, formula: str, how: str) -> None:
    result = result_of(body.format(how=how), f"C[i] = {formula}", ARRAYS)
    assert (result.verdict, result.equality) == ("verified", "value")
    swapped = formula.replace("A", "X").replace("B", "A").replace("X", "B")
    wrong = result_of(body.format(how=how), f"C[i] = {swapped} * A[i]", ARRAYS)
    assert wrong.verdict == "refuted"


@pytest.mark.parametrize("how", ["rn", "full"])
def test_a_quotient_by_zero_equals_nothing(how: str) -> None:
    body = f"mov.f32 %f0, 0f00000000; div.{how}.f32 %f1, %A, %f0; sub.f32 %C, %f1, %f1;"
    assert result_of(body, "C[i] = 0.0", {"A": "f32", "C": "f32 out"}).verdict != "verified"


@pytest.mark.parametrize("how", ["rn", "full"])
def test_a_quotient_of_an_infinity_equals_nothing(how: str) -> None:
    body = f"mov.f32 %f0, 0f7F800000; div.{how}.f32 %f1, %f0, %A; sub.f32 %C, %f1, %f1;"
    assert result_of(body, "C[i] = 0.0", {"A": "f32", "C": "f32 out"}).verdict != "verified"


@pytest.mark.parametrize("bound", [0.0, 0.001, 100.0, 400.0])
@pytest.mark.parametrize("which", ["min", "max"])
def test_a_wrong_bound_is_shown_by_numbers_on_either_side_of_it(bound: float, which: str) -> None:
    arrays = {"A": "f32", "C": "f32 out"}
    clamp = f"{which}(A[i], {{}})"
    body = f"mov.f32 %f0, {bound}; {which}.f32 %C, %A, %f0;"
    assert result_of(body, f"C[i] = {clamp.format(bound)}", arrays).verdict == "verified"
    assert result_of(body, f"C[i] = {clamp.format(2 * bound + 0.001)}", arrays).verdict == "refuted"
    assert result_of(body, "C[i] = A[i]", arrays).verdict == "refuted"
