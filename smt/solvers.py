"""Queries, and the solvers that answer them: Z3 in memory, others through SMT-LIB 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import z3

from ..spec.errors import UnsupportedError


@dataclass(frozen=True)
class Answer:
    """A solver's answer to a query.

    Attributes
    ----------
    status : str
        ``sat`` (the claim is refuted), ``unsat`` (proved) or ``unknown``.
    solver : str
        Name and version.
    model : mapping of str to int
        Values of the bit-vector constants, for ``sat``; what is missing may be anything.
    cached : bool
        Whether the answer was remembered.
    message : str
        The reason, for ``unknown``.
    """

    status: Literal["sat", "unsat", "unknown"]
    solver: str
    model: Mapping[str, int] = field(default_factory=dict)
    cached: bool = False
    message: str = ""


@dataclass(frozen=True)
class Query:
    """Assertions whose unsatisfiability proves a claim.

    Attributes
    ----------
    assertions : tuple
        Z3 Boolean terms: the assumptions, and the negated claim last.
    trivial : bool
        Whether the claim became true by rewriting alone.
    """

    assertions: tuple[Any, ...]
    trivial: bool

    @classmethod
    def negating(cls, assumptions: Sequence[Any], goals: Sequence[Any]) -> Query:
        """Return the query of ``assumptions ⇒ every goal``."""
        negated = z3.Or(*[z3.Not(goal) for goal in goals])
        return cls((*assumptions, negated), trivial=not goals)

    def smtlib(self) -> str:
        """Return the query as an SMT-LIB 2 script that ends in ``(check-sat)``."""
        solver = z3.Solver()
        solver.add(*self.assertions)
        text: str = solver.to_smt2()
        lines = [line for line in text.splitlines() if not line.startswith((";", "(set-info"))]
        return "(set-logic ALL)\n" + "\n".join(lines) + "\n"


def z3_version() -> str:
    """Return ``z3`` and its version."""
    return "z3 " + ".".join(map(str, z3.get_version()[:3]))


def solve_with_z3(query: Query, timeout: float) -> Answer:
    """Ask Z3, in this process.

    Parameters
    ----------
    query : Query
        What to ask.
    timeout : float
        Seconds; Z3 honours it loosely, so run this where it can be killed.
    """
    solver = z3.Solver()
    solver.set(timeout=max(1, int(timeout * 1000)))
    solver.add(*query.assertions)
    status = solver.check()
    if status == z3.sat:
        model = solver.model()
        values = {
            str(declaration): model[declaration].as_long()
            for declaration in model.decls()
            if declaration.arity() == 0 and z3.is_bv_value(model[declaration])
        }
        return Answer("sat", z3_version(), values)
    if status == z3.unsat:
        return Answer("unsat", z3_version())
    return Answer("unknown", z3_version(), message=solver.reason_unknown())


def solve(query: Query, solver: str, timeout: float) -> Answer:
    """Ask a solver by name, in this process."""
    if solver == "z3":
        return solve_with_z3(query, timeout)
    raise UnsupportedError(f"no solver {solver!r}")
