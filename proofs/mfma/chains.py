"""Sums of MFMA's floats as chains of roundings: bounds, order, what is less."""

from __future__ import annotations

from ...spec.formats import FloatFormat
from ..families import ordered_sums, rounded_chains
from ..families.rounded_chains import RoundedSum
from ..families.small_integers import small_integers
from .blocked import blocks

SOURCE = "CDNA4 ISA chapter 7 (D = C + A x B)"


def sums() -> dict[str, RoundedSum]:
    """Return the float instructions: one fused multiply-add for each product, k increasing."""
    return {
        name: RoundedSum(block.result, (f"mfma/blocked/step/{name}",), True, block.choices)
        for name, block in blocks().items()
        if isinstance(block.result, FloatFormat)
    }


THEOREMS = (
    rounded_chains.bound(
        "mfma",
        SOURCE,
        sums,
        "r = K products, in the sequential reading, where nothing is "
        "flushed (gfx90a flushes f16 and bf16); of xf32, of the factors as they are shortened",
    ),
    rounded_chains.order("mfma", SOURCE, blocks, None),
    ordered_sums.monotone("mfma", SOURCE, sums),
    small_integers("mfma", SOURCE, sums, blocks),
)
