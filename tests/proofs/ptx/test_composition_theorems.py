"""Theorems about compositions of instructions: verdicts, and mutants that must be refuted."""

from __future__ import annotations

from typing import Any

import pytest
from theorem_checks import decided, unexpected

from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.ptx import composition
from mmaproof.proofs.ptx.composition import Composition


@pytest.mark.parametrize("theorem", composition.THEOREMS, ids=lambda theorem: theorem.id)
def test_every_obligation_has_the_expected_verdict(theorem: Theorem) -> None:
    assert unexpected([theorem]) == {}


def test_the_pairs_of_the_manual_are_found() -> None:
    names = {each.name for each in composition.compositions()}
    assert {
        "m16n8k32-from-m16n8k16/s8-s8-s32",
        "m16n8k64-from-m16n8k32/s4-u4-s32",
        "m16n8k16-from-m16n8k8/f16-f16-f32",
        "m16n8k256-from-m16n8k128/b1-b1-s32-xor",
        "m16n8k16-from-m8n8k16/u8-s8-s32",
        "m16n8k128-from-m16n8k64/s4-s4-s32-ordered",
    } <= names


def refuted(theorem: Theorem, name: str) -> None:
    """Check that an obligation expected to be proved is refuted."""
    obligation = next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    assert obligation.expect is Status.PROVED
    assert decided(obligation).status is Status.REFUTED


class TestMutants:
    """Other halves."""

    @pytest.mark.parametrize(
        "name",
        [
            "m16n8k32-from-m16n8k16/s8-s8-s32",
            "m16n8k16-from-m8n8k16/s8-s8-s32",
            "m16n8k8-from-m16n8k4/tf32-tf32-f32",
        ],
    )
    def test_swapped_halves_of_the_registers(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        right = Composition.registers
        monkeypatch.setattr(Composition, "registers", lambda each, role, half: right(each, role, 1 - half))
        refuted(composition.fragments, name)

    def test_registers_in_turn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Composition.registers

        def in_turn(each: Composition, role: str, half: int) -> slice:
            return slice(half, None, 2) if role == "a" else right(each, role, half)

        monkeypatch.setattr(Composition, "registers", in_turn)
        refuted(composition.fragments, "m16n8k16-from-m16n8k8/f16-f16-f32")

    def test_the_same_selector_for_both_halves(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Composition, "selector", lambda each, selector, half: 2 * selector)
        refuted(composition.metadata, "m16n8k64-from-m16n8k32/s8-s8-s32-ordered")

    @pytest.mark.parametrize("mutant", [(0, 0), (1, 0)], ids=["dropped", "swapped"])
    def test_other_halves_of_the_products(
        self, monkeypatch: pytest.MonkeyPatch, mutant: tuple[int, int]
    ) -> None:
        monkeypatch.setattr(composition, "HALVES", mutant)
        refuted(composition.sequential, "m16n8k16-from-m16n8k8/f16-f16-f32")
        if mutant == (0, 0):  # the order of halves is no matter to integers
            refuted(composition.integers, "m16n8k32-from-m16n8k16/s8-u8-s32")

    def test_a_sum_that_loses_c(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right: Any = composition.float_sum
        monkeypatch.setattr(
            composition,
            "float_sum",
            lambda alg, form, x, y, c, *rest: right(alg, form, x, y, y._replace(bits=y.bits[..., 0]), *rest),
        )
        refuted(composition.reals, "m16n8k16-from-m16n8k8/bf16-bf16-f32")
