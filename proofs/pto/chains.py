"""Sums of PTO's floats as chains of roundings: bounds, order, what is less, what is exact."""

from __future__ import annotations

from functools import cache

from ...spec.formats import FloatFormat
from ..families import ordered_sums, rounded_chains
from ..families.block_products import Blocks
from ..families.rounded_chains import RoundedSum
from ..families.small_integers import small_integers
from .blocked import LENGTHS, SEEDED_ONLY, block, float_forms, one_more, step

SOURCE = "pto-isa headers (TMatmul, TGemv); pto-isa issue 280"

SHORT_ROW = 3
"""Products of the block that shows what order, and one more, change; every further one adds alike."""


def sums() -> dict[str, RoundedSum]:
    """Return every form and types: one fused multiply-add for each product, k increasing."""
    found = {}
    for name, _, formats in float_forms():
        result = formats["d"]
        assert isinstance(result, FloatFormat)
        proved = (*(f"{step.id}/{name}/k{k}" for k in LENGTHS), f"{one_more.id}/{name}")
        found[name] = RoundedSum(result, proved, True, SEEDED_ONLY)
    return found


@cache
def blocks() -> Blocks:
    """Return a short block of every form and types."""
    return {name: block(suffix, formats, SHORT_ROW) for name, suffix, formats in float_forms()}


def accumulating() -> Blocks:
    """Return the blocks that start from the accumulator."""
    return {name: each for name, each in blocks().items() if each.accumulator in each.operands}


THEOREMS = (
    rounded_chains.bound("pto", SOURCE, sums, "r = K products, k increasing from C, the bias or 0"),
    rounded_chains.order("pto", SOURCE, accumulating, None),
    ordered_sums.monotone("pto", SOURCE, sums),
    small_integers("pto", SOURCE, sums, blocks),
)
