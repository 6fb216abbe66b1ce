"""Theorems about loops and tiles of PTX instructions: verdicts, and mutants that must be refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from theorem_checks import decided, unexpected

from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.ptx import blocked


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected(blocked.THEOREMS) == {}


def refuted(theorem: Theorem, name: str) -> None:
    """Check that an obligation expected to be proved is refuted."""
    obligation = next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    assert obligation.expect is Status.PROVED
    assert decided(obligation).status is Status.REFUTED


def test_a_step_that_drops_a_product_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = blocked.product

    def dropped(alg: Any, form: Any, operands: Any, choices: Any) -> Any:
        shorter = replace(operands, a=operands.a[..., 1:], b=operands.b[..., 1:, :])
        return right(alg, form, shorter, choices)

    monkeypatch.setattr(blocked, "product", dropped)
    refuted(blocked.next_block, "k16/s8-s8-s32")
    refuted(blocked.next_block, "k8/f16-f16-f32")
    refuted(blocked.reals, "k8/tf32-tf32-f32")


def test_a_step_in_descending_order_is_refuted_for_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = blocked.product

    def reversed_order(alg: Any, form: Any, operands: Any, choices: Any) -> Any:
        backwards = replace(operands, a=operands.a[..., ::-1], b=operands.b[..., ::-1, :])
        return right(alg, form, backwards, choices)

    monkeypatch.setattr(blocked, "product", reversed_order)
    refuted(blocked.next_block, "k16/f16-f16-f16")


def test_tiles_of_other_rows_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocked, "tile", lambda i: slice(i, i + 2) if i else slice(2, 4))
    right: Any = blocked.product
    shapes = []

    def shifted(alg: Any, form: Any, operands: Any, choices: Any) -> Any:
        shapes.append(operands.a.shape)
        if operands.a.shape[-2] == blocked.TILE_ROWS:
            operands = replace(operands, a=operands.a[..., ::-1, :])
        return right(alg, form, operands, choices)

    monkeypatch.setattr(blocked, "product", shifted)
    refuted(blocked.tiles, "k16/s8-s8-s32")


def test_adding_the_accumulator_twice_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = blocked._added
    monkeypatch.setattr(
        blocked, "_added", lambda alg, form, x, y: right(alg, form, right(alg, form, x, y), x)
    )
    refuted(blocked.split_step, "k16/u8-s8-s32")
    refuted(blocked.split_step, "k8/f16-f16-f32/reals")
