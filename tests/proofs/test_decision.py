"""Deciding one obligation: which answers become which verdicts, and that no answer is taken on trust."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import toy_theorems as toy
import z3
from theorem_checks import SOLVE, decided, judged

from mmaproof.proofs.decision import decide, formula
from mmaproof.proofs.obligation import (
    RN,
    Certificate,
    Deduction,
    Equality,
    Equation,
    Goal,
    Inputs,
    Method,
    Obligation,
    Property,
    RingProperty,
    Status,
    Variable,
    holds,
)
from mmaproof.smt.solvers import Answer, Query
from mmaproof.smt.z3_algebra import Z3Algebra
from mmaproof.spec.algebra import Algebra, Array, Operand
from mmaproof.spec.formats import BF16, F32, U8, U32, UE4M3
from mmaproof.spec.rounding import Rounding


class Recorded:
    """A solver that always gives one answer and remembers what it was asked."""

    def __init__(self, status: Any, model: dict[str, int] | None = None, message: str = "") -> None:
        self.answer = Answer(status, "stub 0", model or {}, message=message)
        self.queries: list[Query] = []

    def __call__(self, query: Query) -> Answer:
        self.queries.append(query)
        return self.answer


def never(query: Query) -> Answer:
    raise AssertionError("no solver is needed here")


def one_value(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    """x differs from one value that sampling does not meet."""
    yield holds(alg, ~alg.same(v["x"], alg.constant(0x12345678, U32)), "not the value")


RARE = Obligation(
    "test/rare", "", lambda: Property((Variable("x", U32),), one_value, abstract=False)
)  # refuted by one encoding of 2**32


def test_what_a_solver_finds_is_replayed() -> None:
    verdict = decided(RARE)
    assert verdict.status is Status.REFUTED
    assert verdict.counterexample is not None and verdict.counterexample.replays
    assert verdict.counterexample.inputs["x"]["bits"] == ["0x12345678"]
    assert verdict.solver.startswith("z3 ")


@pytest.mark.parametrize("model", [{"x": 0x12345679}, {}], ids=["wrong", "empty"])
def test_a_counterexample_that_does_not_replay_is_a_defect(model: dict[str, int]) -> None:
    verdict = decide(RARE, Recorded("sat", model))
    assert verdict.status is Status.ERROR
    assert verdict.message == "defect of mmaproof: the counterexample does not replay with numpy"
    assert verdict.counterexample is not None and not verdict.counterexample.replays


def test_what_a_model_leaves_out_is_zero() -> None:
    verdict = decide(replace(toy.FALSE, goal=unabstract(toy.FALSE)), Recorded("sat", {"y_0": 3}))
    assert verdict.status is Status.REFUTED
    assert verdict.counterexample is not None
    inputs = verdict.counterexample.inputs
    assert (inputs["x"]["bits"], inputs["y"]["bits"]) == (["0x00", "0x00"], ["0x03"])


def unabstract(obligation: Obligation) -> Callable[[], Property]:
    prop = obligation.goal()
    assert isinstance(prop, Property)
    return lambda: replace(prop, abstract=False)


def test_an_undecided_query_is_unknown_with_the_solver_s_reason() -> None:
    verdict = decide(RARE, Recorded("unknown", message="timeout after 1 s"))
    assert (verdict.status, verdict.solver, verdict.message) == (
        Status.UNKNOWN,
        "stub 0",
        "timeout after 1 s",
    )


def test_what_a_solver_can_t_decide_sampling_may_refute() -> None:
    verdict = decide(replace(toy.FALSE, goal=unabstract(toy.FALSE)), Recorded("unknown"))
    assert (verdict.status, verdict.solver) == (Status.REFUTED, "numpy")
    assert verdict.counterexample is not None and verdict.counterexample.replays


def test_what_rewriting_proves_asks_no_solver() -> None:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(alg.where(alg.same(v["x"], v["x"]), v["x"], v["y"]), v["x"], U8)

    goal = Property((Variable("x", U8, (3,)), Variable("y", U8, (1,))), claim)
    verdict = decide(Obligation("test/trivial", "", lambda: goal), never)
    assert (verdict.status, verdict.solver) == (Status.PROVED, "normal form")


def test_unsatisfiable_is_proved() -> None:
    asked = Recorded("unsat")
    assert decide(RARE, asked).status is Status.PROVED
    assert len(asked.queries) == 1


# -- uninterpreted operations first


def _distributes(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    """True of multiplication, not of every function."""
    x, y = alg.integer(v["x"], U8), alg.integer(v["y"], U8)
    yield Equation(alg.wrap((x + alg.whole(1)) * y, U8), alg.wrap(x * y + y, U8), U8)


DISTRIBUTES = Property((Variable("x", U8), Variable("y", U8)), _distributes)


def test_what_fails_for_uninterpreted_products_is_decided_exactly() -> None:
    assert judged(DISTRIBUTES).status is Status.PROVED


def test_an_uninterpreted_counterexample_is_not_trusted() -> None:
    """Both algebras answer sat with a model that fits neither: only the exact one's answer counts."""
    asked = Recorded("sat", {"x": 7})
    verdict = decide(Obligation("test/product", "", lambda: DISTRIBUTES), asked)
    assert verdict.status is Status.ERROR
    assert len(asked.queries) == 2


# -- expected refutations


def test_a_pinned_counterexample_needs_no_solver() -> None:
    verdict = decide(toy.PINNED, never)
    assert (verdict.status, verdict.solver) == (Status.REFUTED, "numpy")
    assert verdict.counterexample is not None
    assert verdict.counterexample.inputs["x"]["bits"] == ["0xff", "0x00"]


def test_a_pinned_counterexample_that_falsifies_nothing_is_passed_over() -> None:
    prop = toy.PINNED.goal()
    assert isinstance(prop, Property)
    unhelpful = replace(toy.PINNED, goal=lambda: replace(prop, pinned={"x": 1, "y": 0}))
    verdict = decided(unhelpful)
    assert verdict.status is Status.REFUTED
    assert verdict.counterexample is not None and verdict.counterexample.replays
    assert verdict.counterexample.inputs["y"]["bits"] != ["0x00"]

    commuting = toy.COMMUTES.goal()
    assert isinstance(commuting, Property)
    hopeful = replace(
        toy.COMMUTES, expect=Status.REFUTED, goal=lambda: replace(commuting, pinned={"x": 1, "y": 2})
    )
    assert decided(hopeful).status is Status.PROVED


def test_an_expected_refutation_is_sampled_before_a_solver_is_asked() -> None:
    verdict = decide(replace(toy.FALSE, expect=Status.REFUTED), never)
    assert (verdict.status, verdict.solver) == (Status.REFUTED, "numpy")


def test_an_expected_refutation_that_sampling_misses_goes_to_the_solver() -> None:
    assert decided(replace(RARE, expect=Status.REFUTED)).status is Status.REFUTED


# -- other goals


def certificate(check: Callable[[], str | None], witness: Obligation) -> Obligation:
    prop = witness.goal()
    assert isinstance(prop, Property)
    return Obligation("test/certificate", "", lambda: Certificate(check, 1, prop))


def test_a_certificate_needs_both_witnesses() -> None:
    verdict = decided(certificate(lambda: None, toy.COMMUTES))
    assert verdict.status is Status.PROVED
    assert verdict.solver.startswith("numpy, ")


def test_a_certificate_with_a_failing_point_is_refuted() -> None:
    obligation = certificate(lambda: "x = 3 fails", toy.COMMUTES)
    verdict = decide(obligation, never)
    assert (verdict.status, verdict.message) == (Status.REFUTED, "x = 3 fails")


def test_witnesses_that_disagree_are_a_defect() -> None:
    verdict = decided(certificate(lambda: None, toy.FALSE))
    assert verdict.status is Status.ERROR
    assert verdict.message.startswith("defect of mmaproof: numpy's enumeration holds, ")


def test_a_certificate_whose_second_witness_is_undecided_is_unknown() -> None:
    verdict = decide(certificate(lambda: None, RARE), Recorded("unknown"))
    assert verdict.status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("known", "status"),
    [
        ({"base": Status.PROVED, "step": Status.PROVED}, Status.PROVED),
        ({"base": Status.PROVED, "step": Status.REFUTED}, Status.UNKNOWN),
        ({"base": Status.PROVED, "step": Status.UNKNOWN}, Status.UNKNOWN),
        ({"base": Status.PROVED, "step": Status.ERROR}, Status.UNKNOWN),
        ({"base": Status.PROVED}, Status.UNKNOWN),
        (None, Status.UNKNOWN),
    ],
)
def test_an_induction_rests_on_all_its_premises(known: dict[str, Status] | None, status: Status) -> None:
    goal = Deduction(("base", "step"))
    verdict = decide(Obligation("test/induction", "", lambda: goal), never, known)
    assert verdict.status is status
    if status is not Status.PROVED:
        missing = [name for name in goal.premises if (known or {}).get(name) is not Status.PROVED]
        assert verdict.message == f"premise not proved: {', '.join(missing)}"


def test_a_ring_identity_and_its_failure() -> None:
    verdict = decide(toy.IN_RING, never)
    assert (verdict.status, verdict.solver) == (Status.REFUTED, "sympy")
    goal = toy.IN_RING.goal()
    commutes = replace(toy.IN_RING, goal=lambda: replace(goal, claim=toy._sum))
    assert decide(commutes, never).status is Status.PROVED


# -- claims that say nothing


def nothing(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    """Yield no equation."""
    yield from ()


def of_no_element(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    """Compare the elements of an empty slice."""
    yield Equation(v["x"][..., :0], v["x"][..., :0], U8, label="empty")


BYTE = (Variable("x", U8, (1,)),)


@pytest.mark.parametrize("method", [Method.SMT, Method.STRUCTURAL])
@pytest.mark.parametrize("expect", [Status.PROVED, Status.REFUTED])
@pytest.mark.parametrize(
    "goal",
    [
        goal(claim)
        for claim in (nothing, of_no_element)
        for goal in (
            lambda claim: Property(BYTE, claim),
            lambda claim: Property(BYTE, claim, abstract=False),
            lambda claim: RingProperty(BYTE, claim),
            lambda claim: Certificate(lambda: None, 1, Property(BYTE, claim)),
        )
    ],
)
def test_a_claim_without_an_equation_is_a_defect(goal: Goal, expect: Status, method: Method) -> None:
    verdict = decide(Obligation("test/empty", "", lambda: goal, expect, method=method), never)
    assert verdict.status is Status.ERROR
    assert verdict.message == "defect of mmaproof: the claim has no equation, so nothing would be proved"


def test_a_certificate_without_a_point_is_a_defect() -> None:
    witness = toy.COMMUTES.goal()
    assert isinstance(witness, Property)
    empty = Obligation("test/empty", "", lambda: Certificate(lambda: None, 0, witness))
    assert decided(empty).status is Status.ERROR


# -- conditions and assumptions


def conditional(condition: Callable[[Algebra, Inputs], Array], holds_if: int) -> Property:
    """Claim, under a condition on the two flags, that a choice by the flags is `holds_if`."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        flags = alg.flags(v["flags"], 2)
        both = flags[..., 0] & flags[..., 1]
        chosen = alg.where(both, alg.constant(1, U8), alg.constant(0, U8))
        yield Equation(chosen, alg.constant(holds_if, U8), U8, condition(alg, v), "chosen")

    return Property((Variable("flags", U8),), claim)


def _flag(alg: Algebra, v: Inputs, index: int) -> Array:
    return alg.flags(v["flags"], 2)[..., index]


CASES: list[tuple[str, Callable[[Algebra, Inputs], Array], list[int]]] = [
    ("first", lambda alg, v: _flag(alg, v, 0), []),
    ("not-first", lambda alg, v: ~_flag(alg, v, 0), [0]),
    ("both", lambda alg, v: _flag(alg, v, 0) & _flag(alg, v, 1), [1]),
    ("not-both", lambda alg, v: ~(_flag(alg, v, 0) & _flag(alg, v, 1)), [0]),
    ("neither", lambda alg, v: ~_flag(alg, v, 0) & ~_flag(alg, v, 1), [0]),
    ("either", lambda alg, v: _flag(alg, v, 0) | _flag(alg, v, 1), []),
    ("never", lambda alg, v: _flag(alg, v, 0) & ~_flag(alg, v, 0), [0, 1]),
]


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize(("name", "condition", "true_of"), CASES, ids=[case[0] for case in CASES])
def test_an_equation_is_claimed_only_where_its_condition_holds(
    name: str, condition: Callable[[Algebra, Inputs], Array], true_of: list[int], value: int
) -> None:
    verdict = judged(conditional(condition, value))
    assert verdict.status is (Status.PROVED if value in true_of else Status.REFUTED)
    if verdict.counterexample is not None:
        assert verdict.counterexample.replays


@pytest.mark.parametrize(("name", "condition", "true_of"), CASES, ids=[case[0] for case in CASES])
def test_simplifying_under_a_condition_keeps_the_meaning(
    name: str, condition: Callable[[Algebra, Inputs], Array], true_of: list[int]
) -> None:
    prop = conditional(condition, 1)
    _, (goal,), inputs = formula(prop, Z3Algebra(), Equality.BITS)
    (equation,) = prop.claim(Z3Algebra(), inputs)
    where, left, right = (
        np.asarray(part, dtype=object).item() for part in (equation.where, equation.left, equation.right)
    )
    plain = z3.Implies(where, left == right)
    solver = z3.Solver()
    solver.add(goal != plain)
    assert solver.check() == z3.unsat


def test_assumptions_restrict_what_is_claimed() -> None:
    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield ~alg.same(v["x"], alg.constant(0x12345678, U32))

    assert judged(Property((Variable("x", U32),), one_value, assuming)).status is Status.PROVED


@pytest.mark.parametrize(
    ("equality", "status"), [(Equality.BITS, Status.REFUTED), (Equality.IEEE, Status.PROVED)]
)
def test_zeros_of_either_sign_are_equal_as_numbers_only(equality: Equality, status: Status) -> None:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(v["x"], alg.negate(Operand(v["x"], BF16)), BF16)

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield alg.is_zero(Operand(v["x"], BF16))

    goal = Property((Variable("x", BF16),), claim, assuming)
    assert decide(Obligation("test/zero", "", lambda: goal, equality=equality), SOLVE).status is status


def test_a_direction_is_quantified_like_any_input() -> None:
    """x - x is -0 in one direction alone, which the counterexample names."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x = Operand(v["x"], F32)
        difference = alg.fused(F32, v["rounding"], [], [x, Operand(alg.negate(x), F32)])
        yield Equation(difference, alg.constant(0, F32), F32)

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield ~(alg.is_nan(Operand(v["x"], F32)) | alg.is_infinite(Operand(v["x"], F32)))

    verdict = judged(Property((Variable("x", F32), Variable("rounding", RN)), claim, assuming))
    assert verdict.status is Status.REFUTED
    assert verdict.counterexample is not None
    assert int(verdict.counterexample.inputs["rounding"]["bits"][0], 16) == Rounding.DOWNWARD.value


def test_what_has_no_symbolic_term_is_left_to_sampling() -> None:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x = Operand(v["x"], F32)
        rounded = Operand(alg.fused(UE4M3, Rounding.TOWARD_ZERO, [], [x]), UE4M3)
        yield Equation(rounded.bits, rounded.bits, UE4M3)

    verdict = decide(
        Obligation("test/narrow", "", lambda: Property((Variable("x", F32),), claim, abstract=False)), never
    )
    assert verdict.status is Status.UNKNOWN
    assert verdict.message == "rounding to ue4m3, which has no sign, has no symbolic encoding"
    assert np.isfinite(verdict.seconds)
