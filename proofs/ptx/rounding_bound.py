"""How rounding errors add up along any tree of sums, and so the bound of a reassociated sum."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...spec.algebra import Algebra
from ...spec.formats import F64, FloatFormat
from ...spec.ptx.choices import SEQUENTIAL
from ...spec.ptx.resolution import Multiplication
from ...spec.rounding_bound import error_bound, growth_after_rounding
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


@theorem(
    "ptx/rounding/tree",
    "how the bound of a sum grows along a tree: identities whose brackets are not negative by hypothesis",
    "B(h, r, S) = h·S + r·(1 + h)·η bounds the error of a value with r roundings whose terms' magnitudes sum "
    "to S, h = (1 + u)^d - 1. An exact term has the error 0 = B(0, 0, S)",
    SOURCE,
)
def tree() -> Iterator[Case]:
    """Yield the exact sum of two values, one rounding, a greater depth, and one rounding not counted."""
    for name, goal, statement in (
        ("sum", _sum, "B(h, r1, S1) + B(h, r2, S2) = B(h, r1 + r2, S1 + S2)"),
        ("deeper", _deeper, "B(h + t, r, S) = B(h, r, S) + t·(S + r·η)"),
        (
            "rounding",
            partial(_rounded, counted=True),
            "of a value off by e, |e| ≤ B = B(h, r, S), the magnitude V ≤ S + B, rounded with an error f, "
            "|f| ≤ u·V + η: with h' = (1 + h)·(1 + u) - 1, "
            "B(h', r + 1, S) ∓ (e + f) = [B ∓ e] + [u·V + η ∓ f] + u·[S + B - V] + h'·η",
        ),
    ):
        yield Case(name, goal, equality=Equality.VALUE, method=Method.STRUCTURAL, statement=statement)
    yield Case(
        "rounding-not-counted",
        partial(_rounded, counted=False),
        Status.REFUTED,
        Equality.VALUE,
        Method.STRUCTURAL,
        statement="the same with B(h, r + 1, S): n - 2 roundings of n terms instead of n - 1",
    )


def _ring(*names: str) -> tuple[Variable, ...]:
    return tuple(Variable(name, RING_ELEMENT, (1,)) for name in names)


def _sum() -> RingProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        left, right = (error_bound(v["h"], v[f"r{i}"], v[f"s{i}"], v["eta"]) for i in (1, 2))
        both = error_bound(v["h"], v["r1"] + v["r2"], v["s1"] + v["s2"], v["eta"])
        yield Equation(left + right, both, label="bound of the sum")

    return RingProperty(_ring("h", "eta", "r1", "s1", "r2", "s2"), claim)


def _deeper() -> RingProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        h, r, s, eta, t = (v[name] for name in ("h", "r", "s", "eta", "t"))
        deeper = error_bound(h, r, s, eta) + t * (s + r * eta)
        yield Equation(error_bound(h + t, r, s, eta), deeper, label="bound of a greater depth")

    return RingProperty(_ring("h", "eta", "r", "s", "t"), claim)


def _rounded(*, counted: bool) -> RingProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        h, r, s, eta, u, magnitude = (v[name] for name in ("h", "r", "s", "eta", "u", "magnitude"))
        before, grown = error_bound(h, r, s, eta), growth_after_rounding(h, u)
        after = error_bound(grown if counted else h, r + 1, s, eta)
        for sign in (1, -1):
            e, f = sign * v["e"], sign * v["f"]
            brackets = (before - e) + (u * magnitude + eta - f) + u * (s + before - magnitude)
            yield Equation(after - (e + f), brackets + grown * eta, label="bound less error")

    return RingProperty(_ring("h", "eta", "r", "s", "u", "magnitude", "e", "f"), claim)


LEMMAS = ("sum", "deeper", "rounding")


@theorem(
    "ptx/rounding/any-order",
    "however a sum is reassociated, it is near the exact one",
    "of n exact terms, added in any order and grouping, every sum rounded once to the format and none "
    "overflowing: |computed - Σ t| ≤ ((1 + u)^(n-1) - 1)·Σ |t| + (n - 1)·(1 + u)^(n-1)·η; without η if the "
    "terms are multiples of the format's smallest number (spec.rounding_bound)",
    SOURCE,
)
def any_order() -> Iterator[Case]:
    """Yield one induction on trees per format, to nearest, and per direction of f64; and n - 2 roundings."""
    lemmas = [f"{tree.id}/{lemma}" for lemma in LEMMAS]
    for fmt in RESULTS:
        yield Case(
            f"{fmt}/nearest_even",
            partial(Deduction, (f"{nearest.id}/{fmt}/bound", f"{exact_below.id}/{fmt}", *lemmas)),
            equality=Equality.VALUE,
            method=Method.DEDUCTION,
            choices=ANY_ORDER,
        )
    for case in directed.cases():
        yield Case(
            case.name,
            partial(Deduction, (f"{directed.id}/{case.name}", f"{exact_below.id}/{F64}", *lemmas)),
            equality=Equality.VALUE,
            method=Method.DEDUCTION,
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
    """Yield one induction per float instruction: it is a chain of roundings, which is a tree."""
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
