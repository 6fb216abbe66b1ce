"""How far a fused dot-add is from the exact sum, truncated terms and all.

A step is taken apart. The numpy model, on polynomials and with an unknown remainder for each truncation,
is the exact sum less the remainders in units of the last aligned place. A term that is not 0 is at least
2^e, e its exponent, if its factors are normal; with as many fraction bits as its factors have together it
loses nothing at its own exponent. The final rounding is off by less than a unit in the last place that is
kept, or by half of it to nearest. What that comes to, `spec.dot_add_bound`, is an identity whose brackets
are not negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ...smt.dyadic import Dyadic
from ...spec.algebra import Algebra, Array, Operand
from ...spec.dot_add import EXPONENT_OF_ZERO, Terms, truncated_sum
from ...spec.dot_add_bound import step_growth, step_underflow
from ...spec.dot_add_model import DotAddModel
from ...spec.formats import E2M1, F16, F32, F64, FloatFormat, IntegerFormat
from ...spec.rounding import Rounding
from ...spec.rounding_bound import error_bound, growth_after_rounding
from ..families.block_products import power_of_two
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
    Theorem,
    Variable,
    holds,
    theorem,
)
from .accumulations import ModelAccumulation, accumulations
from .dot_add_integers import READINGS, SOURCE
from .dot_add_steps import name_of, near_step
from .integers import within
from .numerics import exact_product
from .rounding_error import Tail, at_most, between, nearest

FINEST = 30
"""More fraction bits than any product of factors has, but for f32's."""

_GREATEST_EXPONENT = 254
"""Of a product of two factors with exponents of 8 bits."""


# -- what is truncated


truncation = Theorem(
    "ptx/numerics/dot-add-truncation",
    "a fused dot-add is the exact sum less a remainder for each term, in units of the last aligned place",
    "for every largest exponent Emax from -126 to 254: Σ trunc(t·2^(F - Emax)) · 2^(Emax - F) = "
    "Σ t - 2^(Emax - F)·Σ r as polynomials, with trunc(z) = z - r, |r| < 1, for each of the K products, or "
    "the groups of them, and C, by the numpy model on polynomials instead of float64",
    SOURCE,
    lambda: (
        Case(
            name + variant,
            partial(_truncation, each, forgotten),
            expect,
            Equality.VALUE,
            Method.STRUCTURAL,
            statement="" if expect is Status.PROVED else "the same without the remainder of the first term",
        )
        for name, each in {accumulation.sums: accumulation for accumulation in accumulations()}.items()
        for variant, forgotten, expect in (("", 0, Status.PROVED), ("/one-term-exact", 1, Status.REFUTED))
    ),
)


def _truncation(each: ModelAccumulation, forgotten: int) -> RingProperty:
    terms = each.products // each.model.group
    exponents = [0] if forgotten else range(EXPONENT_OF_ZERO, _GREATEST_EXPONENT + 1)
    largest = np.array(exponents, dtype=np.int16)
    unit = np.ldexp(1.0, largest.astype(np.int64) - each.model.fraction_bits)

    def values(elements: Array, remainders: Array | None = None) -> Array:
        found = np.empty((len(elements), len(largest)), dtype=object)
        for index, element in enumerate(elements):
            found[index] = Dyadic(element, 0, False, None if remainders is None else remainders[index])
        return found

    def flat(array: Array, exponent: Array | int = 0) -> Terms:
        return Terms(array, np.broadcast_to(np.asarray(exponent, np.int16), array.shape).copy())

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, y, c, remainders = v["x"], v["y"], v["c"], v["r"]
        of_products = np.full(each.products, None, dtype=object)
        of_products[:: each.model.group] = remainders[:-1]
        operands = [flat(values(x, of_products), 0 if each.factors else largest), flat(values(y))]
        exact = x * y
        if each.factors:
            operands += [flat(values(v["scale_a"]), largest), flat(values(v["scale_b"]))]
            exact = exact * np.repeat(v["scale_a"] * v["scale_b"], each.products // each.factors)
        addend = Terms(values(c, remainders[-1:])[0], np.full(len(largest), EXPONENT_OF_ZERO, np.int16))
        total = truncated_sum(each.model, operands, addend)
        lost = np.array([Dyadic(-remainders[forgotten:].sum()) for _ in largest], dtype=object) * unit
        expected = np.array([Dyadic(exact.sum() + c[0]) for _ in largest], dtype=object) + lost
        yield Equation(total, expected, label="aligned and summed = exact less the remainders")

    shapes = {"x": each.products, "y": each.products, "c": 1, "r": terms + 1}
    shapes |= dict.fromkeys(("scale_a", "scale_b"), each.factors) if each.factors else {}
    return RingProperty(tuple(Variable(name, F32, (n,)) for name, n in shapes.items()), claim)


# -- the exponent


@theorem(
    "ptx/numerics/dot-add-alignment",
    "a term of normal factors is not less than its exponent's power of two, and loses nothing aligned to it",
    "x, y normal, e the sum of their exponents, e ≥ -126 (else -126 aligns the term): aligned to e with no "
    "fraction bit, x·y is not truncated to 0, so 2^e ≤ |x·y|; also of subnormal x or y, with p fraction "
    "bits, p those of both factors "
    "together, it is what it is with 30; so for scale factors and C. A group's sum is a multiple of 2^-2",
    SOURCE,
)
def alignment() -> Iterator[Case]:
    """Yield the types of factors, of scale factors and of addends; a subnormal one is less (pinned)."""
    kinds = {name: accumulation for accumulation in accumulations() for name in accumulation.aligned}
    for name, each in kinds.items():
        scaled = name.startswith("scale")
        formats = (each.scale, each.scale) if scaled and each.scale else (each.a, each.b)
        group = each.model.group if scaled else 1
        yield Case(f"{name}/at-least", partial(_at_least, formats, group, scaled=scaled))
        yield Case(f"{name}/exact", partial(_exact_alone, formats, group, scaled=scaled))
        if not scaled:
            yield Case(
                f"{name}/subnormal",
                partial(_at_least, formats, 1, scaled=False, normal=False),
                Status.REFUTED,
                statement="the same of a subnormal factor, which has its format's least exponent",
            )
    for fmt in (F16, F32):
        yield Case(f"addend-{fmt}", partial(_at_least_addend, fmt), statement="C normal ⇒ 2^e ≤ |C|")


def _field(alg: Algebra, bits: Array, fmt: FloatFormat) -> Array:
    field = IntegerFormat("exponent", fmt.exponent_bits, signed=False)
    return alg.integer(alg.extract(bits, fmt.fraction_bits + fmt.padding_bits, field), field)


def exponent_of(alg: Algebra, bits: Array, fmt: FloatFormat) -> Array:
    """Return the exponent of a normal number as an exact integer."""
    return _field(alg, bits, fmt) - alg.whole(fmt.bias)


def _normal(alg: Algebra, bits: Array, fmt: FloatFormat) -> Array:
    least = int(fmt.subnormals)
    return within(alg, _field(alg, bits, fmt), alg.whole(least), alg.whole((1 << fmt.exponent_bits) - 1))


def _alone(
    alg: Algebra, fraction_bits: int, left: Operand, right: Operand, group: int, *, scaled: bool
) -> Array:
    """Return one product in f32, aligned to itself, or 1·1 times two scale factors."""
    model = DotAddModel(fraction_bits, Rounding.TOWARD_ZERO, group=group)
    zero = Operand(alg.constant(0, F32), F32)
    if not scaled:
        return alg.dot_add(F32, model, left, right, zero)
    ones = np.stack([alg.constant(power_of_two(E2M1, 0) if k == 0 else 0, E2M1) for k in range(group)])
    product = Operand(ones, E2M1)
    return alg.dot_add(F32, model, product, product, zero, (left, right))


def _factors(formats: tuple[FloatFormat, FloatFormat], v: Inputs) -> tuple[Operand, Operand]:
    return Operand(v["x"], formats[0]), Operand(v["y"], formats[1])


def _aligning(
    formats: tuple[FloatFormat, FloatFormat], alg: Algebra, v: Inputs, *, normal: bool
) -> Iterator[Array]:
    """Yield the conditions: factors finite, normal (or not 0), with a product that f32 holds."""
    exponent = alg.whole(0)
    for name, fmt in zip("xy", formats, strict=True):
        operand = Operand(v[name], fmt)
        yield ~(alg.is_nan(operand) | alg.is_infinite(operand))
        yield _normal(alg, v[name], fmt) if normal else ~alg.is_zero(operand)
        exponent = exponent + exponent_of(alg, v[name], fmt)
    yield within(alg, exponent, alg.whole(EXPONENT_OF_ZERO), alg.whole(F32.maximum_exponent - 1))


def _at_least(
    formats: tuple[FloatFormat, FloatFormat], group: int, *, scaled: bool, normal: bool = True
) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        total = _alone(alg, 0, *_factors(formats, v), group, scaled=scaled)
        yield holds(alg, ~alg.is_zero(Operand(total, F32)), "not truncated to 0")

    one = [fmt.bias << (fmt.fraction_bits + fmt.padding_bits) for fmt in formats]
    pinned = None if normal else {"x": 1 << formats[0].padding_bits, "y": one[1]}
    variables = tuple(Variable(name, fmt, (1,)) for name, fmt in zip("xy", formats, strict=True))
    return Property(variables, claim, partial(_aligning, formats, normal=normal), pinned, abstract=False)


def _places(formats: tuple[FloatFormat, FloatFormat]) -> int:
    return sum(fmt.fraction_bits for fmt in formats)


def _exact_alone(formats: tuple[FloatFormat, FloatFormat], group: int, *, scaled: bool) -> Property:
    places = _places(formats)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        short, fine = (
            _alone(alg, bits, *_factors(formats, v), group, scaled=scaled) for bits in (places, FINEST)
        )
        yield Equation(short, fine, F32, label=f"{places} fraction bits are enough")

    variables = tuple(Variable(name, fmt, (1,)) for name, fmt in zip("xy", formats, strict=True))
    return Property(variables, claim, partial(_aligning, formats, normal=False), abstract=False)


def _at_least_addend(fmt: FloatFormat) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        zero = Operand(alg.constant(0, F16)[None], F16)
        model = DotAddModel(0, Rounding.TOWARD_ZERO)
        total = alg.dot_add(F32, model, zero, zero, Operand(v["c"], fmt))
        yield holds(alg, ~alg.is_zero(Operand(total, F32)), "not truncated to 0")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        c = Operand(v["c"], fmt)
        yield ~(alg.is_nan(c) | alg.is_infinite(c))
        yield _normal(alg, v["c"], fmt)

    return Property((Variable("c", fmt, (1,)),), claim, assuming, abstract=False)


# -- the final rounding


@theorem(
    "ptx/numerics/dot-add-last-rounding",
    "the final rounding is off by less than a unit in the last place that is kept, to nearest by half of it",
    "z = x + u·y as in ptx/rounding/nearest, x with the fraction bits that are kept and u = 2^-(kept + 1): "
    "toward zero, fl(z) = x, and u·|y| < 2u·2^e; to nearest, fl(z) is x or the next number, whichever is "
    "nearer; 2^e ≤ max(|x|, 2^emin)",
    SOURCE,
)
def last_rounding() -> Iterator[Case]:
    """Yield one obligation per model's rounding and result, and that it is not the other one (pinned)."""
    for name, each in {_rounds(accumulation): accumulation for accumulation in accumulations()}.items():
        yield Case(name, partial(_last_rounding, each.model, each.accumulator, each.kept))
        yield Case(
            f"{name}/half-the-unit",
            partial(_last_rounding, each.model, each.accumulator, each.kept, halved=True),
            Status.REFUTED,
            statement="the same with half of the bound",
        )


def _rounds(each: ModelAccumulation) -> str:
    return f"{each.model.rounding.name.lower()}-to-{each.kept}/{each.accumulator}"


def _last_rounding(model: DotAddModel, fmt: FloatFormat, kept: int, *, halved: bool = False) -> Property:
    dropped = fmt.fraction_bits - kept
    finest = replace(model, fraction_bits=FINEST + 18, group=1)
    unit = (fmt.bias - kept - 1) << fmt.fraction_bits

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        z = Tail(alg, fmt, v)
        tail, small = Operand(v["y"][..., None], fmt), Operand(alg.constant(unit, fmt)[None], fmt)
        total = alg.dot_add(fmt, finest, tail, small, Operand(v["x"], fmt))
        y = z.y + z.least_normal if halved else z.y
        some = ~alg.is_zero(Operand(v["x"], fmt))  # a sum of nothing is +0
        if model.rounding is Rounding.TOWARD_ZERO:
            within_unit = at_most(alg, y + alg.whole(1), z.half + z.least_normal)
            yield holds(alg, alg.same(total, v["x"]) & within_unit, "toward zero", some)
            return
        down = alg.same(total, v["x"]) & at_most(alg, y, z.half)
        up = alg.same(total, v["x"] + 1) & at_most(alg, z.half, z.y)
        yield holds(alg, down | up, "to nearest", some)

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield from between(fmt, alg, v)
        if dropped:
            low = IntegerFormat("dropped", dropped, signed=False)
            yield alg.same(alg.extract(v["x"], 0, low), alg.constant(0, low))

    one = fmt.bias << fmt.fraction_bits
    pinned = {"x": one, "y": one + (model.rounding is Rounding.TOWARD_ZERO)} if halved else None
    variables = (Variable("x", fmt, (1,)), Variable("y", fmt, (1,)))
    return Property(variables, claim, assuming, pinned, abstract=False)


# -- together


@theorem(
    "ptx/numerics/dot-add-step",
    "what a step loses is at most h·S + η: identities whose brackets are not negative by hypothesis",
    "a step that truncates by t, |t| ≤ n·a·E with a = 2^-F and E = 2^Emax ≤ w·S + m, m = 2^emin, and rounds "
    "by f, |f| ≤ u·(S + m): h·S + η ∓ (t + f) = [n·a·E ∓ t] + [u·(S + m) ∓ f] + n·a·[w·S + m - E]",
    SOURCE,
)
def step() -> Iterator[Case]:
    """Yield the bound of one step, of a step of inexact terms, and one without the truncation."""
    ring = Equality.VALUE, Method.STRUCTURAL
    yield Case("bound", partial(_step, truncates=True), Status.PROVED, *ring)
    yield Case(
        "chained",
        _chained,
        Status.PROVED,
        *ring,
        statement="of terms off by e, |e| ≤ B = B(g, N, S), whose magnitudes sum to V ≤ S + B, a step "
        "off by f, |f| ≤ h·V + η: with g' = (1 + g)·(1 + h) - 1, B(g', N + η, S) ∓ (e + f) = "
        "[B ∓ e] + [h·V + η ∓ f] + h·[S + B - V] + g'·η, for B(g, N, S) = g·S + N·(1 + g)",
    )
    yield Case(
        "rounding-alone",
        partial(_step, truncates=False),
        Status.REFUTED,
        *ring,
        statement="the same with h = u: as if nothing were truncated",
    )


def _ring(*names: str) -> tuple[Variable, ...]:
    return tuple(Variable(name, F64, (1,)) for name in names)


def _step(*, truncates: bool) -> RingProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        aligned, w, u, s, m, largest = (v[name] for name in ("na", "w", "u", "s", "m", "largest"))
        h = step_growth(aligned if truncates else 0 * aligned, w, u)
        for sign in (1, -1):
            t, f = sign * v["t"], sign * v["f"]
            brackets = (aligned * largest - t) + (u * (s + m) - f) + aligned * (w * s + m - largest)
            yield Equation(
                h * s + step_underflow(aligned, u, m) - (t + f), brackets, label="bound less error"
            )

    return RingProperty(_ring("na", "w", "u", "s", "m", "largest", "t", "f"), claim)


def _chained() -> RingProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        g, lost, s, h, eta, magnitude = (v[name] for name in ("g", "lost", "s", "h", "eta", "magnitude"))
        one = eta * 0 + 1
        before, grown = error_bound(g, lost, s, one), growth_after_rounding(g, h)
        after = error_bound(grown, lost + eta, s, one)
        for sign in (1, -1):
            e, f = sign * v["e"], sign * v["f"]
            brackets = (before - e) + (h * magnitude + eta - f) + h * (s + before - magnitude)
            yield Equation(after - (e + f), brackets + grown * eta, label="bound less error")

    return RingProperty(_ring("g", "lost", "s", "h", "eta", "magnitude", "e", "f"), claim)


@theorem(
    "ptx/numerics/dot-add-bound",
    "every architecture's truncating dot-add is near the exact sum, also along chains and trees of steps",
    "|D - exact| ≤ (Π (1 + h) - 1)·S + Σ η·Π (1 + h) over the steps and roundings between a product and D, "
    "S = Σ |x·y| + |C| with a subnormal factor counted as the least normal number, if nothing overflows; "
    "for a step h = w·n·2^-F + u as in spec.dot_add_bound. A K that is split changes which steps those are, "
    "nothing else",
    SOURCE,
)
def bound() -> Iterator[Case]:
    """Yield one obligation per architecture, types and length of a step."""
    for accumulation in accumulations():
        premises = (
            f"{near_step.id}/{name_of(accumulation, 1)}",
            *(
                f"{alignment.id}/{name}/{lemma}"
                for name in accumulation.aligned
                for lemma in ("at-least", "exact")
            ),
            f"{alignment.id}/addend-{accumulation.accumulator}",
            *(f"{nearest.id}/{fmt}/bound" for fmt in accumulation.rounded_alone),
            *(f"{exact_product.id}/{fmt}-is-{accumulation.a}" for fmt in accumulation.widened),
            f"{step.id}/chained",
        )
        yield Case(
            accumulation.name,
            partial(Deduction, premises),
            equality=Equality.VALUE,
            method=Method.DEDUCTION,
            choices=f"accumulation={accumulation.architecture.name}, {READINGS}",
        )


THEOREMS = (truncation, alignment, last_rounding, step, bound)
