"""Checkers of clause proofs by others, which share nothing with `clause_proofs`, nor with each other.

`dratify <https://pypi.org/project/dratify>`_ takes the files as they are. `drup
<https://pypi.org/project/drup>`_ is OCaml that Why3 extracted from a program which is proved correct; it is
slow on many clauses, so it is given each step with the clauses alone that the step follows from.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec

from .clause_proofs import Clause, Refutation, RejectedProofError


def accepting(formula: str, proof: str, refutation: Refutation) -> tuple[str, ...]:
    """Return the names and versions of the checkers that accept a refutation: all that are installed.

    Parameters
    ----------
    formula, proof : str
        The texts of its DIMACS and DRUP files.
    refutation : Refutation
        What they say, with the reason of each step.

    Raises
    ------
    RejectedProofError
        If one of them rejects it.
    """
    checkers: dict[str, Callable[[], bool]] = {
        "dratify": lambda: _accepted_by_dratify(formula, proof),
        "drup": lambda: _accepted_by_drup(refutation),
    }
    installed = {name: accepted for name, accepted in checkers.items() if find_spec(name) is not None}
    for name, accepted in installed.items():
        if not accepted():
            raise RejectedProofError(f"{name} {version(name)} rejects what mmaproof's own checker accepts")
    return tuple(f"{name} {version(name)}" for name in installed)


def _accepted_by_dratify(formula: str, proof: str) -> bool:
    from dratify import check_proof, parse_dimacs

    return bool(check_proof(parse_dimacs(formula), proof, check_rat=False).ok)


def _accepted_by_drup(refutation: Refutation) -> bool:
    """Tell whether of every step the reasons and its negation imply the empty clause."""
    from drup import Outcome, check_proof

    def follows(step: Clause, reasons: tuple[Clause, ...]) -> bool:
        clauses = [*reasons, *((-literal,) for literal in step)]
        return bool(check_proof(clauses, [()]).outcome is Outcome.VALID)

    return all(map(follows, refutation.steps, refutation.reasons))
