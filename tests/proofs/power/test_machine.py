"""What the ISA says of a machine's registers agrees with the specification; faults in either are refuted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from theorem_checks import unexpected
from theorem_mutants import Mutant, entry_changed, refutation_of

from mmaproof.proofs.power import executed, machine
from mmaproof.proofs.power.stated import machine as stated
from mmaproof.spec.power import batches, state


def test_the_specification_agrees() -> None:
    assert unexpected(machine.THEOREMS) == {}


def another_accumulator(patch: pytest.MonkeyPatch) -> None:
    """Write an update's result to the accumulator before it."""
    written = state.written

    def elsewhere(alg: Any, before: Any, instruction: Any, aliasing: str, result: Any) -> Any:
        after = written(alg, before, instruction, aliasing, result)
        return after._replace(acc=after.acc[..., ::-1, :, :])

    patch.setattr(state, "written", elsewhere)


def a_short_last_word(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(stated, "CODE_LENGTHS", (8, 4, 4))


def nans_of_the_first(patch: pytest.MonkeyPatch) -> None:
    """Restore every NaN of a batch from the operands of its first update."""

    def restored(update: Any, operands: Any, result: Any, *rest: Any) -> None:
        first = tuple(np.broadcast_to(bits[:1], bits.shape) for bits in operands)
        true(update, first, result, *rest)

    true = batches._restore_nans
    patch.setattr(batches, "_restore_nans", restored)


MUTANTS: tuple[Mutant, ...] = (
    (another_accumulator, machine.machine, "updates"),
    (another_accumulator, machine.machine, "moves"),
    (a_short_last_word, machine.machine, "code"),
    (entry_changed(stated, "MASKS", "xvf64ger", (15, 15, 1)), machine.machine, "masks"),
    (nans_of_the_first, executed.executed, "batches"),
    (entry_changed(stated, "CITED", "odd-pair", ()), machine.machine, "cited"),
)


test_a_fault_is_refuted = refutation_of(MUTANTS)
