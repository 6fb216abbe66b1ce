"""Numerics of MFMA: one step, the readings of xf32 and of pairwise sums, chains of roundings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import F32, TF32, FloatFormat, IntegerFormat
from ...spec.mfma.catalogue import ROWS, MatrixMultiply
from ...spec.mfma.choices import PAIRWISE, Choices
from ...spec.mfma.product import Modifiers, flushes, product, sums_pairwise
from ...spec.mfma.targets import TARGETS, Target
from ...spec.rounding import Rounding
from ..families import rounded_chains
from ..families.block_products import BlockProduct, Blocks, Factors, added, float_operand, outer, power_of_two
from ..families.chains import adds, over_bits
from ..families.exact_steps import one_term, small_integers
from ..families.rounded_chains import RoundedSum
from ..obligation import Case, Equality, Equation, Inputs, Property, Status, Theorem, Variable, theorem
from .blocked import arithmetic_name, block_of, blocks, instructions

SOURCE = "CDNA4 ISA chapter 7 (D = C + A x B)"


def _shortest() -> Blocks:
    """Return the instruction with the fewest products for each types; the others are 0."""
    found: dict[str, BlockProduct] = {}
    for name, (row, target) in sorted(instructions().items(), key=lambda each: each[1][0].k):
        found.setdefault(name.partition("/")[2], block_of(row, target))
    return found


XF32_SOURCE = "CDNA3 ISA; MMA-Sim (arXiv 2511.10909); see the open point xf32"

READINGS = ("truncated", "rounded")

TARGET = TARGETS["gfx942"]

ROW = next(row for row in ROWS if row.factors == "xf32")

LOW = IntegerFormat("low", TF32.padding_bits, signed=False)
"""The bits that are dropped, or rounded away."""


@theorem(
    "mfma/numerics/xf32",
    "both readings of xf32 take numbers of 10 fraction bits as they are; of others they differ (pinned)",
    "bits 12 to 0 of x are 0 ⇒ x · 1 + 0 = x, truncated and rounded, for every number x, infinities included",
    XF32_SOURCE,
)
def xf32() -> Iterator[Case]:
    """Yield each reading, and that they are the same for every number, which they are not."""
    for name in READINGS:
        yield Case(name, partial(_kept, name), equality=Equality.IEEE, choices=f"xf32={name}")
    yield Case(
        "same", _same, Status.REFUTED, Equality.IEEE,
        statement="x · 1 + 0 is the same in both readings: not for x = 1 + 2^-10 - 2^-23",
    )  # fmt: skip


def _times_one(alg: Algebra, x: Array, reading: str) -> Array:
    """Return x · 1 + 0 (…, 1, 1), of x (…, 1, 1)."""
    one = alg.constant(power_of_two(F32, 0), F32)
    zeros = np.broadcast_to(alg.constant(0, F32), (*x.shape[:-1], ROW.k - 1))
    row = np.concatenate([x, zeros], axis=-1)
    column = np.concatenate([np.broadcast_to(one, x.shape), zeros], axis=-1).swapaxes(-1, -2)
    c = np.broadcast_to(alg.constant(0, F32), x.shape)
    return product(alg, ROW, TARGET, row, column, c, Modifiers(), Choices(xf32=reading))


def _kept(reading: str) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(_times_one(alg, v["x"], reading), v["x"], F32, label="x · 1 + 0 = x")

    def short(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield alg.same(alg.extract(v["x"], 0, LOW), alg.constant(0, LOW))
        yield ~alg.is_nan(Operand(v["x"], F32))

    return Property((Variable("x", F32, (1, 1)),), claim, short, abstract=False)


def _same() -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one, other = (_times_one(alg, v["x"], reading) for reading in READINGS)
        yield Equation(one, other, F32, label="truncated = rounded")

    below = power_of_two(F32, 0) + (1 << TF32.padding_bits) - 1
    return Property((Variable("x", F32, (1, 1)),), claim, pinned={"x": below}, abstract=False)


PAIRWISE_SOURCE = "MMA-Sim (arXiv 2511.10909), of CDNA1 and CDNA2; not checked on hardware here"


@cache
def pairwise_instructions() -> dict[str, tuple[MatrixMultiply, Target]]:
    """Return an instruction for each k, types and products of a group; on CDNA1, where it has them."""
    found: dict[str, tuple[MatrixMultiply, Target]] = {}
    for target in map(TARGETS.__getitem__, ("gfx908", "gfx90a")):
        for row in ROWS:
            if row.opcode(target) is not None and sums_pairwise(row, target):
                name = f"{arithmetic_name(row, target)}/{PAIRWISE}-by-{row.elements('a')}"
                found.setdefault(name, (row, target))
    return found


@cache
def pairwise_blocks() -> Blocks:
    """Return them as blocks, of which the sum is stated as a tree."""
    return {name: _block(*each) for name, each in pairwise_instructions().items()}


def _block(row: MatrixMultiply, target: Target) -> BlockProduct:
    block, group = block_of(row, target), row.elements("a")
    formats = block.operands["a"].format, block.operands["b"].format
    keeping = "kept" if flushes(row, target, Choices()) else Choices().subnormals
    read_as = f"accumulation={PAIRWISE}" + (f", subnormals={keeping}" if keeping == "kept" else "")

    def expected(alg: Algebra, v: Inputs, choices: Choices) -> Array:
        total: Array = v["c"]
        factors = outer(v["a"], v["b"], formats)
        for first in range(0, row.k, group):
            total = added(alg, total, _tree(alg, factors[first : first + group]), F32)
        return total

    choices = Choices(accumulation=PAIRWISE, subnormals=keeping)
    return replace(block, expected=expected, readings=(choices,), choices=read_as)


def _tree(alg: Algebra, factors: Sequence[Factors]) -> Array:
    """Return the sum of products, each rounded: that of the first half, and of the second one."""
    if len(factors) == 1:
        ((x, y),) = factors
        return alg.fused(F32, Rounding.NEAREST_EVEN, [(float_operand(x), float_operand(y))])
    half = len(factors) // 2
    return added(alg, _tree(alg, factors[:half]), _tree(alg, factors[half:]), F32)


step = Theorem(
    "mfma/numerics/pairwise",
    "in the pairwise reading, groups of products are rounded, added as a tree, and then to C",
    "groups of g products, k increasing: C ← fl(C + T), T of 4 products fl(fl(p0 + p1) + fl(p2 + p3)), of 2 "
    "fl(p0 + p1), each p a product that is rounded by itself; g are the products of a lane; bit for bit",
    PAIRWISE_SOURCE,
    lambda: over_bits(adds, pairwise_blocks()),
)


def pairwise_sums() -> dict[str, RoundedSum]:
    """Return the instructions as trees, every node of which rounds once."""
    return {
        name: RoundedSum(F32, (f"{step.id}/{name}",), False, block.choices)
        for name, block in pairwise_blocks().items()
    }


order = Theorem(
    "mfma/numerics/pairwise-order",
    "in the pairwise reading, it matters which product is in which pair (pinned)",
    "exchanging products 1 and 2 changes no element of D: not of 2^24, 0, 1, 1, where 1 + 1 is added to "
    "2^24, or 1 and 1 are lost one after the other",
    PAIRWISE_SOURCE,
    lambda: (
        Case(name, partial(_exchanged, block), Status.REFUTED, choices=block.choices)
        for name, block in pairwise_blocks().items()
        if block.operands["a"].shape(1, 1)[-1] >= 4
    ),
)


def _exchanged(block: BlockProduct) -> Property:
    products = block.operands["a"].shape(1, 1)[-1]
    places = np.arange(products)
    places[[1, 2]] = 2, 1

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for reading in block.readings:
            other = {**v, "a": v["a"][..., places], "b": v["b"][..., places, :]}
            one, d = (block.multiply(alg, each, reading) for each in (other, v))
            yield Equation(one, d, block.result, label="1 and 2 exchanged")

    numbers = {}
    for name in "ab":
        fmt = block.operands[name].format
        row = np.array([power_of_two(fmt, 12), 0, *[power_of_two(fmt, 0)] * 2, *[0] * (products - 4)])
        numbers[name] = row.reshape(block.operands[name].shape(1, 1))
    return Property(block.variables(), claim, pinned=numbers)


def sums() -> dict[str, RoundedSum]:
    """Return the float instructions: one fused multiply-add for each product, k increasing."""
    return {
        name: RoundedSum(block.result, (f"mfma/blocked/step/{name}",), True, block.choices)
        for name, block in blocks().items()
        if isinstance(block.result, FloatFormat)
    }


def every_sum() -> dict[str, RoundedSum]:
    """Return the float instructions in every reading that says how they are summed."""
    return {**sums(), **pairwise_sums()}


def every_block() -> Blocks:
    """Return the instructions in these readings."""
    return {**blocks(), **pairwise_blocks()}


THEOREMS = (
    one_term("mfma", SOURCE, _shortest),
    xf32,
    step,
    order,
    rounded_chains.bound(
        "mfma",
        SOURCE,
        every_sum,
        "r = K products in the sequential reading, 2K roundings in the pairwise one, where nothing is "
        "flushed (gfx90a flushes f16 and bf16); of xf32, of the factors as they are shortened",
    ),
    rounded_chains.order("mfma", SOURCE, blocks, None),
    rounded_chains.monotone("mfma", SOURCE, every_sum),
    small_integers("mfma", SOURCE, every_sum, every_block),
)
