"""Deductions are checked: hypotheses are instances of proved premises, and the conclusion follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st
from theorem_checks import SOLVE

from mmaproof.proofs.decision import decide
from mmaproof.proofs.export import scripts
from mmaproof.proofs.induction import decide_from_premises
from mmaproof.proofs.instances import Entailment, NoInstanceError, Use
from mmaproof.proofs.obligation import (
    Deduction,
    Equality,
    Equation,
    Inputs,
    IntegerProperty,
    Method,
    Obligation,
    Property,
    RingProperty,
    Status,
    Variable,
    holds,
)
from mmaproof.proofs.recheck import Asking, recheck
from mmaproof.proofs.rechecking import possible
from mmaproof.proofs.runner import Settings, run
from mmaproof.smt.integers import IntegerAlgebra, IntegerTermAlgebra, integer_variables
from mmaproof.spec.algebra import Algebra, Array, Operand
from mmaproof.spec.formats import F32, U64
from mmaproof.spec.rounding import Rounding


def numbers(*names: str) -> tuple[Variable, ...]:
    return tuple(Variable(name, U64, (1,)) for name in names)


def grows(alg: Any, v: Inputs) -> Iterator[Equation]:
    """x < y and 0 < z ⇒ x·z < y·z"""
    less = alg.below(v["x"], v["y"]) & alg.below(0 * v["z"], v["z"])
    yield holds(alg, alg.below(v["x"] * v["z"], v["y"] * v["z"]), "grows", less)


GROWS = Obligation("test/grows", "", lambda: IntegerProperty(numbers("x", "y", "z"), grows))


def wider(alg: Any, v: Inputs) -> Iterator[Equation]:
    """The same over two steps."""
    less = alg.below(v["x"], v["y"]) & alg.below(v["y"], v["w"]) & alg.below(0 * v["z"], v["z"])
    yield holds(alg, alg.below(v["x"] * v["z"], v["w"] * v["z"]), "grows", less)


def steps(alg: Algebra, v: Inputs) -> Iterator[Use]:
    for low, high in (("x", "y"), ("y", "w")):
        yield Use(GROWS, {"x": v[low], "y": v[high], "z": v["z"]})


WIDER = Entailment((GROWS.id,), IntegerProperty(numbers("x", "y", "z", "w"), wider), steps)


def deduction(goal: Entailment, name: str = "deduction") -> Obligation:
    return Obligation(f"test/{name}", "", lambda: goal, method=Method.DEDUCTION)


def test_what_follows_is_proved_and_says_how() -> None:
    verdict = decide(deduction(WIDER), SOLVE)
    assert (verdict.status, verdict.method) == (Status.PROVED, "deduction")


def test_it_is_decided_again_by_another_solver() -> None:
    asking = Asking(SOLVE)
    assert recheck(deduction(WIDER), asking, asking, asking).status is Status.PROVED


def test_a_conclusion_that_is_too_strong_is_refuted_with_numbers() -> None:
    def stronger(alg: Any, v: Inputs) -> Iterator[Equation]:
        yield from (replace(equation, where=None) for equation in wider(alg, v))

    goal = replace(WIDER, conclusion=IntegerProperty(WIDER.conclusion.variables, stronger))
    verdict = decide(deduction(goal), SOLVE)
    assert verdict.status is Status.REFUTED
    assert verdict.counterexample is not None and verdict.counterexample.replays
    asking = Asking(SOLVE)
    assert recheck(deduction(goal), asking, asking, asking).status is Status.REFUTED


@pytest.mark.parametrize("status", [Status.REFUTED, Status.UNKNOWN, Status.ERROR, None])
def test_it_rests_on_all_its_premises(status: Status | None) -> None:
    obligation = deduction(WIDER)
    follows = decide(obligation, SOLVE)
    known = {} if status is None else {GROWS.id: status}
    verdict = decide_from_premises(obligation, WIDER, known, {}, follows)
    assert (verdict.status, verdict.message) == (Status.UNKNOWN, "premise not proved: test/grows")
    assert (
        decide_from_premises(obligation, WIDER, {GROWS.id: Status.PROVED}, {}, follows).status
        is Status.PROVED
    )
    assert decide_from_premises(obligation, WIDER, {GROWS.id: Status.PROVED}, {}).status is Status.UNKNOWN


def test_the_runner_decides_both_parts() -> None:
    obligations = [GROWS, deduction(WIDER)]
    assert [v.status for v in run(obligations, Settings(jobs=0, cache=None))] == [Status.PROVED] * 2
    false = replace(GROWS, goal=lambda: IntegerProperty(numbers("x", "y", "z"), _always_less))
    verdicts = run([false, deduction(WIDER)], Settings(jobs=0, cache=None))
    assert [v.status for v in verdicts] == [Status.REFUTED, Status.UNKNOWN]


def _always_less(alg: Any, v: Inputs) -> Iterator[Equation]:
    yield holds(alg, alg.below(v["x"], v["y"]), "less")


def test_it_is_exported_with_its_hypotheses() -> None:
    for text in scripts(deduction(WIDER)).values():
        solver = z3.Solver()
        solver.from_string(text)
        assert solver.check() == z3.unsat


def test_an_argument_in_words_is_called_so() -> None:
    words = Obligation("test/words", "", lambda: Deduction((GROWS.id,)), method=Method.DEDUCTION)
    verdicts = run([GROWS, words, deduction(WIDER)], Settings(jobs=0, cache=None))
    assert [v.method for v in verdicts] == ["z3", "argument", "deduction"]
    ids, not_possible = possible(verdicts)
    assert ids == [GROWS.id, "test/deduction"]
    assert "in words" in not_possible[words.id]


# -- of encodings
def sum_of(alg: Algebra, *terms: Array) -> Array:
    return alg.fused(F32, Rounding.NEAREST_EVEN, (), [Operand(term, F32) for term in terms])


def unchanged(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    yield Equation(sum_of(alg, v["x"]), v["x"], F32)


UNCHANGED = Obligation(
    "test/unchanged", "", lambda: Property((Variable("x", F32, (1,)),), unchanged, _not_nan, abstract=False)
)


def _not_nan(alg: Algebra, v: Inputs) -> Iterator[Array]:
    yield ~alg.is_nan(Operand(v["x"], F32))


def each_unchanged(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    yield Equation(sum_of(alg, v["row"]), v["row"], F32)


ROW = Property(
    (Variable("row", F32, (5,)),), each_unchanged, lambda alg, v: [~alg.is_nan(Operand(v["row"], F32))]
)


def uses_of(count: int) -> Any:
    return lambda alg, v: [Use(UNCHANGED, {"x": v["row"][:count, None]})]


@pytest.mark.parametrize("count", range(6))
def test_every_element_needs_its_instance(count: int) -> None:
    asked = []

    def abstractly(query: Any) -> Any:
        answer = SOLVE(query)
        asked.append(answer.status)
        return answer

    decide(deduction(Entailment((UNCHANGED.id,), ROW, uses_of(count))), abstractly)
    assert asked[0] == ("unsat" if count == 5 else "sat")


def test_what_a_premise_assumes_is_assumed_of_its_instance() -> None:
    everything = replace(ROW, assuming=None)
    verdict = decide(deduction(Entailment((UNCHANGED.id,), everything, uses_of(5))), SOLVE)
    assert verdict.status is not Status.PROVED


# -- what is no instance
def used(premise: Obligation, **inputs: Any) -> Entailment:
    return replace(
        WIDER,
        premises=(premise.id,),
        uses=lambda alg, v: [Use(premise, {n: v[m] for n, m in inputs.items()})],
    )


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        (replace(WIDER, premises=()), "is none of the premises"),
        (used(GROWS, x="x", y="y"), "with x, y for x, y, z"),
        (used(replace(GROWS, expect=Status.REFUTED), x="x", y="y", z="z"), "claims nothing of all inputs"),
        (used(UNCHANGED, x="x"), "of other numbers"),
        (
            replace(WIDER, uses=lambda alg, v: [Use(GROWS, {"x": v["x"][0], "y": v["y"], "z": v["z"]})]),
            r"with x of shape \(\), not \(1,\)",
        ),
        (
            replace(WIDER, uses=lambda alg, v: [Use(GROWS, {"x": v["x"][None], "y": v["y"], "z": v["z"]})]),
            "instances",
        ),
    ],
)
def test_a_use_that_is_no_instance_is_an_error(goal: Entailment, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        decide(deduction(goal), SOLVE)


def test_an_identity_of_a_ring_says_nothing_of_encodings() -> None:
    ring = Obligation("test/ring", "", lambda: RingProperty(numbers("x"), unchanged), equality=Equality.VALUE)
    goal = Entailment((ring.id,), ROW, lambda alg, v: [Use(ring, {"x": v["row"][:1]})])
    with pytest.raises(NoInstanceError, match="of other numbers"):
        decide(deduction(goal), SOLVE)


# -- integers
@given(st.integers(), st.integers(), st.integers(0, 70), st.integers(1, 2**70))
def test_terms_are_what_python_computes(x: int, y: int, places: int, divisor: int) -> None:
    terms = integer_variables({"x": (1,), "y": (1,)})
    alg, term_alg = IntegerAlgebra(), IntegerTermAlgebra()
    array = {name: np.array([value], dtype=object) for name, value in (("x", x), ("y", y))}
    mask = (1 << places) - 1

    def results(v: Any) -> list[Any]:
        a, b = v["x"], v["y"]
        return [
            a + b,
            a - b,
            3 - a,
            -a,
            a * b,
            a >> places,
            a << places,
            a & mask,
            a & ~mask,
            a // divisor,
            a % divisor,
        ]

    from z3 import Int, IntVal

    given_values = [(Int("x_0"), IntVal(x)), (Int("y_0"), IntVal(y))]
    for term, value in zip(results(terms), results(array), strict=True):
        assert z3.simplify(z3.substitute(term[0].term, *given_values)).as_long() == value[0]
    less = z3.simplify(z3.substitute(term_alg.below(terms["x"], terms["y"])[0], *given_values))
    assert bool(less) is bool(alg.below(array["x"], array["y"])[0])
