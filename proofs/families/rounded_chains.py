"""Chains of roundings: how far they are from the exact sum, their order, and when they are ordered.

An instruction set says which of its instructions are chains, or trees, of sums that are rounded once each,
and by which obligations; the formulas and the roundings themselves are those of `rounding_trees` and
``ptx/rounding``, which are about no instruction.

That a rounding does is ``ptx/rounding/monotone``, which has the instances of the formula here, too; they are
about no instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array, Operand, Product
from ...spec.formats import F64, FloatFormat, as_float
from ...spec.rounding import Rounding
from ..induction import Formula, Instance, Transition, induction
from ..obligation import (
    Case,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    RingProperty,
    Status,
    Theorem,
    Variable,
)
from .block_products import BlockProduct, Blocks, power_of_two
from .rounding_trees import along_chains, along_trees


@dataclass(frozen=True)
class RoundedSum:
    """What an element of D is: a sum whose terms are C and the products, rounded to a format.

    Attributes
    ----------
    result : FloatFormat
        Of D, and of what is rounded to.
    proved : tuple of str
        The obligations that say so: that each product is one link of a chain, or a leaf of a tree.
    is_chain : bool
        Whether products are added one after the other.
    choices : str
        In which reading.
    negates : bool
        Whether the accumulator, or a sum, is negated on the way.
    directed : tuple of str
        For sums that may be rounded in the other directions too, the obligations that say what these are.
    """

    result: FloatFormat
    proved: tuple[str, ...]
    is_chain: bool
    choices: str
    negates: bool = False
    directed: tuple[str, ...] | None = None


Sums = Callable[[], Mapping[str, RoundedSum]]


def bound(isa: str, source: str, sums: Sums, statement: str) -> Theorem:
    """Return the theorem that D is near the exact sum, for any number of instructions.

    Parameters
    ----------
    isa, source : str
        Whose sums, and where it states them.
    sums : callable
        Returns them, by the names that obligations have.
    statement : str
        What is added to the bound: how many roundings there are.
    """

    def cases() -> Iterator[Case]:
        for name, each in sums().items():
            if each.directed is not None:
                yield _directed(name, each, each.directed)
            rounding = f"ptx/rounding/nearest/{each.result}/bound", f"ptx/rounding/exact-below/{each.result}"
            along = along_chains if each.is_chain else along_trees
            yield Case(
                name, partial(along, *rounding, *each.proved, negates=each.negates), equality=Equality.VALUE,
                method=Method.INDUCTION, choices=each.choices,
            )  # fmt: skip

    return Theorem(
        f"{isa}/numerics/bound",
        "a loop's D is near the exact sum, if nothing overflows",
        "to nearest |D - (C + Σ a·b)| ≤ ((1 + u)^r - 1)·(|C| + Σ |a·b|) + r·(1 + u)^r·η, u = 2^-p, "
        f"η = u·2^emin, {statement}",
        f"{source}; Higham, Accuracy and Stability of Numerical Algorithms, section 4.2",
        cases,
    )


def _directed(name: str, each: RoundedSum, proved: tuple[str, ...]) -> Case:
    along = along_chains if each.is_chain else along_trees
    directions = (f"ptx/rounding/directed/{each.result}/{way}" for way in DIRECTIONS)
    below = f"ptx/rounding/exact-below/{each.result}"
    return Case(
        f"{name}/directed", partial(along, *directions, below, *proved, negates=each.negates),
        equality=Equality.VALUE, method=Method.INDUCTION, choices="RN=1, 2, 3, negation=after-rounding",
        statement="the same with 2u and 2η for u and η, in the other directions",
    )  # fmt: skip


DIRECTIONS = ("toward_zero", "upward", "downward")
"""The other directions, as obligations name them."""


# -- order of products
class RoundedOnce:
    """The ring in which a rounding adds an unknown, the same one for the same exact sum.

    Parameters
    ----------
    ring : Algebra
        Of polynomials, or of numbers.
    unknowns : array
        What roundings add, in the order in which their sums come up.
    exact : callable (format, products, addends) -> bool
        Which roundings are known to change nothing.
    """

    def __init__(self, ring: Algebra, unknowns: Array, exact: Callable[..., bool]) -> None:
        self._ring = ring
        self._unknowns = unknowns
        self._exact = exact
        self._sums: list[tuple[FloatFormat, Array, Array]] = []

    def __getattr__(self, name: str) -> Any:
        """Return what the ring has."""
        return getattr(self._ring, name)

    def fused(
        self,
        result: FloatFormat,
        rounding: Rounding | Any,
        products: list[Product] | tuple[Product, ...] = (),
        addends: list[Operand] | tuple[Operand, ...] = (),
    ) -> Array:
        """Return the exact sum, and what its rounding adds."""
        total = self._ring.fused(result, rounding, products, addends)
        if self._exact(result, products, addends):
            return total
        rounded = np.empty(total.shape, dtype=object)
        for index in np.ndindex(total.shape):
            rounded[index] = total[index] + self._added(result, total[index])
        return rounded

    def _added(self, result: FloatFormat, total: Any) -> Any:
        """Return what was added to the same sum before, else a new unknown: a choice where sums are terms."""
        number = np.asarray(total, dtype=object)
        added = np.asarray(self._unknowns[len(self._sums)], dtype=object)
        for fmt, known, unknown in self._sums:
            if fmt == result:
                added = self._ring.where(self._ring.same(known, number), unknown, added)
        self._sums.append((result, number, added))
        return added[()]


def order(isa: str, source: str, blocks: Callable[[], Blocks], exact: Callable[..., bool] | None) -> Theorem:
    """Return the theorem on the order of products inside an instruction.

    Parameters
    ----------
    blocks : callable
        Returns the instructions by name.
    exact : callable, optional
        Which roundings are exact, where the sum of an instruction's products is rounded once; else every
        product is rounded to the sum so far, and order matters.
    """

    def cases() -> Iterator[Case]:
        for name, block in blocks().items():
            a, b = list(block.operands)[:2]
            if block.operands[a].shape(1, 1)[-1] == 1:
                continue
            if block.is_integer:
                yield Case(name, partial(_exchanged, block, (a, b)))
            elif exact is not None:
                for variant, roles, expect in (
                    ("", (a, b), Status.PROVED),
                    ("/left-alone", (a,), Status.REFUTED),
                ):
                    yield Case(
                        f"{name}{variant}", partial(_in_a_ring, block, roles, exact), expect,
                        Equality.VALUE, Method.STRUCTURAL, choices=block.choices,
                        statement="" if len(roles) == 2 else "the same of the left factors alone",
                    )  # fmt: skip
            else:
                goal = partial(_exchanged, block, (a, b), pinned=_lost(block, a, b))
                yield Case(name, goal, Status.REFUTED, choices=block.choices)

    matters = (
        "" if exact is not None else "; of floats, that are added one after the other, it matters (pinned)"
    )
    return Theorem(
        f"{isa}/numerics/order",
        f"the order of the products of one instruction does not matter{matters}",
        "exchanging products p and p + 1 changes no element of D, for every p; these make every order. "
        + (
            "Floats: as polynomials, where a rounding adds an unknown that its exact sum determines, and "
            "products are exact where obligations say so; equal numbers, not the signs of zeros nor NaNs"
            if exact is not None
            else "Floats: C, a product -C, and one so small that C + p = C: p is lost, or is all that is left"
        ),
        source,
        cases,
    )


def _swapped(block: BlockProduct, v: Inputs, roles: tuple[str, ...], p: int) -> dict[str, Array]:
    """Return operands with products p and p + 1 exchanged, in the roles that are named."""
    found: dict[str, Array] = dict(v)
    for role in roles:
        axes = block.operands[role].axes
        axis = next(place for place, extent in enumerate(axes) if not isinstance(extent, str)) - len(axes)
        places = np.arange(v[role].shape[axis])
        places[[p, p + 1]] = p + 1, p
        found[role] = np.take(v[role], places, axis=axis)
    return found


def _products(block: BlockProduct) -> int:
    return block.operands[next(iter(block.operands))].shape(1, 1)[-1]


def _exchanged(
    block: BlockProduct, roles: tuple[str, ...], pinned: Mapping[str, Any] | None = None
) -> Property:
    places = range(1 if pinned else _products(block) - 1)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for reading in block.readings:
            d = block.multiply(alg, v, reading)
            for p in places:
                other = block.multiply(alg, _swapped(block, v, roles, p), reading)
                yield Equation(other, d, block.result, label=f"{p} and {p + 1} exchanged")

    return Property(block.variables(), claim, pinned=pinned, abstract=pinned is None)


def _lost(block: BlockProduct, a: str, b: str) -> dict[str, Any]:
    """Return a C, a product that cancels it, and one that is lost next to either."""
    formats = [as_float(block.operands[role].format) for role in (a, b)]
    most = 28 if F64 in formats else 14
    columns, product = [], 0
    for fmt in formats:
        high, low = min(most, fmt.maximum_exponent), max(-most, fmt.minimum_exponent)
        product += high
        columns.append([power_of_two(fmt, high), power_of_two(fmt, low), *[0] * (_products(block) - 2)])
    row, column = columns
    row[0] |= formats[0].sign_mask
    return {
        a: [row],
        b: [[each] for each in column] if block.operands[b].axes[-1] == "n" else [column],
        block.accumulator: power_of_two(block.result, product),
    }


def _in_a_ring(block: BlockProduct, roles: tuple[str, ...], exact: Callable[..., bool]) -> RingProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for reading in block.readings:
            ring: Any = RoundedOnce(alg, v["r"], exact)
            d = block.multiply(ring, v, reading)
            for p in range(_products(block) - 1):
                other = block.multiply(ring, _swapped(block, v, roles, p), reading)
                yield Equation(other, d, label=f"{p} and {p + 1} exchanged")

    roundings = 4 * _products(block)
    wanted = tuple(variable for variable in block.variables() if variable.name != "rounding")
    return RingProperty((*wanted, Variable("r", F64, (roundings,))), claim)


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
