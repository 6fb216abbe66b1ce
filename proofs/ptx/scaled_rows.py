"""Rows of products with scale factors: when factors commute, repeat, agree between kinds, or are all 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import F32, U4, UE8M0, FloatFormat
from ...spec.ptx.accumulation import float_sum
from ...spec.ptx.choices import SEQUENTIAL, UNSPECIFIED, Choices
from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.multiplication import Multiplication
from ...spec.ptx.product import Operands, product
from ...spec.ptx.variant import Family
from ...spec.rounding import Rounding
from ..obligation import (
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
from .block_scaling import SOURCE, instructions, one, unchanged, unit

SEQUENTIAL_ONLY = f"accumulation={SEQUENTIAL}"


def _form(instruction: Multiplication) -> MmaForm:
    """Return the row of the catalogue; a changed one need not be there."""
    assert isinstance(instruction.form, MmaForm)
    return instruction.form


def row_variables(instruction: Multiplication, factors: int) -> tuple[Variable, ...]:
    """Return a row of A (with its metadata), a column of B, one element of C and scale factors."""
    block_scale, sparsity = instruction.block_scale, instruction.sparsity
    assert block_scale is not None
    variables = [
        Variable("a", instruction.a, (1, instruction.products)),
        Variable("b", instruction.b, (instruction.shape.k, 1)),
        Variable("c", F32, (1, 1)),
    ]
    if factors:
        variables.append(Variable("scale_a", block_scale.format, (1, factors)))
        variables.append(Variable("scale_b", block_scale.format, (factors, 1)))
    if sparsity is not None:
        variables.append(Variable("metadata", U4, (1, sparsity.chunks)))
    return tuple(variables)


def _row(
    alg: Algebra, instruction: Multiplication, v: Inputs, accumulation: str = SEQUENTIAL, each: int = 1
) -> Array:
    """Return D of one row and column, every scale factor written `each` times."""
    scale_a, scale_b = v.get("scale_a"), v.get("scale_b")
    operands = Operands(
        v["a"],
        v["b"],
        v["c"],
        None if scale_a is None else scale_a.repeat(each, axis=-1),
        None if scale_b is None else scale_b.repeat(each, axis=-2),
        v.get("metadata"),
    )
    return product(alg, instruction, operands, Choices(accumulation))


@theorem(
    "ptx/block-scale/commutes",
    "a scale factor commutes with the product: it may scale the sum over its chunk instead of every element",
    "C + Σ_k (sa·x[k])·(sb·y[k]) = C + Σ_chunks sa·sb·(Σ_k x[k]·y[k]) over the reals; of a sparse A, x are "
    "the stored elements and y those of B that they meet",
    SOURCE,
)
def commutes() -> Iterator[Variant]:
    """Yield every instruction over the reals, and that an f32 sum must not be scaled (pinned)."""
    for name, instruction in instructions().items():
        assert instruction.block_scale is not None
        yield Variant(
            name, partial(_commutes, instruction), equality=Equality.VALUE, method=Method.STRUCTURAL
        )
        if instruction.block_scale.vector == 1:
            yield Variant(
                f"f32/{name}",
                partial(_scaled_afterwards, instruction),
                Status.REFUTED,
                choices=SEQUENTIAL_ONLY,
                statement="D(scale factors) = (D(no factors) · sa) · sb in f32, C = 0: the sum may overflow",
            )


def _commutes(instruction: Multiplication) -> RingProperty:
    block_scale = instruction.block_scale
    assert block_scale is not None
    factors, products = block_scale.vector, instruction.products
    served = products // factors
    x_format, y_format = (instruction.floats(fmt) for fmt in (instruction.a, instruction.b))

    def total(alg: Algebra, x: Array, y: Array, c: Array, scales: tuple[Array, Array] | None) -> Array:
        fmt = block_scale.format
        pair = None if scales is None else (Operand(scales[0], fmt), Operand(scales[1], fmt))
        row, column = Operand(x, x_format), Operand(y, y_format)
        return float_sum(alg, instruction, row, column, Operand(c, F32), pair, Choices(SEQUENTIAL))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, y, left, right = (v[name] for name in ("x", "y", "scale_a", "scale_b"))
        afterwards = v["c"]
        for number in range(factors):
            part = slice(number * served, (number + 1) * served)
            unscaled_sum = total(alg, x[..., part], y[..., part], alg.constant(0, F32), None)
            afterwards = afterwards + left[..., number] * right[..., number] * unscaled_sum
        yield Equation(total(alg, x, y, v["c"], (left, right)), afterwards, F32, label="D")

    variables = (
        Variable("x", instruction.a, (1, products)),
        Variable("y", instruction.b, (1, products)),
        Variable("c", F32, (1,)),
        Variable("scale_a", block_scale.format, (1, factors)),
        Variable("scale_b", block_scale.format, (1, factors)),
    )
    return RingProperty(variables, claim)


def _scaled_afterwards(instruction: Multiplication) -> Property:
    block_scale = instruction.block_scale
    assert block_scale is not None
    plain = replace(instruction, form=replace(_form(instruction), scale_type=None))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        zero = np.broadcast_to(alg.constant(0, F32), v["c"].shape)
        before = _row(alg, instruction, {**v, "c": zero})
        after = _row(alg, plain, {**v, "c": zero, "scale_a": None, "scale_b": None})
        for name in ("scale_a", "scale_b"):
            factor = Operand(v[name], block_scale.format)
            after = alg.fused(F32, Rounding.NEAREST_EVEN, [(Operand(after, F32), factor)])
        yield Equation(before, after, F32, label="scaled before = after")

    # every element is 2, the factors are 2^127 and 2^-127: the sum, 128, leaves f32 in between
    two = {name: _two(instruction.floats(instruction.format(name))) for name in "ab"}
    pinned = {**two, "scale_a": UE8M0.largest, "scale_b": 0, "metadata": 0b0100}
    return Property(row_variables(instruction, 1), claim, pinned=pinned, abstract=False)


def _two(fmt: FloatFormat) -> int:
    return (fmt.bias + 1) << fmt.fraction_bits


@theorem(
    "ptx/block-scale/equal-pairs",
    "a longer vector of scale factors whose pairs are equal is the shorter vector",
    "D(2X, each factor twice) = D(1X), D(4X, each factor twice) = D(2X)",
    SOURCE,
)
def equal_pairs() -> Iterator[Variant]:
    """Yield every instruction with more than one factor, and that 4X may still accumulate otherwise."""
    for name, instruction in instructions().items():
        block_scale = instruction.block_scale
        assert block_scale is not None
        if block_scale.vector > 1:
            goal = partial(_equal_pairs, instruction, SEQUENTIAL)
            yield Variant(name, goal, choices=SEQUENTIAL_ONLY)
            if block_scale.vector == 4:
                yield Variant(
                    f"unspecified/{name}",
                    partial(_equal_pairs, instruction, UNSPECIFIED),
                    Status.REFUTED,
                    choices=f"accumulation={UNSPECIFIED}",
                    statement="4X and 2X accumulate alike",
                )


def _equal_pairs(instruction: Multiplication, accumulation: str) -> Property:
    assert instruction.block_scale is not None
    fewer = instruction.block_scale.vector // 2
    shorter = replace(instruction, form=replace(_form(instruction), scale_vec=f"{fewer}X"))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        longer = _row(alg, instruction, v, accumulation, each=2)
        yield Equation(longer, _row(alg, shorter, v, accumulation), F32, label="D")

    return Property(row_variables(instruction, fewer), claim)


@theorem(
    "ptx/block-scale/kinds",
    "mxf4nvf4 with 2X computes what mxf4 does",
    "D(mxf4nvf4, 2X, ue8m0) = D(mxf4), however products are accumulated",
    SOURCE,
)
def kinds() -> Iterator[Variant]:
    """Yield the dense and the sparse instruction."""
    for family in (Family.MMA, Family.MMA_SP):
        pair = [
            instruction
            for name, instruction in instructions().items()
            if name.startswith((f"{family}/mxf4/2X/", f"{family}/mxf4nvf4/2X/"))
        ]
        yield Variant(str(family), partial(_kinds, *pair))


def _kinds(one: Multiplication, other: Multiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(_row(alg, one, v, UNSPECIFIED), _row(alg, other, v, UNSPECIFIED), F32, label="D")

    return Property(row_variables(one, 2), claim)


@theorem(
    "ptx/block-scale/unscaled-row",
    "if scale factor 1 changes no element, a row with all factors 1 is summed as without factors",
    "(x[k] · 1 = x[k] and y[k] · 1 = y[k] as numbers, for all k) ⇒ D(all factors 1) = D(no factors)",
    SOURCE,
)
def unscaled_row() -> Iterator[Variant]:
    """Yield one obligation per instruction."""
    for name, instruction in instructions().items():
        yield Variant(name, partial(_unscaled_row, instruction), choices=SEQUENTIAL_ONLY)


def _unscaled_row(instruction: Multiplication) -> Property:
    block_scale = instruction.block_scale
    assert block_scale is not None
    plain = replace(instruction, form=replace(_form(instruction), scale_type=None))

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        met = v["b"]
        if instruction.sparsity is not None:
            met = instruction.sparsity.select(alg, v["b"], v["metadata"])[..., 0, :, :]
        for bits, fmt in ((v["a"], instruction.a), (met, instruction.b)):
            of_element = unchanged(alg, Operand(bits, instruction.floats(fmt)), block_scale.format)
            yield of_element.truth(alg, Equality.BITS)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        factor = one(alg, block_scale.format)
        ones = {
            "scale_a": np.broadcast_to(factor, (1, block_scale.vector)),
            "scale_b": np.broadcast_to(factor, (block_scale.vector, 1)),
        }
        yield Equation(_row(alg, instruction, {**v, **ones}), _row(alg, plain, v), F32, label="D")

    return Property(row_variables(instruction, 0), claim, assuming)


@theorem(
    "ptx/block-scale/unscaled",
    "with every scale factor 1 the row is summed as without scale factors",
    "D(all factors 1) = D(no factors), for all elements",
    SOURCE,
)
def unscaled() -> Iterator[Variant]:
    """Yield one obligation per instruction, from its row and from its elements."""
    for name, instruction in instructions().items():
        assert instruction.block_scale is not None
        elements = dict.fromkeys((instruction.a.name, instruction.b.name))
        premises = (
            f"{unscaled_row.id}/{name}",
            *(f"{unit.id}/{element}/{instruction.block_scale.format}" for element in elements),
        )
        yield Variant(name, partial(Induction, premises), method=Method.INDUCTION, choices=SEQUENTIAL_ONLY)


THEOREMS = (commutes, equal_pairs, kinds, unscaled_row, unscaled)
