"""Theorems about PTO tiles: verdicts, vacuity, ties to what executes, and mutants that must be refuted."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from theorem_checks import SOLVE, decided, judged, unexpected, vacuous

from mmaproof.proofs.catalogue import obligations
from mmaproof.proofs.families import scaling
from mmaproof.proofs.families.block_products import BlockOperand
from mmaproof.proofs.induction import Induction, mismatch
from mmaproof.proofs.instances import Entailment, implication
from mmaproof.proofs.obligation import IntegerProperty, Obligation, Status, Theorem
from mmaproof.proofs.pto import (
    any_k,
    blocked,
    layouts,
    numerics,
    operands,
    pitches,
    products,
    tile_layouts,
    transport,
)
from mmaproof.proofs.pto import scaling as microscaling
from mmaproof.proofs.real_claims import follows as all_follow
from mmaproof.proofs.real_claims import integer_formula
from mmaproof.spec.formats import UE8M0
from mmaproof.spec.pto import cube, fractal, movers, placement, sizes
from mmaproof.spec.pto import products as spec_products
from mmaproof.spec.pto.element_types import ELEMENT_TYPES
from mmaproof.spec.pto.targets import A2A3, A5, alias
from mmaproof.spec.pto.tile import Location, Order
from mmaproof.spec.rounding import Rounding

MODULES = (
    layouts, tile_layouts, pitches, transport, products, any_k, microscaling, blocked, numerics
)  # fmt: skip


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected(theorem for module in MODULES for theorem in module.THEOREMS) == {}


def test_no_obligation_is_vacuous() -> None:
    # what the rows of `microscaling` assume is proved by `unit`
    left_out = (microscaling.unit_row, microscaling.commutes)
    assert vacuous(t for module in MODULES for t in module.THEOREMS if t not in left_out) == []


def test_every_theorem_is_in_the_catalogue() -> None:
    for module in MODULES:
        for theorem in module.THEOREMS:
            assert all(obligation.id in obligations() for obligation in theorem.obligations())


def refuted(theorem: Theorem, name: str) -> None:
    """Check that an obligation that is expected to be proved is refuted."""
    obligation = next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    assert obligation.expect is Status.PROVED
    assert decided(obligation).status is Status.REFUTED


class TestTies:
    """The symbolic claims are about what executes."""

    @given(
        st.sampled_from([Location.LEFT, Location.RIGHT, Location.ACC, Location.MAT, Location.SCALE_LEFT]),
        st.sampled_from([A2A3, A5]),
        st.sampled_from(["i8", "f16", "f32"]),
        st.integers(1, 4),
        st.integers(1, 4),
    )
    def test_the_stated_inverse_is_the_executable_one(
        self, location: Location, profile: Any, element: str, block_rows: int, block_columns: int
    ) -> None:
        box = alias(profile, location, ELEMENT_TYPES[element], (2, 2)).box
        extent = (block_rows * box[0], block_columns * box[1])
        tile = alias(profile, location, ELEMENT_TYPES[element], extent)
        offset, pitch = np.arange(extent[0] * extent[1]), placement.physical(tile).pitch
        order = fractal.layout_of(tile)
        stated = layouts.coordinates(order, offset // pitch, offset % pitch)
        executed = fractal.buffer_layout(tile).inverse(offset)
        assert all((left == right).all() for left, right in zip(stated, executed, strict=True))

    @given(st.integers(1, 6), st.integers(1, 6), st.sampled_from(list(Location)[1:5]))
    def test_a_tile_has_the_pitch_of_its_extent(self, rows: int, columns: int, location: Location) -> None:
        tile = alias(A5, location, ELEMENT_TYPES["f16"], (16 * rows, 16 * columns))
        assert placement.physical(tile) == layouts.of_extent(fractal.layout_of(tile), tile.rows, tile.columns)


def follows(obligation: Obligation) -> bool:
    """Tell whether a deduction over the integers follows, whatever products are."""
    goal = obligation.goal()
    assert isinstance(goal, Entailment)
    implied = implication(goal)
    assert isinstance(implied, IntegerProperty)
    return all_follow(*integer_formula(implied, opaque=True), SOLVE).status == "unsat"


class TestLayoutMutants:
    """Wrong offsets."""

    def test_a_bit_of_the_offset_is_lost(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = fractal.FractalLayout.offset
        monkeypatch.setattr(
            fractal.FractalLayout, "offset", lambda self, r, c, p: right(self, r, c - (c & 1), p)
        )
        refuted(layouts.line, "Nz-16x16")
        refuted(layouts.line, "ND")
        refuted(tile_layouts.vectors, "A5/scale_left/f8E8M0FNU/32x4")
        refuted(tile_layouts.aliases, "A5/left/f16/32x48")

    def test_blocks_in_the_other_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        other = {Order.ROW_MAJOR: Order.COL_MAJOR, Order.COL_MAJOR: Order.ROW_MAJOR, Order.NONE_BOX: None}
        right = fractal.FractalLayout.offset

        def transposed(self: Any, row: Any, column: Any, pitch: Any) -> Any:
            inner = other[self.inner] or self.inner
            return right(replace(self, inner=inner), row, column, pitch)

        monkeypatch.setattr(fractal.FractalLayout, "offset", transposed)
        refuted(layouts.line, "Zz-16x16")
        refuted(tile_layouts.vectors, "A5/right/f16/32x48")

    def test_the_pitch_of_the_other_axis(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = fractal.FractalLayout.pitch
        monkeypatch.setattr(
            fractal.FractalLayout, "pitch", lambda self, rows, columns: right(self, columns, rows)
        )
        refuted(layouts.line, "Zn-16x16")
        refuted(layouts.buffer_size, "Nz-16x8")

    def test_a_longer_pitch_leaves_gaps(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = fractal.FractalLayout.pitch
        monkeypatch.setattr(fractal.FractalLayout, "pitch", lambda self, r, c: right(self, r, c) + 16)
        refuted(layouts.buffer_size, "Nn-2x16")
        refuted(layouts.line, "Nn-2x16")

    def test_a_layout_that_is_wrong_does_not_follow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = layouts.digits
        monkeypatch.setattr(layouts, "digits", lambda layout, r, c: right(layout, r, c + 1))
        refuted(layouts.line, "Zz-16x16")
        assert not follows(layouts.any_extent.obligation("Zz-16x16"))

    @pytest.mark.parametrize("left_out", [layouts.lines, layouts.buffer_size])
    @pytest.mark.parametrize("name", ["Zz-16x16", "Nz-16x8"])
    def test_every_premise_is_needed(self, name: str, left_out: Theorem) -> None:
        goal = layouts.any_extent.obligation(name).goal()
        assert isinstance(goal, Entailment)

        def others(alg: Any, v: Any) -> Any:
            return (use for use in goal.uses(alg, v) if not use.premise.id.startswith(left_out.id))

        assert not follows(Obligation("test/less", "", lambda: replace(goal, uses=others)))

    def test_a_wrong_instance_does_not_do(self) -> None:
        goal = layouts.any_extent.obligation("ND").goal()
        assert isinstance(goal, Entailment)

        def next_line(alg: Any, v: Any) -> Any:
            for use in goal.uses(alg, v):
                other = {"line": use.inputs["line"] + 1} if "lines" in use.inputs else {}
                yield replace(use, inputs={**use.inputs, **other})

        assert follows(Obligation("test/right", "", lambda: goal))
        assert not follows(Obligation("test/wrong", "", lambda: replace(goal, uses=next_line)))

    def test_rounding_down_loses_elements(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(layouts, "rounded_up", lambda extent, granule: extent - (extent & (granule - 1)))
        refuted(layouts.compact, "16")


class TestPitchMutants:
    """Wrong pitches and wrong conditions."""

    @pytest.mark.parametrize("name", ["A2A3/a/f16", "A5/a/f16", "A5/b/i8", "A2A3/d/f32"])
    def test_a_unit_that_does_not_round_up(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(placement, "rounded_up", lambda extent, granule: extent)
        refuted(pitches.exact, name)

    def test_conditions_one_block_too_wide(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = pitches.at_most
        monkeypatch.setattr(pitches, "at_most", lambda alg, left, limit: right(alg, left, limit + 1))
        refuted(pitches.exact, "A2A3/d/f32")
        refuted(pitches.exact, "A5/b/f32")

    def test_conditions_too_narrow_are_not_necessary(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = pitches.at_most
        monkeypatch.setattr(pitches, "at_most", lambda alg, left, limit: right(alg, left, limit - 1))
        refuted(pitches.exact, "A5/d/f32")

    def test_compact_movers_with_physical_pitches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pitches, "mover_placement", lambda profile, tile, valid: placement.physical(tile))
        refuted(pitches.compact, "A5/a/f32")
        refuted(pitches.compact, "A2A3/d/f32")

    def test_a_simulator_with_the_units_pitches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = pitches.operand_placement
        monkeypatch.setattr(pitches, "operand_placement", lambda op, profile, *rest: right(op, A5, *rest))
        refuted(pitches.simulator, "d")


class TestTransportMutants:
    """Wrong movers."""

    def test_an_origin_that_is_ignored(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = movers.read

        def at_the_beginning(*arguments: Any, row: int = 0, column: int = 0) -> Any:
            return right(*arguments)

        monkeypatch.setattr(movers, "read", at_the_beginning)
        refuted(transport.executed, "A5/compact")

    def test_a_store_of_the_transposed_block(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = movers.read
        monkeypatch.setattr(movers, "read", lambda *rest, **at: right(*rest, **at)[..., ::-1, :])
        refuted(transport.load_store, "CPU/Nz")

    def test_a_unit_with_another_inner_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = pitches.unit_layout
        monkeypatch.setattr(
            pitches, "unit_layout", lambda *rest: replace(right(*rest), inner=Order.ROW_MAJOR)
        )
        mutant = transport._sees_block(
            pitches.UnitOperand(products.OPERATIONS["tmatmul"], A5, "b", ELEMENT_TYPES["f16"]),
            Order.COL_MAJOR,
        )
        assert judged(mutant).status is Status.REFUTED


def mutate_product(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Let the theorems' products be what `change` makes of the arguments."""
    right = spec_products.product

    def mutant(alg: Any, operation: Any, a: Any, b: Any, **rest: Any) -> Any:
        return right(alg, *change(operation, a, b, rest), **rest)

    for module in (operands, cube):
        monkeypatch.setattr(module, "product", mutant)


class TestProductMutants:
    """Wrong sums."""

    def test_the_last_product_is_dropped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mutate_product(monkeypatch, lambda op, a, b, _: (op, a[..., :-1], b[..., :-1, :]))
        refuted(blocked.step, "s8-s8-s32/tmatmul.acc/k3")
        refuted(blocked.step, "f16-f16-f32/tmatmul/k32")
        refuted(blocked.reals, "bf16-bf16-f32/tmatmul.bias")
        refuted(blocked.one_more, "f32-f32-f32/tmatmul")

    def test_k_decreasing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mutate_product(monkeypatch, lambda op, a, b, _: (op, a[..., ::-1], b[..., ::-1, :]))
        refuted(blocked.step, "f16-f16-f32/tmatmul.acc/k3")
        refuted(blocked.one_more, "e4m3-e5m2-f32/tmatmul.acc")

    def test_the_accumulator_is_not_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        plain = products.OPERATIONS["tmatmul"]

        def change(operation: Any, a: Any, b: Any, rest: Any) -> Any:
            rest.pop("c", None)
            return plain if operation.accumulates else operation, a, b

        mutate_product(monkeypatch, change)
        refuted(products.accumulator, "s8-s8-s32")
        refuted(products.bias, "f16-f16-f32/seeded")
        refuted(blocked.split_step, "f32-f32-f32/reals")
        refuted(any_k.zero_lane, "s8-s8-s32")

    def test_rows_that_are_swapped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mutate_product(monkeypatch, lambda op, a, b, _: (op, a[..., ::-1, :], b))
        refuted(blocked.tiles, "s8-s8-s32/tmatmul")
        refuted(blocked.reals, "f16-f16-f32/tmatmul")

    def test_an_accumulator_that_is_always_the_operand(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cube, "accumulator_role", lambda choices: "c")
        obligation = next(o for o in products.in_place.obligations() if o.id.endswith("A5/separate"))
        assert decided(obligation).status is Status.PROVED

    def test_a_gemv_that_takes_fractals(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(placement, "gemv_mode", lambda operation, profile: False)
        refuted(products.gemv, "A5/tgemv")

    def test_gemv_sizes_from_other_operands(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = sizes.size_sources

        def swapped(*rest: Any) -> Any:
            m, k, n = right(*rest)
            return m, n, k

        monkeypatch.setattr(
            sizes, "size_sources", lambda op, p: swapped(op, p) if op.name == "tgemv" else right(op, p)
        )
        refuted(products.gemv_sizes, "A5")


class TestLoopMutants:
    """Wrong tiles and wrong beginnings of loops."""

    def test_tiles_of_the_first_rows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = BlockOperand.part

        def of_the_first_rows(self: Any, array: Any, rows: slice, columns: slice) -> Any:
            return right(self, array, slice(rows.stop - rows.start), columns)

        monkeypatch.setattr(BlockOperand, "part", of_the_first_rows)
        for form in ("tmatmul", "tmatmul.acc"):
            refuted(blocked.step, f"s8-s8-s32/{form}/k3")

    def test_a_bias_that_moves_along_the_rows(self) -> None:
        first = any_k._biased()["s8-s8-s32/k1"]
        assert judged(any_k._alike(first)).status is Status.PROVED
        wrong = replace(first, start=lambda v: any_k._rows_of_bias(v)[..., ::-1])
        assert judged(any_k._alike(wrong)).status is Status.REFUTED

    def test_loops_that_begin_otherwise_are_no_induction(self) -> None:
        goal = any_k.any_size.obligation("bias/s8-s8-s32").goal()
        assert isinstance(goal, Induction)
        assert mismatch(goal, obligations()) is None
        plain = dict.fromkeys(goal.base, any_k._plain()["s8-s8-s32"])
        assert mismatch(replace(goal, base=plain), obligations())


class TestMicroscalingMutants:
    """Wrong scale factors."""

    def test_another_unit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scaling, "ONE", {UE8M0: scaling.ONE[UE8M0] + 1})
        refuted(microscaling.unit, "e5m2")

    def test_groups_of_another_size(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(spec_products, "SCALE_GROUP", 31)
        refuted(microscaling.commutes, "e4m3-e4m3-f32")

    def test_a_product_format_that_is_too_narrow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        narrow = replace(spec_products.SCALED, name="narrow", bits=12, fraction_bits=2)
        monkeypatch.setattr(microscaling, "SCALED", narrow)
        refuted(microscaling.exact, "e4m3")


class TestNarrowingMutants:
    """Other conversions of what leaves the accumulator."""

    def test_sums_that_are_cut_off_do_not_overflow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(movers, "Rounding", SimpleNamespace(NEAREST_EVEN=Rounding.TOWARD_ZERO))
        refuted(numerics.narrowed, "f16/overflow")

    def test_sums_that_are_rounded_up_on_both_sides(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(movers, "Rounding", SimpleNamespace(NEAREST_EVEN=Rounding.UPWARD))
        refuted(numerics.narrowed, "f16/monotone")
