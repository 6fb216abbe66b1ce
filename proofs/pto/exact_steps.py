"""One step of every float product of PTO in the exact theory of floating point."""

from __future__ import annotations

from ..families.block_products import Blocks
from ..families.exact_steps import one_term
from .blocked import block
from .operands import STARTS, float_types, typed
from .scaling import scaled_block

SOURCE = "pto-isa headers at 3186c381 (TMatmul, TMatmul_MX)"


def _of_one_product() -> Blocks:
    """Return every form and types, and the scaled ones that accumulate, on one product."""
    found = {
        f"{name}/tmatmul{suffix}": block(suffix, formats, 1)
        for name, formats in float_types()
        for suffix in STARTS
    }
    for name, formats in typed(microscaled=True).items():
        found[f"{name}/tmatmul.mx.acc"] = scaled_block(".acc", formats, 1)
    return found


THEOREMS = (one_term("pto", SOURCE, _of_one_product),)
