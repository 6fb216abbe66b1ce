"""Invariants of recursions: the formulas that inductions prove for every n, and their instances.

A formula P relates two sequences, s and t: what a loop computes, and what is stated without it. Base and step
of an induction are claims that are made here, from P and from how the sequences begin or go on, by
substitution; so an induction can tell whether its premises are instances of the P that it concludes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ..spec.algebra import Algebra, Array
from ..spec.formats import Format
from .obligation import Assumptions, Claim, Equation, Inputs

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
