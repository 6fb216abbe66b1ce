"""Certificates: for what was proved, clauses and a refutation of them, in files that a checker has accepted.

The queries are those of `recheck`: naive ones, or what a solver was asked where those have none. Nothing is
rewritten between them and the clauses; see `certified` for what makes and checks them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..smt.certified import Certified
from ..smt.solvers import Answer, Query
from .obligation import Obligation, Status
from .recheck import Asking, recheck
from .verdict import Verdict


def certify(
    obligation: Obligation,
    directory: Path,
    timeout: float,
    started: Callable[[str], None] = lambda phase: None,
) -> Verdict:
    """Decide a proved obligation again, leaving a certificate of each query in a directory.

    Parameters
    ----------
    obligation : Obligation
        What was proved.
    directory : Path
        Where files ``ID.NUMBER.cnf`` and ``ID.NUMBER.drup`` go, the slashes of the id as dots.
    timeout : float
        Seconds for each program and query.
    started : callable
        Is called as phases start.

    Returns
    -------
    Verdict
        ``proved`` where every query has a certificate; else no file is left, and the message says why.
    """
    solver = Certified(directory / obligation.id.replace("/", "."), started)

    def ask(query: Query) -> Answer:
        try:
            return solver.check(query, timeout)
        finally:
            started("build")

    complete = False
    try:
        verdict = recheck(obligation, Asking(ask), Asking(ask), Asking(_of_polynomials))
        complete = verdict.status is Status.PROVED
    finally:
        if not complete:
            solver.discard()
    return verdict


def _of_polynomials(query: Query) -> Answer:
    return Answer("unknown", "", message="clauses say nothing of polynomials over the reals")
