"""Exceptions: what disabled elements and products do not raise."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...spec.algebra import Algebra, Array
from ...spec.power.catalogue import RankKUpdate
from ...spec.power.choices import Choices
from ...spec.power.float_exceptions import Exceptions, raised
from ...spec.power.rank_k_update import Live
from ..obligation import Case, Equation, Inputs, Property, Theorem
from .operands import FLOAT, all_live, live, operand_variables

SOURCE = "Moreira et al. section II-C; Power ISA 3.1 section 7.2.1.3"

CHOICES = Choices(bf16_sum="single")
"""The reading with no rounding but those of the ISA's steps in f32; NaNs and signs raise the same in all."""


def _raised(alg: Algebra, update: RankKUpdate, v: Inputs, x: Array, y: Array, masks: Live) -> Exceptions:
    return raised(alg, update, x, y, v["acc"], masks, v["rounding"], CHOICES)


exceptions = Theorem(
    "power/masking/exceptions",
    "a disabled row or column raises no exception and sets no bit of FPSCR; a disabled product neither",
    "∀ x, y, acc, masks, RN: ¬(XMSK[i] ∧ YMSK[j]) ⇒ element (i, j) raises none of OX, UX, XX, VXSNAN, VXISI, "
    "VXIMZ; otherwise it raises what the unmasked form does on the live "
    "products, +0 in the place of the others' operands. A sticky bit is set if any element raises it",
    SOURCE,
    lambda: (
        Case(f"pm{update.mnemonic}", partial(_exceptions, update), choices="bf16-sum=single")
        for update in FLOAT
    ),
)


def _exceptions(update: RankKUpdate) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        family, masks = update.family, live(alg, update, v)
        kept = masks.products[..., None, :]
        x = alg.where(kept, v["x"], alg.constant(0, family.x))
        y = alg.where(kept, v["y"], alg.constant(0, family.y))
        masked = _raised(alg, update, v, v["x"], v["y"], masks)
        unmasked = _raised(alg, update, v, x, y, all_live(alg, update))
        for name, some, every in zip(Exceptions._fields, masked, unmasked, strict=True):
            yield Equation(some, some & ~some, None, ~masks.elements, f"{name}, disabled")
            yield Equation(some, every, None, masks.elements, f"{name}, enabled")

    return Property(operand_variables(update), claim)


THEOREMS = (exceptions,)
