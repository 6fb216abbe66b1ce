"""What a fused dot-add depends on: not the order of a step's products, but which step has them.

A step sums exactly what is left of its terms, so that their order has no part in it; what is left depends
on the largest of them, so that a greater addend may give a lesser sum, and a sum in two steps is another
one. What is too large for the accumulator is an infinity, never its largest number.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...smt.dyadic import Dyadic
from ...spec.algebra import Algebra, Array, Operand
from ...spec.dot_add import EXPONENT_OF_ZERO, Terms, truncated_sum
from ...spec.formats import BF16, F16, F32, TF32, U32, FloatFormat
from ...spec.ptx.accumulation import float_sum
from ...spec.ptx.choices import Choices
from ...spec.ptx.resolution import Multiplication
from ...spec.ptx.step_sequences import step_sequence
from ...spec.rounding import Rounding
from ..families.block_products import power_of_two
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
    theorem,
)
from .accumulations import ModelAccumulation, accumulations
from .blocked import instructions
from .composition import executing
from .dot_add_bounds import exponent_of
from .dot_add_integers import READINGS, SOURCE
from .rounding_error import at_most

WIDE = (F16, BF16, TF32)
"""Formats whose products have exponents enough to show how they are rounded."""


# -- order


order = Theorem(
    "ptx/numerics/dot-add-order",
    "a step does not depend on the order of its products (those of a group, inside it); their pairs matter",
    "exchanging two neighbouring products of different exponents changes nothing in "
    "Σ trunc(t·2^(F - Emax)) · 2^(Emax - F), trunc(z) = z - r with an unknown r for each term, by the numpy "
    "model on polynomials; neighbours' exchanges generate every order",
    SOURCE,
    lambda: (
        Case(
            name + variant,
            partial(_exchanged, each, both=both),
            expect,
            Equality.VALUE,
            Method.STRUCTURAL,
            statement="" if both else "the same of the left factors alone",
        )
        for name, each in {accumulation.sums: accumulation for accumulation in accumulations()}.items()
        for variant, both, expect in (("", True, Status.PROVED), ("/left-alone", False, Status.REFUTED))
    ),
)


def _exchanged(each: ModelAccumulation, *, both: bool) -> RingProperty:
    """Claim that exchanging places i and i + 1 changes nothing, for every i inside a group."""
    count, group = each.products, each.model.group
    inside = [i for i in range(count - 1) if group == 1 or (i + 1) % group]
    places = np.broadcast_to(np.arange(count)[:, None], (count, len(inside))).copy()
    for case, i in enumerate(inside):
        places[[i, i + 1], case] = i + 1, i
    exponents = np.arange(count, dtype=np.int16) - count // 2

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        def summed(order_: Array) -> Array:
            x, y = np.empty((2, *order_.shape), dtype=object)
            for index in np.ndindex(order_.shape):
                product = int(order_[index])
                x[index] = Dyadic(v["x"][product], remainder=v["r"][product // group])
                y[index] = Dyadic(v["y"][product if both else index[0]])
            zeros = np.zeros(order_.shape, np.int16)
            operands = [Terms(x, exponents[order_] if group == 1 else zeros), Terms(y, zeros)]
            for name in ("scale_a", "scale_b") if each.factors else ():
                scales = np.empty((each.factors, order_.shape[1]), dtype=object)
                for index in np.ndindex(scales.shape):
                    scales[index] = Dyadic(v[name][index[0]])
                powers = np.arange(each.factors, dtype=np.int16)[:, None]
                operands.append(Terms(scales, np.broadcast_to(powers, scales.shape).copy()))
            addend = np.array([Dyadic(v["c"][0], remainder=v["r"][-1])] * order_.shape[1], dtype=object)
            at = np.full(order_.shape[1], EXPONENT_OF_ZERO, np.int16)
            return truncated_sum(each.model, operands, Terms(addend, at))

        one_order = np.broadcast_to(np.arange(count)[:, None], places.shape)
        yield Equation(summed(places), summed(one_order), label="exchanged = as they were")

    shapes = {"x": count, "y": count, "c": 1, "r": count // group + 1}
    shapes |= dict.fromkeys(("scale_a", "scale_b"), each.factors) if each.factors else {}
    return RingProperty(tuple(Variable(name, F32, (n,)) for name, n in shapes.items()), claim)


# -- steps


def _in_steps() -> dict[str, tuple[str, Multiplication]]:
    """Return instructions that a model takes in several steps, with its name, by what they depend on."""
    found: dict[str, tuple[str, Multiplication]] = {}
    for form in instructions().values():
        if form.is_integer or form.is_double:
            continue
        types = "-".join(str(form.format(role)) for role in "abcd")
        for architecture in executing(form):
            sequence = step_sequence(architecture, form)
            if sequence.total > sequence.products and form.sparsity is None and form.block_scale is None:
                name = f"{architecture.name}/{types}/k{sequence.products}"
                found.setdefault(name, (architecture.name, form))
    return found


step_order = Theorem(
    "ptx/numerics/dot-add-step-order",
    "where a row takes several steps, it matters which step has a product (pinned)",
    "exchanging a product of the first step with one of the second: M, -M and s in one step lose s, which "
    "the second step would keep",
    SOURCE,
    lambda: (
        Case(
            name,
            partial(_between_steps, architecture, form),
            Status.REFUTED,
            choices=f"accumulation={architecture}, {READINGS}",
        )
        for name, (architecture, form) in _in_steps().items()
    ),
)


def _between_steps(architecture: str, form: Multiplication) -> Property:
    a, b, c = (form.floats(form.format(role)) for role in "abc")
    (sequence,) = (step_sequence(each, form) for each in executing(form) if each.name == architecture)
    first, second = (np.arange(form.products)[part] for part in list(sequence.parts())[:2])
    exchanged = np.arange(form.products)
    exchanged[[first[2], second[0]]] = second[0], first[2]
    choices = Choices(accumulation=architecture)

    def total(alg: Algebra, v: Inputs, places: Array) -> Array:
        x, y = Operand(v["x"][..., places], a), Operand(v["y"][..., places], b)
        return float_sum(alg, form, x, y, Operand(v["c"], c), None, choices)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        same = np.arange(form.products)
        yield Equation(total(alg, v, same), total(alg, v, exchanged), form.d, label="exchanged")

    x, y = (np.zeros((1, form.products), dtype=fmt.storage) for fmt in (a, b))
    for index, exponent, sign in ((first[0], 7, 0), (first[1], 7, 1), (first[2], -6, 0)):
        x[0, index] = power_of_two(a, exponent) | sign * a.sign_mask
        y[0, index] = power_of_two(b, exponent)
    shape = (1, form.products)
    variables = (Variable("x", a, shape), Variable("y", b, shape), Variable("c", c, (1,)))
    return Property(variables, claim, pinned={"x": x.tolist(), "y": y.tolist(), "c": 0}, abstract=False)


# -- one step, split and raised


@theorem(
    "ptx/numerics/dot-add-monotone",
    "a greater C may give a lesser sum (pinned)",
    "0 ≤ C ≤ C' ⇒ C + Σ x·y ≤ C' + Σ x·y: not where C' = 2^(F + 1), the number next to C, cuts off products "
    "of 1 that C does not",
    SOURCE,
)
def monotone() -> Iterator[Case]:
    """Yield a refutation per step that adds more in f32 than C and C' are apart."""
    kinds = {
        f"{accumulation.sums}/{accumulation.a}-{accumulation.b}": accumulation
        for accumulation in accumulations()
        if accumulation.accumulator == F32
    }
    for name, each in kinds.items():
        apart = 1 << (each.model.fraction_bits - min(each.kept, each.model.fraction_bits))
        if each.model.group == 1 and each.scale is None and each.products > 2 * apart:
            yield Case(name, partial(_monotone, each), Status.REFUTED, choices=READINGS)


def _monotone(each: ModelAccumulation) -> Property:
    count, fmt = each.products, each.accumulator

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, y = Operand(v["x"], each.a), Operand(v["y"], each.b)
        less, more = (alg.dot_add(fmt, each.model, x, y, Operand(v[name], fmt)) for name in ("c", "c2"))
        yield holds(alg, at_most(alg, _magnitude(alg, less), _magnitude(alg, more)), "no less")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield at_most(alg, _magnitude(alg, v["c"]), _magnitude(alg, v["c2"]))
        for name in ("c", "c2"):
            yield alg.same(v[name] & fmt.sign_mask, alg.constant(0, fmt))

    top = power_of_two(fmt, each.model.fraction_bits + 1)
    ones = [[power_of_two(each.a, 0)] * count], [[power_of_two(each.b, 0)] * count]
    pinned = {"x": ones[0], "y": ones[1], "c": top - (1 << (fmt.fraction_bits - each.kept)), "c2": top}
    variables = (
        Variable("x", each.a, (1, count)),
        Variable("y", each.b, (1, count)),
        Variable("c", fmt, (1,)),
        Variable("c2", fmt, (1,)),
    )
    return Property(variables, claim, assuming, pinned, abstract=False)


def _magnitude(alg: Algebra, bits: Array) -> Array:
    return alg.integer(bits, U32)


@theorem(
    "ptx/numerics/dot-add-split-k",
    "two accumulators of half of K each, added to nearest, are not the chain through one (pinned)",
    "step(x₂, y₂, step(x₁, y₁, C)) = fl(step(x₁, y₁, C) + step(x₂, y₂, 0)): both are within the bound of "
    "ptx/numerics/dot-add-bound, not the same; over the reals they are (ptx/blocked/reals)",
    SOURCE,
)
def split_k() -> Iterator[Case]:
    """Yield a refutation per model, result and wide type."""
    kinds = {
        f"{accumulation.rounds}/{accumulation.a}": accumulation
        for accumulation in accumulations()
        if accumulation.a in WIDE
    }
    for name, each in kinds.items():
        yield Case(name, partial(_split, each), Status.REFUTED, choices=READINGS)


class _Power(NamedTuple):
    """A power of two, or one and a half times one."""

    exponent: int
    and_half: bool = False
    negative: bool = False

    def encoding(self, fmt: FloatFormat) -> int:
        half = self.and_half << (fmt.fraction_bits - 1 + fmt.padding_bits)
        return power_of_two(fmt, self.exponent) + half + self.negative * fmt.sign_mask


def _split(each: ModelAccumulation) -> Property:
    fmt, a, b = each.accumulator, each.a, each.b

    def step(alg: Algebra, v: Inputs, half: int, addend: Array) -> Array:
        x, y = Operand(v[f"x{half}"], a), Operand(v[f"y{half}"], b)
        return alg.dot_add(fmt, each.model, x, y, Operand(addend, fmt))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        first = step(alg, v, 1, v["c"])
        second = step(alg, v, 2, alg.constant(0, fmt))
        terms = [Operand(first, fmt), Operand(second, fmt)]
        added = alg.fused(fmt, Rounding.NEAREST_EVEN, (), terms)
        yield Equation(step(alg, v, 2, first), added, fmt, label="chained = added")

    tail = _Power(-fmt.precision, and_half=True)  # more than half of a last place of 1
    to_nearest = each.model.rounding is Rounding.NEAREST_EVEN
    first, second = [_Power(0, negative=to_nearest)], [tail]
    if to_nearest:
        second.insert(0, _Power(0))
    pinned: dict[str, Any] = {"c": [0]}
    for half, row in ((1, first), (2, second)):
        pinned[f"x{half}"] = [[each_.encoding(a) for each_ in row] + [0] * (2 - len(row))]
        pinned[f"y{half}"] = [[power_of_two(b, 0)] * 2]
    if a == F16 and not to_nearest:  # 1.5·2^-24 is no number of f16: 1.5·2^-12 times 2^-12
        pinned["x2"] = [[_Power(-12, and_half=True).encoding(a), 0]]
        pinned["y2"] = [[power_of_two(b, -12)] * 2]
    names = [("x1", a), ("y1", b), ("x2", a), ("y2", b)]
    variables = (*(Variable(name, kind, (1, 2)) for name, kind in names), Variable("c", fmt, (1,)))
    return Property(variables, claim, pinned=pinned, abstract=False)


# -- what is too large


@theorem(
    "ptx/numerics/dot-add-overflow",
    "one product too large for an f16 accumulator is an infinity: nothing saturates",
    "x, y finite, e the sum of their exponents, above the accumulator's: 0 + x·y is an infinity of its sign",
    SOURCE,
)
def overflow() -> Iterator[Case]:
    """Yield the types whose product may overflow f16, and that finite operands give finite sums (pinned)."""
    kinds = {
        f"{accumulation.rounds}/{accumulation.a}-{accumulation.b}": accumulation
        for accumulation in accumulations()
        if accumulation.accumulator == F16
    }
    for name, each in kinds.items():
        if each.a.maximum_exponent + each.b.maximum_exponent > F16.maximum_exponent:
            yield Case(name, partial(_overflow, each))
            yield Case(
                f"{name}/finite",
                partial(_finite, each),
                Status.REFUTED,
                statement="x, y finite ⇒ 0 + x·y is finite",
            )


def _product(alg: Algebra, each: ModelAccumulation, v: Inputs) -> Array:
    zero = Operand(alg.constant(0, each.accumulator), each.accumulator)
    x, y = Operand(v["x"], each.a), Operand(v["y"], each.b)
    return alg.dot_add(each.accumulator, each.model, x, y, zero)


def _both(each: ModelAccumulation) -> tuple[Variable, ...]:
    return Variable("x", each.a, (1,)), Variable("y", each.b, (1,))


def _are_finite(each: ModelAccumulation, alg: Algebra, v: Inputs) -> Iterator[Array]:
    for name, fmt in (("x", each.a), ("y", each.b)):
        operand = Operand(v[name], fmt)
        yield ~(alg.is_nan(operand) | alg.is_infinite(operand))


def _overflow(each: ModelAccumulation) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        fmt = each.accumulator
        total = _product(alg, each, v)
        yield holds(alg, alg.is_infinite(Operand(total, fmt))[..., None], "infinite")
        signs = [
            alg.same(v[name] & f.sign_mask, alg.constant(0, f)) for name, f in (("x", each.a), ("y", each.b))
        ]
        positive = alg.same(signs[0], signs[1])
        yield Equation(
            alg.same(total & fmt.sign_mask, alg.constant(0, fmt))[..., None], positive, label="sign"
        )

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield from _are_finite(each, alg, v)
        exponent = exponent_of(alg, v["x"], each.a) + exponent_of(alg, v["y"], each.b)
        yield at_most(alg, alg.whole(each.accumulator.maximum_exponent + 1), exponent)

    return Property(_both(each), claim, assuming, abstract=False)


def _finite(each: ModelAccumulation) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        total = Operand(_product(alg, each, v), each.accumulator)
        yield holds(alg, ~alg.is_infinite(total), "finite")

    pinned = {name: fmt.largest << fmt.padding_bits for name, fmt in (("x", each.a), ("y", each.b))}
    return Property(_both(each), claim, partial(_are_finite, each), pinned, abstract=False)


THEOREMS = (order, step_order, monotone, split_k, overflow)
