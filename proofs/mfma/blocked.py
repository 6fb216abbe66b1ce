"""Loops of MFMA over any K, split K, and tiles of D; independent blocks are computed alike."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from ...spec.formats import TF32, FloatFormat, Format
from ...spec.mfma.catalogue import ROWS, MatrixMultiply
from ...spec.mfma.choices import SEQUENTIAL, UNSPECIFIED, Choices
from ...spec.mfma.product import Modifiers, product
from ...spec.mfma.targets import TARGETS, Target
from ..families import blocked
from ..families.block_products import (
    BlockOperand,
    BlockProduct,
    Blocks,
    one_after_the_other,
    outer,
    power_of_two,
)
from ..families.blocked import Loops

SOURCE = "CDNA4 ISA chapter 7 (D = C + A x B); the loops are those of hipBLASLt and Composable Kernel"

WRAPPING = f"integer-overflow={Choices().integer_overflow}"
"""The reading in which sums of integers are those modulo 2^32."""

SHORT_ROW = 8
"""The k that is enough for tiles."""


@cache
def instructions() -> dict[str, tuple[MatrixMultiply, Target]]:
    """Return an instruction for each k and types, on CDNA3 where that has it.

    Every element of D is the same function of its row, its column and C, whatever M, N and blocks are.
    """
    found: dict[str, tuple[MatrixMultiply, Target]] = {}
    for target in map(TARGETS.__getitem__, ("gfx942", "gfx950", "gfx908")):
        for row in ROWS:
            if row.opcode(target) is not None:
                found.setdefault(arithmetic_name(row, target), (row, target))
    return found


def arithmetic_name(row: MatrixMultiply, target: Target) -> str:
    """Return how obligations name what an element of D is on a target: its k, and the types."""
    a, b, result = (target.format(row.types[name]) for name in "abd")
    factors = row.factors if row.factors == "xf32" else f"{a}-{b}"
    return f"k{row.k}/{factors}-{result}"


def _factor(row: MatrixMultiply, operand: str, target: Target) -> Format:
    """Return the format that the products are of: of xf32, truncated, tf32."""
    return TF32 if row.factors == "xf32" else target.format(row.types[operand])


def block_of(row: MatrixMultiply, target: Target) -> BlockProduct:
    """Return an instruction on a target as a block."""
    a, b = (_factor(row, operand, target) for operand in "ab")
    result = target.format(row.result)
    pinned = {}
    if isinstance(a, FloatFormat) and isinstance(b, FloatFormat) and isinstance(result, FloatFormat):
        pinned = _rounded_apart(a, b, result, row.k)
    return BlockProduct(
        {
            "a": BlockOperand(a, ("m", row.k)),
            "b": BlockOperand(b, (row.k, "n")),
            "c": BlockOperand(result, ("m", "n")),
        },
        result,
        lambda alg, v, choices: product(alg, row, target, v["a"], v["b"], v["c"], Modifiers(), choices),
        lambda alg, v, choices: one_after_the_other(alg, v["c"], outer(v["a"], v["b"], (a, b)), result),
        (Choices(),),
        WRAPPING if row.result == "i32" else SEQUENTIAL,
        pinned=pinned,
    )


def _rounded_apart(a: FloatFormat, b: FloatFormat, result: FloatFormat, k: int) -> dict[str, Any]:
    """Return operands whose products another rounding loses where they are added to q = 2^n at once.

    Two products of half a last place of q; or, where products are not exact, one of which the square of
    the last place is left when q is subtracted.
    """
    if a == result:
        one = power_of_two(a, 0)
        row = [[one + 1] + [0] * (k - 1)]
        return {"a": row, "b": one + 1, "c": 0, "q": (one + 2) | result.sign_mask}
    least = [max(fmt.minimum_exponent, -12) for fmt in (a, b)]
    row = [[power_of_two(a, least[0])] * 2 + [0] * (k - 2)]
    q = power_of_two(result, sum(least) + result.fraction_bits + 1)
    return {"a": row, "b": power_of_two(b, least[1]), "c": 0, "q": q}


def _tile_block(row: MatrixMultiply, target: Target) -> BlockProduct:
    block = block_of(replace(row, k=min(row.k, SHORT_ROW)), target)
    choices = WRAPPING if row.result == "i32" else UNSPECIFIED
    return replace(block, readings=(Choices(accumulation=UNSPECIFIED),), choices=choices)


def blocks() -> Blocks:
    """Return the instructions as steps of a loop."""
    return {name: block_of(*found) for name, found in instructions().items()}


def blocks_of_tiles() -> Blocks:
    """Return the instructions as they compute tiles, however they accumulate."""
    return {name: _tile_block(*found) for name, found in instructions().items()}


_ON_CDNA3 = "; on CDNA3 where it has the instruction, so not of f16 and bf16 on gfx90a, which flush"

THEOREMS = blocked.theorems(
    Loops(
        "mfma",
        "v_mfma",
        SOURCE,
        blocks,
        of_tiles=blocks_of_tiles,
        details=dict.fromkeys(("step", "any-k"), _ON_CDNA3),
    )
)
