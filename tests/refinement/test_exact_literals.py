"""Under accuracy clauses the literals and quotients of formulas are the exact numbers, not those of f32."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import result_of
from .test_verify_accuracy import elementwise

THIRD = "mul.f32 %C, %A, 0f3EAAAAAB;"


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [("6e-8", Verdict.UNDECIDED), ("7.9e-8", Verdict.UNDECIDED), ("9e-8", Verdict.VERIFIED)],
)
@pytest.mark.parametrize("formula", ["C[i] = A[i] / 3", "C[i] = A[i] * 0.33333333333333333"])
def test_a_product_with_a_rounded_third_is_off_by_more_than_its_rounding(
    formula: str, limit: str, verdict: Verdict, tmp_path: Path
) -> None:
    found = elementwise(THIRD, formula, f"max_relative = {limit}", tmp_path)
    assert found.verdict in ({verdict} if verdict is Verdict.VERIFIED else {verdict, Verdict.REFUTED})


@pytest.mark.parametrize("text", ["0.1", "0.3", "0.7", "1.1", "3.3", "0.044715", "0.5", "1234.567"])
def test_no_claim_is_exceeded(text: str, tmp_path: Path) -> None:
    exact = Fraction(text)
    factor = np.float32(float(exact))
    body = f"mul.f32 %C, %A, 0f{int(factor.view(np.uint32)):08X};"
    found = elementwise(body, f"C[i] = A[i] * {text}", 'max_relative = "2^-20"', tmp_path)
    assert found.verdict is Verdict.VERIFIED, found.findings
    match = re.search(r"exact\| ≤ (\S+)·S", found.accuracy[0])
    assert match
    claimed = float(match[1]) * 1.005  # three digits are printed
    words = np.random.default_rng(0).integers(0, 1 << 23, 3000, dtype=np.uint32) | np.uint32(0x3F800000)
    numbers = words.view(np.float32)
    results = numbers * factor
    worst = max(
        abs(Fraction(float(got)) / (Fraction(float(x)) * exact) - 1)
        for x, got in zip(numbers, results, strict=True)
    )
    assert worst <= claimed


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        ("mul.f32 %f0, %A, 0f3DCCCCCD; sqrt.rn.f32 %C, %f0;", "C[i] = sqrt(A[i] * 0.1)"),
        ("add.f32 %f0, %A, 0f3DCCCCCD; div.rn.f32 %C, %B, %f0;", "C[i] = B[i] / (A[i] + 0.1)"),
    ],
)
def test_no_bound_follows_from_a_literal_inside_a_function(body: str, formula: str, tmp_path: Path) -> None:
    found = elementwise(body, formula, "max_relative = 0.5", tmp_path)
    assert found.verdict is Verdict.UNDECIDED
    assert not found.accuracy


def test_a_literal_that_f32_has_costs_nothing(tmp_path: Path) -> None:
    found = elementwise("mul.f32 %C, %A, 0f3E800000;", "C[i] = A[i] / 4", "max_relative = 6e-8", tmp_path)
    assert found.verdict is Verdict.VERIFIED, found.findings


def test_a_verdict_says_which_numbers_of_the_formula_are_rounded() -> None:
    arrays = {"A": "f32", "C": "f32 out"}
    third = result_of("mul.f32 %C, %A, 0f3EAAAAAB;", "C[i] = A[i] / 3", arrays)
    assert third.verdict == "verified"
    assert [
        assumption
        for assumption in third.assumptions
        if assumption.startswith("1/3 of the formula is rounded to the nearest f32")
    ]
    half = result_of("mul.f32 %C, %A, 0f3F000000;", "C[i] = A[i] / 2", arrays)
    assert half.verdict == "verified" and not [
        assumption for assumption in half.assumptions if "of the formula" in assumption
    ]


QUOTIENTS = {
    "a quotient": ("div.rn.f32 %C, %A, 0f40400000;", "C[i] = A[i] / 3"),
    "a quotient, flushed": ("div.rn.ftz.f32 %C, %A, 0f40400000;", "C[i] = A[i] / 3"),
    "of a constant that is negative": ("div.rn.f32 %C, %A, 0fC1200000;", "C[i] = A[i] / -10"),
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_a_correctly_rounded_quotient_is_one_rounding(name: str, tmp_path: Path) -> None:
    body, formula = QUOTIENTS[name]
    right = elementwise(body, formula, "max_relative = 5.96e-8", tmp_path)
    assert right.verdict is Verdict.VERIFIED, right.findings
    assert elementwise(body, formula, 'max_relative = "2^-25"', tmp_path).verdict is not Verdict.VERIFIED


@pytest.mark.parametrize("divisor", [3, 5, 7, 11, 96, 24, 100])
def test_no_quotient_is_further_off_than_is_claimed(divisor: int, tmp_path: Path) -> None:
    word = int(np.float32(divisor).view(np.uint32))
    body, formula = f"div.rn.f32 %C, %A, 0f{word:08X};", f"C[i] = A[i] / {divisor}"
    found = elementwise(body, formula, 'max_relative = "2^-23"', tmp_path)
    match = re.search(r"exact\| ≤ (\S+)·S", found.accuracy[0])
    assert match
    words = np.random.default_rng(divisor).integers(0, 1 << 23, 4000, dtype=np.uint32) | np.uint32(0x3F800000)
    worst = max(
        abs(Fraction(float(x / np.float32(divisor))) * divisor / Fraction(float(x)) - 1)
        for x in words.view(np.float32)
    )
    assert worst <= float(match[1]) * 1.005 <= 2**-24


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        (THIRD, "C[i] = A[i] / 3"),
        ("div.full.f32 %C, %A, 0f40400000;", "C[i] = A[i] / 3"),
        ("div.rn.f32 %C, %A, 0f40400000;", "C[i] = A[i] * 0.33333333"),
        ("div.rn.f32 %C, %A, 0f40400000;", "C[i] = A[i] * 0.3333333432674407958984375"),
        ("div.rn.f32 %C, %A, 0f40400001;", "C[i] = A[i] / 3"),
        ("rcp.rn.f32 %f0, 0f40400000; mul.f32 %C, %A, %f0;", "C[i] = A[i] / 3"),
    ],
)
def test_what_is_no_quotient_by_the_same_number_is_not_one_rounding(
    body: str, formula: str, tmp_path: Path
) -> None:
    assert elementwise(body, formula, "max_relative = 6e-8", tmp_path).verdict is not Verdict.VERIFIED


def test_each_quotient_of_a_sum_is_rounded_and_a_rounded_literal_beside_it_counts(tmp_path: Path) -> None:
    mean = "add.f32 %f0, %A, %B; div.rn.f32 %C, %f0, 0f40400000;"
    assert (
        elementwise(mean, "C[i] = (A[i] + B[i]) / 3", 'max_relative = "1.2e-7"', tmp_path).verdict
        == "verified"
    )
    mixed = "div.rn.f32 %f0, %A, 0f40400000; fma.rn.f32 %C, %B, 0f3EAAAAAB, %f0;"
    formula = "C[i] = A[i] / 3 + B[i] / 3"
    assert elementwise(mixed, formula, 'max_relative = "1.2e-7"', tmp_path).verdict != "verified"
    assert elementwise(mixed, formula, 'max_relative = "2.5e-7"', tmp_path).verdict == "verified"
