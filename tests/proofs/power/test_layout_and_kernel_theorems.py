"""Layouts, layouts, blocking, kernels and numerics: verdicts, and mutants that must be refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from theorem_checks import decided, unexpected, vacuous

from mmaproof.proofs.catalogue import obligations
from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.power import blocked, kernels, layouts, numerics
from mmaproof.spec.power import builtins, memory, rank_k_update, registers
from mmaproof.spec.power import kernels as paper
from mmaproof.spec.power.catalogue import UPDATES
from mmaproof.spec.power.memory import Endian

FAST = [*layouts.THEOREMS, *layouts.THEOREMS, *blocked.THEOREMS, *numerics.THEOREMS]
DGEMM = [theorem for theorem in kernels.THEOREMS if "dgemm" in theorem.id]


@pytest.mark.parametrize("theorems", [FAST, DGEMM, [kernels.sconv]], ids=["arithmetic", "dgemm", "sconv"])
def test_every_obligation_has_the_expected_verdict(theorems: list[Theorem]) -> None:
    assert unexpected(theorems) == {}


def test_no_obligation_is_vacuous() -> None:
    assert vacuous([*layouts.THEOREMS, *DGEMM]) == []


def refuted(identifier: str) -> None:
    """Check that an obligation expected to be proved is refuted, with a counterexample that replays."""
    verdict = decided(obligations()[identifier])
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.counterexample is not None and verdict.counterexample.replays


class TestMemoryMutants:
    """Wrong byte orders of loads and stores."""

    def test_a_pair_whose_halves_are_not_swapped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = memory.load

        def load(data: Any, endian: Endian) -> Any:
            return right(data, endian)[..., ::-1, :]

        monkeypatch.setattr(memory, "load", load)
        refuted("power/layout/memory-order/xvf64ger/x/little")

    def test_bytes_that_stay_in_memory_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def load(data: Any, endian: Endian) -> Any:
            return data.reshape(*data.shape[:-1], -1, 16)

        monkeypatch.setattr(memory, "load", load)
        refuted("power/layout/memory-order/xvf32ger/x/little")

    def test_a_layout_with_a_wrong_bit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = registers.operand_layout

        def operand_layout(*args: Any) -> Any:
            layout = right(*args)
            return replace(layout, digits=layout.digits[:-1])

        monkeypatch.setattr(registers, "operand_layout", operand_layout)
        verdict = decided(next(o for o in layouts.operand.obligations() if o.id.endswith("xvi8ger4/x")))
        assert verdict.status is Status.REFUTED


class TestTransportMutants:
    """Wrong built-ins around a right update."""

    @pytest.mark.parametrize("mnemonic", ["xvi8ger4pp", "xvf32gerpp", "xvf16ger2"])
    def test_operands_swapped(self, mnemonic: str, monkeypatch: pytest.MonkeyPatch) -> None:
        right = rank_k_update.rank_k_update

        def swapped(alg: Any, update: Any, x: Any, y: Any, *rest: Any) -> Any:
            return right(alg, update, y, x, *rest)

        monkeypatch.setattr(builtins, "rank_k_update", swapped)
        refuted(f"power/transport/memory-order/pm{mnemonic}/little")

    @pytest.mark.parametrize("endian", list(Endian))
    def test_mask_bits_numbered_from_the_other_end(
        self, endian: Endian, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right = builtins.live_products

        def reversed_rows(*arguments: Any) -> Any:
            live = right(*arguments)
            return live._replace(rows=live.rows[..., ::-1])

        monkeypatch.setattr(builtins, "live_products", reversed_rows)
        refuted(f"power/transport/memory-order/pmxvi16ger2pp/{endian}")

    def test_build_that_does_not_reverse(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(builtins.Builtins, "build", builtins.Builtins.assemble)
        refuted("power/transport/built-ins/acc/little")

    def test_accumulator_stored_in_big_endian_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = builtins.store
        monkeypatch.setattr(builtins, "store", lambda group, endian: right(group[..., ::-1, :], endian))
        refuted("power/transport/memory-order/pmxvf64gerpp/little")


class TestBlockingMutants:
    """Wrong accumulation."""

    @pytest.mark.parametrize("family", ["xvi4ger8", "xvi16ger2", "xvf32ger", "xvbf16ger2"])
    def test_the_last_product_is_dropped(self, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
        right = rank_k_update.rank_k_update

        def dropped(alg: Any, update: Any, x: Any, y: Any, acc: Any, live: Any, *rest: Any) -> Any:
            keep = np.arange(x.shape[-1]) < x.shape[-1] - 1
            zero = alg.constant(0, update.family.x)
            return right(alg, update, alg.where(np.asarray(keep, dtype=object), x, zero), y, acc, live, *rest)

        monkeypatch.setattr(rank_k_update, "rank_k_update", dropped)
        refuted(f"power/blocked/next/{family}")

    @pytest.mark.parametrize("family", ["xvi8ger4", "xvf64ger", "xvf16ger2"])
    def test_the_accumulator_is_transposed_or_moved(
        self, family: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right = rank_k_update.rank_k_update

        def moved(alg: Any, update: Any, x: Any, y: Any, acc: Any, *rest: Any) -> Any:
            return right(alg, update, x, y, acc[..., ::-1, :], *rest)

        monkeypatch.setattr(rank_k_update, "rank_k_update", moved)
        refuted(f"power/blocked/next/{family}")

    def test_a_sign_error_shows_over_the_ring(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = rank_k_update.float_sum

        def flipped(alg: Any, update: Any, *rest: Any) -> Any:
            return right(alg, UPDATES["xvf32gerpp"] if update.suffix == "pn" else update, *rest)

        monkeypatch.setattr(rank_k_update, "float_sum", flipped)
        verdict = decided(obligations()["power/blocked/ring/xvf32gerpn"])
        assert verdict.status is Status.REFUTED


class TestKernelMutants:
    """The paper's kernels with single faults."""

    @pytest.mark.parametrize("fault", [(0, 0, 1), (1, 1, 1), (7, 0, 3)])
    def test_a_wrong_operand_of_one_update(self, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        order = tuple(fault if entry[0] == fault[0] else entry for entry in paper._ORDER)
        assert order != paper._ORDER
        monkeypatch.setattr(paper, "_ORDER", order)
        refuted("power/kernels/dgemm/next/little")

    @pytest.mark.parametrize(("x_step", "y_step"), [(64, 0), (0, 64), (64, 32)])
    @pytest.mark.parametrize("iteration", ["first", "next"])
    def test_a_pointer_that_does_not_advance_to_the_next_column(
        self, iteration: str, x_step: int, y_step: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def faulty(b: Any, acc: Any, x: Any, y: Any) -> Any:
            return paper.dgemm_update(b, acc, x[..., :64], y[..., :64]), x[..., x_step:], y[..., y_step:]

        monkeypatch.setattr(paper, "dgemm_iteration", faulty)
        refuted(f"power/kernels/dgemm/{iteration}/little")

    def test_an_accumulating_first_update_starts_from_another_zero(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right = paper.outer_product

        def accumulating(b: Any, acc: Any, operation: str, xs: Any, ys: Any) -> Any:
            zeroed = tuple(b.set_to_zero() for _ in range(8)) if acc is None else acc
            return right(b, zeroed, "xvf64gerpp", xs, ys)

        monkeypatch.setattr(paper, "outer_product", accumulating)
        refuted("power/kernels/dgemm/first/big")

    def test_accumulators_stored_in_another_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = paper.store_accumulators
        monkeypatch.setattr(paper, "store_accumulators", lambda b, acc: right(b, (*acc[4:], *acc[:4])))
        refuted("power/kernels/dgemm/stored/little")


class TestNumericsMutants:
    """Formats one bit too narrow, and a first rounding that f16 does not have."""

    def test_a_significand_one_bit_too_short_for_bf16_products(self, monkeypatch: pytest.MonkeyPatch) -> None:
        short = replace(rank_k_update.SIGNIFICAND_24, name="short", bits=26, fraction_bits=14)
        monkeypatch.setattr(numerics, "SIGNIFICAND_24", short)
        verdict = decided(
            next(o for o in numerics.exact_product.obligations() if o.id.endswith("bf16-in-short"))
        )
        assert verdict.status is Status.REFUTED
        assert verdict.counterexample is not None and verdict.counterexample.replays

    def test_a_reading_that_f16_depends_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = rank_k_update.float_sum

        def dependent(alg: Any, update: Any, x: Any, y: Any, *rest: Any) -> Any:
            if rest[-1].bf16_sum == "single":
                x = x[..., ::-1]
            return right(alg, update, x, y, *rest)

        monkeypatch.setattr(rank_k_update, "float_sum", dependent)
        refuted("power/numerics/bf16-sum/xvf16ger2pp")
