"""Sums of MFMA's floats as chains of roundings: bounds, order, what is less."""

from __future__ import annotations

from ...spec.formats import FloatFormat
from ..families import rounded_chains
from ..families.rounded_chains import RoundedSum
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
    rounded_chains.bound("mfma", SOURCE, sums, "r = K products, in the sequential reading"),
    rounded_chains.order("mfma", SOURCE, blocks, None),
    rounded_chains.monotone("mfma", SOURCE, sums),
)
