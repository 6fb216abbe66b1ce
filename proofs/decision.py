"""Decide one obligation: normal forms, uninterpreted operations, exact theories, enumeration, replay."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import z3

from ..smt.bit_origins import BitOrigins
from ..smt.float_terms import SymbolicRounding
from ..smt.number_algebra import NumberAlgebra
from ..smt.solvers import Answer, Query
from ..smt.z3_algebra import Z3Algebra, variable
from ..spec.algebra import Array
from ..spec.errors import UnsupportedError
from .induction import decide_from_premises
from .instances import Entailment, implication
from .obligation import (
    RN,
    Certificate,
    Deduction,
    EmptyClaimError,
    Equality,
    IntegerProperty,
    Method,
    Obligation,
    Property,
    RealProperty,
    RingProperty,
    Status,
    Variable,
)
from .real_claims import decide_over_integers, decide_over_reals
from .replay import Counterexample, Difference, counterexample, pinned_encodings, search
from .ring_claims import decide_in_ring
from .verdict import BIT_ORIGINS, COMPARISON, COUNTEREXAMPLE, DEDUCTION, ENUMERATION, NORMAL_FORM, Verdict

Solve = Callable[[Query], Answer]
"""Asks a solver (or several, or the cache) about a query."""


def formula(
    prop: Property, alg: Z3Algebra, equality: Equality, naive: bool = False
) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Return a property's assumptions, its goals and its variables as Z3 terms.

    A goal is one scalar equation; the condition of an equation is replaced by true inside it, which
    lets both sides of a masked element become the same term. With `naive` it is not.
    """
    inputs: dict[str, Any] = {v.name: _input(v) for v in prop.variables}
    assumptions: list[Any] = []
    for condition in prop.assuming(alg, inputs) if prop.assuming else ():
        assumptions.extend(np.asarray(condition, dtype=object).flat)
    goals = []
    for equation in prop.claim(alg, inputs):
        truth = equation.truth(alg, equality)
        where = np.asarray(True if equation.where is None else equation.where, dtype=object)
        for condition, equal in zip(*map(np.ravel, np.broadcast_arrays(where, truth)), strict=True):
            goals.append(_under(condition, equal, naive))
    return assumptions, goals, inputs


def _input(v: Variable) -> Any:
    array = variable(v.name, v.shape, v.format)
    return SymbolicRounding(array[()]) if v.format == RN else array


def _under(condition: Any, equal: Any, naive: bool) -> Any:
    if condition is True or z3.is_true(condition):
        return equal
    if naive:
        return z3.Implies(condition, equal)
    facts = [(term, z3.BoolVal(truth)) for term, truth in _facts(condition, True)]
    return z3.Implies(condition, z3.substitute(equal, *facts))


def _facts(condition: Any, truth: bool) -> Iterator[tuple[Any, bool]]:
    """Yield the terms whose truth value a condition settles, itself included."""
    if z3.is_not(condition):
        yield from _facts(condition.arg(0), not truth)
        return
    yield condition, truth
    if z3.is_and(condition) if truth else z3.is_or(condition):
        for part in condition.children():
            yield from _facts(part, truth)


def query(prop: Property, alg: Z3Algebra, equality: Equality) -> Query:
    """Return the query whose unsatisfiability proves a property; trivially true goals are dropped.

    Raises
    ------
    EmptyClaimError
        If there is no goal at all.
    """
    assumptions, goals, _ = formula(prop, alg, equality)
    if not goals:
        raise EmptyClaimError
    open_goals = [goal for goal in goals if not z3.is_true(z3.simplify(goal))]
    return Query.negating(assumptions, open_goals)


def decide(
    obligation: Obligation,
    solve: Solve,
    known: Mapping[str, Status] | None = None,
    obligations: Mapping[str, Obligation] | None = None,
) -> Verdict:
    """Decide an obligation; a claim that says nothing is an error.

    Parameters
    ----------
    obligation : Obligation
        What to decide.
    solve : callable
        Answers SMT queries.
    known : mapping, optional
        Statuses of the premises of an induction; of an entailment it is decided whether it follows.
    obligations : mapping, optional
        The premises.
    """
    start = time.perf_counter()
    try:
        verdict = _decide(obligation, solve, known or {}, obligations or {})
    except EmptyClaimError as reason:
        verdict = Verdict(obligation.id, Status.ERROR, "", message=str(reason))
    return replace(verdict, seconds=time.perf_counter() - start)


def _decide(
    obligation: Obligation,
    solve: Solve,
    known: Mapping[str, Status],
    obligations: Mapping[str, Obligation],
) -> Verdict:
    goal = obligation.goal()
    match goal:
        case Property():
            return _decide_property(obligation, goal, solve)
        case IntegerProperty():
            return decide_over_integers(obligation, goal, solve)
        case RealProperty():
            return decide_over_reals(obligation, goal, solve)
        case RingProperty():
            return decide_in_ring(obligation, goal)
        case Certificate():
            return _decide_by_certificate(obligation, goal, solve)
        case Entailment():
            return _decide_entailment(obligation, goal, solve)
        case Deduction():
            return decide_from_premises(obligation, goal, known, obligations)


def _decide_entailment(obligation: Obligation, goal: Entailment, solve: Solve) -> Verdict:
    """Decide whether a conclusion follows from its premises, whatever the verdicts on these are."""
    implied = implication(goal)
    if isinstance(implied, IntegerProperty):
        verdict = decide_over_integers(obligation, implied, solve)
    else:
        verdict = _decide_property(obligation, implied, solve)
    return replace(verdict, method=DEDUCTION) if verdict.status is Status.PROVED else verdict


def _decide_property(obligation: Obligation, prop: Property, solve: Solve) -> Verdict:
    if (known := _expected_counterexample(obligation, prop)) is not None:
        return _refuted(obligation, prop, known)
    if obligation.method is Method.STRUCTURAL and only_moves_bits(prop, obligation.equality):
        return Verdict(obligation.id, Status.PROVED, BIT_ORIGINS, method=BIT_ORIGINS)
    answer = None
    for alg in ([NumberAlgebra()] if prop.abstract else []) + [Z3Algebra()]:
        abstract = isinstance(alg, NumberAlgebra)
        try:
            question = query(prop, alg, obligation.equality)
        except UnsupportedError as reason:
            answer = Answer("unknown", "", message=str(reason))
            break
        if question.trivial:
            return Verdict(obligation.id, Status.PROVED, NORMAL_FORM, method=NORMAL_FORM)
        if abstract and obligation.expect is Status.REFUTED:
            continue
        answer = solve(question)
        if answer.status == "unsat":
            return Verdict(
                obligation.id, Status.PROVED, answer.solver, cached=answer.cached, method=answer.names
            )
        if abstract:
            if (found := search(prop, obligation.equality)) is not None:
                return _refuted(obligation, prop, found)
        elif answer.status == "sat":
            model = assignment_of(prop, answer.model)
            return _refuted(obligation, prop, model, answer.solver, answer.names)
    if (found := search(prop, obligation.equality, seed=1)) is not None:
        return _refuted(obligation, prop, found)
    assert answer is not None
    return Verdict(obligation.id, Status.UNKNOWN, answer.solver, message=answer.message or "no answer")


def _expected_counterexample(obligation: Obligation, prop: Property) -> Mapping[str, Array] | None:
    """Return the pinned counterexample if it replays; where a refutation is expected, else a sampled one."""
    if prop.pinned is not None:
        pinned = pinned_encodings(prop, prop.pinned)
        if counterexample(obligation.id, prop, pinned, obligation.equality).replays:
            return pinned
    return search(prop, obligation.equality) if obligation.expect is Status.REFUTED else None


def only_moves_bits(prop: Property, equality: Equality) -> bool:
    """Tell whether a claim does nothing but move bits, and holds; False where it computes."""
    alg = BitOrigins()
    if prop.assuming is not None:
        return False
    inputs = {v.name: alg.variable(v.shape, v.format) for v in prop.variables}
    compared = 0
    try:
        for equation in prop.claim(alg, inputs):
            truth = equation.truth(alg, equality)
            if equation.where is not None or not truth.all():
                return False
            compared += truth.size
    except UnsupportedError:
        return False
    if not compared:
        raise EmptyClaimError
    return True


def assignment_of(prop: Property, model: Mapping[str, int]) -> dict[str, Array]:
    """Read the variables of a property from a model; what the model leaves out is 0."""
    encodings = {}
    for v in prop.variables:
        array = np.zeros(v.shape, dtype=v.format.storage)
        for index in np.ndindex(v.shape):
            array[index] = model.get("_".join([v.name, *map(str, index)]), 0)
        encodings[v.name] = array
    return encodings


def _refuted(
    obligation: Obligation,
    prop: Property,
    encodings: Mapping[str, Array],
    solver: str = "numpy",
    method: str = COUNTEREXAMPLE,
) -> Verdict:
    found = counterexample(obligation.id, prop, encodings, obligation.equality)
    if not found.replays:
        message = "defect of mmaproof: the counterexample does not replay with numpy"
        return Verdict(obligation.id, Status.ERROR, solver, message=message, counterexample=found)
    return Verdict(obligation.id, Status.REFUTED, solver, counterexample=found, method=method)


def _decide_by_certificate(obligation: Obligation, goal: Certificate, solve: Solve) -> Verdict:
    if not goal.points:
        raise EmptyClaimError
    wrong = goal.check()
    method = COMPARISON if goal.stated else ENUMERATION
    if wrong is not None:
        found = Counterexample(obligation.id, {}, Difference(wrong, (), "", ""))
        return Verdict(
            obligation.id, Status.REFUTED, "numpy", message=wrong, counterexample=found, method=method
        )
    if goal.witness is None:
        return Verdict(obligation.id, Status.PROVED, "numpy", method=method)
    second = _decide_property(obligation, goal.witness, solve)
    if second.status is Status.REFUTED:
        message = f"defect of mmaproof: numpy's enumeration holds, {second.solver} refutes it"
        return replace(second, status=Status.ERROR, message=message, method="")
    decided_by = method if second.status is Status.PROVED else ""
    return replace(second, solver=f"numpy, {second.solver}", method=decided_by, witness=second.method)
