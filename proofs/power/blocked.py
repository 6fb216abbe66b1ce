"""Blocked = full: grids of accumulators over any K, ragged edges, and what the blocks may not do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import F32, U32, FloatFormat
from ...spec.power.catalogue import FAMILIES, UPDATES, Family, FloatFamily, IntegerFamily, RankKUpdate
from ...spec.power.choices import Choices
from ...spec.power.rank_k_update import SIGNIFICAND_24, Live
from ...spec.rounding import Rounding
from ..families.block_products import (
    BlockOperand,
    BlockProduct,
    one_after_the_other,
    outer,
    power_of_two,
    sum_of_products,
)
from ..families.blocked import Loops, split_k, split_k_step, tiles, zero_lane
from ..families.chains import Chain, adds, over_the_reals, polynomial
from ..induction import Same, induction
from ..obligation import (
    RN,
    Case,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    Variable,
    immediate,
    theorem,
)
from .operands import all_live, is_float, operand_variables, readings, updated

SOURCE = "Moreira et al. sections II-C and V; Power ISA 3.1 section 7.2.1.3"


def accumulating(family: Family) -> RankKUpdate:
    """Return a family's pp form."""
    return UPDATES[family.name + "pp"]


def full_product_step(
    alg: Algebra, update: RankKUpdate, v: Inputs, acc: Array | None, choices: Choices
) -> Array:
    """Return the full product's next partial result, in its stated order, without the instruction.

    Integers add one product at a time modulo 2**32. f32 and f64 take one fused multiply-add per k. f16
    and bf16 take two products at a time: their exact sum is rounded, then added. The letters of a form
    negate what is rounded, of f32 and f64 once more afterwards.
    """
    family = update.family
    if isinstance(family, IntegerFamily):
        start = alg.constant(0, family.result) if acc is None else acc
        factors = outer(v["x"], v["y"].swapaxes(-1, -2), (family.x, family.y))
        return one_after_the_other(alg, start, factors, family.result)
    x, y = v["x"][..., :, None, :], v["y"][..., None, :, :]
    assert isinstance(family, FloatFamily)
    fmt = family.result

    def rounded(target: FloatFormat, products: list[tuple[Operand, Operand]], addends: list[Operand],
                operands: list[Operand], direction: Rounding | Any = v["rounding"]) -> Operand:  # fmt: skip
        total = Operand(alg.fused(target, direction, products, addends), target)
        return total if choices.nan == "default" else Operand(alg.propagate_nan(total, operands), target)

    def signed(operand: Operand, negative: bool) -> Operand:
        return Operand(alg.negate(operand), operand.format) if negative else operand

    pairs = [(Operand(x[..., p], family.x), Operand(y[..., p], family.y)) for p in range(family.rank)]
    if family.rank == 1:
        ((xk, yk),) = pairs
        subtracts = update.negative_accumulator != update.negative_product
        old = [] if acc is None else [signed(Operand(acc, fmt), subtracts)]
        return signed(rounded(fmt, pairs, old, [xk, *old, yk]), update.negative_product).bits
    old = [] if acc is None else [signed(Operand(acc, fmt), update.negative_accumulator)]
    wide = SIGNIFICAND_24 if family.x.exponent_bits == F32.exponent_bits else fmt
    target = wide if choices.bf16_sum == "two-step" else fmt
    direction = v["rounding"] if target is fmt or choices.bf16_direction == "fpscr" else Rounding.NEAREST_EVEN
    first = rounded(wide, pairs[:1], [], list(pairs[0]), direction)
    total = rounded(target, pairs[1:], [first], [pairs[1][0], first, pairs[1][1]], direction)
    total = signed(total, update.negative_product)
    if acc is None and target is fmt:
        return total.bits
    return rounded(fmt, [], [total, *old], [total, *old]).bits


@cache
def block(update: RankKUpdate) -> BlockProduct:
    """Return an unmasked update; y has the columns of B as rows."""
    family = update.family
    operands = {
        "x": BlockOperand(family.x, ("m", family.rank)),
        "y": BlockOperand(family.y, ("n", family.rank)),
        "acc": BlockOperand(family.result, ("m", "n")),
    }
    pinned = {}
    if isinstance(family, FloatFamily):  # 1 + 1 survives in q, and neither does alone
        operands["rounding"] = BlockOperand(RN)
        ones = {name: [[power_of_two(family.x, 0)] + [0] * (family.rank - 1)] for name in "xy"}
        q = power_of_two(family.result, family.result.fraction_bits + 1)
        pinned = {**ones, "acc": power_of_two(family.result, 0), "q": q}

    def multiply(alg: Algebra, v: Inputs, choices: Choices) -> Array:
        extents = (v["x"].shape[-2], v["y"].shape[-2], family.rank)
        everything = Live(*(alg.flags((1 << extent) - 1, extent) for extent in extents))
        return updated(alg, update, v, choices, live=everything)

    def expected(alg: Algebra, v: Inputs, choices: Choices) -> Array:
        return full_product_step(alg, update, v, v["acc"] if update.accumulates else None, choices)

    def total(v: Inputs) -> Array:
        added = sum_of_products({"a": v["x"], "b": v["y"].swapaxes(-1, -2)})
        added = -added if update.negative_product else added
        if not update.accumulates:
            return added
        old: Array = v["acc"]
        return added - old if update.negative_accumulator else added + old

    return BlockProduct(
        operands,
        family.result,
        multiply,
        expected,
        tuple(readings(update)),
        accumulator="acc" if update.accumulates else "",
        total=total,
        pinned=pinned,
    )


indices = Theorem(
    "power/blocked/indices",
    "indices in tiles of 2, 4 and 8 are a bijection, for rows, columns and k of any number",
    "r = size·block + i with i < size ⇔ block = r div size, i = r mod size, for 32-bit rows, columns and k",
    SOURCE,
    lambda: (Case(str(size), partial(_indices, size.bit_length() - 1)) for size in (2, 4, 8)),
)


def _indices(bits: int) -> Property:
    low = (1 << bits) - 1

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        row, inner, block = v["row"], v["i"] & low, v["block"] & (0xFFFFFFFF >> bits)
        # The shift of a bit-vector is arithmetic: clear what it copies in.
        yield Equation((((row >> bits) & (0xFFFFFFFF >> bits)) << bits) + (row & low), row, U32, label="row")
        joined = (block << bits) + inner
        yield Equation((joined >> bits) & (0xFFFFFFFF >> bits), block, U32, label="block")
        yield Equation(joined & low, inner, U32, label="element")

    return Property(tuple(Variable(name, U32, (1,)) for name in ("row", "i", "block")), claim)


first = Theorem(
    "power/blocked/first",
    "the first block: the non-accumulating form computes the first k products",
    "update(x, y) = the full product's partial result after one block",
    SOURCE,
    lambda: (_added_products(family.name, UPDATES[family.name]) for family in FAMILIES),
)


def _added_products(name: str, update: RankKUpdate) -> Case:
    return Case(name, partial(adds, block(update), 4, update.family.columns))


following = Theorem(
    "power/blocked/next",
    "every further block: the accumulating form adds the next k products, in the stated order",
    "acc = P_t ⇒ update(acc, x, y) = P_{t+1}, bit for bit",
    SOURCE,
    lambda: (_added_products(family.name, accumulating(family)) for family in FAMILIES),
)


@theorem(
    "power/blocked/any-k",
    "an accumulator updated over any multiple of k holds its block of the full product",
    "∀ K ≡ 0 mod k, K > 0: after K / k updates ACC is rows of A times columns of B, in the stated order; "
    "that blocks of a grid do not touch each other is power/blocked/tiles and power/blocked/indices",
    SOURCE,
)
def any_k() -> Iterator[Case]:
    """Yield one induction per family: indices, first block, every further block."""
    for family in FAMILIES:
        sizes = sorted({4, family.columns, *([family.rank] if family.rank > 1 else [])})
        goal = partial(
            induction,
            Same(),
            {f"{following.id}/{family.name}": Chain(block(accumulating(family)))},
            {f"{first.id}/{family.name}": Chain(block(UPDATES[family.name]))},
            [f"{indices.id}/{size}" for size in sizes],
        )
        yield Case(family.name, goal, method=Method.INDUCTION)


@theorem(
    "power/blocked/ring",
    "over the reals every form is the signed product sum plus the signed accumulator",
    "ACC'[i,j] = ± Σ_p x[i,p]·y[j,p] [± acc[i,j]] as polynomials, whatever the order of blocks",
    SOURCE,
)
def ring() -> Iterator[Case]:
    """Yield one identity per mnemonic."""
    for update in UPDATES.values():
        whole = partial(polynomial, m=4, n=update.family.columns)
        yield from over_the_reals(whole, {update.mnemonic: block(update)})


ragged = Theorem(
    "power/blocked/ragged",
    "prefix masks compute ragged edges: any m, n and k remainder",
    "masks of the first m rows, n columns and r products: C[i,j] = acc[i,j] + Σ_{p<r} x[i,p]·y[j,p] "
    "for i < m and j < n, and +0 outside",
    SOURCE,
    lambda: (Case(f"pm{family.name}pp", partial(_ragged, family)) for family in FAMILIES),
)


def _prefix(alg: Algebra, count: Array, width: int) -> Array:
    """Return the conditions index < count, (…, width)."""
    limit = immediate(8)
    return np.stack(
        [~alg.in_range(alg.whole(i) - alg.integer(count, limit), limit) for i in range(width)], axis=-1
    )


def _ragged(family: Family) -> Property:
    update = accumulating(family)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        rows, columns = _prefix(alg, v["m"], 4), _prefix(alg, v["n"], family.columns)
        products = _prefix(alg, v["r"], family.rank) if family.rank > 1 else alg.flags(1, 1)[None]
        masks = Live(rows[..., 0, :], columns[..., 0, :], products[..., 0, :])
        kept = masks.products[..., None, :]
        for choices in readings(update):
            step = updated(alg, update, v, choices, live=masks)
            ragged_operands = {
                name: alg.where(kept, v[name], alg.constant(0, fmt))
                for name, fmt in (("x", family.x), ("y", family.y))
            }
            full = full_product_step(alg, update, {**v, **ragged_operands}, v["acc"], choices)
            inside = masks.elements
            yield Equation(step, full, family.result, inside, f"inside, {choices}")
            yield Equation(
                step, alg.constant(0, family.result), family.result, ~inside, f"outside, {choices}"
            )

    names = ("m", "n", "r") if family.rank > 1 else ("m", "n")
    counts = tuple(Variable(name, immediate(8), (1,)) for name in names)
    return Property((*operand_variables(update, masks=False), *counts), claim)


zeroed_start = Theorem(
    "power/blocked/zeroed-start",
    "starting from xxsetaccz: the same for integers, another sign of zero for floats (pinned)",
    "pp(0, x, y) = plain(x, y)",
    SOURCE,
    lambda: (
        Case(
            family.name,
            partial(_zeroed_start, family),
            (Status.REFUTED if is_float(accumulating(family)) else Status.PROVED),
        )
        for family in FAMILIES
    ),
)


def _zeroed_start(family: Family) -> Property:
    update = accumulating(family)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        masks = all_live(alg, update)
        zeros = np.broadcast_to(alg.constant(0, family.result), (*v["x"].shape[:-2], 4, family.columns))
        started = updated(alg, update, v, Choices(), acc=zeros, live=masks)
        plain = updated(alg, UPDATES[family.name], v, Choices(), acc=zeros, live=masks)
        yield Equation(started, plain, family.result, label="xxsetaccz then pp = plain")

    variables = tuple(w for w in operand_variables(update, masks=False) if w.name != "acc")
    return Property(variables, claim)


LOOPS = Loops(
    "power",
    "update",
    SOURCE,
    lambda: {family.name: block(accumulating(family)) for family in FAMILIES},
)

THEOREMS = (
    indices,
    first,
    following,
    any_k,
    ring,
    ragged,
    zeroed_start,
    split_k_step(LOOPS),
    split_k(LOOPS),
    tiles(LOOPS),
    zero_lane("power", SOURCE, LOOPS.blocks),
)
