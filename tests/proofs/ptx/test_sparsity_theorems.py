"""Theorems about sparse A and its metadata: verdicts, and mutants that must be refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from theorem_checks import decided, unexpected, vacuous

from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.ptx import metadata, sparsity
from mmaproof.spec.fragment import Selection
from mmaproof.spec.ptx.sparsity import MetadataSlot, Sparsity

THEOREMS = (*metadata.THEOREMS, *sparsity.THEOREMS)


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected(THEOREMS) == {}


def test_no_obligation_is_vacuous() -> None:
    assert vacuous(THEOREMS) == []


def test_every_shape_type_and_order_is_covered() -> None:
    names = [sparse_type.name for sparse_type in metadata.sparse_types()]
    assert len(names) == len(set(names)) == 34
    assert {name.rpartition("/")[2] for name in names} == {"plain", "ordered"}
    assert set(metadata.meanings()) == {
        f"{granularity}/{order}" for granularity in ("1:2", "2:4", "4:8") for order in ("plain", "ordered")
    }


def refuted(theorem: Theorem, name: str) -> None:
    """Check that an obligation expected to be proved is refuted."""
    obligation = next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    assert obligation.expect is Status.PROVED
    verdict = decided(obligation)
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.counterexample is not None
    assert verdict.solver == "numpy" or verdict.counterexample.replays


Slot = Callable[[Sparsity, Any, Any, Any], Any]


class TestPlaceMutants:
    """Metadata in other places than reads look for it, or out of its quad."""

    @pytest.fixture
    def patch_slot(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[Slot], None]:
        right = Sparsity.slot

        def patch(change: Callable[[Sparsity, MetadataSlot, Any], Any]) -> None:
            monkeypatch.setattr(
                Sparsity,
                "slot",
                lambda self, row, chunk, f: MetadataSlot(*change(self, right(self, row, chunk, f), row)),
            )

        return patch

    def test_nibbles_from_the_high_end(self, patch_slot: Callable[[Any], None]) -> None:
        patch_slot(lambda self, slot, row: (slot.lane, slot.nibble ^ 7))
        refuted(metadata.metadata_layout, "m16n8k16/f16/selector-2")

    def test_the_other_row_of_a_quad(self, patch_slot: Callable[[Any], None]) -> None:
        patch_slot(lambda self, slot, row: (slot.lane ^ 1, slot.nibble))
        refuted(metadata.metadata_layout, "m16n8k32/s8/selector-1")

    def test_a_lane_of_the_next_quad(self, patch_slot: Callable[[Any], None]) -> None:
        patch_slot(lambda self, slot, row: (slot.lane + 1, slot.nibble))
        refuted(metadata.selector, "m16n8k8/tf32")
        refuted(metadata.selector, "m16n8k128/s4")


class TestTransportMutants:
    """Registers that are read or written wrongly."""

    def test_read_a_nibble_off(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Selection.gather
        monkeypatch.setattr(Selection, "gather", lambda *arguments: np.roll(right(*arguments), 1, axis=-1))
        refuted(metadata.metadata_gathered, "m16n8k32/s8/selector-1")

    def test_written_for_another_selector(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Sparsity.held
        monkeypatch.setattr(Sparsity, "held", lambda self, f: right(self, (f + 1) % self.selectors))
        refuted(metadata.metadata_gathered, "m16n8k16/f16/selector-3")


class TestMeaningMutants:
    """Nibbles that say something else."""

    def test_the_indices_of_a_nibble_swapped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Sparsity._half
        monkeypatch.setattr(Sparsity, "_half", lambda self, slot: 1 - right(self, slot))
        refuted(metadata.nibbles, "2:4/ordered")

    def test_the_stored_elements_of_a_pair_swapped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Sparsity.column
        monkeypatch.setattr(
            Sparsity,
            "column",
            lambda self, s, nibble: right(self, s ^ 1 if self.kept == 4 else s, nibble),
        )
        refuted(metadata.nibbles, "4:8/ordered")
        refuted(sparsity.columns, "4:8/plain/0100")

    @pytest.mark.parametrize("name", ["2:4/ordered", "2:4/plain", "4:8/plain", "1:2/plain"])
    def test_every_nibble_legal(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.setattr(Sparsity, "_is_legal", lambda self, nibble: True)
        monkeypatch.setattr(Sparsity, "legal_nibbles", property(Sparsity.legal_nibbles.func))
        refuted(metadata.nibbles, name)

    def test_order_not_required(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Sparsity._is_legal
        monkeypatch.setattr(
            Sparsity, "_is_legal", lambda self, nibble: right(replace(self, ordered=False), nibble)
        )
        monkeypatch.setattr(Sparsity, "legal_nibbles", property(Sparsity.legal_nibbles.func))
        refuted(metadata.nibbles, "2:4/ordered")

    @pytest.mark.parametrize("granularity", ["2:4", "4:8"])
    def test_equal_indices_allowed(self, monkeypatch: pytest.MonkeyPatch, granularity: str) -> None:
        monkeypatch.setattr(Sparsity, "allows", lambda self, alg, nibbles: alg.same(nibbles, nibbles))
        refuted(sparsity.expand, f"{granularity}/plain/select-back")
        refuted(sparsity.expand, f"{granularity}/plain/kept")
        refuted(sparsity.swapped, granularity)


class TestProductMutants:
    """Elements that meet the wrong ones."""

    def test_neighbouring_rows_of_b(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Sparsity.select
        monkeypatch.setattr(
            Sparsity,
            "select",
            lambda self, alg, b, nibbles: right(self, alg, np.flip(b, axis=-2), nibbles),
        )
        refuted(sparsity.expand, "2:4/ordered/select-back")
        refuted(sparsity.columns, "1:2/plain/1110")
        refuted(sparsity.chunks, "m16n8k32/s8/plain")
        refuted(sparsity.product, "s8-u8/ordered/1001")

    def test_one_nibble_for_the_whole_row(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Sparsity.select
        monkeypatch.setattr(
            Sparsity,
            "select",
            lambda self, alg, b, nibbles: right(
                self, alg, b, np.repeat(nibbles[..., :1], self.chunks, axis=-1)
            ),
        )
        refuted(sparsity.chunks, "m16n8k16/f16/ordered")

    def test_discarded_elements_not_zero(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Sparsity.expand
        monkeypatch.setattr(
            Sparsity,
            "expand",
            lambda self, alg, stored, nibbles, zero: right(
                self, alg, stored, nibbles, stored[(0,) * stored.ndim]
            ),
        )
        refuted(sparsity.columns, "2:4/plain/0100")
        refuted(sparsity.product, "s8-s8/plain/0100")
