"""Theorems about fragments and a warp's product: verdicts, and mutants that must be refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest
from theorem_checks import decided, unexpected, vacuous

from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.ptx import layouts, printed_fragments, wmma
from mmaproof.spec.fragment import Fragment, Packing
from mmaproof.spec.layout import Digit, Layout
from mmaproof.spec.ptx.block_scaling import BlockScale, Selectors
from mmaproof.spec.ptx.resolution import Multiplication
from mmaproof.spec.ptx.sparsity import Sparsity

MODULES = {"layouts": layouts, "manual": printed_fragments, "transport": wmma}
EVERY_THEOREM = tuple(theorem for module in MODULES.values() for theorem in module.THEOREMS)


@pytest.mark.parametrize("module", MODULES.values(), ids=list(MODULES))
def test_every_obligation_has_the_expected_verdict(module: Any) -> None:
    assert unexpected(module.THEOREMS) == {}


def test_no_obligation_is_vacuous() -> None:
    assert vacuous([layouts.layout, layouts.quad_pairs, printed_fragments.manual]) == []


def test_every_dense_operand_has_a_printed_formula() -> None:
    printed = {o.id.removeprefix("ptx/fragment/manual/") for o in printed_fragments.manual.obligations()}
    assert {name for name in layouts.by_width() if name.startswith("mma.m")} <= printed


def test_only_b_of_the_sparse_shapes_that_have_no_dense_section_is_not_printed() -> None:
    printed = {o.id.removeprefix("ptx/fragment/manual/") for o in printed_fragments.manual.obligations()}
    assert set(layouts.by_width()) - printed == {
        "mma.sp.m16n8k16/32-bit/b",
        "mma.sp.m16n8k32/16-bit/b",
        "mma.sp.m16n8k64/8-bit/b",
        "mma.sp.m16n8k128/4-bit/b",
    }


def test_the_known_mistakes_are_pinned() -> None:
    pinned = {o.id for theorem in EVERY_THEOREM for o in theorem.obligations() if o.expect is Status.REFUTED}
    assert {name for name in pinned if not name.endswith("/padding")} == {
        "ptx/fragment/manual/misprint/equal",
        "ptx/fragment/manual/misprint/injective",
        "ptx/fragment/quad-pairs/c-f16-as-d-f32",
    }
    assert {name.split("/")[4] for name in pinned if name.endswith("/padding")} == {
        "e3m2-in-8",
        "e2m3-in-8",
        "e2m1-in-8",
    }


def refuted(theorem: Theorem, name: str) -> None:
    """Check that an obligation expected to be proved is refuted, with a counterexample."""
    obligation = next(o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    assert obligation.expect is Status.PROVED
    verdict = decided(obligation)
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.counterexample is not None and verdict.counterexample.replays


Change = Callable[[Layout], Layout]
Patch = Callable[[Change], None]


@pytest.fixture
def patch_layout(monkeypatch: pytest.MonkeyPatch) -> Patch:
    """Return a function that changes the layouts of all operands."""
    right = Multiplication.fragment

    def patch(change: Change) -> None:
        def fragment(form: Multiplication, role: str) -> Fragment:
            found = right(form, role)
            return replace(found, layout=change(found.layout))

        monkeypatch.setattr(Multiplication, "fragment", fragment)

    return patch


def with_images(layout: Layout, image: Callable[[Digit], tuple[int, ...]]) -> Layout:
    """Return a layout whose digits have other images."""
    return replace(layout, digits=tuple(replace(digit, image=image(digit)) for digit in layout.digits))


class NextColumn(Layout):
    """A layout with the inverse of another."""

    def inverse(self, *coordinates: Any) -> tuple[Any, ...]:
        """Return who holds the neighbour."""
        return super().inverse(*coordinates[:-1], coordinates[-1] ^ 1)


class TestFragmentMutants:
    """Other maps of (lane, i)."""

    def test_halves_of_a_register_the_other_way_round(self, patch_layout: Patch) -> None:
        patch_layout(lambda layout: replace(layout, origin=layout.forward(0, 1)))
        refuted(printed_fragments.manual, "mma.m16n8k16/16-bit/a")
        refuted(printed_fragments.manual, "mma.m16n8k16/32-bit/c")
        refuted(printed_fragments.manual, "mma.m16n8k256/1-bit/b")
        refuted(wmma.warp_product, "mma.m16n8k16.row.col.f32.bf16.bf16.f32")
        refuted(wmma.warp_product, "mma.m8n8k4.row.col.f32.f16.f16.f32")
        refuted(wmma.warp_product, "mma.m16n8k64.row.col.s32.s4.u4.s32")

    def test_registers_1_and_2_swapped(self, patch_layout: Patch) -> None:
        def swapped(layout: Layout) -> Layout:
            images = {1: 1, 2: 4, 4: 2}
            return with_images(
                layout,
                lambda digit: layout.forward(0, images[digit.weight]) if digit.axis else digit.image,
            )

        patch_layout(lambda layout: swapped(layout) if layout.points == 256 else layout)
        refuted(printed_fragments.manual, "mma.m16n8k16/16-bit/a")
        refuted(printed_fragments.manual, "mma.sp.m16n8k32/16-bit/a")

    def test_rows_and_columns_swapped(self, patch_layout: Patch) -> None:
        patch_layout(lambda layout: with_images(layout, lambda digit: digit.image[::-1]))
        refuted(layouts.layout, "mma.m16n8k8/32-bit/a")
        refuted(wmma.warp_product, "mma.m8n8k4.row.col.f64.f64.f64.f64")
        refuted(printed_fragments.manual, "mma.m8n8k4/64-bit/b")

    def test_the_second_eight_rows_are_forgotten(self, patch_layout: Patch) -> None:
        patch_layout(lambda layout: with_images(layout, lambda digit: (digit.image[0] & 7, *digit.image[1:])))
        refuted(layouts.layout, "mma.m16n8k16/8-bit/a")
        refuted(layouts.registers, "mma.m16n8k16/f16/c")
        refuted(printed_fragments.manual, "mma.m16n8k32/4-bit/a")
        refuted(printed_fragments.manual, "mma.sp.m16n8k16/16-bit/a")

    def test_threads_half_as_far_apart(self, patch_layout: Patch) -> None:
        def halved(digit: Digit) -> tuple[int, ...]:
            in_quad = digit.axis == 0 and digit.weight < 4
            return tuple(step // 2 for step in digit.image) if in_quad else digit.image

        patch_layout(lambda layout: with_images(layout, halved))
        refuted(layouts.layout, "mma.m16n8k32/4-bit/b")
        refuted(printed_fragments.manual, "mma.m16n8k32/4-bit/b")

    def test_an_inverse_of_something_else(self, patch_layout: Patch) -> None:
        patch_layout(lambda layout: NextColumn(*(getattr(layout, field.name) for field in fields(layout))))
        refuted(layouts.layout, "mma.m16n8k64/4-bit/a")
        refuted(layouts.registers, "mma.m8n8k4/f16/b/row")
        refuted(wmma.warp_product, "mma.m16n8k16.row.col.f32.bf16.bf16.f32")

    def test_the_last_element_in_the_lowest_bits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Packing.unpack
        monkeypatch.setattr(
            Packing, "unpack", lambda self, alg, registers: right(self, alg, registers)[..., ::-1]
        )
        refuted(layouts.registers, "mma.m16n8k8/f16/a")


class TestQuadPairMutants:
    """Other lanes for the four computations."""

    def test_eight_neighbouring_lanes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = layouts.QUAD_PAIR_LAYOUTS["a", "row"]
        neighbours = {8: 1, 16: 2}
        monkeypatch.setitem(
            layouts.QUAD_PAIR_LAYOUTS,
            ("a", "row"),
            with_images(right, lambda digit: (neighbours.get(digit.weight, 0), *digit.image[1:])),
        )
        refuted(layouts.quad_pairs, "a/row/lanes")
        refuted(layouts.quad_pairs, "a/row/layout")

    def test_f32_accumulators_laid_out_like_f16(self, monkeypatch: pytest.MonkeyPatch) -> None:
        described = layouts.QUAD_PAIR_LAYOUTS
        monkeypatch.setitem(described, ("c", "f32"), described["c", "f16"])
        refuted(printed_fragments.manual, "mma.m8n8k4/16-bit/c/f32")


class TestWarpMutants:
    """A warp that reads something else."""

    def test_scale_factors_of_other_lanes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = BlockScale.held
        monkeypatch.setattr(
            BlockScale,
            "held",
            lambda self, operand, pair: right(self, operand, Selectors(pair.byte_id, 0)),
        )
        refuted(
            wmma.warp_product,
            "mma.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        )

    def test_metadata_of_the_first_lane(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = Sparsity.held
        monkeypatch.setattr(Sparsity, "held", lambda self, selector: right(self, 0))
        refuted(wmma.warp_product, "mma.sp.m16n8k16.row.col.f16.f16.f16.f16")
