"""Deductions from other obligations, and inductions among them: decided from the statuses of the premises.

An induction concludes P(n) for every n from P(0) and P(n) → P(n + 1). Its conclusion is a `Formula`; which of
the premises are its base and its steps it says, and whether they are the instances of the formula is checked
here, claim by claim. That these imply the conclusion is the one rule that is left; see docs/theorems.md.

A formula P relates two sequences, s and t: what a loop computes, and what is stated without it. Base and step
of an induction are claims that are made here, from P and from how the sequences begin or go on, by
substitution; so an induction can tell whether its premises are instances of the P that it concludes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ..spec.algebra import Algebra, Array
from ..spec.formats import Format
from .instances import Entailment
from .obligation import (
    Assumptions,
    Claim,
    Deduction,
    Equation,
    Inputs,
    Method,
    Obligation,
    Property,
    RingProperty,
    Status,
)
from .verdict import ARGUMENT, DEDUCTION, INDUCTION, Verdict

Terms = tuple[Array, Array]
"""One term of s, and the one of t."""


class Formula(ABC):
    """P(n), about the n-th terms of two sequences; a dataclass, so formulas are equal if their data are."""

    @property
    @abstractmethod
    def text(self) -> str:
        """P(n), as mathematics."""

    @abstractmethod
    def instance(self, transition: Transition) -> Instance:
        """Return P(0) for a beginning, otherwise P(n) → P(n + 1)."""


class Transition(Protocol):
    """How both sequences begin or go on; a dataclass, too."""

    @property
    def begins(self) -> bool:
        """Whether this is how the sequences begin, with no terms before."""


class Instance(NamedTuple):
    """A claim, and what it assumes: a step assumes P(n), or is about the terms that P(n) holds for."""

    claim: Claim
    assuming: Assumptions | None = None


class Recursion(ABC):
    """A transition of two sequences whose terms are arrays."""

    @property
    @abstractmethod
    def begins(self) -> bool:
        """Whether this is how the sequences begin."""

    @property
    @abstractmethod
    def result(self) -> Format:
        """The format of what is compared."""

    @property
    def readings(self) -> tuple[Any, ...]:
        """The readings of open points in which the sequences are meant."""
        return ("any",)

    @abstractmethod
    def state(self, v: Inputs) -> Array:
        """Return the arbitrary s_n among the variables; not asked of a beginning."""

    @abstractmethod
    def following(self, alg: Algebra, v: Inputs, before: Terms | None, reading: Any) -> Terms:
        """Return s_{n+1} and t_{n+1} (s_0 and t_0 for a beginning)."""


class Image(Formula):
    """P(n) = "the image of s_n is t_n"."""

    @abstractmethod
    def image(self, alg: Algebra, v: Inputs, term: Array) -> Array:
        """Return what P says that t_n is, from s_n."""

    def instance(self, transition: Transition) -> Instance:
        """Return the claim about every s_n."""
        assert isinstance(transition, Recursion)
        return Instance(Commutes(self, transition))


@dataclass(frozen=True)
class Commutes:
    """P of the next terms for every s_n and the t_n that is its image; for a beginning, of the first ones.

    The hypothesis is used where it is made: t_n is replaced by what P(n) says it is.
    """

    formula: Image
    transition: Recursion

    def __call__(self, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        """Yield one equation for each reading."""
        before = None
        if not self.transition.begins:
            state = self.transition.state(v)
            before = state, self.formula.image(alg, v, state)
        for reading in self.transition.readings:
            term, other = self.transition.following(alg, v, before, reading)
            image = self.formula.image(alg, v, term)
            yield Equation(image, other, self.transition.result, label=f"{self.formula.text}, {reading}")


@dataclass(frozen=True)
class Same(Image):
    """s_n = t_n."""

    @property
    def text(self) -> str:
        """P(n)."""
        return "D_n = P_n"

    def image(self, alg: Algebra, v: Inputs, term: Array) -> Array:
        """Return the term itself."""
        return term


@dataclass(frozen=True)
class Induction(Deduction):
    """P(n) for every n: of sequences that go on by any of the steps, each time with any operands.

    Attributes
    ----------
    formula : Formula
        P.
    steps : mapping of str to Transition
        The ways to go on, by the id of the obligation that is P(n) → P(n + 1) for it.
    base : mapping of str to Transition
        The ways to begin, by the id of the obligation that is P(0) for it; for none, P holds by
        definition: s_0 is arbitrary, and t_0 its image.
    """

    formula: Formula
    steps: Mapping[str, Transition]
    base: Mapping[str, Transition] = field(default_factory=dict)


def induction(
    formula: Formula,
    steps: Mapping[str, Transition],
    base: Mapping[str, Transition] | None = None,
    lemmas: Iterable[str] = (),
) -> Induction:
    """Return an induction with its premises: base, steps, and the lemmas that its statement needs besides."""
    premises = tuple(dict.fromkeys((*(base or {}), *steps, *lemmas)))
    return Induction(premises, formula, steps, base or {})


def mismatch(goal: Induction, obligations: Mapping[str, Obligation]) -> str | None:
    """Return what is wrong with an induction: a base or step that is not the formula's instance."""
    if not goal.steps:
        return "it has no step"
    for kind, parts in (("base", goal.base), ("step", goal.steps)):
        for identifier, transition in parts.items():
            if identifier not in goal.premises:
                return f"its {kind} {identifier} is none of its premises"
            if transition.begins != (kind == "base"):
                return f"its {kind} {identifier} {'begins' if transition.begins else 'goes on'}"
            premise = obligations.get(identifier)
            if premise is None or not _is_instance(premise, goal.formula.instance(transition)):
                formula = goal.formula.text
                return f"its {kind} {identifier} is not the instance of {formula} for every n"
    return None


def _is_instance(premise: Obligation, instance: Instance) -> bool:
    """Tell whether an obligation claims the instance, for all its variables, and expects to prove it."""
    if premise.method is Method.INDUCTION or premise.expect is not Status.PROVED:
        return False
    goal = premise.goal()
    if not isinstance(goal, Property | RingProperty):
        return False
    assuming = goal.assuming if isinstance(goal, Property) else None
    return goal.claim == instance.claim and assuming == instance.assuming


def decide_from_premises(
    obligation: Obligation,
    goal: Deduction,
    known: Mapping[str, Status],
    obligations: Mapping[str, Obligation],
    follows: Verdict | None = None,
) -> Verdict:
    """Decide a deduction: it holds if every premise is proved, and the conclusion follows from these.

    That of an induction does if base and step are its instances, that of an entailment if `decision` says so.

    Parameters
    ----------
    obligation, goal : Obligation, Deduction
        What to decide.
    known : mapping
        Statuses of obligations by id; a premise that is missing is not proved.
    obligations : mapping
        The obligations by id.
    follows : Verdict, optional
        For an entailment, the verdict on whether it follows.
    """
    method = ARGUMENT
    if isinstance(goal, Induction | Entailment):
        method = INDUCTION if isinstance(goal, Induction) else DEDUCTION
    if isinstance(goal, Induction) and (wrong := mismatch(goal, obligations)) is not None:
        message = f"defect of mmaproof: this is no induction, {wrong}"
        return Verdict(obligation.id, Status.ERROR, method, message=message)
    if isinstance(goal, Entailment):
        if follows is None:
            message = "nothing has decided whether it follows from its premises"
            return Verdict(obligation.id, Status.UNKNOWN, method, message=message)
        if follows.status is not Status.PROVED:
            return follows
    failed = [premise for premise in goal.premises if known.get(premise) is not Status.PROVED]
    if failed:
        message = f"premise not proved: {', '.join(failed)}"
        return Verdict(obligation.id, Status.UNKNOWN, method, message=message)
    return follows or Verdict(obligation.id, Status.PROVED, method, method=method)
