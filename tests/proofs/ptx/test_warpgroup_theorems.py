"""Theorems about products of warpgroups and matrix descriptors: mutants that must be refuted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from theorem_mutants import refutation_of

from mmaproof.proofs.ptx import combinations, described_matrices, descriptors, documented, warpgroups
from mmaproof.spec.ptx import catalogue, fragments, matrix_descriptor, resolution, variant_rules
from mmaproof.spec.ptx.matrix_descriptor import SharedMatrix
from mmaproof.spec.ptx.sparsity import Sparsity
from mmaproof.spec.ptx.variant import Family
from mmaproof.spec.ptx.warpgroup import Scales, warpgroup_product
from mmaproof.spec.ptx.wgmma_forms import WGMMA_FORMS

Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    cached = (resolution._fragment, variant_rules.narrow, warpgroups._a_by_width)
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


# -- who holds what
def warps_take_rows_in_turn(patch: Patch) -> None:
    order = "warp quad lane count piece half run -> count half warp quad piece lane run"
    patch.setattr(fragments, "_RUNS", MappingProxyType({**fragments._RUNS, "row": order}))


def halves_behind_pieces(patch: Patch) -> None:
    order = "warp quad lane count half piece run -> count warp half quad piece lane run"
    patch.setattr(fragments, "_RUNS", MappingProxyType({**fragments._RUNS, "row": order}))


def metadata_of_the_other_rows(patch: Patch) -> None:
    found = Sparsity.layout.func  # type: ignore[attr-defined]
    patch.setattr(Sparsity, "layout", property(lambda self: replace(found(self), origin=(0, 8, 0))))


# -- what is computed
def computing(patch: Patch, change: Any) -> None:
    patch.setattr(warpgroups, "warpgroup_product", change)


def old_d_always_counts(patch: Patch) -> None:
    computing(patch, lambda alg, form, v, choices, scales: warpgroup_product(
        alg, form, v, choices, replace(scales, d=True)))  # fmt: skip


def b_is_negated_for_a(patch: Patch) -> None:
    computing(patch, lambda alg, form, v, choices, scales: warpgroup_product(
        alg, form, v, choices, Scales(scales.d, scales.b, scales.a)))  # fmt: skip


def always_negated(patch: Patch) -> None:
    computing(patch, lambda alg, form, v, choices, scales: warpgroup_product(
        alg, form, v, choices, replace(scales, a=-1)))  # fmt: skip


# -- where elements are
def other_bits_are_swizzled(patch: Patch) -> None:
    def swizzled(address: Any, width: int, atom: int = 16) -> Any:
        return address ^ (((address >> 8) & (max(width // 16, 1) - 1)) << 4)

    patch.setattr(matrix_descriptor, "swizzled", swizzled)


def bits_that_are_swizzled_themselves(patch: Patch) -> None:
    patch.setattr(descriptors, "swizzled", lambda address, width: address ^ ((address >> 1) & (width - 16)))


def the_pattern_begins_at_the_start(patch: Patch) -> None:
    def address(self: SharedMatrix, line: Any, k: Any, start: Any = None) -> tuple[Any, Any]:
        byte, *_ = self.offsets.forward(line, k)
        return matrix_descriptor.swizzled(byte, self.descriptor.swizzle) + (
            0 if start is None else start
        ), 0 * byte

    patch.setattr(SharedMatrix, "address", address)


def leading_and_stride_exchanged(patch: Patch) -> None:
    digits = SharedMatrix._digits

    def exchanged(self: SharedMatrix) -> Any:
        fields = replace(self.descriptor, leading=self.descriptor.stride, stride=self.descriptor.leading)
        return digits(replace(self, descriptor=fields))

    patch.setattr(SharedMatrix, "_digits", exchanged)


def codes_of_modes_exchanged(patch: Patch) -> None:
    patch.setattr(matrix_descriptor, "SWIZZLE_MODES", {0: 0, 128: 3, 64: 2, 32: 1})


def a_mask_too_short(patch: Patch) -> None:
    monkey = matrix_descriptor.swizzled
    patch.setattr(matrix_descriptor, "swizzled", lambda address, width, *atom: monkey(address, width // 2))


def bytes_backwards(patch: Patch) -> None:
    gather = SharedMatrix.gather

    def backwards(self: SharedMatrix, alg: Any, memory: Any, fmt: Any) -> Any:
        return gather(self, alg, memory[..., ::-1], fmt)

    patch.setattr(SharedMatrix, "gather", backwards)


# -- what is legal
def rows_changed(patch: Patch, number: int, **change: Any) -> None:
    rows = (*WGMMA_FORMS[:number], replace(WGMMA_FORMS[number], **change), *WGMMA_FORMS[number + 1 :])
    patch.setattr(documented, "ALL_FORMS", (*catalogue.WARP_FORMS, *rows, *catalogue.WARPGROUP_ORDER_FORMS))
    dense = tuple(row for row in rows if row.family is Family.WGMMA)
    patch.setattr(catalogue, "_FORMS", MappingProxyType({**catalogue._FORMS, Family.WGMMA: dense}))
    variant_rules.narrow.cache_clear()


def bf16_is_summed_in_f16(patch: Patch) -> None:
    """MLIR's verifier of NVVM takes it."""
    rows_changed(patch, 1, accumulators=(("f16", "f16"), ("f32", "f32")))


def integers_have_every_n(patch: Patch) -> None:
    rows_changed(patch, 4, columns=tuple(range(8, 257, 8)))


def integers_are_negated(patch: Patch) -> None:
    rows_changed(patch, 4, negates=True)


def tf32_is_transposed(patch: Patch) -> None:
    rows_changed(patch, 2, transposes=True)


MUTANTS = (
    (warps_take_rows_in_turn, warpgroups.warps, "d/n8"),
    (warps_take_rows_in_turn, warpgroups.warps, "a/16-bit"),
    (halves_behind_pieces, warpgroups.fragments, "a"),
    (halves_behind_pieces, warpgroups.fragments, "d"),
    (metadata_of_the_other_rows, warpgroups.fragments, "metadata"),
    (old_d_always_counts, warpgroups.scales, "k16/f32-f16-f16/scale-d"),
    (old_d_always_counts, warpgroups.scales, "k32/s32-s8-u8/scale-d"),
    (b_is_negated_for_a, warpgroups.scales, "k16/f32-f16-f16/scale-a"),
    (b_is_negated_for_a, warpgroups.scales, "k8/f32-tf32-tf32/scale-b"),
    (always_negated, warpgroups.arithmetic, "k16/f32-bf16-bf16"),
    (other_bits_are_swizzled, descriptors.conflict_free, "k-major-128/16-bit"),
    (other_bits_are_swizzled, described_matrices.descriptors, "places"),
    (bits_that_are_swizzled_themselves, descriptors.swizzle, "128-bytes"),
    (the_pattern_begins_at_the_start, descriptors.steps, "k-major-128/16-bit/k"),
    (the_pattern_begins_at_the_start, descriptors.steps, "k-major-64/8-bit/k"),
    (leading_and_stride_exchanged, described_matrices.descriptors, "canonical"),
    (leading_and_stride_exchanged, described_matrices.descriptors, "places"),
    (bytes_backwards, descriptors.executed, "mn-major-64/16-bit"),
    (codes_of_modes_exchanged, described_matrices.descriptors, "encodings"),
    (a_mask_too_short, descriptors.conflict_free, "k-major-64/32-bit"),
    (a_mask_too_short, described_matrices.descriptors, "canonical"),
    (bf16_is_summed_in_f16, documented.instructions, "wgmma"),
    (integers_have_every_n, documented.instructions, "wgmma"),
    (integers_are_negated, documented.instructions, "wgmma"),
    (tf32_is_transposed, documented.instructions, "wgmma"),
    (bf16_is_summed_in_f16, combinations.combinations, "wgmma.mma_async/accepted"),
)

test_a_fault_is_refuted = refutation_of(MUTANTS)
