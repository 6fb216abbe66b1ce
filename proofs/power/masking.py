"""Masking: what the ``pm`` forms compute, for all masks at once."""

from __future__ import annotations

from collections.abc import Iterator

from ...spec.algebra import Algebra
from ...spec.power.catalogue import UPDATES, RankKUpdate
from ...spec.power.choices import Choices, every_choice
from ..obligation import Equation, Equality, Inputs, Method, Obligation, Property, Status, Theorem
from .operands import is_float, live, operand_variables, updated

SOURCE = "Power ISA 3.1 section 7.2.1.3; Moreira et al. section II-C"


def choices_of(update: RankKUpdate) -> list[Choices]:
    """Return the readings under which an update's arithmetic differs (NaN rule and negation included)."""
    return list(every_choice("bf16-sum", "negation", "nan")) if is_float(update) else [Choices()]


def _disabled(update: RankKUpdate) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        fmt = update.family.result
        off = ~live(alg, update, v).elements
        yield Equation(updated(alg, update, v, Choices()), alg.constant(0, fmt), fmt, off, "disabled element")

    return Property(operand_variables(update), claim)


def _disabled_obligations() -> Iterator[Obligation]:
    for update in UPDATES.values():
        yield Obligation(
            f"power/masking/disabled/pm{update.mnemonic}",
            "∀ x, y, acc, masks: ¬(XMSK[i] ∧ YMSK[j]) ⇒ ACC'[i,j] = +0",
            lambda update=update: _disabled(update),
            source=SOURCE,
        )


THEOREMS = (
    Theorem(
        "power/masking/disabled",
        "A disabled element is +0, also when accumulating",
        "For every mask, every element whose row or column is disabled becomes the all-zero encoding.",
        SOURCE,
        _disabled_obligations,
    ),
)
