"""Theorems about selectors of scale factors and about scaling: verdicts, and mutants that must be refuted."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from theorem_checks import SOLVE, decided, unexpected, vacuous

from mmaproof.proofs.decision import query
from mmaproof.proofs.families import scaling
from mmaproof.proofs.obligation import Deduction, Equality, Property, Status, Theorem
from mmaproof.proofs.ptx import scaling as block_scaling
from mmaproof.proofs.ptx import selectors
from mmaproof.proofs.replay import samples
from mmaproof.smt.number_algebra import NumberAlgebra
from mmaproof.spec import matrix_product
from mmaproof.spec.algebra import Algebra, Array, Operand
from mmaproof.spec.formats import FloatFormat
from mmaproof.spec.fragment import Selection
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx import accumulation
from mmaproof.spec.ptx.block_scaling import ScaleFactors, ScaleSlot, Selectors
from mmaproof.spec.ptx.resolution import Multiplication
from mmaproof.spec.rounding import Rounding

THEOREMS = (*selectors.THEOREMS, *block_scaling.THEOREMS)


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected(THEOREMS) == {}


def test_no_obligation_is_vacuous() -> None:
    scaled = (block_scaling.unit, block_scaling.exact, block_scaling.chunk)  # those of rows take minutes
    assert vacuous((*selectors.THEOREMS, *scaled)) == []


def test_what_rows_without_factors_assume_holds_of_every_sample() -> None:
    for obligation in block_scaling.unscaled_row.obligations():
        prop = obligation.goal()
        assert isinstance(prop, Property)
        assert prop.assuming is not None
        for values in samples(prop, np.random.default_rng(1), batch=64):
            assumptions = list(prop.assuming(NumpyAlgebra(), values))
            assert len(assumptions) == 2
            assert all(assumption.all() for assumption in assumptions), obligation.id


def test_rows_without_factors_rest_on_every_element_type() -> None:
    units = {obligation.id for obligation in block_scaling.unit.obligations()}
    assumed = set()
    for obligation in block_scaling.unscaled.obligations():
        goal = obligation.goal()
        assert isinstance(goal, Deduction)
        assumed |= set(goal.premises) & units
    assert assumed == units


def test_rows_need_what_they_assume() -> None:
    """Without the assumption uninterpreted sums of x · 1 and of x are different functions."""
    prop = next(block_scaling.unscaled_row.obligations()).goal()
    assert isinstance(prop, Property)
    question = query(replace(prop, assuming=None), NumberAlgebra(), Equality.BITS)
    assert SOLVE(question).status == "sat"


def test_every_kind_and_element_type_is_covered() -> None:
    instructions = block_scaling.instructions().values()
    assert {i.variant.kind for i in instructions} == {"mxf8f6f4", "mxf4", "mxf4nvf4"}
    for family in ("mma", "mma.sp"):
        of_family = [i for i in instructions if i.variant.family == family]
        for operand in ("a", "b"):
            types = {i.format(operand).name for i in of_family if i.variant.kind == "mxf8f6f4"}
            assert types == {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"}


def refuted(theorem: Theorem, name: str) -> None:
    """Check that an obligation expected to be proved is refuted."""
    obligation = next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    assert obligation.expect is Status.PROVED
    verdict = decided(obligation)
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.counterexample is not None
    assert verdict.solver == "numpy" or verdict.counterexample.replays


class TestPlaceMutants:
    """Factors in other lanes or bytes."""

    @pytest.fixture
    def patch_slot(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
        right = ScaleFactors.slot

        def patch(change: Callable[[ScaleSlot, Selectors], tuple[Any, Any]]) -> None:
            monkeypatch.setattr(
                ScaleFactors,
                "slot",
                lambda self, line, chunk, pair: ScaleSlot(*change(right(self, line, chunk, pair), pair)),
            )

        return patch

    def test_the_odd_lane_serves_the_first_row(self, patch_slot: Callable[[Any], None]) -> None:
        patch_slot(lambda slot, pair: (slot.lane ^ 1, slot.byte))
        refuted(selectors.scale_layout, "scale_a/1X/byte-0-thread-0")
        refuted(selectors.scale_layout, "scale_b/4X/byte-0-thread-2")

    def test_bytes_against_the_order_of_k(self, patch_slot: Callable[[Any], None]) -> None:
        patch_slot(lambda slot, pair: (slot.lane, slot.byte ^ 1))
        refuted(selectors.scale_layout, "scale_a/2X/byte-2-thread-0")
        refuted(selectors.scale_layout, "scale_b/4X/byte-0-thread-1")

    def test_one_lane_further(self, patch_slot: Callable[[Any], None]) -> None:
        patch_slot(lambda slot, pair: (slot.lane + 1, slot.byte))
        refuted(selectors.table_37, "scale_a/1X")
        refuted(selectors.table_37, "scale_b/4X")

    def test_one_byte_further(self, patch_slot: Callable[[Any], None]) -> None:
        patch_slot(lambda slot, pair: (slot.lane, slot.byte + 1))
        refuted(selectors.table_37, "scale_a/4X")

    def test_the_byte_selector_left_out(self, patch_slot: Callable[[Any], None]) -> None:
        patch_slot(lambda slot, pair: (slot.lane, slot.byte - pair.byte_id))
        refuted(selectors.once, "scale_a/2X/disjoint")
        refuted(selectors.once, "scale_b/1X/covers")


class TestSelectorMutants:
    """Another table."""

    def test_thread_ids_of_b_for_a(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(selectors.THREAD_IDS, "a", selectors.THREAD_IDS["b"])
        refuted(selectors.table_37, "scale_a/2X")

    def test_byte_selectors_not_aligned(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ScaleFactors, "byte_ids", property(lambda self: tuple(range(5 - self.size))))
        refuted(selectors.once, "scale_a/2X/disjoint")

    def test_read_under_another_thread(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = ScaleFactors.held

        def other(self: ScaleFactors, pair: Selectors, fmt: FloatFormat) -> Selection:
            return right(self, pair._replace(thread_id=1 - pair.thread_id), fmt)

        monkeypatch.setattr(ScaleFactors, "held", other)
        refuted(selectors.gathered, "scale_a/1X/byte-3-thread-0")


class TestScalingMutants:
    """Another arithmetic, or another spread of factors."""

    def test_the_next_encoding_as_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scaling, "ONE", {fmt: one + 1 for fmt, one in scaling.ONE.items()})
        refuted(block_scaling.unit, "e4m3/ue8m0")
        refuted(block_scaling.unit, "e2m1/ue4m3")

    @pytest.mark.parametrize(
        ("narrower", "name"),
        [
            (FloatFormat("short", 12, exponent_bits=9, fraction_bits=2, bias=255), "e4m3/ue8m0"),
            (FloatFormat("short", 13, exponent_bits=9, fraction_bits=3, bias=255), "e2m1/ue4m3"),
            (FloatFormat("small", 16, exponent_bits=8, fraction_bits=7, bias=127), "e5m2/ue8m0"),
        ],
        ids=["two-bits", "three-bits", "exponents-of-f32"],
    )
    def test_a_narrower_format(
        self, monkeypatch: pytest.MonkeyPatch, narrower: FloatFormat, name: str
    ) -> None:
        def rounded(alg: Algebra, x: Operand, factor: Operand, exact: FloatFormat) -> Operand:
            return Operand(alg.fused(narrower, Rounding.NEAREST_EVEN, [(x, factor)]), narrower)

        monkeypatch.setattr(scaling, "scaled", rounded)
        refuted(block_scaling.exact, name)

    def test_factors_in_turn_instead_of_side_by_side(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def in_turn(factors: Array, served: int, length: int) -> Array:
            return np.concatenate([factors] * served, axis=-1)

        monkeypatch.setattr(block_scaling, "spread", in_turn)
        monkeypatch.setattr(matrix_product, "spread", in_turn)
        refuted(block_scaling.chunk, "mma/mxf4/2X/ue8m0/e2m1-e2m1")
        refuted(block_scaling.chunk, "mma.sp/mxf4nvf4/4X/ue4m3/e2m1-e2m1")
        refuted(block_scaling.commutes, "mma/mxf4/2X/ue8m0/e2m1-e2m1")
        refuted(block_scaling.commutes, "mma.sp/mxf4nvf4/4X/ue4m3/e2m1-e2m1")
        refuted(block_scaling.equal_pairs, "mma/mxf4nvf4/4X/ue8m0/e2m1-e2m1")

    def test_only_the_elements_of_a_are_scaled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = accumulation.block_scaled
        of_a = itertools.cycle((True, False))

        def one_sided(alg: Algebra, x: Operand, *rest: Any) -> Operand:
            return right(alg, x, *rest) if next(of_a) else x

        monkeypatch.setattr(accumulation, "block_scaled", one_sided)
        refuted(block_scaling.commutes, "mma/mxf8f6f4/1X/ue8m0/e3m2-e2m3")

    def test_an_order_that_depends_on_the_kind(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Multiplication, "order_name", property(lambda self: str(self.variant)))
        refuted(block_scaling.kinds, "mma")
        refuted(block_scaling.kinds, "mma.sp")

    def test_a_second_factor_for_every_element(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = matrix_product.scaled

        def twice(alg: Algebra, x: Operand, factor: Operand, exact: FloatFormat) -> Operand:
            return right(alg, right(alg, x, factor, exact), Operand(factor.bits ^ 1, factor.format), exact)

        monkeypatch.setattr(matrix_product, "scaled", twice)
        refuted(block_scaling.unscaled_row, "mma/mxf8f6f4/1X/ue8m0/e3m2-e2m3")
        refuted(block_scaling.unscaled_row, "mma.sp/mxf4nvf4/4X/ue4m3/e2m1-e2m1")
