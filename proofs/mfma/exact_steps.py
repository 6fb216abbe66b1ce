"""One step of every float MFMA in the exact theory of floating point."""

from __future__ import annotations

from ..families.block_products import BlockProduct, Blocks
from ..families.exact_steps import one_term
from .blocked import block_of, instructions

SOURCE = "CDNA4 ISA chapter 7 (D = C + A x B)"


def _shortest() -> Blocks:
    """Return the instruction with the fewest products for each types; the others are 0."""
    found: dict[str, BlockProduct] = {}
    for name, (row, target) in sorted(instructions().items(), key=lambda each: each[1][0].k):
        found.setdefault(name.partition("/")[2], block_of(row, target))
    return found


THEOREMS = (one_term("mfma", SOURCE, _shortest),)
