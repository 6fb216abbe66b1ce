"""Block scaling: factors of elements and of rows, when they commute, repeat, or are all 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import E2M1, E2M3, E3M2, E4M3, E5M2, F32, U16, UE4M3, UE8M0
from ...spec.matrix_product import spread
from ...spec.ptx.block_scaling import SCALED
from ...spec.ptx.catalogue import forms
from ...spec.ptx.choices import SEQUENTIAL, UNSPECIFIED, Choices
from ...spec.ptx.mma_forms import NARROW_FLOATS, MmaForm
from ...spec.ptx.resolution import Multiplication, multiplication
from ...spec.ptx.variant import Family
from ..families import scaling
from ..families.block_products import BlockProduct, power_of_two, variables
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
from ..table_theorem import table_theorem
from .blocked import block_of, met_block_of, multiplied
from .operands import IN_ORDER, operands_of

SOURCE = "PTX ISA 9.1 sections 5.2.3 and 9.7.14.3; OCP Microscaling Formats 1.0"

SCALED_ELEMENTS = (
    *((element, UE8M0) for element in (E4M3, E5M2, E3M2, E2M3, E2M1)), (E2M1, UE4M3)
)  # fmt: skip
"""The element types and the types of their scale factors."""


@cache
def instructions() -> dict[str, Multiplication]:
    """Return block-scaled instructions of every kind, each element type once as A and once as B."""
    neighbours = {*zip(NARROW_FLOATS, (*NARROW_FLOATS[1:], NARROW_FLOATS[0]), strict=True), ("e2m1", "e2m1")}
    found = {}
    for family in (Family.MMA, Family.MMA_SP):
        for form in forms(family):
            assert isinstance(form, MmaForm)
            if form.scale_type is None:
                continue
            for instruction in map(multiplication, form.variants()):
                a, b = instruction.a.name, instruction.b.name
                if (a, b) in neighbours and (form.kind == "mxf8f6f4") == (a != b):
                    name = f"{family}/{form.kind}/{form.scale_vec}/{form.scale_type}/{a}-{b}"
                    found[name] = instruction
    return found


unit = table_theorem(
    "ptx/block-scale/unit",
    "scale factor 1 (0x7F of ue8m0, 0x38 of ue4m3) changes no element",
    "∀ x: x · 1 = x as numbers, the sign of zero, infinities and NaNs included",
    SOURCE,
    lambda: {
        f"{element}/{scale}": partial(scaling.unit, element, scale, SCALED, True)
        for element, scale in SCALED_ELEMENTS
    },
)


exact = Theorem(
    "ptx/block-scale/exact",
    "an element of e4m3, e5m2 or e2m1 times its scale factor is exact; the others are numbers of these",
    "∀ x, s: the product in the 17-bit format is the number x · s, which f64 holds whichever way it rounds; "
    "numbers of e3m2 are numbers of e5m2, those of e2m3 of e4m3",
    SOURCE,
    lambda: (
        Case(
            f"{element}/{scale}",
            partial(scaling.exact, element, scale, SCALED, True),
            method=Method.CERTIFICATE,
        )
        for element, scale in ((E4M3, UE8M0), (E5M2, UE8M0), (E2M1, UE4M3))
    ),
)


chunk = Theorem(
    "ptx/block-scale/chunk",
    "a stored element and the element of B that it meets have scale factors of the same chunk of K",
    "∀ nibble: column(s) div (K / X) = s div (stored / X), which is how factors are spread over a row",
    SOURCE,
    lambda: (Case(name, partial(_chunk, instruction)) for name, instruction in instructions().items()),
)


def _chunk(instruction: Multiplication) -> Property:
    block_scale, sparsity = instruction.block_scale, instruction.sparsity
    assert block_scale is not None
    served = block_scale.chunk.bit_length() - 1

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        numbers = np.array([alg.constant(i, U16)[()] for i in range(block_scale.vector)])
        stored = instruction.products
        for s, number in enumerate(spread(numbers, stored // len(numbers), stored)):
            column = alg.constant(s, U16) if sparsity is None else sparsity.column(s, v["nibble"])
            yield Equation(column >> served, number, U16, known(alg, v), f"factor of element {s}")

    def known(alg: Algebra, v: Inputs) -> Array:
        return alg.same(v["nibble"] & 15, v["nibble"])

    return Property((Variable("nibble", U16, (1,)),), claim, abstract=False)


SEQUENTIAL_ONLY = f"accumulation={SEQUENTIAL}"


def _form(instruction: Multiplication) -> MmaForm:
    """Return the row of the catalogue; a changed one need not be there."""
    assert isinstance(instruction.form, MmaForm)
    return instruction.form


def unscaled_form(instruction: Multiplication) -> Multiplication:
    """Return the instruction without scale factors; the catalogue need not have it."""
    return replace(instruction, form=replace(_form(instruction), scale_type=None))


def _row(alg: Algebra, instruction: Multiplication, v: Inputs, accumulation: str, each: int = 1) -> Array:
    """Return D of one row and column, every scale factor written `each` times."""
    repeated = {"scale_a": v["scale_a"].repeat(each, axis=-1), "scale_b": v["scale_b"].repeat(each, axis=-2)}
    return multiplied(alg, instruction, {**v, **repeated}, Choices(accumulation))


@theorem(
    "ptx/block-scale/commutes",
    "a scale factor commutes with the product: it may scale the sum over its chunk instead of every element",
    "C + Σ_k (sa·x[k])·(sb·y[k]) = C + Σ_chunks sa·sb·(Σ_k x[k]·y[k]) over the reals; of a sparse A, x are "
    "the stored elements and y those of B that they meet",
    SOURCE,
)
def commutes() -> Iterator[Case]:
    """Yield every instruction over the reals, and that an f32 sum must not be scaled (pinned)."""
    for name, instruction in instructions().items():
        assert instruction.block_scale is not None
        yield Case(name, partial(_commutes, instruction), equality=Equality.VALUE, method=Method.STRUCTURAL)
        if instruction.block_scale.vector == 1:
            yield Case(
                f"f32/{name}",
                partial(_scaled_afterwards, instruction),
                Status.REFUTED,
                choices=SEQUENTIAL_ONLY,
                statement="D(scale factors) = (D(no factors) · sa) · sb in f32, C = 0: the sum may overflow",
            )


def _commutes(instruction: Multiplication) -> RingProperty:
    assert instruction.block_scale is not None
    served = instruction.products // instruction.block_scale.vector
    return scaling.commutes(met_block_of(instruction), met_block_of(unscaled_form(instruction)), served)


def _scaled_afterwards(instruction: Multiplication) -> Property:
    # every element is 2, the factors are 2^127 and 2^-127: the sum, 128, leaves f32 in between
    two = {name: power_of_two(instruction.format(name), 1) for name in "ab"}
    pinned = {**two, "scale_a": UE8M0.largest, "scale_b": 0, "metadata": IN_ORDER}
    with_factors, without = (_onto_zero(form) for form in (instruction, unscaled_form(instruction)))
    return scaling.scaled_afterwards(with_factors, without, pinned)


def _onto_zero(instruction: Multiplication) -> BlockProduct:
    block = block_of(instruction)

    def multiply(alg: Algebra, v: Inputs, choices: Choices) -> Array:
        return block.multiply(alg, {**v, "c": np.broadcast_to(alg.constant(0, F32), v["c"].shape)}, choices)

    return replace(block, multiply=multiply)


@theorem(
    "ptx/block-scale/equal-pairs",
    "a longer vector of scale factors whose pairs are equal is the shorter vector",
    "D(2X, each factor twice) = D(1X), D(4X, each factor twice) = D(2X)",
    SOURCE,
)
def equal_pairs() -> Iterator[Case]:
    """Yield every instruction with more than one factor, and that 4X may still accumulate otherwise."""
    for name, instruction in instructions().items():
        block_scale = instruction.block_scale
        assert block_scale is not None
        if block_scale.vector > 1:
            goal = partial(_equal_pairs, instruction, SEQUENTIAL)
            yield Case(name, goal, choices=SEQUENTIAL_ONLY)
            if block_scale.vector == 4:
                yield Case(
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

    return Property(variables(operands_of(shorter)), claim)


@theorem(
    "ptx/block-scale/kinds",
    "mxf4nvf4 with 2X computes what mxf4 does",
    "D(mxf4nvf4, 2X, ue8m0) = D(mxf4), however products are accumulated",
    SOURCE,
)
def kinds() -> Iterator[Case]:
    """Yield the dense and the sparse instruction."""
    for family in (Family.MMA, Family.MMA_SP):
        pair = [
            instruction
            for name, instruction in instructions().items()
            if name.startswith((f"{family}/mxf4/2X/", f"{family}/mxf4nvf4/2X/"))
        ]
        yield Case(str(family), partial(_kinds, *pair))


def _kinds(one: Multiplication, other: Multiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(_row(alg, one, v, UNSPECIFIED), _row(alg, other, v, UNSPECIFIED), F32, label="D")

    return Property(variables(operands_of(one)), claim)


unscaled_row = Theorem(
    "ptx/block-scale/unscaled-row",
    "if scale factor 1 changes no element, a row with all factors 1 is summed as without factors",
    "(x[k] · 1 = x[k] and y[k] · 1 = y[k] as numbers, for all k) ⇒ D(all factors 1) = D(no factors)",
    SOURCE,
    lambda: (
        Case(name, partial(_unscaled_row, instruction), choices=SEQUENTIAL_ONLY)
        for name, instruction in instructions().items()
    ),
)


def _unscaled_row(instruction: Multiplication) -> Property:
    met = partial(_multiplied, instruction)
    return scaling.unit_row(block_of(instruction), block_of(unscaled_form(instruction)), met, SCALED)


def _multiplied(instruction: Multiplication, alg: Algebra, v: Inputs) -> tuple[Operand, Operand]:
    """Return the elements of A and of B that are multiplied."""
    b = v["b"]
    if instruction.sparsity is not None:
        b = instruction.sparsity.select(alg, v["b"], v["metadata"])[..., 0, :, :]
    return Operand(v["a"], instruction.floats(instruction.a)), Operand(b, instruction.floats(instruction.b))


@theorem(
    "ptx/block-scale/unscaled",
    "with every scale factor 1 the row is summed as without scale factors",
    "D(all factors 1) = D(no factors), for all elements",
    SOURCE,
)
def unscaled() -> Iterator[Case]:
    """Yield one obligation per instruction, from its row and from its elements."""
    of_elements = {obligation.id.removeprefix(f"{unit.id}/"): obligation for obligation in unit.obligations()}
    rows = {
        obligation.id.removeprefix(f"{unscaled_row.id}/"): obligation
        for obligation in unscaled_row.obligations()
    }
    for name, instruction in instructions().items():
        assert instruction.block_scale is not None
        scale = instruction.block_scale.format
        units = {fmt.name: of_elements[f"{fmt}/{scale}"] for fmt in (instruction.a, instruction.b)}
        goal = partial(scaling.unscaled, rows[name], units, partial(_multiplied, instruction))
        yield Case(name, goal, method=Method.DEDUCTION, choices=SEQUENTIAL_ONLY)


THEOREMS = (
    unit,
    exact,
    chunk,
    commutes,
    equal_pairs,
    kinds,
    unscaled_row,
    unscaled,
)
