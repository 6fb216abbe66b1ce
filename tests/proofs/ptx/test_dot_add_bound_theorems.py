"""Theorems about the errors of fused dot-adds: premises, identities, and mutants to refute."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from theorem_checks import judged, unexpected

from mmaproof.proofs.obligation import Deduction, Status
from mmaproof.proofs.ptx import dot_add_bounds as theorems
from mmaproof.proofs.ptx import dot_add_steps, numerics, rounding_error
from mmaproof.proofs.ptx.accumulations import accumulations
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.formats import F16, F32
from mmaproof.spec.rounding import Rounding

HOPPER = next(
    accumulation for accumulation in accumulations() if accumulation.name == "hopper/f16-f16-f32-f32/k16"
)


def test_the_identities_have_the_expected_verdicts() -> None:
    assert unexpected((theorems.truncation, theorems.step)) == {}


def test_every_premise_is_an_obligation() -> None:
    known = (*numerics.THEOREMS, *dot_add_steps.THEOREMS, *rounding_error.THEOREMS, *theorems.THEOREMS)
    ids = {obligation.id for theorem in known for obligation in theorem.obligations()}
    for obligation in theorems.bound.obligations():
        goal = obligation.goal()
        assert isinstance(goal, Deduction)
        assert set(goal.premises) <= ids


# -- mutants


def test_a_model_that_aligns_to_one_bit_more_has_other_remainders(monkeypatch: pytest.MonkeyPatch) -> None:
    right = theorems.truncated_sum

    def longer(model: DotAddModel, *rest: Any) -> Any:
        return right(replace(model, fraction_bits=model.fraction_bits + 1), *rest)

    monkeypatch.setattr(theorems, "truncated_sum", longer)
    assert judged(theorems._truncation(HOPPER, 0)).status is Status.REFUTED


def test_a_product_needs_all_the_fraction_bits_of_its_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(theorems._exact_alone((F16, F16), 1, scaled=False)).status is Status.PROVED
    monkeypatch.setattr(theorems, "_places", lambda formats: sum(fmt.fraction_bits for fmt in formats) - 1)
    assert judged(theorems._exact_alone((F16, F16), 1, scaled=False)).status is Status.REFUTED


@pytest.mark.parametrize("rounding", [Rounding.UPWARD, Rounding.DOWNWARD])
def test_the_last_rounding_is_in_the_stated_direction(
    rounding: Rounding, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = theorems.replace
    monkeypatch.setattr(theorems, "replace", lambda model, **kept: right(model, **kept, rounding=rounding))
    assert judged(theorems._last_rounding(HOPPER.model, F32, 23)).status is Status.REFUTED


def test_a_result_that_keeps_a_bit_less_is_off_by_more() -> None:
    shorter = replace(HOPPER.model, result_fraction_bits=22)
    assert judged(theorems._last_rounding(shorter, F32, 23)).status is Status.REFUTED
