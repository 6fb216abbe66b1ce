"""Theorems about ldmatrix, stmatrix and movmatrix: verdicts, and mutants that must be refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from theorem_checks import decided, unexpected, vacuous

from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.ptx import loaded_tiles, matrix_moves
from mmaproof.spec.layout import Layout
from mmaproof.spec.ptx import row_expansion
from mmaproof.spec.ptx.matrix_moves import MatrixMove
from mmaproof.spec.ptx.row_expansion import RowExpansion


@pytest.mark.parametrize(
    "theorems", [matrix_moves.THEOREMS, loaded_tiles.THEOREMS], ids=["moves", "loaded-tiles"]
)
def test_every_obligation_has_the_expected_verdict(theorems: tuple[Theorem, ...]) -> None:
    assert unexpected(theorems) == {}


def test_no_obligation_is_vacuous() -> None:
    assert vacuous(matrix_moves.THEOREMS) == []


def test_the_mistakes_of_the_public_bug_reports_are_pinned() -> None:
    pinned = {o.id.split("/")[3] for o in loaded_tiles.sees_tile.obligations() if o.expect is Status.REFUTED}
    assert pinned == {
        "missing-trans",
        "superfluous-trans",
        "middle-registers-swapped",
        "buffers-in-turn",
        "bytes-through-b16-trans",
        "not-shifted",
    }


def test_operands_of_every_width_can_be_loaded() -> None:
    loaded = loaded_tiles.loaded_operands()
    widths = {(p.fragment.packing.container, p.is_a, p.lines_in_memory) for p in loaded.values()}
    along = {(container, is_a, True) for container in (1, 4, 8, 16, 32) for is_a in (True, False)}
    assert widths == along | {(container, is_a, False) for container in (8, 16) for is_a in (True, False)}
    expanded = {p.fragment.packing.format.name for p in loaded.values() if p.move.expansion}
    assert expanded == {"e3m2", "e2m3", "e2m1"}


def refuted(theorem: Theorem, name: str) -> None:
    """Check that an obligation expected to be proved is refuted, with a counterexample that replays."""
    obligation = next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    assert obligation.expect is Status.PROVED
    verdict = decided(obligation)
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.counterexample is not None and verdict.counterexample.replays


Patch = Callable[[Callable[[MatrixMove, Layout], Layout]], None]


@pytest.fixture
def patch_layout(monkeypatch: pytest.MonkeyPatch) -> Patch:
    """Return a function that changes the layouts of all moves."""
    right = MatrixMove.layout.func
    fragment = MatrixMove.fragment.func

    def patch(change: Callable[[MatrixMove, Layout], Layout]) -> None:
        monkeypatch.setattr(MatrixMove, "layout", property(lambda move: change(move, right(move))))
        monkeypatch.setattr(MatrixMove, "fragment", property(fragment))

    return patch


def moved(layout: Layout, *origin: int) -> Layout:
    """Return a layout with its coordinates xored with those of another first element."""
    return replace(layout, origin=origin)


class TestLayoutMutants:
    """Other lane maps."""

    def test_halves_of_a_register_the_other_way_round(self, patch_layout: Patch) -> None:
        patch_layout(lambda move, layout: moved(layout, 0, 0, 1))
        refuted(loaded_tiles.sees_tile, "m16n8k16/f16/a/m8n8.x4.b16")

    def test_matrices_in_another_order(self, patch_layout: Patch) -> None:
        patch_layout(lambda move, layout: moved(layout, move.count - 1, 0, 0))
        refuted(loaded_tiles.sees_tile, "m16n8k16/bf16/b/m8n8.x2.trans.b16")
        refuted(matrix_moves.store_load, "accumulators/f16-x2/rows")

    def test_registers_of_m16n16_the_other_way_round(self, patch_layout: Patch) -> None:
        patch_layout(lambda move, layout: moved(layout, 0, 0, move.shape.n >> 1))
        refuted(loaded_tiles.sees_tile, "m16n8k16/s8/a/m16n16.x1.trans.b8")

    def test_bytes_of_a_store_in_pairs_of_rows(self, patch_layout: Patch) -> None:
        patch_layout(lambda move, layout: moved(layout, 0, 1, 0))
        refuted(matrix_moves.store_load, "accumulators/b8/columns")

    def test_an_inverse_that_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Layout.inverse
        monkeypatch.setattr(Layout, "inverse", lambda self, *place: right(self, *place[:-1], place[-1] ^ 1))
        refuted(matrix_moves.layout, "ldmatrix.m8n8.x4.b16/elements")
        refuted(matrix_moves.store_load, "stmatrix.m8n8.x2.trans.b16")
        refuted(matrix_moves.transposed, "twice")

    def test_a_load_that_does_not_transpose(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = matrix_moves.load
        monkeypatch.setattr(
            matrix_moves, "load", lambda alg, move, rows: right(alg, replace(move, trans=False), rows)
        )
        refuted(matrix_moves.transposed, "ldmatrix.m8n8.x4.trans.b16")


class TestAddressMutants:
    """Other lanes that supply addresses."""

    def test_the_highest_lanes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = matrix_moves.row_addresses
        monkeypatch.setattr(
            matrix_moves, "row_addresses", lambda move, addresses: right(move, addresses[..., ::-1])
        )
        refuted(matrix_moves.addresses, "ldmatrix.m8n8.x2.b16")
        refuted(matrix_moves.addresses, "ldmatrix.m16n16.x1.trans.b8")

    def test_eight_rows_for_each_matrix_of_sixteen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = MatrixMove.address_lanes.func

        def eight(move: MatrixMove) -> Layout:
            lanes = right(move)
            digits = (
                replace(digit, image=(8 * digit.weight if digit.axis == 0 else digit.weight,))
                for digit in lanes.digits
            )
            return replace(lanes, digits=tuple(digits))

        monkeypatch.setattr(MatrixMove, "address_lanes", property(eight))
        refuted(matrix_moves.layout, "ldmatrix.m16n16.x2.trans.b8/addresses")


class TestExpansionMutants:
    """Other places of packed values."""

    def test_values_in_descending_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = RowExpansion.expand
        monkeypatch.setattr(RowExpansion, "expand", lambda self, alg, rows: right(self, alg, rows)[..., ::-1])
        refuted(loaded_tiles.sees_tile, "m16n8k32/e3m2-in-8/a/m8n16.x4.b8x16.b6x16_p32")

    def test_padding_before_the_values(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = row_expansion.from_bytes
        monkeypatch.setattr(
            row_expansion, "from_bytes", lambda alg, rows, fmt: right(alg, rows[..., ::-1], fmt)
        )
        refuted(loaded_tiles.sees_tile, "m16n8k32/e2m1-in-8/b/m8n16.x2.b8x16.b4x16_p64")

    def test_a_shift_by_one_bit_more(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = loaded_tiles.shifted
        monkeypatch.setattr(
            loaded_tiles, "shifted", lambda alg, registers, count: right(alg, registers, count + 1)
        )
        refuted(loaded_tiles.sees_tile, "m16n8k32/e2m1-in-8/a/m16n16.x2.trans.b8x16.b4x16_p64")


class TestReuseMutants:
    """Another operand than the next product's A."""

    def test_columns_of_the_second_product_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = matrix_moves.accumulators
        monkeypatch.setattr(
            matrix_moves, "accumulators", lambda *arguments: list(reversed(right(*arguments)))
        )
        refuted(matrix_moves.register_reuse, "f16/m16n8k16")

    def test_one_product_is_all_of_the_smaller_a(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = matrix_moves.accumulators
        monkeypatch.setattr(
            matrix_moves,
            "accumulators",
            lambda *arguments: [np.flip(part, axis=-1) for part in right(*arguments)],
        )
        refuted(matrix_moves.register_reuse, "f16/m16n8k8")
