"""Sums of MFMA's floats as chains of roundings: bounds, order, what is less."""

from __future__ import annotations

from ...spec.formats import FloatFormat
from ..families import ordered_sums, rounded_chains
from ..families.block_products import Blocks
from ..families.rounded_chains import RoundedSum
from ..families.small_integers import small_integers
from . import pairwise
from .blocked import blocks

SOURCE = "CDNA4 ISA chapter 7 (D = C + A x B)"


def sums() -> dict[str, RoundedSum]:
    """Return the float instructions: one fused multiply-add for each product, k increasing."""
    return {
        name: RoundedSum(block.result, (f"mfma/blocked/step/{name}",), True, block.choices)
        for name, block in blocks().items()
        if isinstance(block.result, FloatFormat)
    }


def every_sum() -> dict[str, RoundedSum]:
    """Return the float instructions in every reading that says how they are summed."""
    return {**sums(), **pairwise.sums()}


def every_block() -> Blocks:
    """Return the instructions in these readings."""
    return {**blocks(), **pairwise.blocks()}


THEOREMS = (
    rounded_chains.bound(
        "mfma",
        SOURCE,
        every_sum,
        "r = K products in the sequential reading, 2K roundings in the pairwise one, where nothing is "
        "flushed (gfx90a flushes f16 and bf16); of xf32, of the factors as they are shortened",
    ),
    rounded_chains.order("mfma", SOURCE, blocks, None),
    ordered_sums.monotone("mfma", SOURCE, every_sum),
    small_integers("mfma", SOURCE, every_sum, every_block),
)
