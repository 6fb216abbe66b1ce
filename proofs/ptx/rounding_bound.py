"""How rounding errors add up along any tree of sums, and so the bound of a reassociated sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

from ...spec.algebra import Algebra, Array
from ...spec.formats import F64, FloatFormat
from ...spec.ptx.choices import SEQUENTIAL
from ...spec.ptx.resolution import Multiplication
from ...spec.rounding_bound import error_bound, growth_after_rounding
from ..induction import Induction, induction
from ..invariants import Formula, Instance, Transition
from ..obligation import (
    Case,
    Deduction,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    RingProperty,
    Status,
    Variable,
    holds,
    theorem,
)
from .blocked import instructions, step
from .rounding_error import NEAREST, RESULTS, Tail, at_most, between, directed, exact_below, nearest, numbers

SOURCE = "Higham, Accuracy and Stability of Numerical Algorithms, sections 2.2 and 4.2"

RING_ELEMENT = F64
"""The format of ring elements does not matter."""

ANY_ORDER = "any order of accumulation in which every sum is rounded once"


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
        assert isinstance(transition, Term | Node)
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
class _Brackets:
    formula: Bounded
    transition: Term | Node

    def __call__(self, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        """Yield that what P says is not negative is a sum of what is not."""
        value = self.transition.value(v)
        for sign, of_sum in product((1, -1), repeat=2):
            said = self.formula.brackets(v, value, sign)
            known = self.transition.positive(self.formula, v, sign, of_sum)
            for label, left, right in zip(("B ∓ e", "S ∓ x"), said, known, strict=True):
                yield Equation(left, right, label=label)


@theorem(
    "ptx/rounding/tree",
    "how the bound of a sum grows along a tree: identities whose brackets are not negative by hypothesis",
    "P of a value: B ∓ e ≥ 0 and S ∓ x ≥ 0, where B(h, r, S) = h·S + r·(1 + h)·η, h = (1 + u)^d - 1, x is "
    "the exact sum, S that of the terms' magnitudes, e the error, r and d count roundings",
    SOURCE,
)
def tree() -> Iterator[Case]:
    """Yield P of a term, P of a node from P of its branches, and one rounding not counted."""
    for name, expect, transition, statement in (
        ("term", Status.PROVED, Term(), "an exact term t: B ∓ e = 0, S ∓ x = [|t| ∓ t]"),
        (
            "node",
            Status.PROVED,
            Node(),
            "of a sum z = x1 + e1 + x2 + e2 with B1, h1 = h2 + t and the sign τ, rounded with an error f, "
            "|f| ≤ u·|z| + η: with h' = (1 + h1)·(1 + u) - 1 and d = t·(S2 + r2·η), "
            "B(h', r1 + r2 + 1, S1 + S2) ∓ (e1 + e2 + f) = [B1 ∓ e1] + [B2 ∓ e2] + d + [u·|z| + η ∓ f] + "
            "u·([B1 - τ·e1] + [S1 - τ·x1] + [B2 - τ·e2] + [S2 - τ·x2] + d) + h'·η; "
            "S ∓ x = [S1 ∓ x1] + [S2 ∓ x2]",
        ),
        (
            "rounding-not-counted",
            Status.REFUTED,
            Node(counted=False),
            "the same with B(h', r1 + r2, S1 + S2): n - 2 roundings of n terms instead of n - 1",
        ),
    ):
        goal = partial(_instance, transition)
        yield Case(name, goal, expect, Equality.VALUE, Method.STRUCTURAL, statement=statement)


def _instance(transition: Term | Node) -> RingProperty:
    names = ("t", "magnitude") if transition.begins else (*"htuf", *BRANCHES)
    return RingProperty(_ring("eta", *names), Bounded().instance(transition).claim)


def _ring(*names: str) -> tuple[Variable, ...]:
    return tuple(Variable(name, RING_ELEMENT, (1,)) for name in names)


BRANCHES = tuple(f"{name}{branch}" for name in "rsxe" for branch in (1, 2))
"""Roundings, magnitude, exact sum and error of either branch."""


def _along_trees(*rounded: str) -> Induction:
    """Return the induction on trees, and what it needs besides: f's bound, and when there is no η."""
    return induction(Bounded(), {f"{tree.id}/node": Node()}, {f"{tree.id}/term": Term()}, rounded)


@theorem(
    "ptx/rounding/any-order",
    "however a sum is reassociated, it is near the exact one",
    "of n exact terms, added in any order and grouping, every sum rounded once to the format and none "
    "overflowing: |computed - Σ t| ≤ ((1 + u)^(n-1) - 1)·Σ |t| + (n - 1)·(1 + u)^(n-1)·η; without η if the "
    "terms are multiples of the format's smallest number (spec.rounding_bound)",
    SOURCE,
)
def any_order() -> Iterator[Case]:
    """Yield an induction on trees per format, to nearest, and per direction of f64; and n - 2 roundings."""
    for fmt in RESULTS:
        yield Case(
            f"{fmt}/nearest_even",
            partial(_along_trees, f"{nearest.id}/{fmt}/bound", f"{exact_below.id}/{fmt}"),
            equality=Equality.VALUE,
            method=Method.INDUCTION,
            choices=ANY_ORDER,
        )
    for case in directed.cases():
        yield Case(
            case.name,
            partial(_along_trees, f"{directed.id}/{case.name}", f"{exact_below.id}/{F64}"),
            equality=Equality.VALUE,
            method=Method.INDUCTION,
            choices=ANY_ORDER,
            statement="the same with 2u and 2η for u and η",
        )
    for fmt in RESULTS:
        yield Case(
            f"{fmt}/n-2",
            partial(_lost_twice, fmt),
            Status.REFUTED,
            statement="of the terms x, u·y, u·y: fl(fl(x + u·y) + u·y) = x ⇒ the error 2u·|y| ≤ u·S with "
            "S = |x| + 2u·|y|, which the second number above |x| is not less than",
        )


def _lost_twice(fmt: FloatFormat) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        z = Tail(alg, fmt, v)
        twice = z.y + z.least_normal  # the exponent one more
        stays = alg.same(z.added(NEAREST, z.added(NEAREST)), v["x"])
        normal = at_most(alg, z.least_normal, z.y)
        yield holds(alg, at_most(alg, twice, z.x + alg.whole(2)), "error ≤ u·S", normal & stays)

    one = fmt.bias << fmt.fraction_bits
    return Property(numbers(fmt), claim, partial(between, fmt), {"x": one, "y": one}, abstract=False)


@theorem(
    "ptx/rounding/sequential",
    "each element of D under sequential accumulation is near the exact one",
    "|D - (C + Σ_k a[k]·b[k])| ≤ ((1 + u)^r - 1)·(|C| + Σ_k |a[k]·b[k]|) + r·(1 + u)^r·η for r = K products "
    "(of a sparse A the stored ones), one more if C is converted to the type of D; if nothing overflows. "
    "With block scaling a and b are the scaled elements, which are exact (ptx/block-scale/exact)",
    SOURCE,
)
def sequential() -> Iterator[Case]:
    """Yield one deduction per float instruction: it is a chain of roundings, which is a tree."""
    for name, form in instructions().items():
        if not form.is_integer:
            premises = (f"{step.id}/{name}", f"{any_order.id}/{_rounding_of(form)}")
            yield Case(
                name,
                partial(Deduction, premises),
                equality=Equality.VALUE,
                method=Method.DEDUCTION,
                choices=SEQUENTIAL,
            )


def _rounding_of(form: Multiplication) -> str:
    return f"{form.d}/{form.rounding.name.lower()}"


THEOREMS = (tree, any_order, sequential)
