"""Which solvers there are, and several of them asked together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..spec.errors import InputError, MmaproofError

if TYPE_CHECKING:
    from .solvers import Answer, Query, Solver

DEFAULT = "z3"
OPTIONAL = ("bitwuzla", "cvc5")
ALL = "all"
CHOICES = (DEFAULT, *OPTIONAL, ALL)
"""What `solvers_for` accepts."""


class DisagreementError(MmaproofError):
    """Two solvers gave opposite definite answers to one query: one of them is wrong."""


def names_for(choice: str) -> tuple[str, ...]:
    """Return the names of the solvers that a choice stands for; imports none of them.

    Raises
    ------
    InputError
        If the choice is unknown, or a solver of it is not installed.
    """
    if choice not in CHOICES:
        raise InputError(f"unknown solver {choice!r}; known: {', '.join(CHOICES)}")
    names = (DEFAULT, *OPTIONAL) if choice == ALL else (choice,)
    if missing := [name for name in names if not _installed(name)]:
        which = " and ".join(map(repr, missing))
        plural = "solvers" if len(missing) > 1 else "solver"
        verb = "are" if len(missing) > 1 else "is"
        raise InputError(f"{plural} {which} {verb} not installed; pip install 'mmaproof[solvers]'")
    return names


def solvers_for(choice: str) -> list[Solver]:
    """Return the solvers that a choice stands for; see `names_for`."""
    return [_back_ends()[name]() for name in names_for(choice)]


def others(choice: str) -> list[Solver]:
    """Return the installed solvers that a choice does not stand for, the fastest on bit-vectors first.

    With ``all`` there is no other; then these are all but Z3, which is the only one that also rewrites.
    """
    asked = {DEFAULT} if choice == ALL else set(names_for(choice))
    return [_back_ends()[name]() for name in (*OPTIONAL, DEFAULT) if name not in asked and _installed(name)]


def patient(solvers: Sequence[Solver]) -> list[Solver]:
    """Return solvers for what the first of them did not answer quickly, what suits hard queries first."""
    from .text_solvers import Bitwuzla

    hard = [Bitwuzla(abstraction=True)] if any(isinstance(solver, Bitwuzla) for solver in solvers) else []
    return [*hard, *solvers]


def others_for_reals() -> list[Solver]:
    """Return the installed solvers that know real numbers, the one that rewrites nothing here first."""
    return [_back_ends()[name]() for name in ("cvc5", DEFAULT) if _installed(name)]


def _installed(name: str) -> bool:
    return name == DEFAULT or find_spec(name) is not None


def _back_ends() -> dict[str, Callable[[], Solver]]:
    from .solvers import Z3
    from .text_solvers import CVC5, Bitwuzla

    return {"z3": Z3, "bitwuzla": Bitwuzla, "cvc5": CVC5}


def ask(solvers: Sequence[Solver], query: Query, timeout: float) -> Answer:
    """Ask every solver, one after the other, and demand that they agree.

    An ``unknown`` contradicts nobody: the answer is then that of the others, and says so in `Answer.solver`.

    Raises
    ------
    DisagreementError
        If one says ``sat`` and another ``unsat``.
    """
    from .solvers import Answer

    answers = [solver.check(query, timeout) for solver in solvers]
    if len(answers) == 1:
        return answers[0]
    definite = [answer for answer in answers if answer.status != "unknown"]
    undecided = [f"{answer.solver}: {answer.message}" for answer in answers if answer.status == "unknown"]
    if not definite:
        return Answer("unknown", ", ".join(answer.solver for answer in answers), message="; ".join(undecided))
    if len({answer.status for answer in definite}) > 1:
        said = ", ".join(f"{answer.solver} says {answer.status}" for answer in definite)
        raise DisagreementError(f"solvers disagree: {said}")
    who = ", ".join(answer.solver for answer in definite)
    if undecided:
        who += f" ({'; '.join(undecided)})"
    cached = all(answer.cached for answer in definite)
    return Answer(definite[0].status, who, definite[0].model, cached)
