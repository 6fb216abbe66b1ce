"""Block scaling: what a scale factor does to an element, and to a whole row of products."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import (
    E2M1,
    E2M3,
    E3M2,
    E4M3,
    E5M2,
    F32,
    F64,
    U4,
    U16,
    UE4M3,
    UE8M0,
    FloatFormat,
)
from ...spec.ptx.accumulation import float_sum
from ...spec.ptx.block_scaling import scaled, spread
from ...spec.ptx.catalogue import forms, variants
from ...spec.ptx.choices import SEQUENTIAL, UNSPECIFIED, Choices
from ...spec.ptx.mma_forms import NARROW_FLOATS, MmaForm
from ...spec.ptx.multiplication import Multiplication, multiplication
from ...spec.ptx.product import Operands, product
from ...spec.ptx.variant import Family
from ...spec.rounding import Rounding
from ..enumeration import enumerated
from ..obligation import (
    Certificate,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    RingProperty,
    Status,
    Variable,
    Variant,
    theorem,
)

SOURCE = "PTX ISA 9.1 sections 5.2.3 and 9.7.14.3; OCP Microscaling Formats 1.0"

ONE = {UE8M0: 0x7F, UE4M3: 0x38}
"""The encoding of scale factor 1."""

SCALED_ELEMENTS = (
    *((element, UE8M0) for element in (E4M3, E5M2, E3M2, E2M3, E2M1)), (E2M1, UE4M3)
)  # fmt: skip
"""The element types and the types of their scale factors."""

SEQUENTIAL_ONLY = f"accumulation={SEQUENTIAL}"


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
            for instruction in map(multiplication, variants(form)):
                a, b = instruction.a.name, instruction.b.name
                if (a, b) in neighbours and (form.kind == "mxf8f6f4") == (a != b):
                    name = f"{family}/{form.kind}/{form.scale_vec}/{form.scale_type}/{a}-{b}"
                    found[name] = instruction
    return found


def _form(instruction: Multiplication) -> MmaForm:
    """Return the row of the catalogue; a changed one need not be there."""
    assert isinstance(instruction.form, MmaForm)
    return instruction.form


# -- one element
Multiply = Callable[[Algebra, Operand, Operand], Operand]


def _in_f64(alg: Algebra, element: Operand, factor: Operand) -> Operand:
    """Return the product in f64, to which solvers can round; `exact` says that the direction is no matter."""
    return Operand(alg.fused(F64, Rounding.DOWNWARD, [(element, factor)]), F64)


def _enumerated(
    claim: Callable[[Multiply, Algebra, Inputs], Iterator[Equation]], formats: Mapping[str, FloatFormat]
) -> Certificate:
    """Return a claim on the spec's product, enumerated, and on the product in f64 for the solver."""
    variables = tuple(Variable(name, fmt, (1,)) for name, fmt in formats.items())
    by_spec, in_f64 = (
        Property(variables, partial(claim, multiply), abstract=False) for multiply in (scaled, _in_f64)
    )
    domains = {name: range(1 << fmt.bits) for name, fmt in formats.items()}
    return replace(enumerated(by_spec, domains), witness=in_f64)


@theorem(
    "ptx/block-scale/unit",
    "scale factor 1 (0x7F of ue8m0, 0x38 of ue4m3) changes no element",
    "∀ x: x · 1 = x, signed zeros, infinities and NaNs included",
    SOURCE,
)
def unit() -> Iterator[Variant]:
    """Yield one obligation per element and scale type."""
    for element, scale in SCALED_ELEMENTS:
        yield Variant(f"{element}/{scale}", partial(_unit, element, scale), method=Method.CERTIFICATE)


def _unit(element: FloatFormat, scale: FloatFormat) -> Certificate:
    def claim(multiply: Multiply, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, one = Operand(v["x"], element), Operand(alg.constant(ONE[scale], scale), scale)
        outcome = multiply(alg, x, one)
        kept = alg.fused(outcome.format, Rounding.NEAREST_EVEN, (), [x])
        yield Equation(outcome.bits, kept, outcome.format, label="x · 1 = x")

    return _enumerated(claim, {"x": element})


@theorem(
    "ptx/block-scale/exact",
    "an element times its scale factor is exact",
    "∀ x, s: the product in the 17-bit format is the number x · s, which f64 holds whichever way it rounds",
    SOURCE,
)
def exact() -> Iterator[Variant]:
    """Yield the element types that hold every value of the others, e2m1 with its other scale type."""
    for element, scale in ((E4M3, UE8M0), (E5M2, UE8M0), (E2M1, UE4M3)):
        yield Variant(f"{element}/{scale}", partial(_exact, element, scale), method=Method.CERTIFICATE)


def _exact(element: FloatFormat, scale: FloatFormat) -> Certificate:
    def claim(multiply: Multiply, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, factor = Operand(v["x"], element), Operand(v["factor"], scale)
        number = alg.fused(F64, Rounding.NEAREST_EVEN, (), [multiply(alg, x, factor)])
        down, up = (alg.fused(F64, way, [(x, factor)]) for way in (Rounding.DOWNWARD, Rounding.UPWARD))
        yield Equation(number, down, F64, label="x · s")
        yield Equation(down, up, F64, label="x · s rounded down and up")

    return _enumerated(claim, {"x": element, "factor": scale})


# -- one row
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
    "ptx/block-scale/chunk",
    "a stored element and the element of B that it meets have scale factors of the same chunk of K",
    "∀ nibble: column(s) div (K / X) = s div (stored / X), which is how factors are spread over a row",
    SOURCE,
)
def chunk() -> Iterator[Variant]:
    """Yield one obligation per instruction."""
    for name, instruction in instructions().items():
        yield Variant(name, partial(_chunk, instruction))


def _chunk(instruction: Multiplication) -> Property:
    block_scale, sparsity = instruction.block_scale, instruction.sparsity
    assert block_scale is not None
    served = block_scale.chunk.bit_length() - 1

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        numbers = np.array([alg.constant(i, U16)[()] for i in range(block_scale.vector)])
        for s, number in enumerate(spread(numbers, instruction.products)):
            column = alg.constant(s, U16) if sparsity is None else sparsity.column(s, v["nibble"])
            yield Equation(column >> served, number, U16, known(alg, v), f"factor of element {s}")

    def known(alg: Algebra, v: Inputs) -> Array:
        return alg.same(v["nibble"] & 15, v["nibble"])

    return Property((Variable("nibble", U16, (1,)),), claim, abstract=False)


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
    "ptx/block-scale/unscaled",
    "with every scale factor 1 the row is summed as without scale factors",
    "D(all factors 1) = D(no factors), given that fma(x · 1, y · 1, c) = fma(x, y, c) (ptx/block-scale/unit)",
    SOURCE,
)
def unscaled() -> Iterator[Variant]:
    """Yield one obligation per instruction."""
    for name, instruction in instructions().items():
        yield Variant(name, partial(_unscaled, instruction), choices=SEQUENTIAL_ONLY)


def _unscaled(instruction: Multiplication) -> Property:
    block_scale = instruction.block_scale
    assert block_scale is not None
    plain = replace(instruction, form=replace(_form(instruction), scale_type=None))
    x_format, y_format = (instruction.floats(fmt) for fmt in (instruction.a, instruction.b))

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        """Yield the step for every running sum without factors: what solvers can't round is a premise."""
        one = Operand(alg.constant(ONE[block_scale.format], block_scale.format), block_scale.format)
        met = v["b"]
        if instruction.sparsity is not None:
            met = instruction.sparsity.select(alg, v["b"], v["metadata"])[..., 0, :, :]
        total = v["c"][..., 0]
        for k in range(instruction.products):
            x, y = Operand(v["a"][..., k], x_format), Operand(met[..., k, :], y_format)
            step = alg.fused(F32, Rounding.NEAREST_EVEN, [(x, y)], [Operand(total, F32)])
            times_one = (scaled(alg, x, one), scaled(alg, y, one))
            yield alg.same(alg.fused(F32, Rounding.NEAREST_EVEN, [times_one], [Operand(total, F32)]), step)
            total = step

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one = alg.constant(ONE[block_scale.format], block_scale.format)
        ones = {
            "scale_a": np.broadcast_to(one, (1, block_scale.vector)),
            "scale_b": np.broadcast_to(one, (block_scale.vector, 1)),
        }
        yield Equation(_row(alg, instruction, {**v, **ones}), _row(alg, plain, v), F32, label="D")

    return Property(row_variables(instruction, 0), claim, assuming)


THEOREMS = (unit, exact, commutes, chunk, equal_pairs, kinds, unscaled)
