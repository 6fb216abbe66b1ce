"""Masks are the same as choices of 0, as factors, as conditions that count, and as integers of 0 and 1."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mmaproof.refinement.equality import equivalence
from mmaproof.refinement.examine.wrong_values import WrongValues

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "B": "f32", "M": "s32", "C": "f32 out"}
BYTES = {"A": "f32", "M": "u8", "C": "f32 out"}

CHOSEN = "setp.ne.s32 %p1, %M, 0; mul.f32 %f1, %A, %B; selp.f32 %C, %f1, 0f00000000, %p1;"
FACTOR = (
    "setp.ne.s32 %p1, %M, 0; selp.f32 %f1, 0f3F800000, 0f00000000, %p1;"
    "mul.f32 %f2, %A, %B; mul.f32 %C, %f2, %f1;"
)
COUNTED = "cvt.rn.f32.s32 %f1, %M; mul.f32 %f1, %f1, %A; mul.f32 %C, %f1, %B;"
FORMULAS = [
    "C[i] = where(M[i] != 0, A[i] * B[i], 0)",
    "C[i] = A[i] * where(M[i] != 0, B[i], 0)",
    "C[i] = A[i] * B[i] * (M[i] != 0)",
    "C[i] = A[i] * B[i] * (1 - (M[i] == 0))",
]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("body", [CHOSEN, FACTOR])
def test_masks_have_one_form(body: str, formula: str) -> None:
    assert result_of(body, formula, ARRAYS).verdict == "verified"


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        (CHOSEN, "C[i] = A[i] * B[i] * (M[i] > 0)"),
        (FACTOR, "C[i] = A[i] * B[i] * (M[i] == 0)"),
        (FACTOR, "C[i] = A[i] * B[i] * (1 + (M[i] != 0))"),
        (COUNTED, FORMULAS[0]),
    ],
)
def test_other_masks_are_refuted(body: str, formula: str) -> None:
    assert result_of(body, formula, ARRAYS).verdict == "refuted"


def test_nothing_is_tried_at_length_that_a_few_inputs_refute(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def at_length(forms: object, actual: NDArray[np.int32], *given: object, **_: object) -> object:
        tried.append(len(actual))
        return given[-1]

    monkeypatch.setattr(equivalence, "_of_choices", at_length)
    monkeypatch.setattr(equivalence, "_of_masks", at_length)
    assert result_of(FACTOR, "C[i] = A[i] * B[i] * (M[i] == 0)", ARRAYS).verdict == "refuted"
    assert not tried
    monkeypatch.setattr(WrongValues, "refuted", lambda _, actual, *given: np.zeros(len(actual), dtype=bool))
    assert result_of(FACTOR, "C[i] = A[i] * B[i] * (M[i] == 0)", ARRAYS).verdict == "refuted"
    assert tried


@pytest.mark.parametrize(
    ("requires", "verdict"),
    [
        ("0 <= M[i] <= 1", "verified"),
        ("0 <= M[i] <= 2", "refuted"),
        ("0 <= M[i] <= 1 if i < 8", "refuted"),
        ("-1 <= M[i] <= 0", "refuted"),
    ],
)
def test_an_integer_is_a_mask_where_it_is_0_or_1(requires: str, verdict: str) -> None:
    assert result_of(COUNTED, FORMULAS[0], ARRAYS, requires=[requires]).verdict == verdict


def test_a_bit_is_a_mask_wherever_it_stands() -> None:
    body = "and.b32 %r1, %M, 8; setp.eq.s32 %p1, %r1, 0; selp.f32 %C, 0f00000000, %A, %p1;"
    result = result_of(body, "C[i] = A[i] * (((M[i] >> 3) & 1) != 0)", BYTES)
    assert result.verdict == "verified"
    assert result_of(body.replace("8;", "4;"), "C[i] = A[i] * ((M[i] >> 3) & 1)", BYTES).verdict == "refuted"


def test_a_mask_does_not_undo_what_is_no_number() -> None:
    body = (
        "div.rn.f32 %f1, %A, %B; setp.neu.f32 %p1, %B, 0f00000000;"
        "selp.f32 %f2, 0f3F800000, 0f00000000, %p1; mul.f32 %C, %f1, %f2;"
    )
    result = result_of(
        body, "C[i] = where(B[i] != 0, A[i] / B[i], 0)", {k: v for k, v in ARRAYS.items() if k != "M"}
    )
    assert result.verdict == "undecided"
    assert "no divisor is 0" in str(result.findings[0])


def test_a_mask_in_an_exponent_is_a_factor() -> None:
    masked = (
        "setp.ne.s32 %p1, %M, 0; sub.f32 %f1, %A, %B; ex2.approx.f32 %f2, %f1;"
        "selp.f32 %f2, %f2, 0f00000000, %p1; add.f32 %C, %f2, %B;"
    )
    formula = "C[i] = exp2(where(M[i] != 0, A[i], -inf) - B[i]) + B[i]"
    requires = ["abs(A[i]) < 9", "abs(B[i]) < 9"]
    assert result_of(masked, formula, ARRAYS, requires=requires).verdict == "verified"
    wrong = masked.replace("0f00000000", "0f3F800000")
    assert result_of(wrong, formula, ARRAYS, requires=requires).verdict == "refuted"
