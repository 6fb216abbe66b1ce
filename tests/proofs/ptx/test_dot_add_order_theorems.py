"""Theorems about what fused dot-adds depend on: verdicts, and mutants to refute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from theorem_checks import judged, unexpected

from mmaproof.proofs.listing import about
from mmaproof.proofs.obligation import Status
from mmaproof.proofs.ptx import dot_add_order as theorems
from mmaproof.proofs.ptx.accumulations import accumulations

HOPPER = next(
    accumulation for accumulation in accumulations() if accumulation.name == "hopper/f16-f16-f32-f32/k16"
)


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected(theorems.THEOREMS) == {}


def test_every_model_with_several_steps_depends_on_them() -> None:
    names = {obligation.id.split("/")[3] for obligation in theorems.step_order.obligations()}
    assert {"ampere", "ada", "hopper", "blackwell-sm100"} <= names


@pytest.mark.parametrize(
    ("mnemonic", "expected"),
    [
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
            {"dot-add-bound", "dot-add-integers", "dot-add-order", "dot-add-monotone", "dot-add-split-k"},
        ),
        (
            "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16",
            {"dot-add-bound", "dot-add-integers", "dot-add-order", "dot-add-step-order", "dot-add-overflow"},
        ),
        (
            "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
            {"dot-add-bound", "dot-add-integers", "dot-add-order", "dot-add-monotone", "dot-add-split-k"},
        ),
    ],
)
def test_an_instruction_names_its_theorems(mnemonic: str, expected: set[str]) -> None:
    found = {theorem.id.removeprefix("ptx/numerics/") for theorem in about("ptx", mnemonic)}
    assert expected <= found
    assert ("dot-add-monotone" in found) == (".f32." in mnemonic)


# -- mutants


def test_a_model_that_sums_in_pairs_depends_on_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    right = theorems.truncated_sum

    def weighted(model: Any, factors: Any, addend: Any) -> Any:
        total = right(model, factors, addend)
        return total + factors[0].values[0] * np.ldexp(1.0, 5)

    monkeypatch.setattr(theorems, "truncated_sum", weighted)
    assert judged(theorems._exchanged(HOPPER, both=True)).status is Status.REFUTED


def test_an_accumulator_that_holds_the_products_does_not_overflow() -> None:
    narrow = next(
        accumulation
        for accumulation in accumulations()
        if (accumulation.a.name, accumulation.accumulator.name) == ("e3m2", "f16")
    )
    assert judged(theorems._finite(narrow)).status is not Status.REFUTED
