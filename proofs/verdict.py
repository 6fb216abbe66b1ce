"""Verdicts, what decided them, and their JSON form.

A verdict says where it was decided, whatever was tried before; see `decision`. A solver is named by its name,
several that were asked together by all of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..smt.portfolio import CHOICES, DEFAULT, OPTIONAL
from .obligation import Status
from .replay import Counterexample, Difference

RECORD = "recorded_methods.txt"
"""The file of what decided each obligation last; see `recorded_methods`."""

NORMAL_FORM = "normal form"
BIT_ORIGINS = "bit origins"
RING = "ring"
ENUMERATION = "enumeration"
COMPARISON = "comparison"
INDUCTION = "induction"
DEDUCTION = "deduction"
ARGUMENT = "argument"
COUNTEREXAMPLE = "counterexample"

MEANINGS = {
    NORMAL_FORM: "both sides became one term when they were built and simplified; no solver was asked",
    BIT_ORIGINS: "each bit of both sides comes from the same bit of the inputs; no solver was asked",
    RING: "both sides are one polynomial over a commutative ring, or differ at integers that are given; "
    "no solver was asked",
    ENUMERATION: "numpy evaluated the claim on every point of a finite domain",
    COMPARISON: "numpy found every entry, or result on given inputs, as it is stated apart from the "
    "specification; of other inputs that says nothing",
    INDUCTION: "base and step are obligations, proved, and checked to be instances of the formula",
    DEDUCTION: "a solver or rewriting showed that it follows from instances of what proved obligations claim",
    ARGUMENT: "follows from obligations that are proved, by an argument in words, which nothing checks",
    COUNTEREXAMPLE: "numpy, or arithmetic on balls and integers, evaluated the claim on given or sampled "
    "inputs, where it is false",
}
"""What each method that is no solver does, in one line."""


_SOLVERS = f"({'|'.join((DEFAULT, *OPTIONAL))})(, ({'|'.join(OPTIONAL)}))*"
PATTERN = f"({'|'.join(MEANINGS)}|{_SOLVERS})"
"""A method's name, as a regular expression."""


def meaning(method: str) -> str:
    """Return in one line what a method does; a solver, or several, has one line for all."""
    if method in MEANINGS:
        return MEANINGS[method]
    names = method.split(", ")
    if not set(names) <= set(CHOICES):
        raise ValueError(f"{method!r} decides nothing; known: {', '.join((*MEANINGS, *CHOICES))}")
    return f"{' and '.join(names)} answered a query: no assignment makes the claim false, or one does"


@dataclass(frozen=True)
class Verdict:
    """What was found out about an obligation.

    Attributes
    ----------
    id : str
        The obligation.
    status : Status
        Proved, refuted, unknown, or error (a defect of mmaproof).
    solver : str
        The programs that decided: a solver with its version, ``numpy`` or ``sympy``; what mmaproof decides
        itself is named as in `method`.
    seconds : float
        Time it took to find out now, from the cache or not.
    cached : bool
        Whether the verdict came from the cache.
    message : str
        Why, when it is unknown or an error.
    counterexample : Counterexample, optional
        For a refutation; replayed.
    method : str
        What decided (see `methods`); empty while nothing has.
    witness : str
        What decided the second witness of an enumeration.
    """

    id: str
    status: Status
    solver: str
    seconds: float = 0.0
    cached: bool = False
    message: str = ""
    counterexample: Counterexample | None = None
    method: str = ""
    witness: str = ""

    @property
    def decided_by(self) -> str:
        """The method, with that of the second witness: ``enumeration, z3``."""
        return ", ".join(filter(None, (self.method, self.witness)))

    def document(self) -> dict[str, Any]:
        """Return the verdict as a JSON object."""
        found = self.counterexample.document() if self.counterexample else None
        return {**self.__dict__, "counterexample": found}

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Verdict:
        """Return the verdict of a JSON object that `document` made."""
        found = document["counterexample"]
        return cls(
            **{
                **document,
                "status": Status(document["status"]),
                "counterexample": None if found is None else _counterexample(found),
            }
        )


def _counterexample(document: Mapping[str, Any]) -> Counterexample:
    difference = document["difference"]
    if difference is not None:
        difference = Difference(**{**difference, "index": tuple(difference["index"])})
    return Counterexample(document["obligation"], document["inputs"], difference)
