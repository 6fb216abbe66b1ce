"""Theorems about the numerics of PTX products and sums: verdicts, and mutants that must be refuted."""

from __future__ import annotations

import pytest
from theorem_checks import decided, judged, unexpected, vacuous

from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.ptx import integers, numerics
from mmaproof.spec.formats import BF16, F16

THEOREMS = (*integers.THEOREMS, *numerics.THEOREMS)


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected(THEOREMS) == {}


def test_no_obligation_is_vacuous() -> None:
    assert vacuous(THEOREMS) == []


def refuted(theorem: Theorem, name: str) -> None:
    """Check that an obligation expected to be proved is refuted."""
    obligation = next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    assert obligation.expect is Status.PROVED
    assert decided(obligation).status is Status.REFUTED


def test_no_exact_product_in_the_factors_own_format() -> None:
    assert judged(numerics._exact_product(F16, F16, F16)).status is Status.REFUTED
    assert judged(numerics._exact_conversion(BF16)).status is Status.REFUTED


def test_a_range_that_forgets_the_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integers, "product_range", lambda a, b: (0, a.maximum * b.maximum))
    refuted(integers.one_product, "s8-u8/bounds")


def test_headroom_for_any_number_of_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integers, "MOST_PRODUCTS", 1 << 16)
    refuted(integers.headroom, "u8-u8")


def test_partial_sums_beyond_the_precision() -> None:
    assert judged(numerics._representable(F16, 0.25)).status is Status.REFUTED
