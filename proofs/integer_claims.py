"""Claims over the integers: decided by solvers on terms of them, refuted by numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import z3

from ..smt.integers import IntegerTermAlgebra, integer_variables
from ..smt.solvers import Answer, Query
from ..spec.algebra import Array
from .methods import COUNTEREXAMPLE
from .obligation import EmptyClaimError, IntegerProperty, Obligation, Status
from .replay import Counterexample
from .ring_claims import difference_at, documented, numbers_that_refute
from .verdict import Verdict


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
