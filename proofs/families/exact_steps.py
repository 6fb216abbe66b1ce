"""One step of every float product in exact theory, and sums of small integers, which no rounding changes.

An instruction set gives its products, of as few elements as there are, as `BlockProduct`s. What other
theorems say of whole rows leaves float operations open; here a solver has to know what they are.

That a format has the integers, and that rounding leaves alone what it has, is about no instruction:
``ptx/numerics/small-integers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import F32, F64, FloatFormat, Format, IntegerFormat, as_float
from ...spec.rounding import Rounding
from ..induction import Formula, Induction, Instance, Transition, induction
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
    holds,
)
from .block_products import BlockProduct, Blocks, power_of_two
from .rounded_chains import Sums
from .scaling import ONE, SCALES


def one_term(isa: str, source: str, blocks: Callable[[], Blocks]) -> Theorem:
    """Return the theorem that a step rounds one term once, and keeps an accumulator.

    Parameters
    ----------
    isa, source : str
        Whose products, and where it states them.
    blocks : callable
        Returns the products, by the names that obligations have: of operands ``a``, ``b``, perhaps
        ``scale_a`` and ``scale_b``, and an accumulator.
    """
    return Theorem(
        f"{isa}/numerics/one-term",
        "a product with 1 is its factor in the accumulator's type, one with 0 leaves the accumulator",
        "scale factors 1, every product 0 but x · 1 ⇒ D = fl(x), where C = 0 or there is none; every "
        "product 0 ⇒ D = C in the type of D: the same number, or both NaN, for every x and C",
        source,
        lambda: _cases(_once_per_factor(blocks())),
    )


def _once_per_factor(blocks: Blocks) -> Blocks:
    """Return the first product for each format of A; of B's format, the products have 1 and 0 only."""
    found: dict[tuple[Format, str], str] = {}
    for name, block in blocks.items():
        a, b = (block.operands[role].format for role in "ab")
        found.setdefault((a, name.removeprefix(f"{a}-{b}-")), name)
    return {name: blocks[name] for name in found.values()}


def _cases(blocks: Blocks) -> Iterator[Case]:
    for name, block in blocks.items():
        if block.is_integer:
            continue
        for case, claim in (("factor", _factor), ("accumulator", _accumulator)):
            if case == "factor" and block.operands["a"].format == F64:
                continue  # no solver decides in a minute that a fused f64 product with 1 is its factor
            if case == "accumulator" and block.accumulator not in block.operands:
                continue
            goal = partial(claim, block)
            yield Case(f"{name}/{case}", goal, equality=Equality.IEEE, choices=block.choices)


def _factor(block: BlockProduct) -> Property:
    """Claim that a term, times 1 and scale factors 1, is rounded to each of the types it goes through."""
    a = as_float(block.operands["a"].format)
    through = (
        [as_float(block.operands[block.accumulator].format)] if block.accumulator in block.operands else []
    )
    one = {"b": power_of_two(block.operands["b"].format, 0)}

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        term = Operand(v["x"], a)
        for fmt in dict.fromkeys([*through, as_float(block.result)]):
            term = Operand(alg.fused(fmt, Rounding.NEAREST_EVEN, (), [term]), fmt)
        for reading in block.readings:
            found = _executed(alg, block, {"a": v["x"]}, one, reading)
            yield Equation(found, term.bits, block.result, label="fl(x)")

    return Property((Variable("x", a),), claim, abstract=False)


def _accumulator(block: BlockProduct) -> Property:
    """Claim that C is there in the type of D when the product is 0 · 0."""
    c, d = as_float(block.operands[block.accumulator].format), as_float(block.result)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        kept = v["c"] if c == d else alg.fused(d, Rounding.NEAREST_EVEN, (), [Operand(v["c"], c)])
        for reading in block.readings:
            found = _executed(alg, block, {block.accumulator: v["c"]}, {}, reading)
            yield Equation(found, kept, d, label="c")

    return Property((Variable("c", c),), claim, abstract=False)


def _executed(
    alg: Algebra,
    block: BlockProduct,
    given: Mapping[str, Array],
    constants: Mapping[str, int],
    reading: object,
) -> Array:
    """Execute a step on elements that are given, or constants; every other is 0, and a scale factor 1."""
    operands = {}
    for name, operand in block.operands.items():
        rest = alg.constant(ONE[as_float(operand.format)] if name in SCALES else 0, operand.format)
        first = given.get(name)
        if first is None:
            first = alg.constant(constants[name], operand.format) if name in constants else rest
        shape = operand.shape(1, 1)
        others = np.broadcast_to(rest, (*first.shape, prod(shape) - 1))
        elements = np.concatenate([first[..., None], others], axis=-1)
        operands[name] = elements.reshape(*first.shape, *shape)
    return block.multiply(alg, operands, reading)[..., 0, 0]


SMALL_INTEGERS = "ptx/numerics/small-integers"
"""The theorem that has the instances of the formula, and the lemmas about formats."""

LEMMAS = ("partial-sums", "representable", "rounding")
"""What is proved of each format: sums below 2^p, of which it has every integer, and rounds none."""


@dataclass(frozen=True)
class WithinSum(Formula):
    """A partial sum is within the sum of its terms' magnitudes: B - S and B + S are not negative."""

    @property
    def text(self) -> str:
        """P of the sum of any n of the terms, in any tree."""
        return "|S| ≤ B"

    def instance(self, transition: Transition) -> Instance:
        """Return P of a sum from P of what is added; P of a term is what a magnitude is."""
        assert isinstance(transition, Joined)
        return Instance(_Brackets(transition))


@dataclass(frozen=True)
class Joined:
    """The sum of two partial sums."""

    begins: bool = False

    def following(self, v: Inputs) -> tuple[Array, Array]:
        """Return the sum, and the sum of the magnitudes."""
        return v["s"] + v["s2"], v["b"] + v["b2"]


@dataclass(frozen=True)
class _Brackets:
    transition: Joined

    def __call__(self, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        total, bound = self.transition.following(v)
        for sign in (1, -1):
            known = (v["b"] - sign * v["s"]) + (v["b2"] - sign * v["s2"])
            yield Equation(bound - sign * total, known, label="B ∓ S")


def joined() -> RingProperty:
    """Return P of two partial sums that are added."""
    variables = tuple(Variable(name, F32, (1,)) for name in ("s", "s2", "b", "b2"))
    return RingProperty(variables, WithinSum().instance(Joined()).claim)


def in_any_order(fmt: FloatFormat, *lemmas: str) -> Induction:
    """Return the induction on sums of a format; lemmas are what such a sum is."""
    of_format = (f"{SMALL_INTEGERS}/{fmt}/{name}" for name in LEMMAS)
    return induction(WithinSum(), {f"{SMALL_INTEGERS}/joined": Joined()}, {}, (*of_format, *lemmas))


def small_integers(isa: str, source: str, sums: Sums, blocks: Callable[[], Blocks]) -> Theorem:
    """Return the theorem that sums of small integers are exact, with what is lost at 2^p.

    Parameters
    ----------
    isa, source : str
        Whose sums, and where it states them.
    sums, blocks : callable
        Return them, and the instructions that compute them, by the names that obligations have.
    """

    def cases() -> Iterator[Case]:
        found = blocks()
        for name, each in sums().items():
            goal = partial(in_any_order, each.result, *each.proved)
            yield Case(name, goal, equality=Equality.VALUE, method=Method.INDUCTION, choices=each.choices)
            if (block := found.get(name)) is not None and block.accumulator in block.operands:
                yield Case(
                    f"{name}/beyond", partial(_one_more, block), Status.REFUTED, choices=each.choices,
                    statement=f"|C| = 2^{each.result.precision}, a product 1 or -1 with the sign that C "
                    "has in D, the others 0 ⇒ |D| ≠ |C|",
                )  # fmt: skip

    return Theorem(
        f"{isa}/numerics/small-integers",
        "sums of small integers are exact, after any number of products; at 2^p no longer (pinned)",
        "integers C, a[k], b[k] with |C| + Σ |a[k]·b[k]| < 2^p, p the precision of D: every partial sum is "
        "an integer below 2^p, so a number of the format, so not changed by its rounding: D is the exact sum",
        source,
        cases,
    )


def _one_more(block: BlockProduct) -> Property:
    """Claim that one more always changes what is added to; pinned where it is 2^p."""
    result = as_float(block.result)
    magnitude = IntegerFormat("magnitude", result.magnitude_bits, signed=False)
    a, b = list(block.operands)[:2]
    numbers = {name: _with_first(block, name, 1) for name in (a, b, block.accumulator)}
    ones = {name: power_of_two(block.operands[name].format, 0) for name in (a, b)}
    if not block.total(numbers).any():  # 1 - 1: C and the product have different signs in D
        ones[a] |= as_float(block.operands[a].format).sign_mask
    pinned = {name: _with_first(block, name, one) for name, one in ones.items()}
    pinned[block.accumulator] = _with_first(block, block.accumulator, power_of_two(result, result.precision))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for reading in block.readings:
            d = block.multiply(alg, v, reading)
            one, other = (alg.extract(each, 0, magnitude) for each in (d, v[block.accumulator]))
            yield holds(alg, ~alg.same(one, other), "|D| ≠ |C|")

    return Property(block.variables(), claim, pinned=pinned)


def _with_first(block: BlockProduct, name: str, first: int) -> Array:
    """Return an operand for a D of one element, of which the first element is given and others are 0."""
    shape = block.operands[name].shape(1, 1)
    return np.array([first] + [0] * (prod(shape) - 1), dtype=object).reshape(shape)
