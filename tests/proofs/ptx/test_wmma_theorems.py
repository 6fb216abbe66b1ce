"""Theorems about wmma in memory: verdicts, and mutants that must be refuted."""

from __future__ import annotations

from typing import Any

import pytest
from theorem_checks import decided, unexpected, vacuous

from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.ptx import alignment, wmma
from mmaproof.spec.ptx.wmma import MemoryOperand


@pytest.mark.parametrize("theorems", [wmma.THEOREMS, alignment.THEOREMS], ids=["memory", "alignment"])
def test_every_obligation_has_the_expected_verdict(theorems: tuple[Theorem, ...]) -> None:
    assert unexpected(theorems) == {}


def test_no_obligation_is_vacuous() -> None:
    assert vacuous([*wmma.THEOREMS, *alignment.THEOREMS]) == []


def test_two_operands_are_misaligned_with_the_default_stride() -> None:
    found = {o.id for o in alignment.default_stride.obligations() if o.expect is Status.REFUTED}
    assert found == {
        "ptx/wmma/default-stride/m8n32k16/f16/a/col",
        "ptx/wmma/default-stride/m32n8k16/f16/b/row",
    }


def refuted(theorem: Theorem, name: str) -> None:
    """Check that an obligation expected to be proved is refuted, with a counterexample that replays."""
    obligation = next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    assert obligation.expect is Status.PROVED
    verdict = decided(obligation)
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.counterexample is not None and verdict.counterexample.replays


class TestAddressMutants:
    """Wrong addresses of elements."""

    def test_rows_and_columns_swapped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = MemoryOperand.element
        monkeypatch.setattr(MemoryOperand, "element", lambda self, r, c, stride: right(self, c, r, stride))
        for name in ("m16n16k16/f16/a/row", "m8n8k32/s4/b/col", "m8n8k4/f64/d/col"):
            refuted(wmma.transfer, name)
        refuted(wmma.load_mma_store, "m16n16k8/f32.tf32.f32")

    def test_a_stride_in_bytes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def element(self: MemoryOperand, row: Any, column: Any, stride: Any) -> Any:
            return row * stride + column * (self.format.bits // 8)

        monkeypatch.setattr(MemoryOperand, "element", element)
        monkeypatch.setattr(
            MemoryOperand, "address", lambda self, p, r, c, stride: (p + self.element(r, c, stride), r & 0)
        )
        refuted(wmma.transfer, "m16n16k16/f16/a/row")
        refuted(wmma.load_mma_store, "m32n8k16/f32.bf16.f32")

    def test_four_bit_elements_from_the_top_of_a_byte(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = MemoryOperand.address

        def address(self: MemoryOperand, *arguments: Any) -> Any:
            byte, bit = right(self, *arguments)
            return byte, bit ^ 4 if self.format.bits == 4 else bit

        monkeypatch.setattr(MemoryOperand, "address", address)
        refuted(wmma.transfer, "m8n8k32/u4/a/row")
        refuted(wmma.load_mma_store, "m8n8k32/s32.s4.s32")

    def test_slots_that_mix_up_row_and_column(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = wmma.held
        monkeypatch.setattr(wmma, "held", lambda alg, slots: right(alg, slots)[::-1])
        refuted(wmma.load_mma_store, "m8n8k4/f64.f64.f64")

    def test_a_product_that_finds_the_slot_of_another_element(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = wmma.slot

        def neighbour(alg: Any, name: str, row: Any, column: Any, user: Any) -> Any:
            return right(alg, name, row ^ 1 if name == "b" else row, column, user)

        monkeypatch.setattr(wmma, "slot", neighbour)
        refuted(wmma.load_mma_store, "m16n16k16/f32.f16.f16")


class TestAlignmentMutants:
    """Other rules."""

    @pytest.mark.parametrize("factor", [2, 0.5])
    @pytest.mark.parametrize("operand", ["m16n16k16/f16/a/row", "m8n8k4/f64/c/col", "m8n8k32/s4/b/col"])
    def test_a_rule_for_another_unit(
        self, operand: str, factor: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right = alignment.lines_aligned

        def lines_aligned(alg: Any, named: MemoryOperand, pointer: Any, stride: Any) -> Any:
            return right(alg, with_fragment(named, int(named.fragment_bytes * factor)), pointer, stride)

        monkeypatch.setattr(alignment, "lines_aligned", lines_aligned)
        refuted(alignment.alignment, operand)

    def test_the_pointer_alone_is_not_enough(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = alignment.is_multiple

        def without_stride(alg: Any, value: Any, unit: int) -> Any:
            return right(alg, value, 1 if unit > 32 else unit)

        monkeypatch.setattr(alignment, "is_multiple", without_stride)
        refuted(alignment.alignment, "m16n16k16/f16/a/row")

    def test_lines_one_element_longer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = MemoryOperand.element
        monkeypatch.setattr(
            MemoryOperand, "element", lambda self, r, c, stride: right(self, r, c, stride + 1)
        )
        for name in ("m16n16k16/f16/a/row", "m8n32k16/s32/d/col"):
            refuted(alignment.minimum_stride, name)


def with_fragment(operand: MemoryOperand, unit: int) -> MemoryOperand:
    """Return an operand that claims another size of its fragment."""
    wrong = MemoryOperand(operand.shape, operand.role, operand.format, operand.layout)
    wrong.__dict__["fragment_bytes"] = unit
    return wrong
