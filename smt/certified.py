"""Unsatisfiability with a checked proof: Bitwuzla makes clauses, Glucose refutes them, checkers agree.

What is left to trust is the translation of terms to clauses, Bitwuzla's; the search for a refutation is not.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any

from ..spec.errors import InputError
from . import clause_proofs, proof_checkers
from .solvers import Answer, Query, timed_out

SUFFIXES = (".smt2", ".cnf", ".drup")
"""Of the files: the query, those of its clauses that a refutation takes, and the refutation."""

LARGEST = 200_000
"""Clauses of the largest formula that the checker takes on."""


def require_certifying() -> None:
    """Refuse what can't be done without the programs that it takes.

    Raises
    ------
    InputError
        If one is not installed.
    """
    for name in ("bitwuzla", "pysat", "dratify"):
        if find_spec(name) is None:
            raise InputError(f"{name!r} is not installed; pip install 'mmaproof[certificates]'")


class _NoClausesError(Exception):
    """Why a query has no clauses that are unsatisfiable."""


class Certified:
    """A solver that answers ``unsat`` only with files that every checker has accepted.

    Parameters
    ----------
    stem : Path
        What files of queries, clauses and proofs are called, with a number and one of `SUFFIXES` appended.
    started : callable
        Is called with the name of each program before it runs.
    """

    def __init__(self, stem: Path, started: Callable[[str], None] = lambda name: None) -> None:
        self.name = f"bitwuzla {version('bitwuzla')} with glucose 4"
        self.written: list[Path] = []
        self._stem = stem
        self._started = started

    def check(self, query: Query, timeout: float) -> Answer:
        """Answer a query; what is satisfiable, or has no proof, is unknown. See `Solver.check`."""
        self._started("bitwuzla")
        try:
            formula = _clauses(query, timeout)
        except _NoClausesError as reason:
            return Answer("unknown", self.name, message=str(reason))
        found = list(clause_proofs.read_clauses(formula, "the formula"))
        if len(found) > LARGEST:
            return Answer("unknown", self.name, message=f"more than {LARGEST} clauses")
        self._started("glucose")
        proof = _refutation(found, timeout)
        if proof is None:
            return Answer("unknown", self.name, message="the clauses have no refutation that came in time")
        self._started("checker")
        refutation = clause_proofs.check(found, clause_proofs.read_steps(proof, "the proof"))
        texts = query.smtlib(), refutation.formula(), refutation.proof()
        accepting = proof_checkers.accepting(*texts[1:], refutation)
        self._write(texts)
        return Answer("unsat", f"{self.name} (accepted by {', '.join(accepting)})")

    def _write(self, texts: tuple[str, str, str]) -> None:
        number = len(self.written) // len(SUFFIXES) + 1
        for suffix, text in zip(SUFFIXES, texts, strict=True):
            path = self._stem.with_name(f"{self._stem.name}.{number}{suffix}")
            path.write_text(text, encoding="utf-8")
            self.written.append(path)

    def discard(self) -> None:
        """Remove what was written: not every query of the obligation has a certificate."""
        for path in self.written:
            path.unlink()
        self.written.clear()


def _clauses(query: Query, timeout: float) -> str:
    """Return an unsatisfiable query as DIMACS text: nothing is rewritten before it becomes clauses."""
    import bitwuzla

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "query.cnf")
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.WRITE_CNF, str(path))
        options.set(bitwuzla.Option.REWRITE_LEVEL, 0)
        options.set(bitwuzla.Option.PREPROCESS, False)
        options.set(bitwuzla.Option.TIME_LIMIT_PER, max(1, int(timeout * 1000)))
        try:
            parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
            parser.parse(query.smtlib(), parse_only=True, parse_file=False)
            result = parser.bitwuzla().check_sat()
        except bitwuzla.BitwuzlaException as reason:
            raise _NoClausesError(" ".join(str(reason).split())) from reason
        if result == bitwuzla.Result.SAT:
            raise _NoClausesError("it is satisfiable")
        if result != bitwuzla.Result.UNSAT:
            raise _NoClausesError(timed_out(timeout))
        if not path.is_file():
            raise _NoClausesError("rewriting alone decides it")
        return path.read_text(encoding="ascii")


def _refutation(clauses: list[clause_proofs.Clause], timeout: float) -> str | None:
    """Return a DRUP proof, None if none came in time or there is none."""
    from pysat.solvers import Glucose4

    solver: Any = Glucose4(bootstrap_with=clauses, with_proof=True)
    timer = Timer(timeout, solver.interrupt)
    timer.start()
    try:
        if solver.solve_limited(expect_interrupt=True) is not False:
            return None
        return "".join(f"{line}\n" for line in [*solver.get_proof(), "0"])
    finally:
        timer.cancel()
        solver.delete()
