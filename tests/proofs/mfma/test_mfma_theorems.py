"""Theorems about MFMA: verdicts, coverage of the catalogue, and mutants that must be refuted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from theorem_checks import decided, unexpected, vacuous
from theorem_mutants import Mutant, each, of

from mmaproof.proofs.mfma import blocked, documented, layouts, legality, results
from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.spec import matrix_product
from mmaproof.spec.layout import Layout
from mmaproof.spec.matrix_product import integer_sum, rounded
from mmaproof.spec.mfma import catalogue, encoding, instructions, product
from mmaproof.spec.mfma.catalogue import ROWS, MatrixMultiply
from mmaproof.spec.mfma.layouts import layout


@pytest.mark.parametrize("module", [layouts, blocked], ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_obligation_has_the_expected_verdict(module) -> None:
    assert unexpected(module.THEOREMS) == {}
    assert vacuous(module.THEOREMS) == []


def test_every_instruction_has_its_layouts_and_its_loop() -> None:
    shapes = {(row.shape, row.blocks, row.is_double) for row in layouts.shapes().values()}
    assert shapes == {(row.shape, row.blocks, row.is_double) for row in ROWS}
    loops = {(row.k, row.factors, row.result) for row, _ in blocked.instructions().values()}
    assert loops == {(row.k, row.factors, row.result) for row in ROWS}


def _swapped(row: MatrixMultiply, operand: str) -> Layout:
    """Return the layout with the images of the two lowest bits of the lane in each other's place."""
    held = layout(row, operand)
    first, second, *others = held.digits
    assert (first.axis, second.axis) == (0, 0)
    return replace(
        held, digits=(replace(first, image=second.image), replace(second, image=first.image), *others)
    )


def swapped_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "layout", _swapped)


def _descending(step, fmt, x, y, start):
    total = start
    for k in reversed(range(x.bits.shape[-1])):
        factors = tuple(operand._replace(bits=operand.bits[..., k]) for operand in (x, y))
        total = step(fmt, [factors], [total])
    return total


def descending_k(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product, "chain", _descending)


def dropped_product(monkeypatch: pytest.MonkeyPatch) -> None:
    def short(alg, x, y):
        return integer_sum(alg, (x[0][..., 1:], x[1]), (y[0][..., 1:], y[1]))

    monkeypatch.setattr(product, "integer_sum", short)


def toward_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    from mmaproof.spec.rounding import Rounding

    monkeypatch.setattr(product, "rounded", lambda alg: rounded(alg, Rounding.TOWARD_ZERO))


STEP = blocked.THEOREMS[0]


def one_more_bit(patch: pytest.MonkeyPatch) -> None:
    """Take what is one bit too wide for blgp."""
    patch.setattr(encoding, "FIELDS", {**encoding.FIELDS, "blgp": (61, 4)})


def a_second_row(patch: pytest.MonkeyPatch) -> None:
    """Have an instruction twice."""
    patch.setattr(documented, "on", lambda target: (*catalogue.on(target), catalogue.on(target)[0]))


def unsigned_constants(patch: pytest.MonkeyPatch) -> None:
    """Take numbers below all of their width."""
    patch.setattr(instructions.Constant, "pattern", lambda self, bits: int(self.value) % (1 << bits))


def fewer_citations(patch: pytest.MonkeyPatch) -> None:
    less = tuple(replace(rule, contradictions=rule.contradictions[:1]) for rule in legality.RULES)
    patch.setattr(legality, "RULES", less)


def exchanged_rows(patch: pytest.MonkeyPatch) -> None:
    """Exchange rows 0 and 7 of A, which were alike when the numbers had a period of 7."""

    def paired(a, b):
        order = [7, *range(1, 7), 0, *range(8, a.shape[-2])] if a.shape[-2] > 7 else slice(None)
        return matrix_product.paired(a[..., order, :], b)

    patch.setattr(product, "paired", paired)


MUTANTS: list[Mutant] = [
    *((exchanged_rows, results.whole_products, name) for name in ("gfx90a", "gfx942", "gfx950")),
    (fewer_citations, legality.complete, "cited"),
    (unsigned_constants, documented.read_texts, "constants"),
    (one_more_bit, documented.read_texts, "fields"),
    (a_second_row, documented.instructions, "names"),
    (swapped_lanes, layouts.printed, "32x32x8-1b/narrow/a"),
    (swapped_lanes, layouts.printed, "4x4x4-4b/f64/c"),
    (descending_k, STEP, "k4/f64-f64-f64"),
    (dropped_product, STEP, "k16/s8-s8-s32"),
    (toward_zero, STEP, "k1/f32-f32-f32"),
]


@each(MUTANTS)
def test_mutants_are_refuted(mutate, theorem: Theorem, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)
    assert decided(of(theorem, name)).status is Status.REFUTED
