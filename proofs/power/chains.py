"""Sums of Power's floats as chains and trees of roundings: bounds, order, what is less."""

from __future__ import annotations

from collections.abc import Sequence

from ...spec.algebra import Operand, Product
from ...spec.formats import BF16, F32, FloatFormat
from ...spec.power.catalogue import UPDATES
from ...spec.power.rank_k_update import SIGNIFICAND_24
from ..families import rounded_chains
from ..families.block_products import Blocks
from ..families.rounded_chains import RoundedSum
from .blocked import block
from .numerics import exact_product
from .operands import FLOAT

SOURCE = "Power ISA 3.1 section 7.2.1.3"


def sums() -> dict[str, RoundedSum]:
    """Return the pp forms: of f32 and f64 chains, of f16 and bf16 trees, two exact products first."""
    found = {}
    for update in FLOAT:
        family, result = update.family, update.family.result
        if update.suffix != "pp":
            continue
        assert isinstance(result, FloatFormat)
        proved = [f"power/blocked/next/{family.name}"]
        if family.rank > 1:
            wide = SIGNIFICAND_24 if family.x == BF16 else F32
            proved.append(f"{exact_product.id}/{family.x}-in-{wide}")
        read_as = "RN=0, bf16-sum=two-step" if family.x == BF16 else "RN=0"
        found[update.mnemonic] = RoundedSum(result, tuple(proved), family.rank == 1, read_as)
    return found


def blocks() -> Blocks:
    """Return every form by name."""
    return {name: block(update) for name, update in UPDATES.items()}


def product_is_exact(result: FloatFormat, products: Sequence[Product], addends: Sequence[Operand]) -> bool:
    """Tell whether a product alone is rounded to a format that holds it (power/numerics/exact-product)."""
    if addends or len(products) != 1:
        return False
    ((x, _),) = products
    return result == (SIGNIFICAND_24 if x.format == BF16 else F32)


THEOREMS = (
    rounded_chains.bound(
        "power", SOURCE, sums,
        "r = K products, rounding direction 0; two products of f16 or bf16 are first added to each other",
    ),
    rounded_chains.order("power", SOURCE, blocks, product_is_exact),
    rounded_chains.monotone("power", SOURCE, sums),
)  # fmt: skip
