"""Claims about real numbers, decided goal by goal: each may use what was shown before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..smt.solvers import Answer, Query
from .methods import COUNTEREXAMPLE
from .obligation import EmptyClaimError, Obligation, RealProperty, RefutableProperty, Status
from .replay import Counterexample, Difference
from .verdict import Verdict


def decide_over_reals(
    obligation: Obligation, prop: RealProperty, solve: Callable[[Query], Answer]
) -> Verdict:
    """Decide whether a claim follows from what is known; if not, that is unknown, unless values refute it."""
    if obligation.expect is Status.REFUTED and (found := refutation(obligation, prop)) is not None:
        return found
    label, answer = last_answer(prop, solve)
    if answer.status == "unsat":
        return Verdict(obligation.id, Status.PROVED, answer.solver, cached=answer.cached, method=answer.names)
    if (found := refutation(obligation, prop)) is not None:
        return found
    if answer.status == "sat":  # no solver is named, since none would answer otherwise
        return Verdict(
            obligation.id, Status.UNKNOWN, "", message=f"{label}: it does not follow from what is known"
        )
    return Verdict(obligation.id, Status.UNKNOWN, answer.solver, message=f"{label}: {answer.message}")


def refutation(obligation: Obligation, prop: RealProperty) -> Verdict | None:
    """Return the verdict that values refute a claim; None where none of those that are tried do."""
    found = counterexample_of(obligation, prop)
    if found is None:
        return None
    return Verdict(obligation.id, Status.REFUTED, "python", counterexample=found, method=COUNTEREXAMPLE)


def counterexample_of(obligation: Obligation, prop: RealProperty) -> Counterexample | None:
    """Return values at which a claim is false, if it has such."""
    found = prop.refuting() if isinstance(prop, RefutableProperty) else None
    if found is None or not isinstance(prop, RefutableProperty):
        return None
    values, (left, right) = found
    at = ", ".join(f"{name} = {value}" for name, value in values.items())
    return Counterexample(obligation.id, {}, Difference(at, (), left, right))


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
