"""Decide a proved obligation a second time, by other programs than the first time.

What rewriting proved goes to a solver in a naive translation (`naive_algebra`); what a solver proved goes to
another solver, in a naive translation too, and only where that is beyond it as it was asked. A second answer
that contradicts the first is an error, one that does not come is unknown.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import z3

from ..smt.euclidean_division import by_definition
from ..smt.naive_algebra import NaiveAlgebra, NaiveNumberAlgebra, RealAlgebra, real_variables
from ..smt.named_sums import with_named_addends, with_named_sums
from ..smt.number_algebra import NumberAlgebra
from ..smt.query_shape import shape
from ..smt.solvers import Answer, Query
from ..smt.z3_algebra import Z3Algebra
from ..spec.formats import FloatFormat
from .decision import Solve, assignment_of, formula, only_moves_bits
from .instances import Entailment, implication
from .obligation import (
    Certificate,
    Deduction,
    IntegerProperty,
    Method,
    Obligation,
    Property,
    RealProperty,
    RingProperty,
    Status,
)
from .real_claims import follows, integer_formula, last_answer
from .replay import counterexample
from .verdict import Verdict


class _ContradictedError(Exception):
    """A solver refutes what was proved."""


class _UnconfirmedError(Exception):
    """No solver confirmed what was proved."""


class Asking(NamedTuple):
    """Whom to ask.

    Attributes
    ----------
    quickly : callable
        Answers what is easy, and gives up soon.
    patiently : callable, optional
        Answers what that did not; by default nobody does, and nothing is taken apart.
    briefly : callable, optional
        Asked before; gives up sooner still, so that another solver or a part of the query has its turn.
    """

    quickly: Solve
    patiently: Solve | None = None
    briefly: Solve | None = None

    def of(self, query: Query) -> Answer:
        """Return the answer to a query of who gives up soon."""
        return _in_turn(query, self.briefly, self.quickly)

    def about(self, assumptions: list[Any], goals: list[Any]) -> Answer:
        """Return the answer to whether goals follow: of all together, or of each where that is too much.

        Of goals that are the same but for the names in them, one is asked about: who proves it for whatever
        the names stand for has proved the others.
        """
        together = Query.negating(assumptions, goals)
        if self.patiently is None:
            return self.of(together)
        answer = (self.briefly or self.quickly)(together)
        if answer.status != "unknown":
            return answer
        proved: set[str] = set()
        for goal in goals:
            one = Query.negating(assumptions, [goal])
            form = shape(one.smtlib())
            if form not in proved:
                answer = self._about_one(assumptions, goal, one, asked=len(goals) == 1)
                if answer.status != "unsat":
                    return answer
                proved.add(form)
        return answer

    def _about_one(self, assumptions: list[Any], goal: Any, one: Query, asked: bool) -> Answer:
        """Return the answer to whether a goal follows, with its sums by their names if that does.

        With `asked`, who gives up soonest has done so with this query.
        """

        def follows(equality: Any) -> bool:
            return self.of(Query.negating(assumptions, [equality])).status == "unsat"

        soon = self.briefly or self.quickly
        general = with_named_addends(goal, follows)
        if not general.eq(goal):
            answer = soon(Query.negating(assumptions, [general]))
            if answer.status == "unsat":
                return answer
        if not asked:
            answer = soon(one)
            if answer.status != "unknown":
                return answer
        general = with_named_sums(goal, follows)
        if not general.eq(goal):
            answer = self.of(Query.negating(assumptions, [general]))
            if answer.status == "unsat":
                return answer
        return _in_turn(one, self.quickly if self.briefly else None, self.patiently)


def _in_turn(query: Query, *solvers: Solve | None) -> Answer:
    """Return the first answer that is no ``unknown``, else the last."""
    answer = Answer("unknown", "", message="nobody was asked")
    for solver in solvers:
        if solver is not None and answer.status == "unknown":
            answer = solver(query)
    return answer


def recheck(obligation: Obligation, solve: Asking, naively: Asking, over_reals: Asking) -> Verdict:
    """Decide an obligation again that was proved.

    Parameters
    ----------
    obligation : Obligation
        What was proved, by rewriting or by a solver.
    solve : Asking
        For queries that a solver has answered; another one.
    naively : Asking
        For queries about what was rewritten; any solver.
    over_reals : Asking
        For queries of real numbers; any solver.

    Returns
    -------
    Verdict
        ``proved`` when every query is confirmed, ``unknown`` when an answer is missing, ``refuted`` when one
        contradicts.

    Raises
    ------
    UnsupportedError
        If there is no translation for a solver.
    """
    start = time.perf_counter()
    goal = obligation.goal()
    solvers: dict[str, None] = {}

    def noting(solver: Solve) -> Solve:
        def ask(query: Query) -> Answer:
            answer = solver(query)
            if answer.status != "unknown":
                solvers[answer.solver] = None
            return answer

        return ask

    def asked(whom: Asking) -> Asking:
        later = [solver and noting(solver) for solver in (whom.patiently, whom.briefly)]
        return Asking(noting(whom.quickly), *later)

    status, message = Status.PROVED, ""
    try:
        match goal:
            case Property():
                _again(obligation, goal, asked(solve), asked(naively))
            case Certificate() if goal.witness is not None:
                _again(obligation, goal.witness, asked(solve), asked(naively))
            case Entailment():
                _follows(obligation, goal, asked(solve), asked(naively), asked(over_reals))
            case IntegerProperty():
                _over_the_integers(obligation, goal, asked(over_reals))
            case RealProperty():
                _goal_by_goal(goal, asked(over_reals))
            case RingProperty():
                _over_the_reals(obligation, goal, asked(over_reals))
            case Certificate() | Deduction():
                raise _UnconfirmedError("nothing in it is for a solver")
    except _ContradictedError as reason:
        status, message = Status.REFUTED, str(reason)
    except _UnconfirmedError as reason:
        status, message = Status.UNKNOWN, str(reason)
    return Verdict(obligation.id, status, ", ".join(solvers), time.perf_counter() - start, message=message)


def _again(obligation: Obligation, prop: Property, solve: Asking, naively: Asking) -> None:
    """Ask naively about what a solver proved and what rewriting proved, of one solver and of another."""
    if obligation.method is Method.STRUCTURAL and only_moves_bits(prop, obligation.equality):
        _naively(obligation, prop, None, naively)
        return
    algebras: list[tuple[Z3Algebra, Z3Algebra]] = [(Z3Algebra(), NaiveAlgebra())]
    if prop.abstract:
        algebras.insert(0, (NumberAlgebra(), NaiveNumberAlgebra()))
    for position, (alg, plain) in enumerate(algebras):
        assumptions, goals, _ = formula(prop, alg, obligation.equality)
        rewritten = [z3.is_true(z3.simplify(goal)) for goal in goals]
        left = [goal for goal, away in zip(goals, rewritten, strict=True) if not away]
        if left:
            last = position == len(algebras) - 1
            answer = _answer(obligation, prop, plain, [not away for away in rewritten], solve)
            if answer.status == "unknown" or (answer.status == "sat" and not last):
                answer = solve.about(assumptions, left)
            if answer.status != "unsat":
                if last:
                    _fails(obligation, prop, answer)
                continue
        if any(rewritten):
            _naively(obligation, prop, rewritten, naively)
        return


def _follows(
    obligation: Obligation, goal: Entailment, solve: Asking, naively: Asking, over_reals: Asking
) -> None:
    implied = implication(goal)
    if isinstance(implied, IntegerProperty):
        _over_the_integers(obligation, implied, over_reals)
    else:
        _again(obligation, implied, solve, naively)


def _naively(obligation: Obligation, prop: Property, which: Sequence[bool] | None, solve: Asking) -> None:
    """Confirm the equations that `which` marks (all for None) in the naive translations."""
    answer = None
    for alg in ([NaiveNumberAlgebra()] if prop.abstract else []) + [NaiveAlgebra()]:
        answer = _answer(obligation, prop, alg, which, solve)
        if answer.status == "unsat":
            return
    assert answer is not None
    _fails(obligation, prop, answer)


def _answer(
    obligation: Obligation, prop: Property, alg: Z3Algebra, which: Sequence[bool] | None, solve: Asking
) -> Answer:
    """Return the answer about the equations that `which` marks, in a naive translation."""
    assumptions, goals, _ = formula(prop, alg, obligation.equality, naive=True)
    marked = goals if which is None else [g for g, m in zip(goals, which, strict=True) if m]
    return solve.about(assumptions, marked)


def _fails(obligation: Obligation, prop: Property, answer: Answer) -> None:
    """Say what an answer in the exact theories means for what was proved.

    The encoding of a NaN that a float operation makes is open in the text that solvers get, so that a model
    of a formula with floats counts only where numpy confirms it.
    """
    if answer.status == "unknown":
        raise _UnconfirmedError(answer.message or "no answer")
    model = assignment_of(prop, answer.model)
    if counterexample(obligation.id, prop, model, obligation.equality).replays:
        raise _ContradictedError(f"{answer.solver} has a counterexample, which numpy confirms")
    if _has_floats(prop):
        raise _UnconfirmedError(f"{answer.solver} has a model that numpy does not confirm")
    raise _ContradictedError(f"{answer.solver} has a counterexample, which numpy does not confirm")


def _has_floats(prop: Property) -> bool:
    return any(isinstance(variable.format, FloatFormat) for variable in prop.variables)


def _over_the_reals(obligation: Obligation, prop: RingProperty, solve: Asking) -> None:
    alg: Any = RealAlgebra()
    inputs = {**real_variables({v.name: v.shape for v in prop.variables}), **prop.concrete}
    goals = []
    for equation in prop.claim(alg, inputs):
        truth = equation.truth(alg, obligation.equality)
        where = np.asarray(True if equation.where is None else equation.where)
        where, truth = np.broadcast_arrays(where, truth)
        goals += [goal for asked, goal in zip(where.flat, truth.flat, strict=True) if asked]
    answer = solve.about([], goals)
    if answer.status == "sat":
        raise _ContradictedError(f"{answer.solver} has real numbers for which the two sides differ")
    if answer.status == "unknown":
        raise _UnconfirmedError(answer.message or "no answer")


def _goal_by_goal(prop: RealProperty, solve: Asking) -> None:
    """Confirm a claim over the reals; that it does not follow contradicts that it does."""
    label, answer = last_answer(prop, solve.quickly)
    if answer.status == "sat":
        raise _ContradictedError(f"{label}: {answer.solver} has real numbers for which it is false")
    if answer.status == "unknown":
        raise _UnconfirmedError(answer.message or "no answer")


def _over_the_integers(obligation: Obligation, prop: IntegerProperty, solve: Asking) -> None:
    """Confirm a claim, with products that may be any functions, or else with products.

    Quotients and remainders by numerals are given by their definition, unlike the first time.
    """

    def defined(query: Query) -> Answer:
        return solve.of(replace(query, assertions=tuple(by_definition(query.assertions))))

    for opaque in (True, False):
        answer = follows(*integer_formula(prop, opaque), defined)
        if answer.status == "unsat":
            return
    if answer.status == "sat":
        raise _ContradictedError(f"{answer.solver} has integers for which the claim is false")
    raise _UnconfirmedError(answer.message or "no answer")
