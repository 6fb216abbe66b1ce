"""Theorems about rounding errors: verdicts, and mutants that must be refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from theorem_checks import SOLVE, decided, judged, unexpected, vacuous

from mmaproof.proofs.decision import decide
from mmaproof.proofs.families import rounding_trees
from mmaproof.proofs.induction import mismatch
from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.ptx import blocked, rounding_bound, rounding_error
from mmaproof.spec.formats import F16, F32, FloatFormat
from mmaproof.spec.rounding import Rounding

THEOREMS = (*rounding_error.THEOREMS, *rounding_bound.THEOREMS)


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected((blocked.step, *THEOREMS)) == {}


def test_no_obligation_is_vacuous() -> None:
    assert vacuous(THEOREMS) == []


def refuted(theorem: Theorem, name: str) -> None:
    """Check that an obligation expected to be proved is refuted."""
    obligation = next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    assert obligation.expect is Status.PROVED
    assert decided(obligation).status is Status.REFUTED


@pytest.mark.parametrize("direction", [way for way in Rounding if way is not Rounding.NEAREST_EVEN])
def test_no_other_direction_is_to_nearest(direction: Rounding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding_error, "NEAREST", direction)
    refuted(rounding_error.nearest, "f16/bound")
    refuted(rounding_error.nearest, "f32/bound")


@pytest.mark.parametrize("fmt", [F16, F32])
def test_two_roundings_are_not_one(fmt: FloatFormat, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that went through another direction first may be off by more than half a unit."""
    once = rounding_error.Tail.added

    def twice(tail: Any, rounding: Rounding, total: Any = None) -> Any:
        return once(tail, rounding, once(tail, Rounding.UPWARD, total))

    monkeypatch.setattr(rounding_error.Tail, "added", twice)
    refuted(rounding_error.nearest, f"{fmt}/bound")


def test_a_direction_may_give_the_farther_neighbour() -> None:
    upward = rounding_error._directed(F16, Rounding.UPWARD)
    assert judged(upward).status is Status.PROVED

    def stays(alg: Any, v: Any) -> Any:
        (equation,) = upward.claim(alg, v)
        rounded = rounding_error.Tail(alg, F16, v).added(Rounding.UPWARD)
        yield replace(equation, left=alg.same(rounded, v["x"]))

    assert judged(replace(upward, claim=stays)).status is Status.REFUTED


def test_the_bound_must_grow_with_every_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding_trees, "growth_after_rounding", lambda growth, unit: growth + unit)
    refuted(rounding_bound.tree, "node")


def test_what_underflowed_is_amplified_by_later_roundings(monkeypatch: pytest.MonkeyPatch) -> None:
    flat = lambda growth, roundings, magnitude, underflow: growth * magnitude + roundings * underflow  # noqa: E731
    monkeypatch.setattr(rounding_trees, "error_bound", flat)
    refuted(rounding_bound.tree, "node")


def test_a_sum_needs_the_lemma_of_its_format() -> None:
    named = {each.id: each for theorem in THEOREMS for each in theorem.obligations()}
    for obligation in rounding_bound.any_order.obligations():
        if obligation.expect is Status.PROVED:
            premises = obligation.goal().premises  # type: ignore[union-attr]
            known = dict.fromkeys(premises, Status.PROVED)
            assert decide(obligation, SOLVE, known, named).status is Status.PROVED
            for premise in premises:
                unknown = known | {premise: Status.UNKNOWN}
                assert decide(obligation, SOLVE, unknown, named).status is Status.UNKNOWN


def test_an_induction_on_trees_counts_every_rounding() -> None:
    """A step of another node than the one that the conclusion is about is no instance of its formula."""
    goal = rounding_bound.along_trees()
    named = {obligation.id: obligation for obligation in rounding_bound.tree.obligations()}
    assert mismatch(goal, named) is None
    lax = {f"{rounding_bound.tree.id}/node": rounding_bound.Node(counted=False)}
    assert "is not the instance" in str(mismatch(replace(goal, steps=lax), named))
