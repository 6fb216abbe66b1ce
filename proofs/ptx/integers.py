"""Integer products and sums: their ranges, headroom in s32, and saturation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ...spec.algebra import Algebra, Array
from ...spec.formats import S4, S8, S32, U4, U8, IntegerFormat
from ..induction import Formula, Instance, Transition, induction
from ..obligation import (
    Case,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    Variable,
    holds,
    theorem,
)

SOURCE = "PTX ISA 9.1 section 9.7.14.5.14"

WIDE = IntegerFormat("s48", 48, signed=True)
COUNT = IntegerFormat("u8", 8, signed=False)
UNSIGNED = IntegerFormat("u60", 60, signed=False)


def within(alg: Algebra, value: Array, low: Array, high: Array) -> Array:
    """Return the condition low ≤ value ≤ high on exact integers."""
    return alg.in_range(value - low, UNSIGNED) & alg.in_range(high - value, UNSIGNED)


INTEGER_PAIRS = tuple((a, b) for types in ((S8, U8), (S4, U4)) for a in types for b in types)
MOST_PRODUCTS = 64
"""Products of a row: m16n8k64 on 4 bits, and the kept half of the sparse k128."""


def product_range(a: IntegerFormat, b: IntegerFormat) -> tuple[int, int]:
    """Return the least and the greatest product."""
    corners = [x * y for x in (a.minimum, a.maximum) for y in (b.minimum, b.maximum)]
    return min(corners), max(corners)


@theorem(
    "ptx/numerics/product-range",
    "the range of one product of integers, both ends attained",
    "min ≤ a·b ≤ max",
    SOURCE,
)
def one_product() -> Iterator[Case]:
    """Yield a proof and two refutations of tighter bounds per pair."""
    for a, b in INTEGER_PAIRS:
        low, high = product_range(a, b)
        for name, bounds, expect in (
            ("bounds", (low, high), Status.PROVED),
            ("minimum-attained", (low + 1, high), Status.REFUTED),
            ("maximum-attained", (low, high - 1), Status.REFUTED),
        ):
            text = f"{bounds[0]} ≤ a·b ≤ {bounds[1]}"
            yield Case(f"{a}-{b}/{name}", partial(_product_range, a, b, bounds), expect, statement=text)


def _product_range(a: IntegerFormat, b: IntegerFormat, bounds: tuple[int, int]) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        value = alg.integer(v["a"], a) * alg.integer(v["b"], b)
        yield holds(alg, within(alg, value, *map(alg.whole, bounds)), "product in range")

    return Property((Variable("a", a, (1,)), Variable("b", b, (1,))), claim, abstract=False)


@dataclass(frozen=True)
class InRange(Formula):
    """The sum of k products is in k times the range of one."""

    low: int
    high: int

    @property
    def text(self) -> str:
        """P(k)."""
        return f"{self.low}·k ≤ S_k ≤ {self.high}·k"

    def holds_of(self, alg: Algebra, total: Array, k: Array) -> Array:
        """Return P(k) of a sum."""
        return within(alg, total, k * alg.whole(self.low), k * alg.whole(self.high))

    def instance(self, transition: Transition) -> Instance:
        """Return P of the empty sum, or of a sum and one product more."""
        assert isinstance(transition, Sum)
        claim = _RangeOfSum(self, transition)
        return Instance(claim, None if transition.begins else _Assumed(self))


@dataclass(frozen=True)
class Sum:
    """An empty sum, or one product more."""

    begins: bool


@dataclass(frozen=True)
class _RangeOfSum:
    formula: InRange
    sum: Sum

    def __call__(self, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        """Yield P of the sum."""
        if self.sum.begins:
            yield holds(alg, self.formula.holds_of(alg, alg.whole(0), alg.whole(0)), "empty sum in range")
            return
        k, s, p = _counted(alg, v)
        yield holds(alg, self.formula.holds_of(alg, s + p, k + alg.whole(1)), "sum in range")


@dataclass(frozen=True)
class _Assumed:
    formula: InRange

    def __call__(self, alg: Algebra, v: Inputs) -> Iterator[Array]:
        """Yield P of the sum before, and the range of a product."""
        k, s, p = _counted(alg, v)
        yield self.formula.holds_of(alg, s, k)
        yield self.formula.holds_of(alg, p, alg.whole(1))


def _counted(alg: Algebra, v: Inputs) -> tuple[Array, Array, Array]:
    return alg.integer(v["k"], COUNT), alg.integer(v["s"], S32), alg.integer(v["p"], S32)


@theorem(
    "ptx/numerics/sum-range-step",
    "one product more widens the range of a sum by the range of a product, and the empty sum is 0",
    "k·min ≤ S ≤ k·max and min ≤ p ≤ max ⇒ (k + 1)·min ≤ S + p ≤ (k + 1)·max, for all k < 256; 0 is in 0 "
    "times the range",
    SOURCE,
)
def sum_step() -> Iterator[Case]:
    """Yield one step, and the base, per pair of types."""
    for a, b in INTEGER_PAIRS:
        low, high = product_range(a, b)
        yield Case(f"{a}-{b}", partial(_sum, low, high, begins=False))
        yield Case(f"{a}-{b}/empty", partial(_sum, low, high, begins=True))


def _sum(low: int, high: int, *, begins: bool) -> Property:
    variables = (Variable("k", COUNT, (1,)), Variable("s", S32, (1,)), Variable("p", S32, (1,)))
    claim, assuming = InRange(low, high).instance(Sum(begins))
    return Property(variables, claim, assuming, abstract=False)


@theorem(
    "ptx/numerics/headroom",
    "the products of a row never overflow by themselves, only with C: 64 products stay below 2^22",
    "64·min ≤ S ≤ 64·max ⇒ -2^22 < S < 2^22, so that S is an s32 and S + C an s33",
    SOURCE,
)
def headroom() -> Iterator[Case]:
    """Yield one obligation per pair of types."""
    for a, b in INTEGER_PAIRS:
        low, high = (MOST_PRODUCTS * bound for bound in product_range(a, b))
        yield Case(f"{a}-{b}", partial(_headroom, low, high))


def _headroom(low: int, high: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        total, c = alg.integer(v["s"], WIDE), alg.integer(v["c"], S32)
        limit = (1 << 22) - 1
        yield holds(alg, within(alg, total, alg.whole(-limit), alg.whole(limit)), "|S| < 2^22")
        yield holds(alg, alg.in_range(total, S32), "S is an s32")
        yield holds(alg, alg.in_range(total + c, IntegerFormat("s33", 33, signed=True)), "S + C is an s33")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield within(alg, alg.integer(v["s"], WIDE), alg.whole(low), alg.whole(high))

    return Property((Variable("s", WIDE, (1,)), Variable("c", S32, (1,))), claim, assuming, abstract=False)


@theorem(
    "ptx/numerics/sum-range",
    "the sum of a row's products is in K times the range of one",
    "K·min ≤ Σ_{k<K} a[k]·b[k] ≤ K·max for every K ≤ 256",
    SOURCE,
)
def sum_range() -> Iterator[Case]:
    """Yield one induction per pair of types; the empty sum is 0."""
    for a, b in INTEGER_PAIRS:
        step = f"{sum_step.id}/{a}-{b}"
        goal = partial(
            induction,
            InRange(*product_range(a, b)),
            {step: Sum(begins=False)},
            {f"{step}/empty": Sum(begins=True)},
            [f"{one_product.id}/{a}-{b}/bounds"],
        )
        yield Case(f"{a}-{b}", goal, method=Method.INDUCTION)


saturation = Theorem(
    "ptx/numerics/saturation",
    "clamping a total is wrapping it unless it leaves s32, and then the nearest end",
    "T in s32 ⇒ clamp(T) = T mod 2^32; T > max ⇒ clamp(T) = max; T < min ⇒ clamp(T) = min; of any "
    "total, whoever computes it: instructions with .satfinite are executed in ptx/stated/products",
    SOURCE,
    lambda: iter(
        (
            Case("total", partial(_saturation, always=False)),
            Case("always-wraps", partial(_saturation, always=True), Status.REFUTED),
        )
    ),
)


def _saturation(*, always: bool) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        total = alg.integer(v["total"], WIDE)
        clamped, wrapped = alg.saturate(total, S32), alg.wrap(total, S32)
        if always:
            yield Equation(clamped, wrapped, S32, label="clamped = wrapped")
            return
        inside, positive = alg.in_range(total, S32), alg.in_range(total, UNSIGNED)
        yield Equation(clamped, wrapped, S32, inside, "in range")
        yield Equation(clamped, alg.constant(S32.maximum, S32), S32, ~inside & positive, "above")
        yield Equation(clamped, alg.constant(1 << 31, S32), S32, ~inside & ~positive, "below")

    return Property((Variable("total", WIDE, (1,)),), claim, abstract=False)


THEOREMS = (one_product, sum_step, sum_range, headroom, saturation)
