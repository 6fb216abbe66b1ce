"""Loops of instructions over any K, split K, and tiles of C: what the blocks of a product compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from ...spec.algebra import Algebra, Array, Encodings, Operand
from ...spec.matrix_product import scaled
from ...spec.ptx.accumulation import float_sum
from ...spec.ptx.block_scaling import SCALED
from ...spec.ptx.choices import SEQUENTIAL, UNSPECIFIED, Choices
from ...spec.ptx.mma_forms import DENSE_FORMS, MmaForm
from ...spec.ptx.product import Matrices, product
from ...spec.ptx.resolution import Multiplication, multiplication
from ...spec.ptx.sparse_mma_forms import SPARSE_FORMS
from ...spec.ptx.variant import Shape, Variant
from ..families import blocked
from ..families.block_products import BlockOperand, BlockProduct, Factors, exact_product, one_after_the_other
from ..families.blocked import Loops, zero_lane
from ..families.scaling import ONE
from ..obligation import Inputs
from .metadata import meanings
from .operands import lost_one_by_one, operands_of, read_as
from .sparsity import columns, one_chunk

SOURCE = (
    "PTX ISA 9.1 sections 9.7.14.3, 9.7.14.5.14 and 9.7.14.6; the loops are CUTLASS's warp and block tiles"
)

CHOICES = Choices(accumulation=SEQUENTIAL)

SHORT_ROW = 8
"""The k that is enough for tiles: a chunk of metadata, and columns for four scale factors."""


@cache
def instructions() -> dict[str, Multiplication]:
    """Return the forms that wrap, once for each k, types and modifiers of the arithmetic.

    Every element of D is the same function of its row, column and C, whatever m and n are; the order
    that metadata must have is no part of what is computed with it.
    """
    found: dict[str, Multiplication] = {}
    for form in (*DENSE_FORMS, *SPARSE_FORMS):
        for variant in form.variants():
            if variant.satfinite or variant.layouts != ("row", "col"):
                continue
            found.setdefault(arithmetic_name(form, variant), multiplication(variant))
    return found


def arithmetic_name(form: MmaForm, variant: Variant) -> str:
    """Name what one element of D depends on: k, types and modifiers of the arithmetic."""
    d, a, b, c, *scale_type = variant.types
    types = [a, b, d] if c == d else [a, b, c, d]
    scaling = [f"{form.scale_factors}X", *scale_type] if variant.block_scale else []
    parts = [*types, *filter(None, (variant.kind, variant.rounding, variant.bit_operation)), *scaling]
    return f"{'sparse-' if form.sparse else ''}k{form.shape.k}/{'-'.join(parts)}"


def multiplied(alg: Algebra, form: Multiplication, v: Inputs, choices: Choices) -> Array:
    """Return D of the operands that there are."""
    operands = Matrices(v["a"], v["b"], v["c"], v.get("scale_a"), v.get("scale_b"), v.get("metadata"))
    return product(alg, form, operands, choices)


def met_by_stored(alg: Algebra, form: Multiplication, v: Inputs) -> Array:
    """Return the elements (…, products) of a column of B that those of a row of A meet, in stored order.

    Of a sparse A, every chunk selects by itself, with its own nibble.
    """
    column: Array = v["b"]
    if (sparsity := form.sparsity) is None:
        return column.swapaxes(-1, -2)
    one, length = one_chunk(sparsity), sparsity.chunk
    met = [
        one.select(alg, column[..., c * length : (c + 1) * length, :], v["metadata"][..., c : c + 1])
        for c in range(sparsity.chunks)
    ]
    return np.concatenate(met, axis=-2)[..., 0]


def _factors(alg: Algebra, form: Multiplication, v: Inputs, met: Array, k: int) -> Factors:
    """Return the k-th factors, times the scale factors of their chunk of K."""
    x, y = v["a"][..., k], met[..., k]
    if form.is_integer:
        return (x, form.integers(form.a)), (y, form.integers(form.b))
    left, right = Operand(x, form.floats(form.a)), Operand(y, form.floats(form.b))
    if (block_scale := form.block_scale) is None:
        return left, right
    chunk = k * form.shape.k // form.products // block_scale.chunk
    scale_a, scale_b = (
        Operand(bits, block_scale.format)
        for bits in (v["scale_a"][..., :, chunk], v["scale_b"][..., chunk, :])
    )
    return scaled(alg, left, scale_a, SCALED), scaled(alg, right, scale_b, SCALED)


def full_product_step(alg: Algebra, form: Multiplication, v: Inputs) -> Array:
    """Return the full product's partial result after the next k products, without the instruction.

    Integers and bit counts add one product at a time modulo 2**32, floats take one fused multiply-add
    for each k, after C was rounded to the type of D.
    """
    start, met = v["c"][..., 0], met_by_stored(alg, form, v)
    if form.c != form.d:
        start = alg.fused(form.floats(form.d), form.rounding, (), [Operand(start, form.floats(form.c))])
    factors = (_factors(alg, form, v, met, k) for k in range(form.products))
    multiply = _differ if form.variant.bit_operation == "xor" else exact_product
    return one_after_the_other(alg, start, factors, form.d, form.rounding, multiply)[..., None]


def _differ(alg: Algebra, x: Encodings, y: Encodings) -> Array:
    return alg.where(alg.same(x[0], y[0]), alg.whole(0), alg.whole(1))


def block_of(form: Multiplication) -> BlockProduct:
    """Return an instruction as a block, accumulating sequentially."""
    pinned = {}
    if not form.is_integer and form.products > 1:  # both survive in 0, and are lost one by one in q
        lost = lost_one_by_one(form)
        pinned = {**lost, "c": 0, "q": lost["c"]}
        if form.block_scale is not None:
            pinned |= dict.fromkeys(("scale_a", "scale_b"), ONE[form.block_scale.format])
    return BlockProduct(
        operands_of(form),
        form.d,
        lambda alg, v, choices: multiplied(alg, form, v, choices),
        lambda alg, v, choices: full_product_step(alg, form, v),
        (CHOICES,),
        read_as(form),
        pinned=pinned,
    )


def met_block_of(form: Multiplication) -> BlockProduct:
    """Return a block whose B is what the stored elements of a sparse A meet: a ring has no metadata."""
    block = block_of(form)
    kept = {name: operand for name, operand in block.operands.items() if name != "metadata"}
    return replace(
        block,
        operands={**kept, "b": BlockOperand(form.b, (form.products, "n"))},
        multiply=lambda alg, v, choices: _multiplied_met(alg, form, v, choices),
        total=lambda v: _total(form, v),
    )


def _multiplied_met(alg: Algebra, form: Multiplication, v: Inputs, choices: Choices) -> Array:
    if form.sparsity is None:
        return multiplied(alg, form, v, choices)
    names = [("a", form.a), ("b", form.b)]
    if form.block_scale is not None:
        names += [("scale_a", form.block_scale.format), ("scale_b", form.block_scale.format)]
    x, y, *scales = (
        Operand(v[name] if name.endswith("a") else v[name].swapaxes(-1, -2), form.floats(fmt))
        for name, fmt in names
    )
    addend = Operand(v["c"][..., 0], form.floats(form.c))
    factors = (scales[0], scales[1]) if scales else None
    return float_sum(alg, form, x, y, addend, factors, choices)[..., None]


def _total(form: Multiplication, v: Inputs) -> Array:
    """Return c + Σ_k a[k]·b[k] of one element, or c + Σ_k sa·a[k]·sb·b[k]."""
    terms = v["a"] * v["b"].swapaxes(-1, -2)
    if form.block_scale is not None:
        served = form.products // form.block_scale.vector
        terms = terms * (v["scale_a"] * v["scale_b"].swapaxes(-1, -2)).repeat(served, axis=-1)
    total: Array = v["c"] + terms.sum(axis=-1, keepdims=True)
    return total


def shortened(form: Multiplication) -> Multiplication:
    """Return the instruction with a k of at most `SHORT_ROW`; the catalogue need not have it."""
    assert isinstance(form.form, MmaForm)
    m, n, k = form.shape
    return replace(form, form=replace(form.form, shape=Shape(m, n, min(k, SHORT_ROW))))


def _lanes() -> dict[str, BlockProduct]:
    """Return the dense instructions on one product, without scale factors: 0 times a NaN is no 0.

    Nor exclusive or, which counts a bit that B alone has.
    """
    found: dict[str, BlockProduct] = {}
    for name, form in instructions().items():
        plain = form.sparsity is None and form.block_scale is None and form.variant.bit_operation != "xor"
        if plain and form.c == form.d:
            assert isinstance(form.form, MmaForm)
            m, n, _ = form.shape
            lane = replace(form, form=replace(form.form, shape=Shape(m, n, 1)))
            found.setdefault(name.partition("/")[2], block_of(lane))
    return found


def _tile_block(form: Multiplication) -> BlockProduct:
    choices = "all" if form.is_integer else f"f64-order={UNSPECIFIED}" if form.is_double else UNSPECIFIED
    readings = (Choices(accumulation=UNSPECIFIED, f64_order=UNSPECIFIED),)
    return replace(block_of(shortened(form)), readings=readings, choices=choices)


def _blocks(make: Callable[[Multiplication], BlockProduct]) -> Callable[[], dict[str, BlockProduct]]:
    return lambda: {name: make(form) for name, form in instructions().items()}


def _selections(name: str) -> Iterator[str]:
    """Yield the obligations that say which row of B each stored element of A meets."""
    form = instructions()[name]
    if form.sparsity is None:
        return
    for meaning, sparsity in meanings().items():
        if (sparsity.chunk, sparsity.ordered) == (form.sparsity.chunk, form.sparsity.ordered):
            yield from (f"{columns.id}/{meaning}/{nibble:04b}" for nibble in sparsity.legal_nibbles)


DETAILS = {
    "step": "; a sparse A_t adds its stored "
    "elements in their order, each times the row of B_t that the step's metadata names, and a block-scaled "
    "step multiplies by the scale factors of the chunk of K",
    "any-k": "; with metadata and scale factors of each step, the product of the "
    "whole sparse or scaled row: a chunk's nibble and factors are its own",
    "reals": ", with scale factors acc + Σ_k sa·a[k]·sb·b[k]; "
    "of a sparse A, a are the stored elements and b those of B that they meet",
    "tiles": ", metadata and scale factors of A with its rows, those of B with its columns",
}

LOOPS = step, any_k, reals, split_k_step, split_k, tiles = blocked.theorems(
    Loops(
        "ptx",
        "mma",
        SOURCE,
        _blocks(block_of),
        _blocks(met_block_of),
        _blocks(_tile_block),
        _selections,
        DETAILS,
    )
)

THEOREMS = (*LOOPS, zero_lane("ptx", SOURCE, _lanes))
