"""Scaling: what a scale factor does to an element, and what factors of blocks do to a product.

An instruction set gives the formats that it scales, with the format that it multiplies them in, and its
products as pairs of `BlockProduct`s: with operands ``scale_a`` and ``scale_b``, and without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import F64, UE4M3, UE8M0, FloatFormat, as_float
from ...spec.matrix_product import scaled
from ...spec.rounding import Rounding
from ..enumeration import enumerated
from ..instances import Entailment, Use
from ..obligation import (
    Certificate,
    Equality,
    Equation,
    Inputs,
    Obligation,
    Property,
    RingProperty,
    Variable,
)
from .block_products import BlockProduct

ONE = MappingProxyType({UE8M0: 0x7F, UE4M3: 0x38})
"""The encoding of scale factor 1."""

SCALES = ("scale_a", "scale_b")

Factors = Callable[[Algebra, Inputs], tuple[Operand, Operand]]
"""Returns the elements of A and of B that are multiplied."""


def number(alg: Algebra, operand: Operand) -> Array:
    """Return the f64 that is the same number, exact for every narrower format."""
    return alg.fused(F64, Rounding.NEAREST_EVEN, (), [operand])


def unchanged(alg: Algebra, x: Operand, scale: FloatFormat, wide: FloatFormat) -> Equation:
    """Return the equation that elements times scale factor 1, in the format `wide`, are the same numbers."""
    product = scaled(alg, x, Operand(alg.constant(ONE[scale], scale), scale), wide)
    return Equation(number(alg, product), number(alg, x), F64, label="x · 1 = x")


def unit(element: FloatFormat, scale: FloatFormat, wide: FloatFormat, solvable: bool) -> Certificate:
    """Return the claim that scale factor 1 changes no element; see `exact`."""

    def claim(fmt: FloatFormat, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield unchanged(alg, Operand(v["x"], element), scale, fmt)

    return _enumerated(claim, {"x": element}, wide, solvable)


def exact(element: FloatFormat, scale: FloatFormat, wide: FloatFormat, solvable: bool) -> Certificate:
    """Return the claim that an element times its scale factor is the exact product.

    Parameters
    ----------
    element, scale : FloatFormat
        The formats of the two.
    wide : FloatFormat
        The format of the product.
    solvable : bool
        Whether solvers can round to `wide`; else the enumeration, which is complete, has no second witness.
    """

    def claim(fmt: FloatFormat, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, factor = Operand(v["x"], element), Operand(v["factor"], scale)
        down, up = (alg.fused(F64, way, [(x, factor)]) for way in (Rounding.DOWNWARD, Rounding.UPWARD))
        yield Equation(number(alg, scaled(alg, x, factor, fmt)), down, F64, label="x · s")
        yield Equation(down, up, F64, label="x · s rounded down and up")

    return _enumerated(claim, {"x": element, "factor": scale}, wide, solvable)


def _enumerated(
    claim: Callable[[FloatFormat, Algebra, Inputs], Iterator[Equation]],
    formats: Mapping[str, FloatFormat],
    wide: FloatFormat,
    solvable: bool,
) -> Certificate:
    variables = tuple(Variable(name, fmt, (1,)) for name, fmt in formats.items())
    prop = Property(variables, partial(claim, wide), abstract=False)
    certificate = enumerated(prop, {name: range(1 << fmt.bits) for name, fmt in formats.items()})
    return certificate if solvable else replace(certificate, witness=None)


def scale_format(block: BlockProduct) -> FloatFormat:
    """Return the format of a block's scale factors."""
    return as_float(block.operands["scale_a"].format)


def unit_row(with_factors: BlockProduct, without: BlockProduct, met: Factors, wide: FloatFormat) -> Property:
    """Return the claim that factors 1 are no factors, for elements that factor 1 does not change."""
    shapes = {name: with_factors.operands[name].shape(1, 1) for name in SCALES}
    scale = scale_format(with_factors)

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        for elements in met(alg, v):
            yield unchanged(alg, elements, scale, wide).truth(alg, Equality.BITS)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one = alg.constant(ONE[scale], scale)
        ones = {name: np.broadcast_to(one, shape) for name, shape in shapes.items()}
        for reading in without.readings:
            scaled_by_one = with_factors.multiply(alg, {**v, **ones}, reading)
            plain = without.multiply(alg, v, reading)
            yield Equation(scaled_by_one, plain, without.result, label="D")

    return Property(without.variables(), claim, assuming)


def unscaled(row: Obligation, units: Mapping[str, Obligation], met: Factors) -> Entailment:
    """Return the deduction that factors 1 are no factors: of a row whose elements factor 1 does not change.

    Parameters
    ----------
    row : Obligation
        Claims `unit_row`.
    units : mapping of str to Obligation
        Claim `unit`, by the names of the formats of elements.
    met : callable
        Its elements that are multiplied.
    """
    claimed = row.goal()
    assert isinstance(claimed, Property)

    def uses(alg: Algebra, v: Inputs) -> Iterator[Use]:
        yield Use(row, v)
        for bits, fmt in met(alg, v):
            yield Use(units[fmt.name], {"x": bits[..., np.newaxis]})

    premises = (row.id, *(unit.id for unit in units.values()))
    return Entailment(premises, Property(claimed.variables, claimed.claim), uses)


def commutes(with_factors: BlockProduct, without: BlockProduct, served: int) -> RingProperty:
    """Return the claim that factors may scale the sum of the block that they serve, over the reals."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        nothing = np.broadcast_to(alg.constant(0, without.result), v["c"].shape)
        for reading in with_factors.readings:
            total = v["c"]
            for group in range(v["scale_a"].shape[-1]):
                part = slice(group * served, (group + 1) * served)
                block = {"a": v["a"][..., part], "b": v["b"][..., part, :], "c": nothing}
                factor = v["scale_a"][..., group, None] * v["scale_b"][..., group, :]
                total = total + factor * without.multiply(alg, block, reading)
            d = with_factors.multiply(alg, v, reading)
            yield Equation(d, total, with_factors.result, label=f"D, {reading}")

    return RingProperty(with_factors.variables(), claim)


def scaled_afterwards(
    with_factors: BlockProduct, without: BlockProduct, pinned: Mapping[str, Any]
) -> Property:
    """Return the claim that the rounded sum may be scaled, which `pinned` refutes."""
    scale, result = scale_format(with_factors), without.result
    assert isinstance(result, FloatFormat)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for reading in with_factors.readings:
            after = without.multiply(alg, v, reading)
            for name in SCALES:
                pair = Operand(after, result), Operand(v[name], scale)
                after = alg.fused(result, Rounding.NEAREST_EVEN, [pair])
            before = with_factors.multiply(alg, v, reading)
            yield Equation(before, after, result, label="scaled before = after")

    return Property(with_factors.variables(), claim, pinned=pinned, abstract=False)
