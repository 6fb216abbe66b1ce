"""The fragments that CUTLASS's MMA_Traits state, in its C++ spelling, against the specification."""

from __future__ import annotations

import pytest

from mmaproof.spec.foreign_layouts.against import compare_layout
from mmaproof.spec.foreign_layouts.comparison import Verdict

F16 = "f32.f16.f16.f32"


def _mma(shape: str, types: str, layouts: str = "row.col", kind: str = "") -> str:
    return f"mma.sync.aligned.{shape}.{layouts}{kind}.{types}"


def _cute(shape: str, stride: str) -> str:
    """Spell a pair of nested tuples as C++ does."""
    spelled = [
        text.replace("(", f"{name}<").replace(")", "> ")
        for name, text in (("Shape", shape), ("Stride", stride))
    ]
    return f"Layout<{', '.join(spelled)}>"


ROWS_8X8 = _cute("((_4,_8),_2)", "((_16,_1),_8)")
ROWS_16X8 = _cute("((_4,_8),(_2,_2))", "((_32,_1),(_16,_8))")
ROWS_8X16 = _cute("((_4,_8),_4)", "((_32,_1),_8)")
ONE_8X4 = _cute("((_4,_8),_1)", "((_8,_1),_0)")
QUAD_PAIR_ROW = _cute("(_8,_4)", "(_1,_8)")
QUAD_PAIR_COLUMN = _cute("((_4,_2),_4)", "((_8,_4),_1)")
QUAD_PAIR_F16 = _cute("(_8,_8)", "(_1,_8)")
QUAD_PAIR_F32 = _cute("((_2,_2,_2),(_2,_2,_2))", "((_1,_16,_4),(_8,_2,_32))")

MXF4 = _mma("m16n8k64", "f32.e2m1.e2m1.f32.ue8m0", kind=".kind::mxf4.block_scale.scale_vec::2X")
NVF4 = _mma("m16n8k64", "f32.e2m1.e2m1.f32.ue4m3", kind=".kind::mxf4nvf4.block_scale.scale_vec::4X")
MXF8 = _mma("m16n8k32", "f32.e4m3.e2m1.f32.ue8m0", kind=".kind::mxf8f6f4.block_scale.scale_vec::1X")

TRAITS = [
    *(
        (_mma("m8n8k4", types, f"{a}.{b}"), {
            "a": QUAD_PAIR_ROW if a == "row" else QUAD_PAIR_COLUMN,
            "b": QUAD_PAIR_ROW if b == "col" else QUAD_PAIR_COLUMN,
            "c": accumulator,
        })
        for a in ("row", "col") for b in ("row", "col")
        for types, accumulator in (("f16.f16.f16.f16", QUAD_PAIR_F16), (F16, QUAD_PAIR_F32))
    ),
    (_mma("m16n8k8", F16), {"a": ROWS_16X8, "b": ROWS_8X8, "c": ROWS_16X8, "d": ROWS_16X8}),
    *(
        (_mma("m16n8k16", types), {
            "a": _cute("((_4,_8),(_2,_2,_2))", "((_32,_1),(_16,_8,_128))"),
            "b": _cute("((_4,_8),(_2,_2))", "((_16,_1),(_8,_64))"),
            "c": ROWS_16X8,
        })
        for types in (F16, "f16.f16.f16.f16", "f32.bf16.bf16.f32")
    ),
    (_mma("m16n8k4", "f32.tf32.tf32.f32"), {"a": _cute("((_4,_8),_2)", "((_16,_1),_8)"), "b": ONE_8X4}),
    (_mma("m16n8k8", "f32.tf32.tf32.f32"), {
        "a": _cute("((_4,_8),(_2,_2))", "((_16,_1),(_8,_64))"), "b": _cute("((_4,_8),_2)", "((_8,_1),_32)"),
    }),
    (_mma("m8n8k4", "f64.f64.f64.f64"), {"a": ONE_8X4, "b": ONE_8X4, "c": ROWS_8X8}),
    (_mma("m16n8k4", "f64.f64.f64.f64"), {"a": _cute("((_4,_8),_2)", "((_16,_1),_8)"), "b": ONE_8X4}),
    (_mma("m16n8k16", "f64.f64.f64.f64"), {
        "a": _cute("((_4,_8),(_2,_4))", "((_16,_1),(_8,_64))"),
        "b": _cute("((_4,_8),_4)", "((_8,_1),_32)"),
        "c": ROWS_16X8,
    }),
    (_mma("m8n8k16", "s32.s8.s8.s32"), {"a": ROWS_8X16, "b": ROWS_8X16, "c": ROWS_8X8}),
    (_mma("m16n8k16", "s32.u8.s8.s32"), {
        "a": _cute("((_4,_8),(_4,_2))", "((_64,_1),(_16,_8))"), "b": ROWS_8X16,
    }),
    *(
        (_mma("m16n8k32", types, kind=kind), {
            "a": _cute("((_4,_8),(_4,_2,_2))", "((_64,_1),(_16,_8,_256))"),
            "b": _cute("((_4,_8),(_4,_2))", "((_32,_1),(_8,_128))"),
        })
        for types, kind in (
            ("s32.s8.s8.s32", ""), ("f32.e4m3.e5m2.f32", ""), ("f32.e2m1.e3m2.f32", ".kind::f8f6f4"),
        )
    ),
    (_mma("m8n8k32", "s32.s4.s4.s32"), {"a": _cute("((_4,_8),(_8))", "((_64,_1),(_8))")}),
    (_mma("m16n8k32", "s32.s4.s4.s32"), {"a": _cute("((_4,_8),(_8,_2))", "((_128,_1),(_16,_8))")}),
    (_mma("m8n8k128", "s32.b1.b1.s32.xor.popc"), {"a": _cute("((_4,_8),_32)", "((_256,_1),_8)")}),
    (_mma("m16n8k256", "s32.b1.b1.s32.and.popc"), {
        "a": _cute("((_4,_8),(_32,_2,_2))", "((_512,_1),(_16,_8,_2048))"),
        "b": _cute("((_4,_8),(_32,_2))", "((_256,_1),(_8,_1024))"),
    }),
    *(
        (scaled, {
            "a": _cute("((_4,_8),(_8,_2,_2))", "((_128,_1),(_16,_8,_512))"),
            "b": _cute("((_4,_8),(_8,_2))", "((_64,_1),(_8,_256))"),
            "scale_a": _cute("((_2,_2,_8),_64)", "((_8,_0,_1),_16)"),
            "scale_b": _cute("((_4,_8),_64)", "((_0,_1),_8)"),
            "c": ROWS_16X8,
        })
        for scaled in (MXF4, NVF4)
    ),
    (MXF8, {
        "scale_a": _cute("((_2,_2,_8),_32)", "((_8,_0,_1),_16)"),
        "scale_b": _cute("((_4,_8),_32)", "((_0,_1),_8)"),
    }),
]  # fmt: skip


SP = "mma.sp::ordered_metadata.sync.aligned"
SPARSE_K64 = {
    "a": _cute("((_4,_8),(_8,_2,_2))", "((_128,_1),(_16,_8,_512))"),
    "metadata": _cute("((_2,_2,_8),_32)", "((_8,_512,_1),_16)"),
}
SPARSE_K128 = {
    "a": _cute("((_4,_8),(_16,_2,_2))", "((_256,_1),(_16,_8,_1024))"),
    "metadata": _cute("((_2,_2,_8),(_64))", "((_8,_1024,_1),(_16))"),
}
SPARSE = [
    (f"{SP}.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32", SPARSE_K64),
    (f"{SP}.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32", SPARSE_K64),
    (f"{SP}.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0", SPARSE_K64),
    (f"{SP}.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", SPARSE_K128),
    (f"{SP}.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", SPARSE_K128),
]


@pytest.mark.parametrize(("instruction", "layouts"), SPARSE)
def test_sparse_layouts_that_count_the_uncompressed_k_are_equal_up_to_that(
    instruction: str, layouts: dict[str, str]
) -> None:
    for operand, text in layouts.items():
        found = compare_layout(instruction, operand, text)
        assert found.equal, list(found.lines())
        assert found.notes == ("equal, counting the uncompressed K",)
        wrong = compare_layout(instruction, operand, text.replace("_512", "_256").replace("_1024", "_512"))
        assert not wrong.equal


def test_a_layout_of_the_stored_elements_is_equal_without_a_note() -> None:
    instruction = f"{SP}.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32"
    found = compare_layout(instruction, "a", "((4,8),(4,2,2)):((64,1),(16,8,256))")
    assert found.equal and found.notes == ()
    dense = compare_layout(_mma("m16n8k32", "f32.e4m3.e4m3.f32"), "a", SPARSE_K64["a"])
    assert dense.verdict is Verdict.WRONG_SIZE


@pytest.mark.parametrize(
    ("instruction", "layouts"), TRAITS, ids=lambda part: part if isinstance(part, str) else ""
)
def test_the_layouts_of_the_traits_are_the_specified_ones(instruction: str, layouts: dict[str, str]) -> None:
    verdicts = {operand: compare_layout(instruction, operand, text) for operand, text in layouts.items()}
    assert {operand: list(found.lines()) for operand, found in verdicts.items() if not found.equal} == {}


def test_the_stride_of_the_int4_b_that_was_wrong_is_named() -> None:
    found = compare_layout(_mma("m16n8k32", "s32.s4.s4.s32"), "b", _cute("((_4,_8),(_8))", "((_32,_1),(_8))"))
    assert found.verdict is Verdict.COLLISION
    assert found.repair == "change the stride 32 (coordinate 0 of the lane) to 64: ((4,8),(8)):((64,1),(8))"


def test_the_stride_of_a_one_bit_a_that_is_nested_deeper_than_its_shape_is_named() -> None:
    found = compare_layout(
        _mma("m16n8k128", "s32.b1.b1.s32.xor.popc"),
        "a",
        _cute("((_4,_8),(_32,_2))", "((_512,_1),((_16,_8)))"),
    )
    assert found.verdict is Verdict.INCONGRUENT
    assert "the shape (32,2) meets the stride ((16,8))" in found.witness
    assert found.repair is not None
    assert found.repair.endswith("((4,8),(32,2)):((512,1),(16,8))")


def test_one_transposed_thread_group_is_a_permutation_of_lanes() -> None:
    found = compare_layout(MXF4, "scale_a", _cute("((_2,_2,_8),_64)", "((_0,_8,_1),_16)"))
    assert found.verdict is Verdict.OTHER_BIJECTION
    assert "lane 1, element 0 holds (row 0, k 0), specified is (row 8, k 0)" in found.witness
