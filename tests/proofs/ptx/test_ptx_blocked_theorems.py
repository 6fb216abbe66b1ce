"""Theorems about loops and tiles of PTX instructions: verdicts, and mutants that must be refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from theorem_checks import decided, unexpected

from mmaproof.proofs.families import chains as families
from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.ptx import blocked, sparsity
from mmaproof.spec.ptx.catalogue import ALL_FORMS
from mmaproof.spec.ptx.mma_forms import MmaForm

TILE_ROWS = families.ROWS[0].stop


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected((sparsity.columns, *blocked.THEOREMS)) == {}


def test_every_float_and_integer_form_has_its_loop() -> None:
    """Whatever wraps, dense or sparse, scaled or not, is a step; only satfinite is not."""
    forms = [form for form in ALL_FORMS if isinstance(form, MmaForm)]
    steps = {
        (form.form.sparse, form.shape.k, form.variant.types, form.variant.kind, form.form.scale_vec)
        for form in blocked.instructions().values()
        if isinstance(form.form, MmaForm)
    }
    for form in forms:
        for variant in form.variants():
            if not variant.satfinite:
                key = (form.sparse, form.shape.k, variant.types, variant.kind, form.scale_vec)
                assert key in steps, str(variant)


def test_a_sparse_loop_needs_every_nibble_its_metadata_may_have() -> None:
    for obligation in blocked.any_k.obligations():
        name = obligation.id.removeprefix(f"{blocked.any_k.id}/")
        _, *selections = obligation.goal().premises  # type: ignore[union-attr]
        sparse = blocked.instructions()[name].sparsity
        assert len(selections) == (len(sparse.legal_nibbles) if sparse else 0)


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
    refuted(blocked.step, "k16/s8-s8-s32")
    refuted(blocked.step, "k8/f16-f16-f32")
    refuted(blocked.step, "k256/b1-b1-s32-xor")
    refuted(blocked.reals, "k8/tf32-tf32-f32")


def changed_operands(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """Let the instruction take other operands than it is given."""
    right: Any = blocked.product

    def changed(alg: Any, form: Any, operands: Any, choices: Any) -> Any:
        return right(alg, form, change(operands), choices)

    monkeypatch.setattr(blocked, "product", changed)


@pytest.mark.parametrize(
    "name", ["sparse-k32/s8-s8-s32", "sparse-k16/f16-f16-f32", "sparse-k16/tf32-tf32-f32"]
)
def test_metadata_of_the_neighbouring_chunk_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changed_operands(monkeypatch, lambda o: replace(o, metadata=o.metadata[..., ::-1]))
    refuted(blocked.step, name)


def test_stored_elements_in_another_order_are_refuted_for_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Swapped within their chunk, with their indices: the same products, added in another order."""

    def swapped(operands: Any) -> Any:
        order = np.arange(operands.a.shape[-1]).reshape(-1, 2)[:, ::-1].ravel()
        nibbles = operands.metadata
        exchanged = ((nibbles & 3) << 2) | ((nibbles >> 2) & 3)
        return replace(operands, a=operands.a[..., order], metadata=exchanged)

    changed_operands(monkeypatch, swapped)
    refuted(blocked.step, "sparse-k16/f16-f16-f32")


SCALED = ("k64/e2m1-e2m1-f32-mxf4nvf4-4X-ue4m3", "sparse-k128/e2m1-e2m1-f32-mxf4-2X-ue8m0")


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("axis", ["scale_a", "scale_b"])
def test_scale_factors_of_another_chunk_are_refuted(
    name: str, axis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reverse = (..., slice(None, None, -1)) if axis == "scale_a" else (..., slice(None, None, -1), slice(None))
    changed_operands(monkeypatch, lambda o: replace(o, **{axis: getattr(o, axis)[reverse]}))
    refuted(blocked.step, name)


def test_a_scale_factor_left_out_is_refuted_over_the_reals(monkeypatch: pytest.MonkeyPatch) -> None:
    changed_operands(monkeypatch, lambda o: replace(o, scale_a=o.scale_a[..., :1].repeat(4, axis=-1)))
    refuted(blocked.reals, "k64/e2m1-e2m1-f32-mxf4nvf4-4X-ue4m3")


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("metadata", "sparse-k16/f16-f16-f32"),
        ("metadata", "sparse-k64/s8-u8-s32"),
        ("scale_a", "k64/e2m1-e2m1-f32-mxf4-2X-ue8m0"),
    ],
)
def test_tiles_need_what_belongs_to_their_rows(role: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def other_rows(operands: Any) -> Any:
        rows = getattr(operands, role)
        return replace(operands, **{role: rows[..., ::-1, :]}) if len(rows) == TILE_ROWS else operands

    changed_operands(monkeypatch, other_rows)
    refuted(blocked.tiles, name)


def test_a_step_in_descending_order_is_refuted_for_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = blocked.product

    def reversed_order(alg: Any, form: Any, operands: Any, choices: Any) -> Any:
        backwards = replace(operands, a=operands.a[..., ::-1], b=operands.b[..., ::-1, :])
        return right(alg, form, backwards, choices)

    monkeypatch.setattr(blocked, "product", reversed_order)
    refuted(blocked.step, "k16/f16-f16-f16")


def test_tiles_of_other_rows_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Any = blocked.product

    def shifted(alg: Any, form: Any, operands: Any, choices: Any) -> Any:
        if operands.a.shape[-2] == TILE_ROWS:
            operands = replace(operands, a=operands.a[..., ::-1, :])
        return right(alg, form, operands, choices)

    monkeypatch.setattr(blocked, "product", shifted)
    refuted(blocked.tiles, "k16/s8-s8-s32")


def test_adding_the_accumulator_twice_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    right = families.added
    monkeypatch.setattr(
        families, "added", lambda alg, x, y, *how: right(alg, right(alg, x, y, *how), x, *how)
    )
    refuted(blocked.split_k_step, "k16/u8-s8-s32")
    refuted(blocked.split_k_step, "k8/f16-f16-f32/reals")
