"""Deciding theorems in tests: expected verdicts, assumptions that can be met, mutants."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import z3

from mmaproof.proofs.decision import decide, formula
from mmaproof.proofs.obligation import (
    Certificate,
    Equality,
    Goal,
    Induction,
    Obligation,
    Property,
    RingProperty,
    Status,
    Theorem,
)
from mmaproof.proofs.verdict import Verdict
from mmaproof.smt.solvers import solve_with_z3
from mmaproof.smt.z3_algebra import Z3Algebra

SOLVE = partial(solve_with_z3, timeout=120)


def decided(obligation: Obligation) -> Verdict:
    """Decide an obligation that has no premises."""
    return decide(obligation, SOLVE)


def judged(goal: Goal) -> Verdict:
    """Decide a goal that is in no catalogue."""
    return decided(Obligation("test/goal", "", lambda: goal))


def unexpected(theorems: Iterable[Theorem]) -> dict[str, str]:
    """Decide theorems in order; return what did not come out as expected, with the message."""
    known: dict[str, Status] = {}
    wrong = {}
    for theorem in theorems:
        for obligation in theorem.obligations():
            verdict = decide(obligation, SOLVE, known)
            known[obligation.id] = verdict.status
            if verdict.status is not obligation.expect:
                wrong[obligation.id] = f"{verdict.status}: {verdict.message}"
            elif verdict.status is Status.REFUTED:
                assert verdict.counterexample is not None and verdict.counterexample.replays
    return wrong


def vacuous(theorems: Iterable[Theorem]) -> list[str]:
    """Return the ids of obligations whose assumptions nothing meets, or that claim nothing."""
    found = []
    for theorem in theorems:
        for obligation in theorem.obligations():
            goal = obligation.goal()
            prop = goal.witness if isinstance(goal, Certificate) else goal
            if isinstance(prop, Induction | RingProperty):
                continue
            assert isinstance(prop, Property)
            assumptions, goals, _ = formula(prop, Z3Algebra(), Equality.BITS)
            solver = z3.Solver()
            solver.add(*assumptions)
            if solver.check() != z3.sat or not goals:
                found.append(obligation.id)
    return found
