"""Inductions: decided from the statuses of their premises alone."""

from __future__ import annotations

from collections.abc import Mapping

from .methods import INDUCTION
from .obligation import Induction, Obligation, Status
from .verdict import Verdict


def decide_by_induction(obligation: Obligation, goal: Induction, known: Mapping[str, Status]) -> Verdict:
    """Decide an induction: it holds when every premise is proved.

    Parameters
    ----------
    obligation, goal : Obligation, Induction
        What to decide.
    known : mapping
        Statuses of obligations by id; a premise that is missing is not proved.
    """
    failed = [premise for premise in goal.premises if known.get(premise) is not Status.PROVED]
    if failed:
        message = f"premise not proved: {', '.join(failed)}"
        return Verdict(obligation.id, Status.UNKNOWN, INDUCTION, message=message)
    return Verdict(obligation.id, Status.PROVED, INDUCTION, method=INDUCTION)
