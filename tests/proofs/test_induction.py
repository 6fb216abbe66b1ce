"""Inductions: their bases and steps must be the instances of the formula that they conclude."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from mmaproof.proofs.catalogue import obligations
from mmaproof.proofs.induction import (
    Commutes,
    Image,
    Induction,
    Recursion,
    Same,
    decide_from_premises,
    induction,
    mismatch,
)
from mmaproof.proofs.obligation import Method, Obligation, Property, Status, Variable
from mmaproof.spec.formats import U8

X = Variable("x", U8, (1,))


@dataclass(frozen=True)
class Doubling(Recursion):
    """x, 2x, 4x, …, once by shifts and once by sums."""

    begins: bool = False
    result = U8

    def state(self, v):
        return v["x"]

    def following(self, alg, v, before, reading):
        one, other = before or (v["x"], v["x"])
        return _twice(alg, one), _twice(alg, other)


def _twice(alg, x):
    return alg.wrap(alg.integer(x, U8) + alg.integer(x, U8), U8)


@dataclass(frozen=True)
class OneMore(Image):
    """A false formula: the other is one more."""

    @property
    def text(self):
        return "s_n + 1 = t_n"

    def image(self, alg, v, term):
        return alg.wrap(alg.integer(term, U8) + alg.whole(1), U8)


def _obligation(name: str, goal: Callable[[], object], **changes) -> Obligation:
    return replace(Obligation(f"test/{name}", "", goal), **changes)


def _instances(formula: Image = Same()) -> dict[str, Obligation]:  # noqa: B008 (frozen)
    parts = {"base": Doubling(begins=True), "step": Doubling()}
    made = {
        f"test/{name}": _obligation(name, lambda part=part: Property((X,), Commutes(formula, part)))
        for name, part in parts.items()
    }
    return made


def _goal(formula: Image = Same()) -> Induction:  # noqa: B008 (frozen)
    return induction(formula, {"test/step": Doubling()}, {"test/base": Doubling(begins=True)})


def test_instances_of_the_formula_make_an_induction() -> None:
    assert mismatch(_goal(), _instances()) is None


@pytest.mark.parametrize(
    "goal",
    [
        pytest.param(_goal(OneMore()), id="of another formula"),
        pytest.param(induction(Same(), {"test/base": Doubling()}), id="the base as step"),
        pytest.param(induction(Same(), {"test/step": Doubling(begins=True)}), id="a beginning as step"),
        pytest.param(
            induction(Same(), {"test/step": Doubling()}, {"test/step": Doubling()}), id="the step as base"
        ),
        pytest.param(induction(Same(), {}, {"test/base": Doubling(begins=True)}), id="no step"),
        pytest.param(induction(Same(), {"test/nowhere": Doubling()}), id="a step that is not there"),
        pytest.param(replace(_goal(), premises=("test/base",)), id="a step that is no premise"),
    ],
)
def test_what_is_no_instance_is_an_error(goal: Induction) -> None:
    concluded = _obligation("concluded", lambda: goal, method=Method.INDUCTION)
    proved = dict.fromkeys(("test/base", "test/step", "test/nowhere"), Status.PROVED)
    verdict = decide_from_premises(concluded, goal, proved, _instances())
    assert verdict.status is Status.ERROR
    assert verdict.message.startswith("defect of mmaproof: this is no induction, ")


@pytest.mark.parametrize(
    "weaker",
    [
        pytest.param(lambda o: replace(o, expect=Status.REFUTED), id="expected to fail"),
        pytest.param(
            lambda o: replace(o, goal=lambda: replace(o.goal(), assuming=lambda alg, v: [])),
            id="assumes more",
        ),
        pytest.param(
            lambda o: replace(o, goal=lambda: replace(o.goal(), claim=lambda alg, v: o.goal().claim(alg, v))),
            id="another claim",
        ),
    ],
)
def test_a_premise_that_claims_something_else_is_an_error(weaker: Callable[[Obligation], Obligation]) -> None:
    made = _instances()
    made["test/step"] = weaker(made["test/step"])
    message = mismatch(_goal(), made)
    assert message is not None
    assert "test/step is not the instance of D_n = P_n" in message


def test_every_induction_of_the_catalogue_has_a_formula_and_its_instances() -> None:
    catalogue = obligations()
    inductions = {o.id: o.goal() for o in catalogue.values() if o.method is Method.INDUCTION}
    assert len(inductions) > 600
    for identifier, goal in inductions.items():
        assert isinstance(goal, Induction), identifier
        assert mismatch(goal, catalogue) is None, identifier


def test_an_induction_on_the_step_of_another_instruction_is_an_error() -> None:
    catalogue = obligations()
    goals = [catalogue[f"power/blocked/any-k/{family}"].goal() for family in ("xvf32ger", "xvf64ger")]
    assert all(isinstance(goal, Induction) for goal in goals)
    one, other = goals
    swapped = dict(zip(one.steps, other.steps.values(), strict=True))
    assert "is not the instance" in (mismatch(replace(one, steps=swapped), catalogue) or "")
