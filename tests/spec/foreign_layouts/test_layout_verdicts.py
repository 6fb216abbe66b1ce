"""Every verdict on a foreign layout, with the witness that shows it; properties over the whole catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.foreign_layouts.against import compare_layout
from mmaproof.spec.foreign_layouts.comparison import Claim, Verdict, compare
from mmaproof.spec.foreign_layouts.cute import CuteLayout, leaves, nested_as
from mmaproof.spec.foreign_layouts.cute_comparison import compare_cute, cute_layout
from mmaproof.spec.foreign_layouts.cute_text import parse_layout
from mmaproof.spec.foreign_layouts.distribution import Distribution, distributions
from mmaproof.spec.foreign_layouts.linear import LinearLayout
from mmaproof.spec.foreign_layouts.linear_comparison import compare_linear, linear_layout
from mmaproof.spec.foreign_layouts.permutations import cycles
from mmaproof.spec.layout import Axis
from mmaproof.spec.ptx.catalogue import ALL_FORMS
from mmaproof.spec.ptx.mma_forms import MmaForm
from mmaproof.spec.ptx.operand_tables import operand_table, operands
from mmaproof.spec.ptx.resolution import multiplication
from mmaproof.spec.rearrangement import rearranged

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
F16 = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
INT4 = "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32"
PTO = "%c = tmatmul %a, %b : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>"

OPERANDS = {
    (str(variant), operand): variant
    for form in ALL_FORMS
    if isinstance(form, MmaForm)
    for variant in [next(iter(form.variants()))]
    for operand in operands(multiplication(variant))
}
every_operand = pytest.mark.parametrize("name", OPERANDS, ids="-".join)


@cache
def readings_of(name: tuple[str, str]) -> Sequence[Distribution]:
    """Return how an operand of an instruction may be distributed."""
    table = operand_table(OPERANDS[name], name[1])
    return list(distributions(table, by_columns=name[1] in ("b", "scale_b")))


@every_operand
def test_every_operand_has_a_cute_layout_and_vectors_that_are_found_equal(name: tuple[str, str]) -> None:
    for reading in readings_of(name):
        layout, linear = cute_layout(reading), linear_layout(reading)
        assert linear is not None
        assert compare_cute(layout, [reading]).equal
        assert compare_layout(*name, str(layout)).equal
        if reading.holders[0] == "lane":
            assert compare_linear(linear, [reading]).equal


@given(st.sampled_from(list(OPERANDS)), st.data())
def test_one_changed_stride_is_found_and_named(name: tuple[str, str], data: st.DataObject) -> None:
    reading = data.draw(st.sampled_from(readings_of(name)))
    layout = cute_layout(reading)
    steps = leaves(layout.stride)
    place = data.draw(st.integers(0, len(steps) - 1))
    changed = data.draw(st.integers(-4, 2 * max(steps)).filter(lambda step: step != steps[place]))
    assume(leaves(layout.shape)[place] > 1)
    wrong = CuteLayout(layout.shape, nested_as(layout.stride, [*steps[:place], changed, *steps[place + 1 :]]))
    found = compare_cute(wrong, [reading])
    assert not found.equal
    assert found.repair is not None
    assert found.repair.startswith(f"change the stride {changed} (")
    assert found.repair.endswith(f" to {steps[place]}: {layout}")


@given(st.sampled_from(list(OPERANDS)), st.data())
def test_one_changed_vector_is_found_and_named(name: tuple[str, str], data: st.DataObject) -> None:
    reading = readings_of(name)[-1]
    linear = linear_layout(reading)
    assert linear is not None
    holder = data.draw(st.sampled_from([holder for holder, basis in linear.bases.items() if basis]))
    bit = data.draw(st.integers(0, len(linear.bases[holder]) - 1))
    right = linear.bases[holder][bit]
    wrong = data.draw(
        st.tuples(*(st.integers(0, 2 * axis.extent) for axis in reading.axes)).filter(lambda v: v != right)
    )
    basis = (*linear.bases[holder][:bit], wrong, *linear.bases[holder][bit + 1 :])
    found = compare_linear(LinearLayout({**linear.bases, holder: basis}), [reading])
    assert not found.equal
    assert found.repair == f"change {holder}={1 << bit} -> {list(wrong)} to {list(right)}"


@given(st.sampled_from(list(OPERANDS)), st.data())
def test_a_pure_permutation_is_named(name: tuple[str, str], data: st.DataObject) -> None:
    reading = readings_of(name)[-1]
    axis = data.draw(st.sampled_from([axis for axis in (0, 1) if reading.domain[axis] > 1]))
    image = data.draw(st.permutations(range(reading.domain[axis])).filter(lambda p: p != sorted(p)))
    found = compare(Claim.of_grid(np.take(reading.coordinates, image, axis=axis)), reading)
    assert found.verdict is Verdict.OTHER_BIJECTION
    assert found.permutation is not None
    if axis == 0:
        assert found.permutation == f"lanes {cycles(image)}"
    else:
        assert found.permutation.startswith(("elements (", "registers ("))


@given(st.sampled_from(list(OPERANDS)), st.data())
def test_one_wrong_element_is_found(name: tuple[str, str], data: st.DataObject) -> None:
    reading = readings_of(name)[-1]
    owner, number = (data.draw(st.integers(0, extent - 1)) for extent in reading.domain)
    other = tuple(data.draw(st.integers(-1, axis.extent)) for axis in reading.axes)
    claimed = reading.coordinates.copy()
    claimed[owner, number] = other
    found = compare(Claim.of_grid(claimed), reading)
    inside = all(0 <= place < axis.extent for place, axis in zip(other, reading.axes, strict=True))
    if tuple(reading.coordinates[owner, number]) == other:
        assert found.equal
    else:
        assert found.verdict is (Verdict.COLLISION if inside else Verdict.OUT_OF_RANGE)
        assert f"lane {owner}, " in found.witness


@pytest.mark.parametrize(
    ("instruction", "operand", "layout", "verdict", "witness"),
    [
        (
            MMA,
            "a",
            "((4,8),(2,2,2)):((32,1),(16,8))",
            Verdict.INCONGRUENT,
            "the shape (2,2,2) meets the stride (16,8)",
        ),
        (MMA, "a", "((4,8),(2,2)):((32,1),(16,8))", Verdict.WRONG_SIZE, "32 lanes of 4 elements"),
        (
            MMA,
            "a",
            "((4,8),(2,2,2)):((32,1),(16,8,256))",
            Verdict.OUT_OF_RANGE,
            "(row 0, column 16), which is outside",
        ),
        (MMA, "a", "((4,8),(2,2,2)):((32,-1),(16,8,128))", Verdict.OUT_OF_RANGE, "lane 4, element 0"),
        (
            MMA,
            "a",
            "((4,8),(2,2,2)):((0,1),(16,8,128))",
            Verdict.COLLISION,
            "lane 0, element 0 and lane 1, element 0 hold",
        ),
        (
            INT4,
            "b",
            "((4,8),8):((32,1),8)",
            Verdict.COLLISION,
            "96 elements have too few holders, first (row 20, column 0)",
        ),
        (
            MMA,
            "a",
            "((4,8),(2,2,2)):((32,1),(16,128,8))",
            Verdict.OTHER_BIJECTION,
            "lane 0, element 2 holds (row 0, column 8)",
        ),
        (
            MMA,
            "a",
            "{register: [[0,1],[8,0]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]}",
            Verdict.WRONG_SIZE,
            "4 registers",
        ),
        (PTO, "a", "(16,32):(32,1)", Verdict.OTHER_BIJECTION, "row 0, column 16 holds (offset 16)"),
        (
            "xvf32ger",
            "acc",
            "(4,4):(4,1)",
            Verdict.OTHER_BIJECTION,
            "register 0, field 1 holds (row 1, column 0)",
        ),
    ],
)
def test_a_wrong_layout_has_its_verdict(
    instruction: str, operand: str, layout: str, verdict: Verdict, witness: str
) -> None:
    found = compare_layout(instruction, operand, layout)
    assert (found.verdict, found.equal) == (verdict, False)
    assert witness in found.witness


def test_an_element_that_nobody_holds_is_named() -> None:
    rows = "lane,element,row,column\n0,0,0,0\n"
    found = compare_layout(MMA, "c", rows)
    assert found.verdict is Verdict.GAP
    assert found.witness == "nobody holds (row 0, column 1), one of 127 such elements"


def test_a_holder_that_does_not_exist_is_out_of_range() -> None:
    found = compare_layout(MMA, "c", "lane,element,row,column\n40,0,0,0\n")
    assert found.verdict is Verdict.OUT_OF_RANGE
    assert found.witness.endswith("has no lane 40, element 0")


def test_a_coordinate_of_one_value_needs_no_other_stride() -> None:
    found = compare_layout(MMA, "b", "((4,1,8),(2,1,2)):((16,7,2),(8,5,64))")
    assert found.repair == "change the stride 2 (coordinate 2 of the lane) to 1: " + (
        "((4,1,8),(2,1,2)):((16,7,1),(8,5,64))"
    )


def test_registers_and_transposition_are_recognised() -> None:
    swapped = compare_layout(MMA, "a", "((4,8),(2,2,2)):((32,1),(16,128,8))")
    assert swapped.permutation == "registers (1 2)"
    transposed = compare_layout(MMA, "b", "((4,8),(2,2)):((2,16),(1,8))")
    assert transposed.notes == ("it is equal if its index counts rows first, and not columns",)
    held, matrix = (tuple(Axis(name, 4) for name in names) for names in (("lane", "i"), ("row", "column")))
    in_order = rearranged("x", held, matrix, "row column -> row column", row=4, column=4)
    square = Distribution("x", ("lane", "element"), in_order, (0, 1))
    exchanged = compare(Claim.of_grid(square.coordinates[..., ::-1]), square)
    assert exchanged.permutation == "rows and columns are exchanged"


def test_permuted_rows_are_recognised_where_no_holders_are() -> None:
    (reading,) = readings_of((F16, "c"))
    claimed = reading.coordinates.copy()
    claimed[..., 0] ^= claimed[..., 0] >> 3 & 1
    found = compare(Claim.of_grid(claimed), reading)
    assert found.permutation == "rows (8 9)(10 11)(12 13)(14 15)"


@pytest.mark.parametrize("other", [(5, 0), (5, 1), (0, 3)])
def test_what_no_permutation_explains_has_none(other: tuple[int, int]) -> None:
    (reading,) = readings_of((F16, "c"))
    claimed = reading.coordinates.copy()
    claimed[0, 0], claimed[other] = claimed[other].copy(), claimed[0, 0].copy()
    found = compare(Claim.of_grid(claimed), reading)
    assert (found.verdict, found.permutation) == (Verdict.OTHER_BIJECTION, None)


@pytest.mark.parametrize("operand", ["a", "b", "c"])
def test_what_the_isa_leaves_open_is_unsupported(operand: str) -> None:
    with pytest.raises(UnsupportedError, match="does not specify"):
        compare_layout("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", operand, "(32,8):(8,1)")


@pytest.mark.parametrize("sign", ["", "-"])
def test_the_largest_step_is_read_with_either_sign(sign: str) -> None:
    assert parse_layout(f"(4,2):({sign}{2**31},1)").stride == (int(f"{sign}{2**31}"), 1)
    with pytest.raises(InputError, match="absurdly large"):
        parse_layout(f"(4,2):({sign}{2**31 + 1},1)")


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("(1000,1000,1000):(1,1,1)", "1000000000 elements is not looked at"),
        ("((1000000000),1):((1),1)", "1000000000 elements is not looked at"),
        (f"(32,8):({10**30},1)", "absurdly large"),
        ("(" * 5000 + "1" + ")" * 5000, "characters is not read|nested more than"),
        ("(" * 100 + "1", "nested more than"),
        ("((4,8),(2,2,2):((32,1),(16,8,128))", "expected ')'"),
        ("((4,8),(2,2,2)):((32,1),(16,8,128)))", "unexpected ')'"),
        ("((4,8),0):((1,4),1)", "extents are 1 or more"),
        ("32:1", "should have two, (lane, element)"),
        ("(4,8,8):(1,4,32)", "3 outermost coordinates"),
        ("((4,8),x):((1,4),1)", "expected an integer"),
        ("Swizzle<3,3,3> o (32,8):(8,1)", "expected an integer"),
        ("{register: [[0,1]], lane: [[0,2,3]]}", "same number of coordinates"),
        ("{register: [[0,1,2]], lane: [[0,2,3]]}", "has 2 coordinates, not 3"),
        ("{register: [[0,-1]]}", "coordinates are 0 or more"),
        (f"{{register: [{', '.join(['[1, 0]'] * 30)}]}}", "2\\^30 elements is not looked at"),
        ("{thread: [[0,1]], lane: [[0,1]]}", "written twice"),
        (" - register=1 -> (0, 1)\n   register=4 -> (8, 0)", "register=2 is next"),
        ("{offset: [[0,1]]}", "for shared memory"),
        ("lane,element,row,column\n0,0,0\n", "line 2"),
        (
            "lane,element,row,column\n0,0,0,0\n0,0,0,1\n",
            "line 3 of the layout is about lane 0, element 0, as line 2",
        ),
        ("lane,element,row,column\n0,0,x,0\n", "row is 'x', not a whole number"),
        ("lane,element,row\n0,0,0\n", "lacks the column 'column'"),
        ("lane,element,row,column,colour\n0,0,0,0,1\n", "the column 'colour'"),
        ("lane,row,column\n0,0,0\n", "does not say which element"),
        ("[]", "without rows"),
        ("[1, 2]", "list of objects"),
        ("[{", "not JSON"),
        ("", "is no layout"),
        ("anything at all", "is no layout"),
    ],
)
def test_what_is_no_layout_is_refused(layout: str, message: str) -> None:
    pattern = message if "\\" in message or "|" in message else None
    with pytest.raises(InputError, match=pattern) as refused:
        compare_layout(MMA, "c", layout)
    if pattern is None:
        assert message in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_layout_without_strides_is_compact() -> None:
    found = compare_layout("xvf32ger", "acc", "make_layout(make_shape(4, Int<4>{}))")
    assert found.equal is compare_layout("xvf32ger", "acc", "(4,4):(1,4)").equal is True


def test_replacing_a_verdict_keeps_the_rest() -> None:
    found = compare_layout(MMA, "a", "((4,8),(2,2,2)):((32,1),(16,8,128))").with_notes("seen")
    assert replace(found, notes=()).document()["equal"] is True
    assert list(found.lines())[-1] == "note: seen"
