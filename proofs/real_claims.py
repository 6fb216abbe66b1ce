"""Claims about real numbers, decided goal by goal: each may use what was shown before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..smt.solvers import Answer, Query
from .obligation import EmptyClaimError, Obligation, RealProperty, Status
from .verdict import Verdict


def decide_over_reals(
    obligation: Obligation, prop: RealProperty, solve: Callable[[Query], Answer]
) -> Verdict:
    """Decide whether a claim follows from what is known; if not, that is unknown, not refuted."""
    label, answer = last_answer(prop, solve)
    if answer.status == "unsat":
        return Verdict(obligation.id, Status.PROVED, answer.solver, cached=answer.cached, method=answer.names)
    if answer.status == "sat":  # no solver is named, since none would answer otherwise
        return Verdict(
            obligation.id, Status.UNKNOWN, "", message=f"{label}: it does not follow from what is known"
        )
    return Verdict(obligation.id, Status.UNKNOWN, answer.solver, message=f"{label}: {answer.message}")


def last_answer(prop: RealProperty, solve: Callable[[Query], Answer]) -> tuple[str, Answer]:
    """Return the answer about the first goal that does not follow, or about the last, and the goal's label.

    Raises
    ------
    EmptyClaimError
        If there is no goal.
    """
    claim = prop.claim()
    if not claim.goals:
        raise EmptyClaimError
    known, cached, label = list(claim.assumptions), True, ""
    for name, goal in claim.goals:
        label = name
        answer = solve(replace(Query.negating(known, [goal]), of_integers=True))
        cached = cached and answer.cached
        if answer.status != "unsat":
            break
        known.append(goal)
    return label, replace(answer, cached=cached)


def whole_query(prop: RealProperty) -> Query:
    """Return the query of all goals together."""
    claim = prop.claim()
    return replace(Query.negating(claim.assumptions, [goal for _, goal in claim.goals]), of_integers=True)
