"""How rounding errors add up along any tree of sums, and so the bound of a reassociated sum."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...spec.algebra import Algebra
from ...spec.formats import FloatFormat
from ...spec.ptx.resolution import Multiplication
from ..families.rounding_trees import TREE, Link, Negated, Node, Term, along_chains, along_trees, instance
from ..obligation import (
    Case,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    holds,
    theorem,
)
from .blocked import instructions, step
from .operands import read_as
from .rounding_error import NEAREST, RESULTS, Tail, at_most, between, directed, exact_below, nearest, numbers

SOURCE = "Higham, Accuracy and Stability of Numerical Algorithms, sections 2.2 and 4.2"

ANY_ORDER = "any order of accumulation in which every sum is rounded once"


tree = Theorem(
    TREE,
    "how the bound of a sum grows along a tree: identities whose brackets are not negative by hypothesis",
    "P of a value: B ∓ e ≥ 0 and S ∓ x ≥ 0, where B(h, r, S) = h·S + r·(1 + h)·η, h = (1 + u)^d - 1, x is "
    "the exact sum, S that of the terms' magnitudes, e the error, r and d count roundings",
    SOURCE,
    lambda: (
        Case(
            name,
            partial(instance, transition),
            expect,
            Equality.VALUE,
            Method.STRUCTURAL,
            statement=statement,
        )
        for name, expect, transition, statement in (
            ("term", Status.PROVED, Term(), "an exact term t: B ∓ e = 0, S ∓ x = [|t| ∓ t]"),
            (
                "node",
                Status.PROVED,
                Node(),
                "of a sum z = x1 + e1 + x2 + e2 with B1, h1 = h2 + t and the sign τ, rounded with an error "
                "f, |f| ≤ u·|z| + η: with h' = (1 + h1)·(1 + u) - 1 and d = t·(S2 + r2·η), "
                "B(h', r1 + r2 + 1, S1 + S2) ∓ (e1 + e2 + f) = [B1 ∓ e1] + [B2 ∓ e2] + d + [u·|z| + η ∓ f] + "
                "u·([B1 - τ·e1] + [S1 - τ·x1] + [B2 - τ·e2] + [S2 - τ·x2] + d) + h'·η; "
                "S ∓ x = [S1 ∓ x1] + [S2 ∓ x2]",
            ),
            (
                "link",
                Status.PROVED,
                Link(),
                "the same where the second branch is a term: h2, r2 and e2 are 0",
            ),
            ("negated", Status.PROVED, Negated(), "minus a value: B ± e and S ± x for B ∓ e and S ∓ x"),
            (
                "rounding-not-counted",
                Status.REFUTED,
                Node(counted=False),
                "the same with B(h', r1 + r2, S1 + S2): n - 2 roundings of n terms instead of n - 1",
            ),
        )
    ),
)


@theorem(
    "ptx/rounding/any-order",
    "however a sum is reassociated, it is near the exact one",
    "of n exact terms, added in any order and grouping, every sum rounded once to the format and none "
    "overflowing: |computed - Σ t| ≤ ((1 + u)^(n-1) - 1)·Σ |t| + (n - 1)·(1 + u)^(n-1)·η; without η if the "
    "terms are multiples of the format's smallest number (spec.rounding_bound)",
    SOURCE,
)
def any_order() -> Iterator[Case]:
    """Yield an induction on trees per format, to nearest, and per other direction; and n - 2 roundings."""
    for fmt in RESULTS:
        yield Case(
            f"{fmt}/nearest_even",
            partial(along_trees, f"{nearest.id}/{fmt}/bound", f"{exact_below.id}/{fmt}"),
            equality=Equality.VALUE,
            method=Method.INDUCTION,
            choices=ANY_ORDER,
        )
    for case in directed.cases():
        yield Case(
            case.name,
            partial(
                along_trees, f"{directed.id}/{case.name}", f"{exact_below.id}/{case.name.partition('/')[0]}"
            ),
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
    """Yield one induction per float instruction, which is a chain: each product is one step of it."""
    for name, form in instructions().items():
        if not form.is_integer:
            rounded = _rounding_of(form)
            bound = f"{nearest.id}/{rounded.partition('/')[0]}/bound"
            if form.rounding is not NEAREST:
                bound = f"{directed.id}/{rounded}"
            yield Case(
                name,
                partial(along_chains, f"{step.id}/{name}", bound, f"{exact_below.id}/{form.d}"),
                equality=Equality.VALUE,
                method=Method.INDUCTION,
                choices=read_as(form),
            )


def _rounding_of(form: Multiplication) -> str:
    return f"{form.d}/{form.rounding.name.lower()}"


THEOREMS = (tree, any_order, sequential)
