"""Faults in layouts of Power and AMD that are written for, or taken from, other tools are refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from theorem_checks import unexpected
from theorem_mutants import Mutant, refutation_of

from mmaproof.proofs.mfma import layouts as of_mfma
from mmaproof.proofs.power import layouts as of_power
from mmaproof.spec.foreign_layouts import against, linear_comparison, permutations
from mmaproof.spec.foreign_layouts.comparison import Comparison, Verdict
from mmaproof.spec.foreign_layouts.distribution import Distribution


def test_the_specification_agrees() -> None:
    assert unexpected(FOREIGN) == {}


def rows_first(patch: pytest.MonkeyPatch) -> None:
    found = against.cute_layout
    patch.setattr(
        against, "cute_layout", lambda expected: found(replace(expected, order=expected.order[::-1]))
    )


def everything_is_equal(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(linear_comparison, "compare", lambda claim, expected: Comparison(Verdict.EQUAL, ""))


def registers_are_shared(patch: pytest.MonkeyPatch) -> None:
    found = permutations.permutation_between

    def told(claimed: Any, expected: Distribution) -> str | None:
        return found(claimed, replace(expected, per_register=2))

    patch.setattr("mmaproof.spec.foreign_layouts.comparison.permutation_between", told)


FOREIGN = [theorem for theorem in (*of_mfma.THEOREMS, *of_power.THEOREMS) if "/foreign/" in theorem.id]
_, MFMA_WRITTEN, MFMA_VERDICTS, _, POWER_WRITTEN, POWER_VERDICTS = FOREIGN

MUTANTS: tuple[Mutant, ...] = (
    (rows_first, MFMA_WRITTEN, "cute"),
    (rows_first, POWER_WRITTEN, "cute"),
    (everything_is_equal, MFMA_VERDICTS, "zero"),
    (everything_is_equal, POWER_VERDICTS, "outside"),
    (registers_are_shared, POWER_VERDICTS, "exchanged"),
)

test_a_fault_is_refuted = refutation_of(MUTANTS)
