"""How rounding errors add up along trees of sums, and along chains: the formula, its beginning and steps.

A tree's leaves are exact terms, and every node rounds once what it adds. Sums of instructions and of loops
are such trees; which they are is said where these are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from ...spec.algebra import Algebra, Array
from ...spec.formats import F64
from ...spec.rounding_bound import error_bound, growth_after_rounding
from ..induction import Formula, Induction, Instance, Transition, induction
from ..obligation import Equation, Inputs, RingProperty, Variable

RING_ELEMENT = F64
"""The format of ring elements does not matter."""


@dataclass(frozen=True)
class Value:
    """A rounded value of a tree: what P is about.

    Attributes
    ----------
    growth : array
        ``(1 + u)^d - 1``, d the most roundings between a term and the value, or more.
    roundings : array
        All of them.
    magnitude : array
        The sum of the terms' magnitudes.
    exact, error : array
        The sum of the terms, and the value less that.
    """

    growth: Array
    roundings: Array
    magnitude: Array
    exact: Array
    error: Array

    def bound(self, v: Inputs) -> Array:
        """Return B(h, r, S)."""
        bound: Array = error_bound(self.growth, self.roundings, self.magnitude, v["eta"])
        return bound


@dataclass(frozen=True)
class Bounded(Formula):
    """The error of a value is in the bound, and the magnitude of its exact sum at most that of its terms."""

    @property
    def text(self) -> str:
        """P of every value of a tree."""
        return "|e| ≤ B(h, r, S) = h·S + r·(1 + h)·η and |x| ≤ S"

    def brackets(self, v: Inputs, value: Value, sign: int) -> tuple[Array, Array]:
        """Return what P says is not negative, for each of both signs."""
        return value.bound(v) - sign * value.error, value.magnitude - sign * value.exact

    def instance(self, transition: Transition) -> Instance:
        """Return P of a term, or of a node if P is true of its branches."""
        assert isinstance(transition, Term | Node | Negated)
        return Instance(_Brackets(self, transition))


@dataclass(frozen=True)
class Term:
    """A leaf: an exact term t of the magnitude |t|, with no rounding.

    What is not negative without P is |t| - t and |t| + t.
    """

    begins: bool = True

    def value(self, v: Inputs) -> Value:
        """Return the term."""
        zero = v["t"] - v["t"]
        return Value(zero, zero, v["magnitude"], v["t"], zero)

    def positive(self, formula: Bounded, v: Inputs, sign: int, _: int) -> tuple[Array, Array]:
        """Return the brackets of the leaf as what is not negative."""
        return v["t"] - v["t"], v["magnitude"] - sign * v["t"]


@dataclass(frozen=True)
class Node:
    """The sum of two values, rounded with an error f, |f| ≤ u·|z| + η for the sum z, which has the sign τ.

    The growth of one branch is h, that of the other one h - t, 0 ≤ t ≤ h.

    Attributes
    ----------
    counted : bool
        Whether the rounding is counted in r.
    """

    counted: bool = True
    begins: bool = False

    def branches(self, v: Inputs) -> tuple[Value, Value]:
        """Return the values that are added, of which P is true."""
        growths = {1: v["h"] + v["t"], 2: v["h"]}
        left, right = (
            Value(growth, *(v[f"{name}{branch}"] for name in ("r", "s", "x", "e")))
            for branch, growth in growths.items()
        )
        return left, right

    def value(self, v: Inputs) -> Value:
        """Return the rounded sum."""
        left, right = self.branches(v)
        return Value(
            growth_after_rounding(left.growth, v["u"]),
            left.roundings + right.roundings + int(self.counted),
            left.magnitude + right.magnitude,
            left.exact + right.exact,
            left.error + right.error + v["f"],
        )

    def positive(self, formula: Bounded, v: Inputs, sign: int, of_sum: int) -> tuple[Array, Array]:
        """Return products and sums of what is not negative: P of both branches, f's bound, other letters."""
        branches = self.branches(v)
        errors, magnitudes = (
            sum(each) for each in zip(*(formula.brackets(v, one, sign) for one in branches), strict=True)
        )
        no_less = sum(sum(formula.brackets(v, one, of_sum)) for one in branches)
        right = branches[1]
        deeper = v["t"] * (right.magnitude + right.roundings * v["eta"])
        size = of_sum * sum(one.exact + one.error for one in branches)
        off = v["u"] * size + v["eta"] - sign * v["f"]
        grown = growth_after_rounding(branches[0].growth, v["u"])
        return errors + deeper + off + v["u"] * (no_less + deeper) + grown * v["eta"], magnitudes


@dataclass(frozen=True)
class Negated:
    """A value with the other sign: nothing is rounded."""

    begins: bool = False

    def value(self, v: Inputs) -> Value:
        """Return minus the value of which P is true."""
        return self._before(v, -1)

    def positive(self, formula: Bounded, v: Inputs, sign: int, _: int) -> tuple[Array, Array]:
        """Return P of the value, of which both signs change places."""
        return formula.brackets(v, self._before(v, 1), -sign)

    def _before(self, v: Inputs, sign: int) -> Value:
        return Value(v["h"], v["r1"], v["s1"], sign * v["x1"], sign * v["e1"])


@dataclass(frozen=True)
class _Brackets:
    formula: Bounded
    transition: Term | Node | Negated

    def __call__(self, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        """Yield that what P says is not negative is a sum of what is not."""
        value = self.transition.value(v)
        for sign, of_sum in product((1, -1), repeat=2):
            said = self.formula.brackets(v, value, sign)
            known = self.transition.positive(self.formula, v, sign, of_sum)
            for label, left, right in zip(("B ∓ e", "S ∓ x"), said, known, strict=True):
                yield Equation(left, right, label=label)


@dataclass(frozen=True)
class Link(Node):
    """A node of a chain: its second branch is a term, with no rounding before it."""

    def branches(self, v: Inputs) -> tuple[Value, Value]:
        """Return the value so far, of growth t, and the exact term x2 of the magnitude s2."""
        zero = v["t"] - v["t"]
        value = Value(v["t"], v["r1"], v["s1"], v["x1"], v["e1"])
        return value, Value(zero, zero, v["s2"], v["x2"], zero)


def instance(transition: Term | Node | Negated) -> RingProperty:
    """Return P of a leaf, or P of a node from P of its branches."""
    names = ("t", "magnitude") if transition.begins else (*"htuf", *BRANCHES)
    return RingProperty(_ring("eta", *names), Bounded().instance(transition).claim)


def _ring(*names: str) -> tuple[Variable, ...]:
    return tuple(Variable(name, RING_ELEMENT, (1,)) for name in names)


BRANCHES = tuple(f"{name}{branch}" for name in "rsxe" for branch in (1, 2))
"""Roundings, magnitude, exact sum and error of either branch."""


TREE = "ptx/rounding/tree"
"""The theorem that has the instances of the formula; they are about no instruction."""

LEAVES: Mapping[str, Transition] = {f"{TREE}/term": Term()}


def along_trees(*lemmas: str, negates: bool = False) -> Induction:
    """Return the induction on trees; lemmas are a rounding's bound, when there is no η, what the tree is."""
    return induction(Bounded(), {f"{TREE}/node": Node(), **_NEGATION[negates]}, LEAVES, lemmas)


def along_chains(*lemmas: str, negates: bool = False) -> Induction:
    """Return the induction on chains, which add one term after the other."""
    return induction(Bounded(), {f"{TREE}/link": Link(), **_NEGATION[negates]}, LEAVES, lemmas)


_NEGATION: Mapping[bool, Mapping[str, Transition]] = {False: {}, True: {f"{TREE}/negated": Negated()}}
"""The steps of sums that are negated on the way, or not."""
