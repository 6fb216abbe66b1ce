"""Deciding theorems in tests: expected verdicts, assumptions that can be met, mutants."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import z3

from mmaproof.proofs import catalogue
from mmaproof.proofs.decision import decide, formula
from mmaproof.proofs.obligation import (
    Certificate,
    Deduction,
    Equality,
    Equation,
    Goal,
    Inputs,
    Obligation,
    Property,
    RingProperty,
    Status,
    Theorem,
)
from mmaproof.proofs.runner import Settings, run
from mmaproof.proofs.verdict import Verdict
from mmaproof.smt.solvers import solve_with_z3
from mmaproof.smt.z3_algebra import Z3Algebra
from mmaproof.spec.algebra import Algebra

TIMEOUT = 120
"""Seconds of a query."""

SOLVE = partial(solve_with_z3, timeout=TIMEOUT)


def decided(obligation: Obligation) -> Verdict:
    """Decide an obligation that has no premises."""
    return decide(obligation, SOLVE)


def judged(goal: Goal) -> Verdict:
    """Decide a goal that is in no catalogue."""
    return decided(Obligation("test/goal", "", lambda: goal))


def settings() -> Settings:
    """Decide in this process; what ``$MMAPROOF_CACHE`` holds of the same code is not decided again.

    In CI these are the verdicts of ``mmaproof check``, which has just decided the whole catalogue anew.
    """
    kept = os.environ.get("MMAPROOF_CACHE")
    return Settings(jobs=0, timeout=TIMEOUT, cache=Path(kept) if kept else None)


def unexpected(theorems: Iterable[Theorem]) -> dict[str, str]:
    """Decide theorems; return what did not come out as expected, with the message.

    Of those in the catalogue, the catalogue's own obligations are decided: the cache knows only these.
    """
    built = (obligation for theorem in theorems for obligation in theorem.obligations())
    obligations = [catalogue.obligations().get(each.id, each) for each in built]
    wrong = {}
    for obligation, verdict in zip(obligations, run(obligations, settings()), strict=True):
        if verdict.status is not obligation.expect:
            wrong[obligation.id] = f"{verdict.status}: {verdict.message}"
        elif verdict.status is Status.REFUTED:
            assert verdict.counterexample is not None and verdict.counterexample.replays
    return wrong


def vacuous(theorems: Iterable[Theorem]) -> list[str]:
    """Return the ids of obligations whose assumptions nothing meets.

    One that claims nothing is an error to `decide`, and so among the `unexpected`.
    """
    found = []
    for theorem in theorems:
        for obligation in theorem.obligations():
            goal = obligation.goal()
            prop = goal.witness if isinstance(goal, Certificate) else goal
            if prop is None or isinstance(prop, Deduction | RingProperty):
                continue
            assert isinstance(prop, Property)
            if prop.assuming is None:
                continue
            assumptions, _, _ = formula(replace(prop, claim=_nothing), Z3Algebra(), Equality.BITS)
            solver = z3.Solver()
            solver.add(*assumptions)
            if solver.check() != z3.sat:
                found.append(obligation.id)
    return found


def _nothing(alg: Algebra, inputs: Inputs) -> Iterator[Equation]:
    yield from ()
