"""Theorems about dot-adds executed on unknown numbers: verdicts, and mutants that do not follow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import z3
from theorem_checks import SOLVE, judged

from mmaproof.proofs.obligation import RealClaim, RealGoal, RealProperty, Status
from mmaproof.proofs.ptx import dot_add_steps as theorems
from mmaproof.proofs.ptx.accumulations import ModelAccumulation, lengths
from mmaproof.proofs.real_claims import last_answer
from mmaproof.smt.real_terms import RealTerm
from mmaproof.spec import dot_add
from mmaproof.spec.rounding import Rounding

VOLTA, HOPPER, GROUPED = (
    next(length for length in lengths() if length.name.startswith(name))
    for name in ("volta/f16-f16-f32-f32/k4", "hopper/f16-f16-f32-f32/k8", "blackwell/e2m1-e2m1-f32-f32-ue4m3")
)


@pytest.mark.parametrize("each", [VOLTA, HOPPER, GROUPED], ids=lambda each: each.name)
def test_a_step_is_exact_on_integers_and_near_the_sum(each: ModelAccumulation) -> None:
    for goal in (theorems._exact(each, 1), theorems._near(each)):
        verdict = judged(goal)
        assert (verdict.status, verdict.method) == (Status.PROVED, "z3")


def test_steps_are_exact_one_after_the_other() -> None:
    assert judged(theorems._exact(VOLTA, 3)).status is Status.PROVED


@pytest.mark.parametrize("each", [VOLTA, HOPPER, GROUPED], ids=lambda each: each.name)
def test_what_is_assumed_can_be_met(each: ModelAccumulation) -> None:
    for goal in (theorems._exact(each, 1), theorems._near(each)):
        solver = z3.Solver()
        solver.push()
        solver.add(*goal.claim().assumptions)
        assert solver.check() == z3.sat


def test_what_is_assumed_of_steps_after_each_other_can_be_met() -> None:
    solver = z3.Solver()
    solver.push()
    solver.add(*theorems._exact(VOLTA, 2).claim().assumptions)
    assert solver.check() == z3.sat


def test_a_goal_is_shown_from_nothing_but_assumptions_and_goals_before_it() -> None:
    x = z3.Real("x")
    positive, other = x > 0, x > 1
    later = RealGoal("later", other, [other])
    claim = RealClaim([positive], [RealGoal("at once", x >= 0, [positive]), later])
    with pytest.raises(ValueError, match="later: it needs what is neither assumed nor shown"):
        last_answer(RealProperty(lambda: claim), SOLVE)
    shown = RealClaim([positive], [RealGoal("one", x >= 0), RealGoal("two", x > -1, [x >= 0])])
    assert judged(RealProperty(lambda: shown)).status is Status.PROVED
    without = RealClaim([positive], [RealGoal("none", x >= 0, [])])
    assert fails(RealProperty(lambda: without)) == "none"


def test_a_claim_of_nothing_is_an_error() -> None:
    assert judged(RealProperty(lambda: RealClaim((), ()))).status is Status.ERROR


# -- mutants


def fails(goal: RealProperty) -> str:
    """Return the goal that does not follow."""
    label, answer = last_answer(goal, SOLVE)
    assert answer.status == "sat"
    verdict = judged(goal)
    assert (verdict.status, verdict.solver) == (Status.UNKNOWN, "")  # `check --mutants` takes it as noticed
    return label


def test_one_bit_more_than_is_kept() -> None:
    assert fails(theorems._exact(VOLTA, 1, bits_more=1)) == "step 0, the sum"
    assert fails(theorems._exact(HOPPER, 1, bits_more=1)) == "step 0, rounded"


@pytest.mark.parametrize("each", [VOLTA, GROUPED], ids=lambda each: each.name)
def test_one_remainder_too_few(each: ModelAccumulation) -> None:
    assert fails(theorems._near(each, terms_too_few=1)).startswith("truncated")


def test_a_fraction_bit_less() -> None:
    fewer = replace(VOLTA.sequence.model, fraction_bits=VOLTA.model.fraction_bits - 1)
    shorter = replace(VOLTA, sequence=replace(VOLTA.sequence, model=fewer))
    claim = theorems._exact(VOLTA, 1).claim
    assert judged(RealProperty(claim)).status is Status.PROVED
    assert fails(theorems._exact(shorter, 1, bits_more=1)) == "step 0, the sum"


def test_terms_that_are_not_truncated_toward_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RealTerm, "__trunc__", RealTerm.rint)
    assert fails(theorems._near(VOLTA)).startswith("no greater")


def test_an_alignment_that_cuts_off_a_bit_more(monkeypatch: pytest.MonkeyPatch) -> None:
    right = dot_add._alignment

    def shorter(model: Any, factors: Any, addend: Any) -> Any:
        return right(replace(model, fraction_bits=model.fraction_bits - 1), factors, addend)

    monkeypatch.setattr(dot_add, "_alignment", shorter)
    assert fails(theorems._exact(VOLTA, 1)) == "step 0, the sum"


def test_a_last_rounding_that_keeps_a_bit_less(monkeypatch: pytest.MonkeyPatch) -> None:
    right = theorems.rounded_sum

    def shorter(value: Any, result: Any, model: Any) -> Any:
        return right(value, result, replace(model, result_fraction_bits=result.fraction_bits - 1))

    monkeypatch.setattr(theorems, "rounded_sum", shorter)
    assert fails(theorems._exact(VOLTA, 1)) == "step 0, rounded"
    assert fails(theorems._near(HOPPER)).startswith("rounded")


def test_a_rounding_in_a_direction_without_terms_is_refused() -> None:
    upward = replace(VOLTA.sequence, model=replace(VOLTA.model, rounding=Rounding.UPWARD))
    with pytest.raises(TypeError):
        theorems._exact(replace(VOLTA, sequence=upward), 1).claim()
