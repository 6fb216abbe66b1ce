"""Small integers inside the architectures' fused dot-adds, which truncate: nothing is ever lost.

A product or an addend that is an integer other than 0 is at least 2**e, e the exponent that aligns it. If
the magnitudes of all terms sum to less than 2**(F + 1), the largest exponent is therefore at most F, so
every integer is a multiple of the last aligned place: truncation changes nothing and the sum is exact.
If it has no more bits than the result keeps, rounding changes nothing either, in whatever order steps
take the products.

That zero terms bring no exponent of their own is a reading (`READINGS`): by the other one, a zero product
with large scale factors cuts the other terms off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ...smt.dyadic import Dyadic
from ...spec.algebra import Algebra, Array, Operand
from ...spec.dot_add import EXPONENT_OF_ZERO, Terms, truncated_sum
from ...spec.dot_add_model import DotAddModel
from ...spec.formats import E2M1, F16, F32, FloatFormat, IntegerFormat
from ...spec.ptx.step_sequences import StepSequence
from ...spec.rounding import Rounding
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
from .accumulations import ModelAccumulation, accumulations, lengths
from .dot_add_steps import exact_steps, name_of
from .integers import within
from .numerics import exact_product, small_integers

READINGS = "zero-products=ignored, zero-groups=ignored"
"""The choices besides the architecture's that the theorems are about."""

SOURCE = "MMA-Sim (arXiv 2511.10909); Khattak and Mikaitis (arXiv 2512.07004)"


def _one(alg: Algebra, fmt: FloatFormat) -> Array:
    return alg.constant(power_of_two(fmt, 0), fmt)


def _at_least_one(alg: Algebra, x: Array, fmt: FloatFormat) -> Array:
    """Return the condition |x| ≥ 1 (or NaN)."""
    one, last = fmt.bias << fmt.fraction_bits, (1 << fmt.magnitude_bits) - 1
    return within(alg, _magnitude(alg, x, fmt), alg.whole(one), alg.whole(last))


def _magnitude(alg: Algebra, x: Array, fmt: FloatFormat) -> Array:
    """Return exponent and fraction fields as one exact integer: greater for greater magnitudes."""
    magnitude = IntegerFormat("magnitude", fmt.magnitude_bits, signed=False)
    return alg.integer(alg.extract(x, fmt.padding_bits, magnitude), magnitude)


# -- alignment


@theorem(
    "ptx/numerics/dot-add-exponent",
    "the exponent that aligns an integer other than 0 is not above its magnitude's",
    "|x|, |y| ≥ 1 ⇒ 2^e ≤ |x·y|, e the exponent of the product: aligned to it with no fraction bit, the "
    "product is not truncated to 0; so for scale factors, whose exponents are added, and for an addend C",
    SOURCE,
)
def exponent() -> Iterator[Case]:
    """Yield the types of factors, of scale factors and of addends; what is no number is not 0 either."""
    kinds = {name: accumulation for accumulation in accumulations() for name in accumulation.aligned}
    for name, each in kinds.items():
        goal = _exponent_of_scales if name.startswith("scale") else _exponent_of_product
        yield Case(name, partial(goal, each))
    for fmt in (F16, F32):
        yield Case(f"addend-{fmt}", partial(_exponent_of_addend, fmt))


def _exponent_of_product(each: ModelAccumulation) -> Property:
    def total(alg: Algebra, model: DotAddModel, x: Operand, y: Operand) -> Array:
        return alg.dot_add(F16, model, x, y, Operand(alg.constant(0, F16), F16))

    return _not_truncated({"x": each.a, "y": each.b}, 1, total)


def _exponent_of_scales(each: ModelAccumulation) -> Property:
    assert each.scale is not None

    def total(alg: Algebra, model: DotAddModel, left: Operand, right: Operand) -> Array:
        one = Operand(_one(alg, E2M1)[None], E2M1)
        product = _followed_by_zeros(alg, one, model.group - 1)
        zero = Operand(alg.constant(0, F16), F16)
        return alg.dot_add(F16, model, product, product, zero, (left, right))

    return _not_truncated({"scale_a": each.scale, "scale_b": each.scale}, each.model.group, total)


def _exponent_of_addend(fmt: FloatFormat) -> Property:
    def total(alg: Algebra, model: DotAddModel, c: Operand) -> Array:
        return _onto(alg, F16, model, 0, c)

    return _not_truncated({"c": fmt}, 1, total)


def _not_truncated(formats: dict[str, FloatFormat], group: int, total: Callable[..., Array]) -> Property:
    """Claim that a term of magnitude 1 or more, aligned to itself with no fraction bit, is not 0."""
    model = DotAddModel(0, Rounding.TOWARD_ZERO, group=group)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        terms = [Operand(v[name], fmt) for name, fmt in formats.items()]
        aligned = Operand(total(alg, model, *terms), F16)
        yield holds(alg, ~alg.is_zero(aligned), "not truncated to 0")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        for name, fmt in formats.items():
            yield _at_least_one(alg, v[name], fmt)

    variables = tuple(Variable(name, fmt, (1,)) for name, fmt in formats.items())
    return Property(variables, claim, assuming, abstract=False)


def _followed_by_zeros(alg: Algebra, operand: Operand, count: int) -> Operand:
    zeros = np.broadcast_to(alg.constant(0, operand.format), (*operand.bits.shape[:-1], count))
    return Operand(np.concatenate([operand.bits, zeros], axis=-1), operand.format)


def _onto(alg: Algebra, result: FloatFormat, model: DotAddModel, product: int, addend: Operand) -> Array:
    """Return C plus one product that is 0 or 1, in f16."""
    factor = _one(alg, F16) if product else alg.constant(0, F16)
    operand = Operand(factor[None], F16)
    return alg.dot_add(result, model, operand, operand, addend)


# -- the sum


aligned_sum = Theorem(
    "ptx/numerics/dot-add-sum",
    "aligned to an exponent of at most F, integers are summed exactly, one more loses a bit (pinned)",
    "x, y, C (and scale factors) integers, Emax = -126 (every term 0) or 0 ≤ Emax ≤ F ⇒ "
    "Σ trunc(term · 2^(F - Emax)) · 2^(Emax - F) = C + Σ x·y as polynomials over the integers, by the numpy "
    "model on polynomials instead of float64",
    SOURCE,
    lambda: (
        Case(
            name + variant,
            partial(_aligned_sum, each.sequence, each.factors, each.model.fraction_bits + excess),
            expect,
            Equality.VALUE,
            Method.STRUCTURAL,
        )
        for name, each in {accumulation.sums: accumulation for accumulation in accumulations()}.items()
        for variant, excess, expect in (("", 0, Status.PROVED), ("/beyond", 1, Status.REFUTED))
    ),
)


def _aligned_sum(one: StepSequence, factors: int, greatest: int) -> RingProperty:
    """Claim the sum for each largest exponent up to `greatest`, and for each term that may have it."""
    carriers = factors or one.products  # a group has its scale factors' exponent, not its elements'
    exponents = [EXPONENT_OF_ZERO, *range(greatest + 1)]
    cases = [(exponent, term) for exponent in exponents for term in (0, carriers)]
    cases += [(greatest, term) for term in range(1, carriers)]
    largest = np.full((carriers + 1, len(cases)), EXPONENT_OF_ZERO, dtype=np.int16)
    for case, (exponent, term) in enumerate(cases):
        largest[term, case] = exponent

    def terms(elements: Array, exponents: Array | None = None) -> Terms:
        wrapped: Array = np.asarray(np.frompyfunc(Dyadic, 1, 1)(elements))
        values = np.repeat(wrapped[..., None], len(cases), axis=-1)
        return Terms(values, np.zeros(values.shape, np.int16) if exponents is None else exponents)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, y, c = v["x"], v["y"], v["c"]
        of_x = terms(x, None if factors else largest[:-1])
        operands = [of_x, terms(y)]
        expected = x * y
        if factors:
            operands += [terms(v["scale_a"], largest[:-1]), terms(v["scale_b"])]
            expected = expected * np.repeat(v["scale_a"] * v["scale_b"], one.products // factors)
        addend = Terms(*(part[0] for part in terms(c, largest[-1:])))
        total = truncated_sum(one.model, operands, addend)
        yield Equation(total, np.array(Dyadic(expected.sum() + c[0])), label="aligned and summed = exact")

    unknown = F32  # polynomials have no format
    shapes = {"x": one.products, "y": one.products, "c": 1}
    shapes |= dict.fromkeys(("scale_a", "scale_b"), factors) if factors else {}
    return RingProperty(tuple(Variable(name, unknown, (n,)) for name, n in shapes.items()), claim)


# -- the final rounding


@theorem(
    "ptx/numerics/dot-add-rounding",
    "a sum that has no more bits than the result keeps is not changed by the final rounding",
    "C finite, with no fraction bits but those that are kept ⇒ 0·0 + C = C (+0 for -0)",
    SOURCE,
)
def rounding() -> Iterator[Case]:
    """Yield one obligation per model and result type, and that a further bit is lost (pinned)."""
    for name, each in {accumulation.rounds: accumulation for accumulation in accumulations()}.items():
        yield Case(name, partial(_rounding, each.model, each.accumulator, each.kept))
        if each.kept < each.accumulator.fraction_bits:
            yield Case(
                f"{name}/one-bit-more",
                partial(_rounding, each.model, each.accumulator, each.kept + 1),
                Status.REFUTED,
                statement="C with one fraction bit more than are kept ⇒ 0·0 + C = C",
            )


def _rounding(model: DotAddModel, result: FloatFormat, kept: int) -> Property:
    alone = replace(model, group=1)
    dropped = result.fraction_bits - kept

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        c = Operand(v["c"], result)
        total = _onto(alg, result, alone, 0, c)
        expected = alg.where(alg.is_zero(c), alg.constant(0, result), v["c"])
        yield Equation(total, expected, result, label="0·0 + C = C")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        c = Operand(v["c"], result)
        yield ~(alg.is_nan(c) | alg.is_infinite(c))
        if dropped:
            low = IntegerFormat("dropped", dropped, signed=False)
            yield alg.same(alg.extract(v["c"], 0, low), alg.constant(0, low))
            yield _at_least_one(alg, v["c"], result)  # of a subnormal, fewer fraction bits are kept

    one = result.bias << result.fraction_bits
    pinned = {"c": one | 1 << dropped} if dropped else None
    return Property((Variable("c", result, (1,)),), claim, assuming, pinned, abstract=False)


# -- together


@theorem(
    "ptx/numerics/dot-add-integers",
    "sums of small integers are exact in every architecture's truncating dot-add, in every order",
    "x, y, C (and scale factors) integers, Σ |x·y| + |C| < 2^p, p = 1 + min(F, fraction bits kept, of C and "
    "D) ⇒ D = C + Σ x·y: largest exponent ≤ F, aligned exactly, rounded to itself, so for the next step's C; "
    "operands that are widened before, and sums that are rounded behind the steps, are exact too",
    SOURCE,
)
def integers() -> Iterator[Case]:
    """Yield one obligation per architecture, types and length of a step."""
    for accumulation in accumulations():
        alone = accumulation.rounded_alone
        premises = (
            *(f"{exact_product.id}/{fmt}-is-{accumulation.a}" for fmt in accumulation.widened),
            *(
                f"{small_integers.id}/{fmt}/{lemma}"
                for fmt in alone
                for lemma in ("representable", "rounding")
            ),
            *(f"{exponent.id}/{name}" for name in accumulation.aligned),
            f"{exponent.id}/addend-{accumulation.accumulator}",
            *(f"{exact_steps.id}/{name_of(accumulation, steps)}" for steps in lengths()[accumulation]),
        )
        yield Case(
            accumulation.name,
            partial(Deduction, premises),
            method=Method.DEDUCTION,
            choices=f"accumulation={accumulation.architecture.name}, {READINGS}",
        )


@theorem(
    "ptx/numerics/dot-add-successor",
    "one more than an integer is exact below 2^p, and lost at 2^p: the bound is the best (pinned)",
    "∀ integers C, |C| ≤ 2^p - 2: 1·1 + C is the sum, exact in f16 or f32 (small-integers), as rounded up",
    SOURCE,
)
def successor() -> Iterator[Case]:
    """Yield the proof for every such C, and a refutation with the bound 2^p, per model and result type."""
    for name, each in {accumulation.rounds: accumulation for accumulation in accumulations()}.items():
        p = each.step_digits
        yield Case(f"{name}/below", partial(_successor, each.model, each.accumulator, (1 << p) - 2))
        yield Case(
            f"{name}/beyond",
            partial(_successor, each.model, each.accumulator, 1 << p),
            Status.REFUTED,
            statement=f"∀ integers C, |C| ≤ 2^{p}: 1·1 + C is the exact sum",
        )


def _successor(model: DotAddModel, result: FloatFormat, limit: int) -> Property:
    alone = replace(model, group=1)
    greatest = _encoding(result, limit)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        c, one = Operand(v["c"], result), Operand(_one(alg, F16), F16)
        total = _onto(alg, result, alone, 1, c)
        exact = alg.fused(result, Rounding.UPWARD, (), [one, c])
        yield Equation(total, exact, result, label="1·1 + C")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        magnitude = _magnitude(alg, v["c"], result)
        yield within(alg, magnitude, alg.whole(0), alg.whole(greatest))
        yield _is_whole(alg, Operand(v["c"], result))

    return Property((Variable("c", result, (1,)),), claim, assuming, {"c": greatest}, abstract=False)


def _encoding(fmt: FloatFormat, number: int) -> int:
    """Return the encoding of a positive integer that the format holds."""
    exponent = number.bit_length() - 1
    return (exponent + fmt.bias - 1 << fmt.fraction_bits) + (number << fmt.fraction_bits >> exponent)


def _is_whole(alg: Algebra, x: Operand) -> Array:
    """Return the condition that a finite number is an integer: no bit of its fraction is below 1."""
    fmt = x.format
    field = IntegerFormat("exponent", fmt.exponent_bits, signed=False)
    exponent = alg.extract(x.bits, fmt.fraction_bits, field)
    whole = alg.is_zero(x) | _at_least_one(alg, x.bits, fmt)
    for places in range(fmt.fraction_bits):
        below_one = IntegerFormat("below one", fmt.fraction_bits - places, signed=False)
        none = alg.same(alg.extract(x.bits, 0, below_one), alg.constant(0, below_one))
        whole = whole & (none | ~alg.same(exponent, alg.constant(fmt.bias + places, field)))
    return whole


THEOREMS = (exponent, aligned_sum, rounding, integers, successor)
