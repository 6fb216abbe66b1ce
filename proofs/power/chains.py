"""Sums of Power's floats as chains and trees of roundings: bounds, order, what is less."""

from __future__ import annotations

from collections.abc import Sequence

from ...spec.algebra import Operand, Product
from ...spec.formats import BF16, F32, FloatFormat
from ...spec.power.catalogue import UPDATES, RankKUpdate
from ...spec.power.rank_k_update import SIGNIFICAND_24
from ..families import ordered_sums, rounded_chains
from ..families.block_products import Blocks
from ..families.rounded_chains import RoundedSum
from ..families.small_integers import small_integers
from .blocked import block, first, following
from .numerics import exact_product, significand
from .operands import FLOAT
from .signs import negation_choice, step

SOURCE = "Power ISA 3.1 section 7.2.1.3"


def sums() -> dict[str, RoundedSum]:
    """Return the float forms: of f32 and f64 chains, of f16 and bf16 trees, two exact products first."""
    return {update.mnemonic: _sum(update) for update in FLOAT}


def _sum(update: RankKUpdate) -> RoundedSum:
    family, result, name = update.family, update.family.result, update.mnemonic
    assert isinstance(result, FloatFormat)
    known = {"": f"{first.id}/{family.name}", "pp": f"{following.id}/{family.name}"}
    proved, read_as = [known.get(update.suffix, f"{step.id}/{name}")], "RN=0"
    nearest, directed = [], []
    if family.rank > 1:
        proved.append(f"{exact_product.id}/{family.x}-in-{SIGNIFICAND_24 if family.x == BF16 else F32}")
    elif update.negative_product:
        nearest = [f"{negation_choice.id}/{name}/symmetric"]
    if family.x == BF16:
        read_as += ", bf16-sum=two-step"
        nearest = [f"{significand.id}/{each}" for each in ("half-a-place", "monotone", "as-f32")]
        directed = [f"{significand.id}/a-place/{way}" for way in rounded_chains.DIRECTIONS]
    negates = update.negative_product or update.negative_accumulator
    return RoundedSum(
        result, (*proved, *nearest), family.rank == 1, read_as, negates, (*proved, *directed)
    )  # fmt: skip


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
        "r = K products; in the other directions twice u and η; two products of f16 or bf16 are added first",
    ),
    rounded_chains.order("power", SOURCE, blocks, product_is_exact),
    ordered_sums.monotone("power", SOURCE, sums),
    small_integers("power", SOURCE, sums, blocks),
)  # fmt: skip
