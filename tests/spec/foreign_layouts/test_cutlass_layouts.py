"""What is said of fragments that CUTLASS's MMA_Traits state otherwise; those that agree are theorems."""

from __future__ import annotations

import pytest

from mmaproof.proofs.ptx.stated.foreign_layouts import MXF4, SPARSE, mma
from mmaproof.spec.foreign_layouts.against import compare_layout
from mmaproof.spec.foreign_layouts.comparison import Verdict


@pytest.mark.parametrize(("instruction", "layouts"), SPARSE.items())
def test_sparse_layouts_that_count_the_uncompressed_k_are_equal_up_to_that(
    instruction: str, layouts: dict[str, str]
) -> None:
    for operand, text in layouts.items():
        found = compare_layout(instruction, operand, text)
        assert found.equal, list(found.lines())
        assert found.notes == ("equal, counting the uncompressed K",)
        wrong = compare_layout(instruction, operand, text.replace("512", "256").replace("1024", "512"))
        assert not wrong.equal


def test_a_layout_of_the_stored_elements_is_equal_without_a_note() -> None:
    instruction = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32"
    found = compare_layout(instruction, "a", "((4,8),(4,2,2)):((64,1),(16,8,256))")
    assert found.equal and found.notes == ()
    dense = compare_layout(mma("m16n8k32", "f32.e4m3.e4m3.f32"), "a", "((4,8),(8,2,2)):((128,1),(16,8,512))")
    assert dense.verdict is Verdict.WRONG_SIZE


def test_the_stride_of_the_int4_b_that_was_wrong_is_named() -> None:
    found = compare_layout(mma("m16n8k32", "s32.s4.s4.s32"), "b", "((4,8),(8)):((32,1),(8))")
    assert found.verdict is Verdict.COLLISION
    assert found.repair == "change the stride 32 (coordinate 0 of the lane) to 64: ((4,8),(8)):((64,1),(8))"


def test_the_stride_of_a_one_bit_a_that_is_nested_deeper_than_its_shape_is_named() -> None:
    found = compare_layout(
        mma("m16n8k128", "s32.b1.b1.s32.xor.popc"),
        "a",
        "((4,8),(32,2)):((512,1),((16,8)))",
    )
    assert found.verdict is Verdict.INCONGRUENT
    assert "the shape (32,2) meets the stride ((16,8))" in found.witness
    assert found.repair is not None
    assert found.repair.endswith("((4,8),(32,2)):((512,1),(16,8))")


def test_one_transposed_thread_group_is_a_permutation_of_lanes() -> None:
    found = compare_layout(MXF4, "scale_a", "((2,2,8),64):((0,8,1),16)")
    assert found.verdict is Verdict.OTHER_BIJECTION
    assert "lane 1, element 0 holds (row 0, k 0), specified is (row 8, k 0)" in found.witness
