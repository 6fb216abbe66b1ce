"""Queries, answers, and Z3, which answers them in memory."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import z3

from . import smtlib
from .unknown_products import without_products

_PREPROCESSED = ("simplify", "propagate-values", "solve-eqs", "smt")
"""Z3's tactics that suit sums and products of bit-vectors."""

_CLEANED = ("propagate-values", "simplify", "solve-eqs", "elim-uncnstr", "simplify")
_SOLVED_AS_CLAUSES = ("max-bv-sharing", "ackermannize_bv", "bit-blast", "aig", "sat")
_AS_CLAUSES = (
    "simplify",
    "propagate-values",
    "solve-eqs",
    "elim-uncnstr",
    "fpa2bv",
    *_CLEANED,
    *_SOLVED_AS_CLAUSES,
)
"""Z3's tactics that make clauses of floats and bits; functions of anything else end them at once, undecided.

As and-inverter graphs both sides of an equation share what they compute alike: two shifters, normalisers
or roundings are compared up to six times faster than by Z3's own choice, products of bits up to four times
slower.
"""

_OF_BITS = ((_PREPROCESSED, 0.15), (_AS_CLAUSES, 20.0), (_PREPROCESSED, 3.0))
"""What is tried first on bit-vectors without functions, and for how many seconds."""

_OF_FUNCTIONS = ((_PREPROCESSED, 3.0),)
"""What is tried first on bit-vectors with functions or arrays."""

_OF_FLOATS = ((_AS_CLAUSES, 8.0),)
"""What is tried first on floats."""

_UNKNOWN = 1.0
"""For how many seconds products are taken for any numbers, first of all: sums of few words take less."""

_INTERRUPTED = ("timeout", "canceled", "interrupted from keyboard")


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
        Values of the bit-vector and integer constants, for ``sat``; what is missing may be anything.
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

    @property
    def names(self) -> str:
        """The solvers that answered definitely, without versions: ``z3``, or ``z3, bitwuzla``."""
        answering, _, _ = self.solver.partition(" (")
        return ", ".join(each.split()[0] for each in answering.split(", ") if each)


@dataclass(frozen=True)
class Query:
    """Assertions whose unsatisfiability proves a claim.

    Attributes
    ----------
    assertions : tuple
        Z3 Boolean terms: the assumptions, and the negated claim last.
    trivial : bool
        Whether the claim became true by rewriting alone.
    of_integers : bool
        Whether it is about integers: Z3's core decides these at once, its tactics for them take long.
    """

    assertions: tuple[Any, ...]
    trivial: bool
    of_integers: bool = False

    @classmethod
    def negating(cls, assumptions: Sequence[Any], goals: Sequence[Any]) -> Query:
        """Return the query of ``assumptions ⇒ every goal``."""
        negated = z3.Or(*[z3.Not(goal) for goal in goals])
        return cls((*assumptions, negated), trivial=not goals)

    @cached_property
    def text(self) -> str:
        """The assertions as normalised text: equal texts are equal formulas."""
        return smtlib.printed(self.assertions)

    def smtlib(self) -> str:
        """Return the query as an SMT-LIB 2 script that ends in ``(check-sat)``."""
        return self._script

    @cached_property
    def _script(self) -> str:
        return smtlib.script(self.assertions)


class Solver(Protocol):
    """Something that answers queries."""

    @property
    def name(self) -> str:
        """Name and version."""
        ...

    def check(self, query: Query, timeout: float) -> Answer:
        """Answer a query in this process.

        A solver's failure, or an operator it lacks, is an ``unknown`` with a message. Time limits (in
        seconds) are honoured loosely by all solvers, so ask where the process can be killed.
        """
        ...


def timed_out(timeout: float) -> str:
    """Return the message of an answer that did not come in time."""
    return f"timeout after {timeout:g} s"


def solve_with_z3(query: Query, timeout: float) -> Answer:
    """Ask Z3, in this process; see `Solver.check`."""
    return Z3().check(query, timeout)


class Z3:
    """Z3, on the terms themselves.

    Queries that are not of integers are first tried by tactics that suit their kind, then left to Z3's own
    choice.
    """

    name = "z3 " + ".".join(map(str, z3.get_version()[:3]))

    def check(self, query: Query, timeout: float) -> Answer:
        """Answer a query; see `Solver.check`."""
        end = time.monotonic() + timeout
        try:
            products = None if query.of_integers else without_products(query.assertions)
            if products is not None:
                answer = self._asked(z3.Then(*_PREPROCESSED).solver(), products, min(_UNKNOWN, timeout / 2))
                if answer.status == "unsat":
                    return answer
            for tactics, limit in () if query.of_integers else _first_attempts(query):
                solver = z3.Then(*tactics).solver()
                answer = self._asked(solver, query.assertions, min(limit, (end - time.monotonic()) / 2))
                if answer.status != "unknown":
                    return answer
            solver = z3.Solver()
            if query.of_integers:
                solver.push()  # from here on it is incremental, which the tactics are not
            answer = self._asked(solver, query.assertions, end - time.monotonic())
        except z3.Z3Exception as reason:
            return Answer("unknown", self.name, message=str(reason))
        return replace(answer, message=timed_out(timeout)) if answer.message in _INTERRUPTED else answer

    def _asked(self, solver: Any, assertions: Sequence[Any], timeout: float) -> Answer:
        solver.set(timeout=max(1, int(timeout * 1000)))
        solver.add(*assertions)
        status = solver.check()
        if status == z3.sat:
            return Answer("sat", self.name, _values(solver.model()))
        if status == z3.unsat:
            return Answer("unsat", self.name)
        return Answer("unknown", self.name, message=solver.reason_unknown())


def _first_attempts(query: Query) -> tuple[tuple[tuple[str, ...], float], ...]:
    if _probed("is-qfbv", query):
        return _OF_BITS
    return _OF_FUNCTIONS if _probed("is-qfaufbv", query) else _OF_FLOATS


def _probed(probe: str, query: Query) -> bool:
    goal = z3.Goal()
    goal.add(*query.assertions)
    return bool(z3.Probe(probe)(goal))


def _values(model: Any) -> dict[str, int]:
    return {
        declaration.name(): model[declaration].as_long()
        for declaration in model.decls()
        if declaration.arity() == 0
        and (z3.is_bv_value(model[declaration]) or z3.is_int_value(model[declaration]))
    }
