"""Powers that overflow where nothing depends on them, and such on which something depends after all."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of
from .test_detours import refused, single

ONE, TWO = {"A": "f32", "Y": "f32 out"}, {"A": "f32", "B": "f32", "Y": "f32 out"}
FORMULA = "Y[i] = rcp(1 + exp2(-A[i]))"
SIDES = (
    f"mov.f32 %f9, {single(1)}; ex2.approx.f32 %f1, %A; add.f32 %f2, %f1, %f9; div.rn.f32 %f3, %f1, %f2;"
    "neg.f32 %f4, %A; ex2.approx.f32 %f5, %f4; add.f32 %f6, %f5, %f9; rcp.rn.f32 %f7, %f6;"
)
CHOICE = "setp.{relation}.f32 %p1, %{by}, {limit}; selp.f32 %Y, %f3, %f7, %p1;"


def chosen(relation: str, limit: float, by: str = "A", sides: str = SIDES) -> str:
    return sides + CHOICE.format(relation=relation, limit=single(limit), by=by)


@pytest.mark.parametrize(
    "body",
    [
        chosen("lt", 0),
        chosen("le", 50),
        SIDES + f"setp.ge.f32 %p1, %A, {single(0)}; selp.f32 %Y, %f7, %f3, %p1;",
        SIDES + f"setp.gt.f32 %p1, %f4, {single(0)}; selp.f32 %Y, %f3, %f7, %p1;",
    ],
)
def test_a_power_that_is_chosen_where_it_is_small_needs_no_hypothesis(body: str) -> None:
    result = result_of(body, FORMULA, ONE)
    assert result.verdict == "verified", result.findings


@pytest.mark.parametrize(
    "body",
    [
        chosen("gt", 0),
        chosen("lt", 200),
        chosen("gt", -200),
        chosen("lt", 0, sides=SIDES.replace("%f7, %f6", "%f8, %f2") + "mul.f32 %f7, %f8, %f1;"),
    ],
)
def test_a_power_that_is_used_where_it_is_great_is_a_detour(body: str) -> None:
    assert result_of(body, FORMULA, ONE).verdict != "verified"


def test_a_choice_by_another_number_bounds_nothing() -> None:
    refused(result_of(chosen("lt", 0, by="B"), FORMULA, TWO))


def test_what_is_computed_otherwise_than_the_number_compared_is_not_bounded_by_it() -> None:
    """The numbers are equal over the reals, but not as they are rounded."""
    far = f"add.f32 %f8, %A, {single(2.0**30)}; sub.f32 %f8, %f8, {single(2.0**30)};"
    body = far + SIDES + f"setp.lt.f32 %p1, %f8, {single(1)}; selp.f32 %Y, %f3, %f7, %p1;"
    assert result_of(body, FORMULA, ONE).verdict != "verified"


THRESHOLD = (
    f"mul.f32 %f1, %A, {single(1.44269504)}; ex2.approx.f32 %f1, %f1; add.f32 %f1, %f1, {single(1)};"
    f"lg2.approx.f32 %f1, %f1; mul.f32 %f1, %f1, {single(0.693147181)}; setp.gt.f32 %p1, %A, {{limit}};"
    "selp.f32 %Y, %A, %f1, %p1;"
)


@pytest.mark.parametrize(("limit", "verdict"), [(20.0, "verified"), (10.0, "refuted"), (21.0, "undecided")])
def test_a_softplus_has_the_threshold_of_its_formula(limit: float, verdict: str) -> None:
    formula = "Y[i] = where(A[i] > 20, A[i], log(1 + exp(A[i])))"
    result = result_of(THRESHOLD.format(limit=single(limit)), formula, ONE)
    assert result.verdict == verdict, result.findings
