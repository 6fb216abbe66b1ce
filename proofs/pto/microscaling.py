"""Products with scale factors: exact scaling, unit factors, and factors that move out of sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from ...spec import matrix_product
from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import F32, F64, UE8M0, FloatFormat
from ...spec.pto.catalogue import OPERATIONS
from ...spec.pto.choices import SEEDED, Choices
from ...spec.pto.products import SCALED, product
from ...spec.pto.sizes import SCALE_GROUP, scale_groups
from ...spec.rounding import Rounding
from ..enumeration import enumerated
from ..families.sums import power_of_two
from ..obligation import (
    Certificate,
    Equality,
    Equation,
    Induction,
    Inputs,
    Method,
    Property,
    RingProperty,
    Status,
    Variable,
    Variant,
    theorem,
)
from .operands import (
    ADDED_LAST_CHOICES,
    SEEDED_CHOICES,
    STARTS,
    Formats,
    floating,
    multiplied,
    typed,
    variables,
)

SOURCE = "pto-isa headers at 3186c381 (TMatmul_MX, A5 and CPU); OCP Microscaling Formats 1.0"

ONE = UE8M0.bias
"""Scale factor 1."""

K = SCALE_GROUP + 2
"""Two groups of elements, the second of them ragged."""

SEEDED_ONLY = f"accumulation={SEEDED}"


def elements() -> dict[str, FloatFormat]:
    """Return the element types that can be scaled."""
    return {
        fmt.name: fmt
        for formats in typed(microscaled=True).values()
        if isinstance(fmt := formats["a"], FloatFormat)
    }


Multiply = Callable[[Algebra, Operand, Operand], Operand]


def scaled(alg: Algebra, x: Operand, factor: Operand) -> Operand:
    """Return an element times its scale factor, in the format that the products take it in."""
    return matrix_product.scaled(alg, x, factor, SCALED)


def as_f64(alg: Algebra, x: Operand) -> Array:
    """Return the number that an encoding stands for."""
    return alg.fused(F64, Rounding.NEAREST_EVEN, (), [x])


def scaled_in_f64(alg: Algebra, x: Operand, factor: Operand) -> Operand:
    """Return the product in f64, to which solvers can round; `exact` says that the direction is no matter."""
    return Operand(alg.fused(F64, Rounding.DOWNWARD, [(x, factor)]), F64)


def unchanged(alg: Algebra, x: Operand, multiply: Multiply = scaled) -> Equation:
    """Return the equation that elements times scale factor 1 are the same numbers."""
    product_with_one = multiply(alg, x, Operand(alg.constant(ONE, UE8M0), UE8M0))
    return Equation(as_f64(alg, product_with_one), as_f64(alg, x), F64, label="x · 1 = x")


def _enumerated(
    claim: Callable[[Multiply, Algebra, Inputs], Iterator[Equation]], formats: Mapping[str, FloatFormat]
) -> Certificate:
    """Return a claim on the spec's product, enumerated, and on the product in f64 for the solver."""
    scalars = tuple(Variable(name, fmt, (1,)) for name, fmt in formats.items())
    by_spec, in_f64 = (
        Property(scalars, partial(claim, multiply), abstract=False) for multiply in (scaled, scaled_in_f64)
    )
    domains = {name: range(1 << fmt.bits) for name, fmt in formats.items()}
    return replace(enumerated(by_spec, domains), witness=in_f64)


@theorem(
    "pto/microscaling/exact",
    "an element times its scale factor is exact",
    "∀ x, s: the product in the format that is multiplied is the number x · s, which f64 holds",
    SOURCE,
)
def exact() -> Iterator[Variant]:
    """Yield every element type."""
    for name, fmt in elements().items():
        yield Variant(name, partial(_exact, fmt), method=Method.CERTIFICATE)


def _exact(fmt: FloatFormat) -> Certificate:
    def claim(multiply: Multiply, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, factor = Operand(v["x"], fmt), Operand(v["factor"], UE8M0)
        down, up = (alg.fused(F64, way, [(x, factor)]) for way in (Rounding.DOWNWARD, Rounding.UPWARD))
        yield Equation(as_f64(alg, multiply(alg, x, factor)), down, F64, label="x · s")
        yield Equation(down, up, F64, label="x · s rounded down and up")

    return _enumerated(claim, {"x": fmt, "factor": UE8M0})


@theorem(
    "pto/microscaling/unit",
    "scale factor 1 (0x7F) changes no element",
    "∀ x: x · 1 = x, signed zeros, infinities and NaNs included",
    SOURCE,
)
def unit() -> Iterator[Variant]:
    """Yield every element type."""
    for name, fmt in elements().items():
        yield Variant(name, partial(_unit, fmt), method=Method.CERTIFICATE)


def _unit(fmt: FloatFormat) -> Certificate:
    def claim(multiply: Multiply, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield unchanged(alg, Operand(v["x"], fmt), multiply)

    return _enumerated(claim, {"x": fmt})


def _multiplied(
    alg: Algebra,
    suffix: str,
    v: Inputs,
    formats: Formats,
    scales: tuple[Array, Array],
    choices: Choices = SEEDED_CHOICES,
) -> Array:
    start = {role: v[role] for role in STARTS[suffix]}
    return product(
        alg, OPERATIONS["tmatmul.mx" + suffix], v["a"], v["b"], scale_a=scales[0], scale_b=scales[1],
        formats=formats, choices=choices, **start,
    )  # fmt: skip


@theorem(
    "pto/microscaling/unit-row",
    "if scale factor 1 changes no element, products with all factors 1 are those without factors",
    "(x[t] · 1 = x[t] and y[t] · 1 = y[t] as numbers, for all t) ⇒ tmatmul.mx(all factors 1) = tmatmul, "
    "also .acc and .bias",
    SOURCE,
)
def unit_row() -> Iterator[Variant]:
    """Yield every types of every form."""
    for name, formats in typed(microscaled=True).items():
        for suffix in STARTS:
            goal = partial(_unit_row, formats, suffix)
            yield Variant(f"{name}/tmatmul.mx{suffix}", goal, choices=SEEDED_ONLY)


def _unit_row(formats: Formats, suffix: str) -> Property:
    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        for role in "ab":
            yield unchanged(alg, Operand(v[role], floating(formats, role))).truth(alg, Equality.BITS)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        groups, one = scale_groups(K), alg.constant(ONE, UE8M0)
        ones = np.broadcast_to(one, (1, groups)), np.broadcast_to(one, (groups, 1))
        plain = multiplied(alg, suffix, v, formats, start={role: v[role] for role in STARTS[suffix]})
        yield Equation(_multiplied(alg, suffix, v, formats, ones), plain, F32, label="D")

    return Property(variables(formats, (1, K, 1), *STARTS[suffix]), claim, assuming)


@theorem(
    "pto/microscaling/plain",
    "with every scale factor 1 tmatmul.mx is tmatmul",
    "tmatmul.mx(all factors 1) = tmatmul, for all elements",
    SOURCE,
)
def plain() -> Iterator[Variant]:
    """Yield one obligation per types and form, from its row and from its elements."""
    for name, formats in typed(microscaled=True).items():
        for suffix in STARTS:
            units = dict.fromkeys(f"{unit.id}/{formats[role]}" for role in "ab")
            premises = (f"{unit_row.id}/{name}/tmatmul.mx{suffix}", *units)
            yield Variant(
                f"{name}/tmatmul.mx{suffix}",
                partial(Induction, premises),
                method=Method.INDUCTION,
                choices=SEEDED_ONLY,
            )


@theorem(
    "pto/microscaling/commutes",
    "a scale factor commutes with the product: it may scale the sum of its group",
    "C + Σ_t (sa·x[t])·(sb·y[t]) = C + Σ_groups sa·sb·(Σ_t x[t]·y[t]), group g is t with t div 32 = g; over "
    "the reals, the last group being ragged; not in f32 (pinned)",
    SOURCE,
)
def commutes() -> Iterator[Variant]:
    """Yield every types over the reals, and the refutation in f32."""
    for name, formats in typed(microscaled=True).items():
        yield Variant(name, partial(_commutes, formats), equality=Equality.VALUE, method=Method.STRUCTURAL)
        yield Variant(
            f"f32/{name}",
            partial(_scaled_afterwards, formats),
            Status.REFUTED,
            choices=SEEDED_ONLY,
            statement="D(scale factors) = (D(no factors) · sa) · sb in f32: the sum may overflow in between",
        )


def _commutes(formats: Formats) -> RingProperty:
    groups = scale_groups(K)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        expected = v["c"]
        for g in range(groups):
            lanes = slice(g * SCALE_GROUP, (g + 1) * SCALE_GROUP)
            unscaled = multiplied(alg, "", v, formats, lanes=lanes)
            expected = expected + v["scale_a"][:, g : g + 1] * v["scale_b"][g : g + 1, :] * unscaled
        for choices in (SEEDED_CHOICES, ADDED_LAST_CHOICES):
            d = _multiplied(alg, ".acc", v, formats, (v["scale_a"], v["scale_b"]), choices)
            yield Equation(d, expected, F32, label=choices.accumulation)

    return RingProperty((*variables(formats, (1, K, 1), "c"), *_scales(groups)), claim)


def _scales(groups: int) -> tuple[Variable, Variable]:
    return Variable("scale_a", UE8M0, (1, groups)), Variable("scale_b", UE8M0, (groups, 1))


def _scaled_afterwards(formats: Formats) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        before = _multiplied(alg, "", v, formats, (v["scale_a"], v["scale_b"]))
        after = multiplied(alg, "", v, formats)
        for name in ("scale_a", "scale_b"):
            after = alg.fused(F32, Rounding.NEAREST_EVEN, [(Operand(after, F32), Operand(v[name], UE8M0))])
        yield Equation(before, after, F32, label="scaled before = after")

    # elements of 1, factors 2^127 and 2^-127: eight products are 8, and leave f32 in between
    pinned = {
        **{role: power_of_two(formats[role], 0) for role in "ab"},
        "scale_a": UE8M0.largest,
        "scale_b": 0,
    }
    return Property((*variables(formats, (1, 8, 1)), *_scales(1)), claim, pinned=pinned, abstract=False)


THEOREMS = (exact, unit, unit_row, plain, commutes)
