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
    ValueError
        If a goal needs what is neither assumed nor shown.
    """
    claim = prop.claim()
    if not claim.goals:
        raise EmptyClaimError
    known = {each.get_id(): each for each in claim.assumptions}
    cached, label = True, ""
    for goal in claim.goals:
        label = goal.label
        needs = known if goal.needs is None else {each.get_id(): each for each in goal.needs}
        if not needs.keys() <= known.keys():
            raise ValueError(f"{label}: it needs what is neither assumed nor shown")
        answer = solve(replace(Query.negating(list(needs.values()), [goal.condition]), of_integers=True))
        cached = cached and answer.cached
        if answer.status != "unsat":
            break
        known[goal.condition.get_id()] = goal.condition
    return label, replace(answer, cached=cached)


def whole_query(prop: RealProperty) -> Query:
    """Return the query of all goals together."""
    claim = prop.claim()
    return replace(
        Query.negating(claim.assumptions, [goal.condition for goal in claim.goals]), of_integers=True
    )
