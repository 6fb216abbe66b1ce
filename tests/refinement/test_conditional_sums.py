"""Sums of what meets a condition, in loops that add or do not, and maxima that begin with some number."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ..elementwise_kernels import result_of

COUNT = 24
NAMES = [f"A{number}" for number in range(COUNT)]
ARRAYS = {**dict.fromkeys(NAMES, "f32"), "C": "f32 out"}


def added_if_positive(names: Sequence[str], relation: str = "gt", operation: str = "add.f32 %f2, %f1") -> str:
    """Return a chain of choices, each between a sum and what was added up before."""
    steps = (
        f"setp.{relation}.f32 %p1, %{name}, 0f00000000; {operation}, %{name}; selp.f32 %f1, %f2, %f1, %p1;"
        for name in names
    )
    return f"mov.f32 %f1, 0f00000000; {' '.join(steps)} mov.f32 %C, %f1;"


def greatest(names: Sequence[str], start: str) -> str:
    """Return a maximum by comparisons."""
    steps = (f"setp.gt.f32 %p1, %{name}, %f1; selp.f32 %f1, %{name}, %f1, %p1;" for name in names)
    return f"mov.f32 %f1, {start}; {' '.join(steps)} mov.f32 %C, %f1;"


def test_a_sum_of_what_is_positive() -> None:
    formula = " + ".join(f"where({name}[i] > 0, {name}[i], 0)" for name in NAMES)
    assert result_of(added_if_positive(NAMES), f"C[i] = {formula}", ARRAYS).verdict == "verified"
    relu = " + ".join(f"relu({name}[i])" for name in NAMES)
    assert result_of(added_if_positive(NAMES), f"C[i] = {relu}", ARRAYS).verdict == "verified"


@pytest.mark.parametrize(
    ("relation", "operation"),
    [("lt", "add.f32 %f2, %f1"), ("gt", "sub.f32 %f2, %f1"), ("gt", "mul.f32 %f2, %f1")],
)
def test_another_condition_or_sum_is_refuted(relation: str, operation: str) -> None:
    few = NAMES[:4]
    formula = " + ".join(f"where({name}[i] > 0, {name}[i], 0)" for name in few)
    arrays = {**dict.fromkeys(few, "f32"), "C": "f32 out"}
    body = added_if_positive(few, relation, operation)
    assert result_of(body, f"C[i] = {formula}", arrays).verdict == "refuted"


@pytest.mark.parametrize(
    ("kernel", "limit", "verdict"),
    [("lt", 1, "verified"), ("le", 0, "verified"), ("lt", 0, "refuted"), ("le", 1, "refuted")],
)
def test_integers_less_than_one_are_not_above_0(kernel: str, limit: int, verdict: str) -> None:
    body = f"setp.{kernel}.s32 %p1, %M, {limit}; selp.f32 %f1, 0f00000000, %A, %p1; add.f32 %C, %f1, %A;"
    arrays = {"M": "s32", "A": "f32", "C": "f32 out"}
    assert result_of(body, "C[i] = A[i] + where(M[i] > 0, A[i], 0)", arrays).verdict == verdict


@pytest.mark.parametrize(
    ("start", "verdict"),
    [
        ("0fFF7FFFFF", "verified"),
        ("0fFF800000", "verified"),
        ("0fF149F2CA", "refuted"),
        ("0f00000000", "refuted"),
    ],
    ids=["-FLT_MAX", "-inf", "-1e30", "0"],
)
def test_a_maximum_is_wrong_where_all_numbers_are_below_its_start(start: str, verdict: str) -> None:
    few = NAMES[:5]
    arrays = {**dict.fromkeys(few, "f32"), "C": "f32 out"}
    formula = f"C[i] = max({', '.join(f'{name}[i]' for name in few)})"
    assert result_of(greatest(few, start), formula, arrays).verdict == verdict


def test_a_maximum_may_begin_below_what_inputs_are() -> None:
    few = NAMES[:5]
    arrays = {**dict.fromkeys(few, "f32"), "C": "f32 out"}
    formula = f"C[i] = max({', '.join(f'{name}[i]' for name in few)})"
    bounded = [f"{name}[i] >= -1e20" for name in few]
    assert result_of(greatest(few, "0fF149F2CA"), formula, arrays, requires=bounded).verdict == "verified"
