"""What the ISA says of a machine's registers agrees with the specification; faults in either are refuted."""

from __future__ import annotations

from typing import Any

import pytest
from theorem_checks import decided, unexpected
from theorem_mutants import Mutant, Patch, each, of

from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.power import machine
from mmaproof.proofs.power.stated import machine as stated
from mmaproof.spec.power import state


def test_the_specification_agrees() -> None:
    assert unexpected(machine.THEOREMS) == {}


def other(name: str, key: object, value: object) -> Patch:
    """Return the fault that a stated table has another entry."""

    def changed(patch: pytest.MonkeyPatch) -> None:
        assert key in getattr(stated, name)
        patch.setattr(stated, name, {**getattr(stated, name), key: value})

    return changed


def another_accumulator(patch: pytest.MonkeyPatch) -> None:
    """Write an update's result to the accumulator before it."""
    written = state.written

    def elsewhere(alg: Any, before: Any, instruction: Any, aliasing: str, result: Any) -> Any:
        after = written(alg, before, instruction, aliasing, result)
        return after._replace(acc=after.acc[..., ::-1, :, :])

    patch.setattr(state, "written", elsewhere)


def a_short_last_word(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(stated, "CODE_LENGTHS", (8, 4, 4))


MUTANTS: tuple[Mutant, ...] = (
    (another_accumulator, machine.machine, "updates"),
    (another_accumulator, machine.machine, "moves"),
    (a_short_last_word, machine.machine, "code"),
    (other("MASKS", "xvf64ger", (15, 15, 1)), machine.machine, "masks"),
    (other("REASONS", "60000000", "prefix"), machine.machine, "reasons"),
    (other("CITED", "odd-pair", ()), machine.machine, "cited"),
)


@each(MUTANTS)
def test_a_fault_is_refuted(
    mutate: Patch, theorem: Theorem, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    assert decided(of(theorem, name)).status is Status.REFUTED
