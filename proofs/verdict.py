"""Verdicts, and their JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .obligation import Status
from .replay import Counterexample, Difference


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
