"""Obligations as SMT-LIB 2 scripts, one for each encoding a solver is asked about."""

from __future__ import annotations

from ..smt.number_algebra import NumberAlgebra
from ..smt.solvers import Query
from ..smt.z3_algebra import Z3Algebra
from ..spec.errors import UnsupportedError
from .decision import formula, query
from .induction import Induction
from .instances import Entailment, implication
from .obligation import (
    Certificate,
    Deduction,
    Equality,
    IntegerProperty,
    Obligation,
    Property,
    RealProperty,
    RingProperty,
)
from .real_claims import integer_formula, whole_query
from .verdict import ARGUMENT, ENUMERATION, INDUCTION, RING


def scripts(obligation: Obligation) -> dict[str, str]:
    """Return the scripts of an obligation, which assert that the claim does not hold.

    What the normal form proves alone is written out in full, so that a solver has something to confirm.

    Returns
    -------
    dict of str to str
        The script with uninterpreted operations (``uninterpreted``: its unsatisfiability suffices, a
        model of it need not be a counterexample) and in the exact theories (``exact``), where they exist.

    Raises
    ------
    UnsupportedError
        If no solver is asked about the obligation, or its operations have no exact encoding.
    """
    goal = obligation.goal()
    prop = goal.witness if isinstance(goal, Certificate) else goal
    if isinstance(prop, Entailment):
        prop = implication(prop)
    if isinstance(prop, IntegerProperty):
        return {
            name: _header(obligation, f"{products} products", meaning)
            + Query.negating(*integer_formula(prop, opaque)).smtlib()
            for name, products, opaque, meaning in (
                ("uninterpreted", "uninterpreted", True, "unsat proves it, sat decides nothing"),
                ("exact", "exact", False, "unsat proves it, sat refutes it"),
            )
        }
    if isinstance(prop, RealProperty):
        meaning = "unsat proves it, sat decides nothing"
        header = _header(obligation, "named products", meaning)
        return {"uninterpreted": header + whole_query(prop).smtlib()}
    if not isinstance(prop, Property):
        raise UnsupportedError(f"{obligation.id} is decided without a solver ({_method(prop)})")
    found = {}
    if prop.abstract:
        meaning = "unsat proves it, sat decides nothing"
        found["uninterpreted"] = _script(
            obligation, prop, NumberAlgebra(), "uninterpreted operations", meaning
        )
    try:
        meaning = "unsat proves it, sat refutes it"
        found["exact"] = _script(obligation, prop, Z3Algebra(), "exact operations", meaning)
    except UnsupportedError:
        if not found:
            raise
    return found


def _method(goal: RingProperty | Deduction | None) -> str:
    if goal is None:
        return ENUMERATION
    if isinstance(goal, Induction):
        return INDUCTION
    return ARGUMENT if isinstance(goal, Deduction) else RING


def _script(obligation: Obligation, prop: Property, alg: Z3Algebra, encoding: str, meaning: str) -> str:
    question = query(prop, alg, obligation.equality)
    if question.trivial:
        question = _unsimplified(prop, alg, obligation.equality)
    return _header(obligation, encoding, meaning) + question.smtlib()


def _header(obligation: Obligation, encoding: str, meaning: str) -> str:
    header = [
        f"{obligation.id} ({encoding})",
        *obligation.statement.splitlines(),
        f"equality: {obligation.equality}, {obligation.equality.meaning}",
        f"the claim, expected to be {obligation.expect}, is negated: {meaning}",
    ]
    return "".join(f"; {line}\n" for line in header)


def _unsimplified(prop: Property, alg: Z3Algebra, equality: Equality) -> Query:
    assumptions, goals, _ = formula(prop, alg, equality)
    return Query.negating(assumptions, goals)
