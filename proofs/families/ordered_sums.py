"""Sums of which no term is less than another sum's: roundings to nearest keep what is less.

That a rounding does is ``ptx/rounding/monotone``, which has the instances of the formula here, too; they are
about no instruction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from ...spec.algebra import Algebra, Array
from ...spec.formats import F64
from ..induction import induction
from ..invariants import Formula, Instance, Transition
from ..obligation import Case, Equality, Equation, Inputs, Method, RingProperty, Theorem, Variable
from .rounded_chains import Sums

MONOTONE = "ptx/rounding/monotone"
"""The theorem that a rounding keeps what is less, and so do sums, products and negations."""


@dataclass(frozen=True)
class Ordered(Formula):
    """s_n ≤ t_n: the difference t_n - s_n is not negative; a negation has them change places."""

    @property
    def text(self) -> str:
        """P(n)."""
        return "s_n ≤ t_n, but t_n ≤ s_n where they were negated an odd number of times"

    def instance(self, transition: Transition) -> Instance:
        """Return that what is rounded next is a difference, or a sum of such, that is not negative."""
        assert isinstance(transition, NoLesserTerm | Negation)
        return Instance(_NoLess(transition))


@dataclass(frozen=True)
class NoLesserTerm:
    """Terms p ≤ q are added, and the sums s + p and t + q rounded."""

    begins: bool = False

    def differences(self, v: Inputs) -> tuple[Array, Array]:
        """Return what is not to be negative, and what it is of what is known not to be."""
        return (v["t"] + v["q"]) - (v["s"] + v["p"]), (v["t"] - v["s"]) + (v["q"] - v["p"])


@dataclass(frozen=True)
class Negation:
    """Both sums are negated."""

    begins: bool = False

    def differences(self, v: Inputs) -> tuple[Array, Array]:
        """Return what is not to be negative, and what it is of what is known not to be."""
        return (-v["s"]) - (-v["t"]), v["t"] - v["s"]


@dataclass(frozen=True)
class Factor:
    """A product, of which one factor grows from x to x': the sign of the other one is that of the change."""

    def differences(self, v: Inputs) -> tuple[Array, Array]:
        """Return the change, and the product of two numbers of which the signs are known."""
        return v["t"] * v["q"] - v["s"] * v["q"], (v["t"] - v["s"]) * v["q"]


@dataclass(frozen=True)
class _NoLess:
    transition: NoLesserTerm | Negation | Factor

    def __call__(self, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        change, known = self.transition.differences(v)
        yield Equation(change, known, label="difference")


def no_less(transition: NoLesserTerm | Negation | Factor) -> RingProperty:
    """Return the identity by which a step of `Ordered`, or a product, keeps what is less."""
    return RingProperty(tuple(Variable(name, F64, (1,)) for name in "stpq"), _NoLess(transition))


STEPS: Mapping[str, tuple[NoLesserTerm | Negation | Factor, str]] = {
    "sum": (NoLesserTerm(), "s ≤ t, p ≤ q ⇒ s + p ≤ t + q: (t + q) - (s + p) = [t - s] + [q - p]"),
    "negated": (Negation(), "s ≤ t ⇒ -t ≤ -s: -s - (-t) = [t - s]"),
    "product": (Factor(), "x ≤ x', 0 ≤ y ⇒ x·y ≤ x'·y: x'·y - x·y = [x' - x]·[y]; y ≤ 0 ⇒ x'·y ≤ x·y"),
}
"""What sums are made of besides roundings, by the names of the obligations."""


def monotone(isa: str, source: str, sums: Sums) -> Theorem:
    """Return the theorem that a greater accumulator, or product, gives no lesser sum."""

    def cases() -> Iterator[Case]:
        for name, each in sums().items():
            steps: dict[str, Transition] = {f"{MONOTONE}/sum": NoLesserTerm()}
            if each.negates:
                steps[f"{MONOTONE}/negated"] = Negation()
            lemmas = f"{MONOTONE}/{each.result}", f"{MONOTONE}/product", *each.proved
            yield Case(
                name, partial(induction, Ordered(), steps, {}, lemmas),
                equality=Equality.VALUE, method=Method.INDUCTION, choices=each.choices,
            )  # fmt: skip

    return Theorem(
        f"{isa}/numerics/monotone",
        "greater terms give no lesser sum, after any number of products, to nearest; negated ones no greater",
        "C ≤ C' and a[k]·b[k] ≤ a'[k]·b'[k] for every k ⇒ D ≤ D', none a NaN: s + p ≤ t + q is rounded to "
        "s' ≤ t'; x ≤ x' and 0 ≤ y ⇒ x·y ≤ x'·y. What is negated, C, the products or the sum, changes "
        "the direction, each time",
        source,
        cases,
    )
