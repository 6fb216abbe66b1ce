"""A rule of the engine: an equation, what it holds under, and the function that rewrites with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Theory(StrEnum):
    """What the variables of a rule are, and in which theory its equation is decided."""

    REAL = "real"
    """Real numbers, their sums, products and quotients."""

    ELEMENTARY = "elementary"
    """Real numbers with functions, of which nothing is known but the axioms (`axioms`)."""

    ORDER = "order"
    """Real numbers that are compared; conditions."""

    INTEGERS = "integers"
    """Integers."""

    BITS = "bits"
    """Words of 8, 16, 32 and 64 bits."""

    FLOAT = "float"
    """Encodings of floats, with zeros, infinities and NaNs."""


class Source(StrEnum):
    """Why a rule is believed."""

    AXIOM = "axiom"
    """It is one of the axioms itself."""

    DERIVATION = "derivation"
    """It follows from the axioms, or in the theory; a solver says so."""

    MANUAL = "manual"
    """It is how an instruction set or IEEE 754 defines an operation."""


_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Rule:
    """``guard and supposed implies left = right``.

    Texts are expressions of `expression`.

    Attributes
    ----------
    name : str
        ``GROUP/NAME``, the end of the obligation's id.
    theory : Theory
        What variables are.
    left, right : str
        The sides; the engine gives both the identical normal form.
    place : str
        The function that rewrites with it: ``module:qualified name``, below `refinement`.
    guard : str
        What the engine checks before it rewrites; without it the rule is false.
    supposed : str
        What the engine supposes of all data without checking: that what divides is not 0, what has a
        logarithm is positive, what is compared is no NaN.
    source : Source
        Why it is believed.
    by : tuple of str
        Instances of axioms that it follows from, ``sum(x, y)`` or ``logarithm(x, y)``.
    fails : mapping of str to str
        Values, one for each variable, that do not meet the guard and at which the sides differ.
    sorts : mapping of str to str
        How the engine recognises a variable that is not any input: ``nonnegative``, ``constant``, ….
    holds : bool
        Whether it is an equation; what is not is a hypothesis that verdicts name.
    """

    name: str
    theory: Theory
    left: str
    right: str
    place: str
    guard: str = ""
    supposed: str = ""
    source: Source = Source.DERIVATION
    by: tuple[str, ...] = ()
    fails: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    sorts: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    holds: bool = True

    @property
    def condition(self) -> str:
        """Guard and hypothesis together; empty where there is neither."""
        return " and ".join(f"({each})" for each in (self.guard, self.supposed) if each)

    @property
    def group(self) -> str:
        """The first part of its name."""
        return self.name.partition("/")[0]
