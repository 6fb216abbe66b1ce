"""Loops of instructions over any K, split K, and tiles of C: what the blocks of a product compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np

from ...spec.algebra import Algebra, Array, Operand, Product
from ...spec.formats import S32, U4
from ...spec.matrix_product import scaled
from ...spec.ptx.accumulation import float_sum
from ...spec.ptx.block_scaling import SCALED
from ...spec.ptx.choices import SEQUENTIAL, UNSPECIFIED, Choices
from ...spec.ptx.mma_forms import DENSE_FORMS, MmaForm
from ...spec.ptx.multiplication import Multiplication, multiplication
from ...spec.ptx.product import Operands, product
from ...spec.ptx.sparse_mma_forms import SPARSE_FORMS
from ...spec.ptx.variant import Shape
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
from .block_scaling import ONE
from .composition import element_operands, lost_one_by_one
from .metadata import meanings
from .sparsity import columns, one_chunk

SOURCE = (
    "PTX ISA 9.1 sections 9.7.14.3, 9.7.14.5.14 and 9.7.14.6; the loops are CUTLASS's warp and block tiles"
)

CHOICES = Choices(accumulation=SEQUENTIAL)


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
            d, a, b, c, *scale_type = variant.types
            types = [a, b, d] if c == d else [a, b, c, d]
            scaling = [f"{form.scale_factors}X", *scale_type] if variant.block_scale else []
            parts = [*types, *filter(None, (variant.kind, variant.rounding, variant.bit_operation)), *scaling]
            k = f"{'sparse-' if form.sparse else ''}k{form.shape.k}"
            found.setdefault(f"{k}/{'-'.join(parts)}", multiplication(variant))
    return found


def accumulating() -> Iterator[tuple[str, Multiplication]]:
    """Yield the instructions whose D can be the C of the next."""
    return ((name, form) for name, form in instructions().items() if form.c == form.d)


def _operands(form: Multiplication) -> tuple[Variable, ...]:
    """Return the variables of one element of D, scale factors included."""
    variables = element_operands(form)
    if form.block_scale is None:
        return variables
    factors, fmt = form.block_scale.vector, form.block_scale.format
    return (*variables, Variable("scale_a", fmt, (1, factors)), Variable("scale_b", fmt, (factors, 1)))


def _multiplied(alg: Algebra, form: Multiplication, v: Inputs, c: Array | None = None) -> Array:
    operands = Operands(
        v["a"], v["b"], v["c"] if c is None else c, v.get("scale_a"), v.get("scale_b"), v.get("metadata")
    )
    return product(alg, form, operands, CHOICES)


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


def _factors(alg: Algebra, form: Multiplication, v: Inputs, met: Array, k: int) -> Product:
    """Return the k-th factors, times the scale factors of their chunk of K."""
    x, y = (Operand(bits[..., k], form.floats(fmt)) for bits, fmt in ((v["a"], form.a), (met, form.b)))
    if (block_scale := form.block_scale) is None:
        return x, y
    chunk = k * form.shape.k // form.products // block_scale.chunk
    left, right = (
        Operand(bits, block_scale.format)
        for bits in (v["scale_a"][..., :, chunk], v["scale_b"][..., chunk, :])
    )
    return scaled(alg, x, left, SCALED), scaled(alg, y, right, SCALED)


def full_product_step(alg: Algebra, form: Multiplication, v: Inputs) -> Array:
    """Return the full product's partial result after the next k products, without the instruction.

    Integers and bit counts add one product at a time modulo 2**32, floats take one fused multiply-add
    for each k, after C was rounded to the type of D.
    """
    partial_result = v["c"][..., 0]
    met = met_by_stored(alg, form, v)
    if not form.is_integer and form.c != form.d:
        converted = Operand(partial_result, form.floats(form.c))
        partial_result = alg.fused(form.floats(form.d), form.rounding, (), [converted])
    for k in range(form.products):
        if not form.is_integer:
            addend = Operand(partial_result, form.floats(form.d))
            factors = _factors(alg, form, v, met, k)
            partial_result = alg.fused(form.floats(form.d), form.rounding, [factors], [addend])
            continue
        x, y = v["a"][..., k], met[..., k]
        if form.variant.bit_operation == "xor":
            term = alg.where(alg.same(x, y), alg.whole(0), alg.whole(1))
        else:
            term = alg.integer(x, form.integers(form.a)) * alg.integer(y, form.integers(form.b))
        partial_result = alg.wrap(term + alg.integer(partial_result, S32), S32)
    result: Array = partial_result[..., None]
    return result


@theorem(
    "ptx/blocked/step",
    "an instruction adds the next k products to the partial result, in their order",
    "acc = P_t ⇒ mma(A_t, B_t, acc) = P_{t+1}, for each element of D; a sparse A_t adds its stored "
    "elements in their order, each times the row of B_t that the step's metadata names, and a block-scaled "
    "step multiplies by the scale factors of the chunk of K",
    SOURCE,
)
def next_block() -> Iterator[Variant]:
    """Yield one induction step per instruction; where C has another type than D, the base alone."""
    for name, form in instructions().items():
        yield Variant(name, partial(_step, form), choices=SEQUENTIAL)


def _step(form: Multiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(_multiplied(alg, form, v), full_product_step(alg, form, v), form.d, label="D")

    return Property(_operands(form), claim)


@theorem(
    "ptx/blocked/any-k",
    "a loop of instructions over any K computes the full row times the full column, onto C",
    "∀ n ≥ 0: D_n = P_n where D_0 = C and D_{t+1} = mma(A_t, B_t, D_t); integers modulo 2^32, floats bit for "
    "bit in the sequential order; with metadata and scale factors of each step, the product of the "
    "whole sparse or scaled row: a chunk's nibble and factors are its own",
    SOURCE,
)
def any_k() -> Iterator[Variant]:
    """Yield one induction per instruction whose D can be the next C; D_0 = C = P_0 needs no proof."""
    for name, form in accumulating():
        yield Variant(
            name,
            partial(Induction, (f"{next_block.id}/{name}", *_selections(form))),
            method=Method.INDUCTION,
            choices=SEQUENTIAL,
        )


def _selections(form: Multiplication) -> Iterator[str]:
    """Yield the obligations that say which row of B each stored element of A meets."""
    if form.sparsity is None:
        return
    for meaning, sparsity in meanings().items():
        if (sparsity.chunk, sparsity.ordered) == (form.sparsity.chunk, form.sparsity.ordered):
            yield from (f"{columns.id}/{meaning}/{nibble:04b}" for nibble in sparsity.legal_nibbles)


@theorem(
    "ptx/blocked/reals",
    "over the reals the loop's step adds the sum of its products",
    "mma(A_t, B_t, acc) = acc + Σ_k a[k]·b[k] as polynomials, with scale factors acc + Σ_k sa·a[k]·sb·b[k]; "
    "of a sparse A, a are the stored elements and b those of B that they meet",
    SOURCE,
)
def reals() -> Iterator[Variant]:
    """Yield one identity per float instruction."""
    for name, form in instructions().items():
        if not form.is_integer:
            yield Variant(name, partial(_reals, form), equality=Equality.VALUE, method=Method.STRUCTURAL)


def _met_operands(form: Multiplication) -> tuple[Variable, ...]:
    """Return the variables of one element of D; of a sparse A, B is what the stored elements meet."""
    kept = [v for v in _operands(form) if v.name not in ("b", "metadata")]
    return (*kept, Variable("b", form.b, (form.products, 1)))


def _multiplied_met(alg: Algebra, form: Multiplication, v: Inputs, c: Array) -> Array:
    """Return D of the operands of `_met_operands`: in a ring, metadata selects nothing."""
    if form.sparsity is None:
        return _multiplied(alg, form, v, c)
    rows = v["a"], v["b"].swapaxes(-1, -2)
    x, y = (Operand(row, form.floats(fmt)) for row, fmt in zip(rows, (form.a, form.b), strict=True))
    scales: Product | None = None
    if form.block_scale is not None:
        left, right = v["scale_a"], v["scale_b"].swapaxes(-1, -2)
        scales = Operand(left, form.block_scale.format), Operand(right, form.block_scale.format)
    addend = Operand(c[..., 0], form.floats(form.c))
    total: Array = float_sum(alg, form, x, y, addend, scales, CHOICES)[..., None]
    return total


def _reals(form: Multiplication) -> RingProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        terms = v["a"] * v["b"].swapaxes(-1, -2)
        if form.block_scale is not None:
            served = form.products // form.block_scale.vector
            factors = v["scale_a"] * v["scale_b"].swapaxes(-1, -2)
            terms = terms * factors.repeat(served, axis=-1)
        total = terms.sum(axis=-1, keepdims=True)
        yield Equation(_multiplied_met(alg, form, v, v["c"]), v["c"] + total, form.d, label="polynomial")

    return RingProperty(_met_operands(form), claim)


@theorem(
    "ptx/blocked/split-k-step",
    "what is added to the accumulator before a step may be added after it, but for roundings (pinned)",
    "mma(A_t, B_t, p) + q = mma(A_t, B_t, p + q)",
    SOURCE,
)
def split_step() -> Iterator[Variant]:
    """Yield a proof per integer instruction; per float instruction one over the reals, and a refutation."""
    for name, form in accumulating():
        if form.is_integer:
            yield Variant(name, partial(_split, form))
            continue
        yield Variant(
            f"{name}/reals", partial(_split_reals, form), equality=Equality.VALUE, method=Method.STRUCTURAL
        )
        yield Variant(f"{name}/bits", partial(_split, form), Status.REFUTED, choices=SEQUENTIAL)


def _added(alg: Algebra, form: Multiplication, left: Array, right: Array) -> Array:
    if form.is_integer:
        return alg.wrap(alg.integer(left, S32) + alg.integer(right, S32), S32)
    fmt = form.floats(form.d)
    return alg.fused(fmt, form.rounding, (), [Operand(left, fmt), Operand(right, fmt)])


def _split_claim(
    form: Multiplication,
    multiply: Callable[[Algebra, Multiplication, Inputs, Array], Array],
    alg: Algebra,
    v: Inputs,
) -> Iterator[Equation]:
    after = _added(alg, form, multiply(alg, form, v, v["c"]), v["q"])
    before = multiply(alg, form, v, _added(alg, form, v["c"], v["q"]))
    yield Equation(after, before, form.d, label="added after = added before")


def _split(form: Multiplication) -> Property:
    pinned = None
    if not form.is_integer:  # both products survive in p, and are lost one by one in q
        pinned = lost_one_by_one(form)
        pinned |= {"q": pinned["c"], "c": 0}
    if form.block_scale is not None and pinned is not None:
        pinned |= dict.fromkeys(("scale_a", "scale_b"), ONE[form.block_scale.format])
    variables = (*_operands(form), Variable("q", form.c, (1, 1)))
    return Property(variables, partial(_split_claim, form, _multiplied), pinned=pinned)


def _split_reals(form: Multiplication) -> RingProperty:
    variables = (*_met_operands(form), Variable("q", form.c, (1, 1)))
    return RingProperty(variables, partial(_split_claim, form, _multiplied_met))


@theorem(
    "ptx/blocked/split-k",
    "the sum of the loops over two parts of K, one of them from 0, is the loop over K",
    "∀ n: loop_n(p) + q = loop_n(p + q), hence loop over K₁ from C + loop over K₂ from 0 = "
    "loop over K₁ then K₂ from C",
    SOURCE,
)
def split_k() -> Iterator[Variant]:
    """Yield one induction per instruction: modulo 2^32 for integers, over the reals for floats."""
    for name, form in accumulating():
        premise = f"{split_step.id}/{name}" + ("" if form.is_integer else "/reals")
        equality = Equality.BITS if form.is_integer else Equality.VALUE
        yield Variant(name, partial(Induction, (premise,)), equality=equality, method=Method.INDUCTION)


@theorem(
    "ptx/blocked/tiles",
    "a tile of C depends on its rows of A, its columns of B and its C only, however products are accumulated",
    "mma(A, B, C)[tile i, j] = mma(A[rows i], B[columns j], C[tile i, j]), metadata and scale factors of A "
    "with its rows, those of B with its columns",
    SOURCE,
)
def tiles() -> Iterator[Variant]:
    """Yield 2 x 2 tiles of 2 x 1 elements and short rows of every instruction."""
    for name, form in instructions().items():
        choices = "all" if form.is_integer else UNSPECIFIED
        yield Variant(name, partial(_tiles, shortened(form)), choices=choices)


TILE_ROWS = 2

SHORT_ROW = 8
"""The k that is enough for tiles: a chunk of metadata, and columns for four scale factors."""


def shortened(form: Multiplication) -> Multiplication:
    """Return the instruction with a k of at most `SHORT_ROW`; the catalogue need not have it."""
    assert isinstance(form.form, MmaForm)
    m, n, k = form.shape
    return replace(form, form=replace(form.form, shape=Shape(m, n, min(k, SHORT_ROW))))


def tile(i: int, rows: int = TILE_ROWS) -> slice:
    """Return the rows of the i-th tile."""
    return slice(i * rows, (i + 1) * rows)


def _tiles(form: Multiplication) -> Property:
    choices = Choices(accumulation=UNSPECIFIED)
    extents = {"a": (2 * TILE_ROWS, form.products), "b": (form.shape.k, 2), "c": (2 * TILE_ROWS, 2)}
    variables = [Variable(role, form.format(role), shape) for role, shape in extents.items()]
    if form.block_scale is not None:
        fmt, factors = form.block_scale.format, form.block_scale.vector
        variables.append(Variable("scale_a", fmt, (2 * TILE_ROWS, factors)))
        variables.append(Variable("scale_b", fmt, (factors, 2)))
    if form.sparsity is not None:
        variables.append(Variable("metadata", U4, (2 * TILE_ROWS, form.sparsity.chunks)))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        whole = product(alg, form, Operands(**v), choices)
        for i in range(2):
            for j in range(2):
                rows, columns = tile(i), slice(j, j + 1)
                places = {"a": (rows, slice(None)), "b": (slice(None), columns), "c": (rows, columns)}
                places |= {"scale_a": places["a"], "metadata": places["a"], "scale_b": places["b"]}
                block = {name: v[name][..., *places[name]] for name in v}
                part = product(alg, form, Operands(**block), choices)
                yield Equation(whole[..., rows, columns], part, form.d, label=f"tile {i}, {j}")

    return Property(tuple(variables), claim)


THEOREMS = (next_block, any_k, reals, split_step, split_k, tiles)
