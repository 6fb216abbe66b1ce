"""Literals of f64 in kernels stand for those that a formula rounds to f32, and for no others."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

SCALED = "cvt.f64.f32 %d1, %A; mul.f64 %d1, %d1, {literal}; cvt.rn.f32.f64 %C, %d1;"
FORMULA = "C[i] = 1.0507009873554805 * A[i]"
EXACT, FEWER_DIGITS, OTHER = "0d3FF0CFABD6A91132", "0d3FF0CFABD75ECC13", "0d3FF0CFAC2A95D5C0"
"""The literal of the formula, one that f32 does not tell from it, and one that it does."""


@pytest.mark.parametrize("literal", [EXACT, FEWER_DIGITS])
def test_a_literal_of_f64_is_that_of_the_formula(literal: str) -> None:
    result = result_of(SCALED.format(literal=literal), FORMULA, {"A": "f32", "C": "f32 out"})
    assert result.verdict.value == "verified"
    assert any(
        "f64 literals for the formula's literals" in hypothesis.statement for hypothesis in result.hypotheses
    )


def test_another_literal_is_not() -> None:
    result = result_of(SCALED.format(literal=OTHER), FORMULA, {"A": "f32", "C": "f32 out"})
    assert result.verdict.value == "refuted"


def test_where_the_formula_has_f64_its_literals_are_not_rounded() -> None:
    body = f"mul.f64 %C, %A, {FEWER_DIGITS};"
    arrays = {"A": "f64", "C": "f64 out"}
    assert result_of(body, FORMULA, arrays).verdict.value == "refuted"
    assert result_of(body.replace(FEWER_DIGITS, EXACT), FORMULA, arrays).verdict.value == "verified"
