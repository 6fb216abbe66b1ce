"""Triton's linear layouts: every way they are printed, and layouts of more than one instruction."""

from __future__ import annotations

import pytest

from mmaproof.spec.errors import InputError
from mmaproof.spec.foreign_layouts.against import compare_layout
from mmaproof.spec.foreign_layouts.comparison import Verdict
from mmaproof.spec.foreign_layouts.linear import HOLDERS, parse_linear

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
INT8 = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
TF32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
F64 = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"

A = """
 - register=1 -> (0, 1)
   register=2 -> (8, 0)
   register=4 -> (0, 8)
 - lane=1 -> (0, 2)
   lane=2 -> (0, 4)
   lane=4 -> (1, 0)
   lane=8 -> (2, 0)
   lane=16 -> (4, 0)
 - warp is a size 1 dimension
 - block is a size 1 dimension
where out dims are: [dim0 (size 16), dim1 (size 16)]"""
A_ATTRIBUTE = (
    "#ttg.linear<{register = [[0, 1], [8, 0], [0, 8]], "
    "lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>"
)
A_GLUON = (
    "DistributedLinearLayout(reg_bases=[[0, 1], [8, 0], [0, 8]], lane_bases=[[0, 2], [0, 4], [1, 0], "
    "[2, 0], [4, 0]], warp_bases=[], block_bases=[], shape=[16, 16])"
)
A_JSON = '{"register": [[0,1],[8,0],[0,8]], "lane": [[0,2],[0,4],[1,0],[2,0],[4,0]], "warp": []}'
A_PLAIN = "{register: [[0,1],[8,0],[0,8]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]], warp: []}"
QUADS = "lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]"
C = f"{{register: [[0,1],[8,0]], {QUADS}}}"


@pytest.mark.parametrize(
    "text",
    [
        A, A_ATTRIBUTE, A_GLUON, A_JSON, A_PLAIN, A.replace("\n", "\\n"), A.strip(),
        A.replace("register", "value").replace("lane", "thread"),
    ],
)  # fmt: skip
def test_every_way_to_print_a_layout_is_read(text: str) -> None:
    assert compare_layout(F16, "a", text).equal
    read, attribute = parse_linear(text.replace("\\n", "\n")), parse_linear(A_ATTRIBUTE)
    assert {holder: read.basis(holder) for holder in HOLDERS} == {
        holder: attribute.basis(holder) for holder in HOLDERS
    }


@pytest.mark.parametrize(
    ("instruction", "operand", "layout"),
    [
        (F16, "b", "{register: [[1,0],[8,0]], lane: [[2,0],[4,0],[0,1],[0,2],[0,4]]}"),
        (F16, "c", C),
        (INT8, "a", "{register: [[0,1],[0,2],[8,0],[0,16]], lane: [[0,4],[0,8],[1,0],[2,0],[4,0]]}"),
        (INT8, "b", "{register: [[1,0],[2,0],[16,0]], lane: [[4,0],[8,0],[0,1],[0,2],[0,4]]}"),
        (TF32, "a", "{register: [[8,0],[0,4]], lane: [[0,1],[0,2],[1,0],[2,0],[4,0]]}"),
        (F64, "a", "{register: [], lane: [[0,1],[0,2],[1,0],[2,0],[4,0]]}"),
        (F64, "c", "{register: [[0,1]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]}"),
    ],
)
def test_tritons_mma_layouts_are_the_specified_ones(instruction: str, operand: str, layout: str) -> None:
    assert compare_layout(instruction, operand, layout).equal


@pytest.mark.parametrize(
    ("beyond", "note"),
    [
        ("register: [[0,1],[8,0],[0,8],[16,0]]", "repeated 4 times"),
        ("register: [[0,1],[8,0]], warp: [[16,0],[0,8]]", "repeated 4 times"),
        ("register: [[0,1],[8,0]], warp: [[16,0],[0,0]]", "copies"),
        ("register: [[0,1],[8,0]], block: [[32,0]]", "repeated 2 times"),
    ],
)
def test_a_layout_that_repeats_the_tile_is_equal(beyond: str, note: str) -> None:
    found = compare_layout(F16, "c", f"{{{beyond}, {QUADS}}}")
    assert found.equal
    assert note in " ".join(found.notes)


@pytest.mark.parametrize(
    ("beyond", "witness"),
    [
        ("register: [[0,1],[8,0],[0,4]]", "register=4 -> [0, 4]"),
        ("register: [[0,1],[8,0]], warp: [[8,0]]", "warp=1 -> [8, 0]"),
        ("register: [[0,1],[8,0]], block: [[16,1]]", "block=1 -> [16, 1]"),
    ],
)
def test_a_layout_that_repeats_a_part_of_the_tile_is_not(beyond: str, witness: str) -> None:
    found = compare_layout(F16, "c", f"{{{beyond}, {QUADS}}}")
    assert found.verdict is Verdict.OTHER_BIJECTION
    assert witness in found.witness


def test_coordinates_are_taken_by_name() -> None:
    registers, lanes = ("(1, 0)", "(0, 8)", "(8, 0)"), ("(2, 0)", "(4, 0)", "(0, 1)", "(0, 2)", "(0, 4)")
    swapped = "\n".join(
        f" - {holder}={1 << bit} -> {vector}"
        for holder, vectors in (("register", registers), ("lane", lanes))
        for bit, vector in enumerate(vectors)
    )
    named = f"{swapped}\nwhere out dims are: [dim1 (size 16), dim0 (size 16)]"
    assert compare_layout(F16, "a", named).equal
    unnamed = compare_layout(F16, "a", swapped)
    assert unnamed.verdict is Verdict.OTHER_BIJECTION
    assert unnamed.notes == ("it is equal if its coordinates are (column, row), not (row, column)",)


def test_one_wrong_vector_is_named() -> None:
    found = compare_layout(F16, "a", A.replace("lane=8 -> (2, 0)", "lane=8 -> (3, 0)"))
    assert (found.verdict, found.repair) == (Verdict.OTHER_BIJECTION, "change lane=8 -> [3, 0] to [2, 0]")
    collision = compare_layout(F16, "a", A.replace("lane=8 -> (2, 0)", "lane=8 -> (1, 0)"))
    assert (collision.verdict, collision.repair) == (
        Verdict.COLLISION,
        "change lane=8 -> [1, 0] to [2, 0]",
    )


@pytest.mark.parametrize("operand", ["x", "acc"])
def test_an_operand_of_power_has_registers_and_fields_but_no_lanes(operand: str) -> None:
    with pytest.raises(InputError, match="no lanes"):
        compare_layout("xvf32ger", operand, "{register: [[1, 0]], lane: [[2, 0]]}")
    with pytest.raises(InputError, match="'offset' is for shared memory"):
        compare_layout("xvf32ger", operand, "{offset: [[1, 0]]}")
    assert compare_layout("xvf32ger", "acc", "{field: [[0,1],[0,2]], register: [[1,0],[2,0]]}").equal
    found = compare_layout("xvf32ger", "acc", "{field: [[0,1],[0,2]], register: [[2,0],[1,0]]}")
    assert found.permutation == "registers (1 2)"
    assert found.repair == "change register=1 -> [2, 0] to [1, 0], register=2 -> [1, 0] to [2, 0]"
    found = compare_layout("xvf32ger", "acc", "{field: [[0,1],[0,2]]}")
    assert found.verdict is Verdict.WRONG_SIZE
    assert found.witness.startswith("it has 1 registers of 4 fields; acc of xvf32ger has 4 registers")


@pytest.mark.parametrize("warps", ["[[0,0]]", "[[16,0],[16,0]]"])
def test_copies_are_noted(warps: str) -> None:
    found = compare_layout(F16, "c", f"{{register: [[0,1],[8,0]], {QUADS}, warp: {warps}}}")
    assert found.equal
    assert found.notes[-1] == "some registers, warps or blocks hold copies of others"


def test_a_vector_is_named_only_if_changing_it_is_enough() -> None:
    wrong = QUADS.replace("[2,0]", "[3,0]")
    for warps, repair in (("[[16,0]]", "change lane=8 -> [3, 0] to [2, 0]"), ("[[8,0]]", None)):
        found = compare_layout(F16, "c", f"{{register: [[0,1],[8,0]], {wrong}, warp: {warps}}}")
        assert (found.verdict, found.repair) == (Verdict.OTHER_BIJECTION, repair)
