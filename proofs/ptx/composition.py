"""Bigger shapes as compositions of smaller ones: registers, integers, and floats as the choice says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.errors import InputError
from ...spec.formats import S32, U4, U32, IntegerFormat
from ...spec.ptx.accumulation import float_sum
from ...spec.ptx.architectures import ARCHITECTURES, Architecture
from ...spec.ptx.choices import AS_TWICE_K, SEQUENTIAL, Choices
from ...spec.ptx.mma_forms import DENSE_FORMS
from ...spec.ptx.product import Matrices, product
from ...spec.ptx.resolution import Multiplication, multiplication
from ...spec.ptx.sparse_mma_forms import SPARSE_FORMS
from ...spec.ptx.step_sequences import step_sequence
from ...spec.ptx.variant import WARP_LANES, Shape
from ..families.block_products import variables
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
    theorem,
)
from .operands import IN_ORDER, lost_one_by_one, operands_of, read_as

SOURCE = "PTX ISA 9.1 sections 9.7.14.5 and 9.7.14.6"

HALVES = (0, 1)

DEFAULT = Choices()


@dataclass(frozen=True)
class Composition:
    """An instruction and the one of half its size that is otherwise spelled the same.

    Attributes
    ----------
    big, small : Multiplication
        The two instructions.
    axis : str
        Which extent is halved: ``k`` or ``m``.
    """

    big: Multiplication
    small: Multiplication
    axis: str

    @property
    def name(self) -> str:
        """Part of an id."""
        variant = self.big.variant
        d, a, b, _ = variant.types
        extras = [variant.rounding, variant.bit_operation]
        if variant.satfinite:
            extras.append("satfinite")
        if self.big.sparsity:
            extras.append("ordered" if variant.ordered_metadata else "plain")
        shapes = f"{self.big.shape}-from-{self.small.shape}"
        return "/".join([shapes, "-".join([a, b, d, *filter(None, extras)])])

    def registers(self, role: str, half: int) -> slice:
        """Return which registers of an operand are those of a half."""
        count = self.big.fragment(role).registers
        if (self.axis, role) in (("k", "c"), ("m", "b")):
            return slice(count)
        return _half(half, count)

    def elements(self, role: str, half: int) -> tuple[slice, slice]:
        """Return which rows and columns of an operand's matrix are those of a half."""
        rows, columns = self.big.matrix_shape(role)
        if self.axis == "m":
            return (slice(rows) if role == "b" else _half(half, rows)), slice(columns)
        if role == "a":
            return slice(rows), _half(half, columns)
        return (_half(half, rows) if role == "b" else slice(rows)), slice(columns)

    def selector(self, selector: int, half: int) -> int:
        """Return the small instruction's sparsity selector of a half."""
        return 2 * selector + half


def _half(half: int, extent: int) -> slice:
    return slice(half * extent // 2, (half + 1) * extent // 2)


@cache
def compositions() -> tuple[Composition, ...]:
    """Return every pair of legal instructions that differ by a factor of 2 in one extent only."""
    spelled = {variant for form in (*DENSE_FORMS, *SPARSE_FORMS) for variant in form.variants()}
    found = []
    for form in (*DENSE_FORMS, *SPARSE_FORMS):
        m, n, k = form.shape
        for variant in form.variants():
            for axis, shape in (("k", Shape(m, n, k // 2)), ("m", Shape(m // 2, n, k))):
                half = replace(variant, shape=shape)
                if half in spelled:
                    found.append(Composition(multiplication(variant), multiplication(half), axis))
    return tuple(found)


def halves_of_k() -> Iterator[Composition]:
    """Yield the pairs that differ in k."""
    return (composition for composition in compositions() if composition.axis == "k")


# -- registers


@theorem(
    "ptx/composition/fragments",
    "the registers of a bigger instruction are those of two smaller ones",
    "gather(R)[half h] = gather of half the size(R of half h) for A, B and C, h = 0, 1; of R, half of K has "
    "half of the registers of A and B, all of C; rows 8h to 8h + 7 have half of those of A and C, all of B",
    SOURCE,
)
def fragments() -> Iterator[Case]:
    """Yield one obligation per pair of shapes and types; modifiers don't move elements."""
    for composition in compositions():
        variant = composition.big.variant
        plain = not (variant.satfinite or variant.rounding or variant.ordered_metadata)
        if plain and variant.bit_operation != "and":
            yield Case(composition.name, partial(_fragments, composition), method=Method.STRUCTURAL)


def _fragments(each: Composition) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for role in "abc":
            matrix = each.big.fragment(role).gather(alg, v[role])
            for half in HALVES:
                part = each.small.fragment(role).gather(alg, v[role][..., each.registers(role, half)])
                label = f"{role.upper()}, half {half}"
                yield Equation(
                    matrix[..., *each.elements(role, half)], part, each.big.format(role), label=label
                )

    return Property(
        tuple(
            Variable(role, fragment.packing.word, (WARP_LANES, fragment.registers))
            for role in "abc"
            for fragment in [each.big.fragment(role)]
        ),
        claim,
    )


metadata = Theorem(
    "ptx/composition/metadata",
    "the metadata register of a bigger sparse instruction serves both smaller ones, which only select",
    "metadata(R, selector s)[chunks of half h] = metadata of half the size(R, selector 2s + h), which "
    f"half-k-metadata={AS_TWICE_K} says",
    SOURCE,
    lambda: (
        Case(
            composition.name,
            partial(_metadata, composition),
            method=Method.STRUCTURAL,
            choices=f"half-k-metadata={AS_TWICE_K}",
        )
        for composition in halves_of_k()
        if composition.big.sparsity and not composition.big.variant.satfinite
    ),
)


def _metadata(each: Composition) -> Property:
    big, small = each.big.sparsity, each.small.sparsity
    assert big is not None and small is not None

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for selector in range(big.selectors):
            nibbles = big.held(selector).gather(alg, v["metadata"])
            for half in HALVES:
                part = small.held(each.selector(selector, half)).gather(alg, v["metadata"])
                label = f"selector {selector}, half {half}"
                yield Equation(nibbles[..., _half(half, big.chunks)], part, U4, label=label)

    return Property((Variable("metadata", U32, (WARP_LANES, 1)),), claim)


# -- one element of D, or one in each half of the rows


def _whole(alg: Algebra, each: Composition, v: Inputs, choices: Choices) -> Array:
    operands = Matrices(v["a"], v["b"], v["c"], metadata=v.get("metadata"))
    return product(alg, each.big, operands, choices)


def _composed(alg: Algebra, each: Composition, v: Inputs, choices: Choices) -> Array:
    """Chain two small products through C, or put the rows of two below each other."""
    a, b, c = v["a"], v["b"], v["c"]
    if each.axis == "m":
        parts = [
            product(alg, each.small, Matrices(a[..., h : h + 1, :], b, c[..., h : h + 1, :]), choices)
            for h in HALVES
        ]
        return np.concatenate(parts, axis=-2)
    nibbles = v.get("metadata")
    for half in HALVES:
        stored, met = _half(half, a.shape[-1]), _half(half, b.shape[-2])
        chunks = None if nibbles is None else nibbles[..., _half(half, nibbles.shape[-1])]
        operands = Matrices(a[..., stored], b[..., met, :], c, metadata=chunks)
        c = product(alg, each.small, operands, choices)
    result: Array = c
    return result


def composed(
    each: Composition,
    choices: Choices = DEFAULT,
    pinned: dict[str, Any] | None = None,
) -> Property:
    """Return the claim that a bigger product is the composition of two smaller ones, bit for bit."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        whole, parts = _whole(alg, each, v, choices), _composed(alg, each, v, choices)
        yield Equation(whole, parts, each.big.d, label="D")

    rows = 2 if each.axis == "m" else 1
    return Property(variables(operands_of(each.big), rows), claim, pinned=pinned)


@theorem(
    "ptx/composition/integers",
    "bigger integer and single-bit products are compositions of smaller ones, exactly",
    "D = D₂ where D₁ = A₁·B₁ + C and D₂ = A₂·B₂ + D₁ (halves of K), or D is D₁ above D₂ (halves of M), for "
    "each element of D, modulo 2^32",
    SOURCE + "; 9.7.14.5.14: every element of D is the same function of its row, column and C",
)
def integers() -> Iterator[Case]:
    """Yield the wrapping forms; the order of metadata has no part in what they compute.

    The rows of single-bit products are compared by ``ptx/blocked/tiles``.
    """
    for composition in compositions():
        variant = composition.big.variant
        skipped = variant.satfinite or variant.ordered_metadata or (composition.axis == "m" and variant.popc)
        if composition.big.is_integer and not skipped:
            yield Case(composition.name, partial(composed, composition))


@theorem(
    "ptx/composition/saturation",
    "two clamps are one for sums of unsigned products; with a signed factor they are not (pinned)",
    "clamp(A·B + C) = clamp(A₂·B₂ + clamp(A₁·B₁ + C))",
    SOURCE + "; PTX ISA section 9.7.14.4 (wmma): one clamp of the exact total",
)
def saturation() -> Iterator[Case]:
    """Yield the proof for sums of unsigned products, and a refutation per pair with a signed factor."""
    yield Case(
        "unsigned",
        _unsigned_clamps,
        statement="clamp(P₂ + clamp(P₁ + C)) = clamp(P₁ + P₂ + C) for sums of products 0 ≤ P₁, P₂ < 2^30",
    )
    for half in halves_of_k():
        if half.big.variant.satfinite and (pinned := _leaves_and_comes_back(half)) is not None:
            goal = partial(composed, half, pinned=pinned)
            yield Case(half.name, goal, Status.REFUTED, choices="satfinite-clamp=once")


def _unsigned_clamps() -> Property:
    total = IntegerFormat("total", 30, signed=False)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        first, second = (alg.integer(v[name], total) for name in ("first", "second"))
        c = alg.integer(v["c"], S32)
        twice = alg.saturate(second + alg.integer(alg.saturate(first + c, S32), S32), S32)
        yield Equation(alg.saturate(first + second + c, S32), twice, S32, label="one clamp = two clamps")

    variables = (Variable("first", total, (1,)), Variable("second", total, (1,)), Variable("c", S32, (1,)))
    return Property(variables, claim, abstract=False)


def _leaves_and_comes_back(each: Composition) -> dict[str, Any] | None:
    """Return operands whose first half overflows and whose second half undoes it."""
    big = each.big
    a, b = big.integers(big.a), big.integers(big.b)
    if not a.signed and not b.signed:
        return None
    signs_a, signs_b = (
        [1] * (length // 2) + [(1 << fmt.bits) - 1 if negative else 1] * (length // 2)
        for fmt, length, negative in ((a, big.products, a.signed), (b, big.shape.k, not a.signed))
    )
    columns = [[encoding] for encoding in signs_b]
    return {"a": [signs_a], "b": columns, "c": S32.maximum, "metadata": IN_ORDER}


# -- floats


sequential = Theorem(
    "ptx/composition/sequential",
    "under sequential accumulation bigger products are compositions of smaller ones, bit for bit",
    "D = D₂ where D₁ = A₁·B₁ + C and D₂ = A₂·B₂ + D₁ (halves of K), or D is D₁ above D₂ (halves of M)",
    SOURCE,
    lambda: (
        Case(
            composition.name,
            partial(composed, composition, Choices(accumulation=SEQUENTIAL)),
            choices=read_as(composition.big),
        )
        for composition in compositions()
        if not composition.big.is_integer
    ),
)


def executing(*forms: Multiplication) -> Iterator[Architecture]:
    """Yield the architectures whose model executes all of some float instructions."""
    for architecture in ARCHITECTURES:
        try:
            for form in forms:
                form.require_executable_on(architecture)
        except InputError:
            continue
        if not any(form.is_double or form.is_integer for form in forms):
            yield architecture


@theorem(
    "ptx/composition/architectures",
    "a model that takes steps no longer than the smaller product composes bit for bit, another not (pinned)",
    "D = D₂ where D₁ = A₁·B₁ + C and D₂ = A₂·B₂ + D₁, in the architecture's fused dot-adds",
    SOURCE + "; MMA-Sim (arXiv 2511.10909)",
)
def architectures() -> Iterator[Case]:
    """Yield every pair of float instructions on every architecture that executes both."""
    for half in halves_of_k():
        for architecture in executing(half.big, half.small):
            big, small = (step_sequence(architecture, form) for form in (half.big, half.small))
            same_steps = big.products == small.products and big.composes
            choices = Choices(accumulation=architecture.name)
            pinned = None if same_steps else lost_one_by_one(half.big, first_of_halves=True)
            yield Case(
                f"{half.name}/{architecture.name}",
                partial(composed, half, choices, pinned),
                Status.PROVED if same_steps else Status.REFUTED,
                choices=architecture.name,
            )


reals = Theorem(
    "ptx/composition/reals",
    "over the reals bigger products are compositions of smaller ones, however they are accumulated",
    "C + Σ_{k<K} x[k]·y[k] = (C + Σ_{k<K/2} x[k]·y[k]) + Σ_{K/2≤k<K} x[k]·y[k] as polynomials; "
    "of a sparse A, x are the stored elements and y those of B that they meet",
    SOURCE,
    lambda: (
        Case(
            composition.name, partial(_reals, composition), equality=Equality.VALUE, method=Method.STRUCTURAL
        )
        for composition in halves_of_k()
        if not composition.big.is_integer
    ),
)


def _reals(each: Composition) -> RingProperty:
    big = each.big
    readings = [SEQUENTIAL, *(architecture.name for architecture in executing(big, each.small))]

    def total(alg: Algebra, form: Multiplication, x: Array, y: Array, c: Array, choices: Choices) -> Array:
        operands = [Operand(bits, form.floats(fmt)) for bits, fmt in ((x, form.a), (y, form.b), (c, form.c))]
        return float_sum(alg, form, operands[0], operands[1], operands[2], None, choices)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, y, c = v["x"], v["y"], v["c"]
        exact = c + (x * y).sum(axis=-1)
        for reading in readings:
            choices = Choices(accumulation=reading)
            yield Equation(total(alg, big, x, y, c, choices), exact, big.d, label=f"whole, {reading}")
            partial_sum = c
            for part in (_half(half, big.products) for half in HALVES):
                partial_sum = total(alg, each.small, x[..., part], y[..., part], partial_sum, choices)
            yield Equation(partial_sum, exact, big.d, label=f"halves, {reading}")

    rows = tuple(Variable(name, fmt, (1, big.products)) for name, fmt in (("x", big.a), ("y", big.b)))
    return RingProperty((*rows, Variable("c", big.c, (1,))), claim)


THEOREMS = (fragments, metadata, integers, saturation, sequential, architectures, reals)
