"""The pairwise reading of f16 and bf16 on CDNA1 and CDNA2: what D is, stated without the instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from ...spec.algebra import Algebra, Array, Encodings, Operand
from ...spec.formats import F32, FloatFormat
from ...spec.mfma.catalogue import ROWS, MatrixMultiply
from ...spec.mfma.choices import PAIRWISE, Choices
from ...spec.mfma.product import flushes, sums_pairwise
from ...spec.mfma.targets import TARGETS, Target
from ...spec.rounding import Rounding
from ..families.block_products import BlockProduct, Blocks
from ..families.chains import adds, over_bits
from ..families.rounded_chains import RoundedSum
from ..families.sums import Factors, added, outer, power_of_two
from ..obligation import Case, Equation, Inputs, Property, Status, Theorem
from .blocked import arithmetic_name, block_of

SOURCE = "MMA-Sim (arXiv 2511.10909), of CDNA1 and CDNA2; not checked on hardware here"


@cache
def instructions() -> dict[str, tuple[MatrixMultiply, Target]]:
    """Return an instruction for each k, types and products of a group; on CDNA1, where it has them."""
    found: dict[str, tuple[MatrixMultiply, Target]] = {}
    for target in map(TARGETS.__getitem__, ("gfx908", "gfx90a")):
        for row in ROWS:
            if row.opcode(target) is not None and sums_pairwise(row, target):
                name = f"{arithmetic_name(row, target)}/{PAIRWISE}-by-{row.elements('a')}"
                found.setdefault(name, (row, target))
    return found


@cache
def blocks() -> Blocks:
    """Return them as blocks, of which the sum is stated as a tree."""
    return {name: _block(*each) for name, each in instructions().items()}


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
        return alg.fused(F32, Rounding.NEAREST_EVEN, [(_operand(x), _operand(y))])
    half = len(factors) // 2
    return added(alg, _tree(alg, factors[:half]), _tree(alg, factors[half:]), F32)


def _operand(encodings: Encodings) -> Operand:
    bits, fmt = encodings
    assert isinstance(fmt, FloatFormat)
    return Operand(bits, fmt)


step = Theorem(
    "mfma/numerics/pairwise",
    "in the pairwise reading, groups of products are rounded, added as a tree, and then to C",
    "groups of g products, k increasing: C ← fl(C + T), T of 4 products fl(fl(p0 + p1) + fl(p2 + p3)), of 2 "
    "fl(p0 + p1), each p a product that is rounded by itself; g are the products of a lane; bit for bit",
    SOURCE,
    lambda: over_bits(adds, blocks()),
)


def sums() -> dict[str, RoundedSum]:
    """Return the instructions as trees, every node of which rounds once."""
    return {
        name: RoundedSum(F32, (f"{step.id}/{name}",), False, block.choices)
        for name, block in blocks().items()
    }


order = Theorem(
    "mfma/numerics/pairwise-order",
    "in the pairwise reading, it matters which product is in which pair (pinned)",
    "exchanging products 1 and 2 changes no element of D: not of 2^24, 0, 1, 1, where 1 + 1 is added to "
    "2^24, or 1 and 1 are lost one after the other",
    SOURCE,
    lambda: (
        Case(name, partial(_exchanged, block), Status.REFUTED, choices=block.choices)
        for name, block in blocks().items()
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


THEOREMS = (step, order)
