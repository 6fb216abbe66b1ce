"""Loops of instructions over any K, split K, and tiles of C: what the blocks of a product compute."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import S32
from ...spec.ptx.choices import SEQUENTIAL, UNSPECIFIED, Choices
from ...spec.ptx.mma_forms import DENSE_FORMS
from ...spec.ptx.multiplication import Multiplication, multiplication
from ...spec.ptx.product import Operands, product
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
from .composition import element_operands, lost_one_by_one

SOURCE = "PTX ISA 9.1 section 9.7.14.5.14; the loops are CUTLASS's warp and block tiles"

CHOICES = Choices(accumulation=SEQUENTIAL)

LONGEST = 128
"""Longest k of a step: k256 is two of these by `composition.integers`, so its loops are theirs."""


@cache
def instructions() -> dict[str, Multiplication]:
    """Return the dense forms without block scaling that wrap, once for each k, types and modifiers.

    Every element of D is the same function of its row, column and C, whatever m and n are.
    """
    found: dict[str, Multiplication] = {}
    for form in DENSE_FORMS:
        for variant in form.variants():
            if variant.satfinite or variant.block_scale or variant.layouts != ("row", "col"):
                continue
            if form.shape.k > LONGEST:
                continue
            d, a, b, c = variant.types
            types = [a, b, d] if c == d else [a, b, c, d]
            parts = [*types, *filter(None, (variant.kind, variant.rounding, variant.bit_operation))]
            found.setdefault(f"k{form.shape.k}/{'-'.join(parts)}", multiplication(variant))
    return found


def accumulating() -> Iterator[tuple[str, Multiplication]]:
    """Yield the instructions whose D can be the C of the next."""
    return ((name, form) for name, form in instructions().items() if form.c == form.d)


def _multiplied(alg: Algebra, form: Multiplication, v: Inputs, c: Array | None = None) -> Array:
    return product(alg, form, Operands(v["a"], v["b"], v["c"] if c is None else c), CHOICES)


def full_product_step(alg: Algebra, form: Multiplication, v: Inputs) -> Array:
    """Return the full product's partial result after the next k products, without the instruction.

    Integers and bit counts add one product at a time modulo 2**32, floats take one fused multiply-add
    for each k, after C was rounded to the type of D.
    """
    partial_result = v["c"]
    if not form.is_integer and form.c != form.d:
        converted = Operand(partial_result, form.floats(form.c))
        partial_result = alg.fused(form.floats(form.d), form.rounding, (), [converted])
    for k in range(form.shape.k):
        x, y = v["a"][..., :, k, None], v["b"][..., k, None, :]
        if not form.is_integer:
            pair = (Operand(x, form.floats(form.a)), Operand(y, form.floats(form.b)))
            addend = Operand(partial_result, form.floats(form.d))
            partial_result = alg.fused(form.floats(form.d), form.rounding, [pair], [addend])
            continue
        if form.variant.bit_operation == "xor":
            term = alg.where(alg.same(x, y), alg.whole(0), alg.whole(1))
        else:
            term = alg.integer(x, form.integers(form.a)) * alg.integer(y, form.integers(form.b))
        partial_result = alg.wrap(term + alg.integer(partial_result, S32), S32)
    result: Array = partial_result
    return result


@theorem(
    "ptx/blocked/step",
    "an instruction adds the next k products to the partial result, in their order",
    "acc = P_t ⇒ mma(A_t, B_t, acc) = P_{t+1}, for each element of D",
    SOURCE,
)
def next_block() -> Iterator[Variant]:
    """Yield one induction step per instruction; where C has another type than D, the base alone."""
    for name, form in instructions().items():
        yield Variant(name, partial(_step, form), choices=SEQUENTIAL)


def _step(form: Multiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(_multiplied(alg, form, v), full_product_step(alg, form, v), form.d, label="D")

    return Property(element_operands(form), claim)


@theorem(
    "ptx/blocked/any-k",
    "a loop of instructions over any K computes the full row times the full column, onto C",
    "∀ n ≥ 0: D_n = P_n where D_0 = C and D_{t+1} = mma(A_t, B_t, D_t); integers modulo 2^32, floats bit for "
    "bit in the sequential order",
    SOURCE,
)
def any_k() -> Iterator[Variant]:
    """Yield one induction per instruction whose D can be the next C; D_0 = C = P_0 needs no proof."""
    for name, _ in accumulating():
        yield Variant(
            name,
            partial(Induction, (f"{next_block.id}/{name}",)),
            method=Method.INDUCTION,
            choices=SEQUENTIAL,
        )


@theorem(
    "ptx/blocked/reals",
    "over the reals the loop's step adds the sum of its products",
    "mma(A_t, B_t, acc) = acc + Σ_k a[k]·b[k] as polynomials",
    SOURCE,
)
def reals() -> Iterator[Variant]:
    """Yield one identity per float instruction."""
    for name, form in instructions().items():
        if not form.is_integer:
            yield Variant(name, partial(_reals, form), equality=Equality.VALUE, method=Method.STRUCTURAL)


def _reals(form: Multiplication) -> RingProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        total = (v["a"] * v["b"].swapaxes(-1, -2)).sum(axis=-1, keepdims=True)
        yield Equation(_multiplied(alg, form, v), v["c"] + total, form.d, label="polynomial")

    return RingProperty(element_operands(form), claim)


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


def _split_claim(form: Multiplication, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    after = _added(alg, form, _multiplied(alg, form, v), v["q"])
    before = _multiplied(alg, form, v, _added(alg, form, v["c"], v["q"]))
    yield Equation(after, before, form.d, label="added after = added before")


def _split_variables(form: Multiplication) -> tuple[Variable, ...]:
    return (*element_operands(form), Variable("q", form.c, (1, 1)))


def _split(form: Multiplication) -> Property:
    pinned = None
    if not form.is_integer:  # both products survive in p, and are lost one by one in q
        pinned = lost_one_by_one(form)
        pinned |= {"q": pinned["c"], "c": 0}
    return Property(_split_variables(form), partial(_split_claim, form), pinned=pinned)


def _split_reals(form: Multiplication) -> RingProperty:
    return RingProperty(_split_variables(form), partial(_split_claim, form))


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
    "mma(A, B, C)[tile i, j] = mma(A[rows i], B[columns j], C[tile i, j])",
    SOURCE,
)
def tiles() -> Iterator[Variant]:
    """Yield 2 x 2 tiles of 2 x 1 elements and full rows of every instruction."""
    for name, form in instructions().items():
        choices = "all" if form.is_integer else UNSPECIFIED
        yield Variant(name, partial(_tiles, form), choices=choices)


TILE_ROWS = 2


def tile(i: int, rows: int = TILE_ROWS) -> slice:
    """Return the rows of the i-th tile."""
    return slice(i * rows, (i + 1) * rows)


def _tiles(form: Multiplication) -> Property:
    choices = Choices(accumulation=UNSPECIFIED)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        whole = product(alg, form, Operands(v["a"], v["b"], v["c"]), choices)
        for i in range(2):
            for j in range(2):
                rows, columns = tile(i), slice(j, j + 1)
                block = Operands(v["a"][..., rows, :], v["b"][..., columns], v["c"][..., rows, columns])
                part = product(alg, form, block, choices)
                yield Equation(whole[..., rows, columns], part, form.d, label=f"tile {i}, {j}")

    k = min(form.shape.k, 8)
    variables = (
        Variable("a", form.a, (2 * TILE_ROWS, k)),
        Variable("b", form.b, (k, 2)),
        Variable("c", form.c, (2 * TILE_ROWS, 2)),
    )
    return Property(variables, claim)


THEOREMS = (next_block, any_k, reals, split_step, split_k, tiles)
