"""Claims about real numbers and integers, decided by solvers on terms of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import z3

from ..smt.integers import IntegerTermAlgebra, integer_variables
from ..smt.solvers import Answer, Query
from ..spec.algebra import Array
from .obligation import EmptyClaimError, IntegerProperty, Obligation, RealProperty, RefutableProperty, Status
from .replay import Counterexample, Difference
from .ring_claims import difference_at, documented, numbers_that_refute
from .verdict import COUNTEREXAMPLE, Verdict


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
    known = {assumption.get_id(): assumption for assumption in claim.assumptions}
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


def integer_formula(prop: IntegerProperty, opaque: bool) -> tuple[list[Any], list[Any]]:
    """Return assumptions and goals as Z3 terms; see `integer_variables` for `opaque`.

    Raises
    ------
    EmptyClaimError
        If there is no goal.
    """
    alg: Any = IntegerTermAlgebra()
    numbers = integer_variables({v.name: v.shape for v in prop.variables}, opaque)
    assumptions = [number.term >= 0 for array in numbers.values() for number in array.flat]
    inputs = {**numbers, **prop.concrete}
    for condition in prop.assuming(alg, inputs) if prop.assuming else ():
        assumptions.extend(np.asarray(condition, dtype=object).flat)
    goals = []
    for equation in prop.claim(alg, inputs):
        where = np.asarray(True if equation.where is None else equation.where, dtype=object)
        pairs = np.broadcast_arrays(where, alg.same(equation.left, equation.right))
        goals += [
            z3.Implies(condition, equal) for condition, equal in zip(*map(np.ravel, pairs), strict=True)
        ]
    if not goals:
        raise EmptyClaimError
    return assumptions, goals


def decide_over_integers(
    obligation: Obligation, prop: IntegerProperty, solve: Callable[[Query], Answer]
) -> Verdict:
    """Decide a claim: whatever products, quotients and remainders are first, then as they are.

    A model of the former need not be numbers that refute it; those of it and some others are tried.
    """
    answer = follows(*integer_formula(prop, opaque=True), solve)
    if answer.status != "unsat":
        found = _refuting(obligation, prop, answer) or numbers_that_refute(obligation, prop)
        if found is not None:
            return Verdict(
                obligation.id, Status.REFUTED, "numpy", counterexample=found, method=COUNTEREXAMPLE
            )
        answer = follows(*integer_formula(prop, opaque=False), solve)
    if answer.status == "unsat":
        return Verdict(obligation.id, Status.PROVED, answer.solver, cached=answer.cached, method=answer.names)
    if answer.status == "unknown":
        return Verdict(obligation.id, Status.UNKNOWN, answer.solver, message=answer.message)
    found = _refuting(obligation, prop, answer)
    if found is None:
        message = "defect of mmaproof: the counterexample does not replay with Python's integers"
        return Verdict(obligation.id, Status.ERROR, answer.solver, message=message)
    return Verdict(obligation.id, Status.REFUTED, answer.solver, counterexample=found, method=answer.names)


def follows(assumptions: list[Any], goals: list[Any], solve: Callable[[Query], Answer]) -> Answer:
    """Return the answer to whether each goal follows: ``unsat`` if all do, else that of the first."""
    cached = True
    for goal in goals:
        answer = solve(replace(Query.negating(assumptions, [goal]), of_integers=True))
        cached = cached and answer.cached
        if answer.status != "unsat":
            return answer
    return replace(answer, cached=cached)


def _refuting(obligation: Obligation, prop: IntegerProperty, answer: Answer) -> Counterexample | None:
    """Return the counterexample that a model is, if it is one; what divides by 0 refutes nothing."""
    numbers = _numbers(prop, answer.model)
    try:
        different = difference_at(prop, numbers, obligation.equality)
    except ZeroDivisionError:
        return None
    if different is None:
        return None
    return Counterexample(obligation.id, {name: documented(a) for name, a in numbers.items()}, different)


def _numbers(prop: IntegerProperty, model: Mapping[str, int]) -> dict[str, Array]:
    """Read the variables from a model; what it leaves out is 0."""
    numbers = {}
    for v in prop.variables:
        numbers[v.name] = np.empty(v.shape, dtype=object)
        for index in np.ndindex(v.shape):
            numbers[v.name][index] = model.get("_".join([v.name, *map(str, index)]), 0)
    return numbers
