"""``mmaproof layout``."""

from __future__ import annotations

import csv
import io
import json
import re
from xml.etree import ElementTree

import pytest
from command_line import mmaproof
from document_schemas import validate

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
SPARSE = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
SCALED = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
LOAD = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"


@pytest.mark.parametrize(
    ("instruction", "operand", "elements"),
    [
        (MMA, "a", 256), (MMA, "b", 128), (MMA, "c", 128), (MMA, "d", 128), (SPARSE, "a", 256),
        (SPARSE, "metadata", 256), (SCALED, "scale_a", 128), (SCALED, "scale_b", 128),
        (LOAD, "registers", 256), (LOAD, "addresses", 32),
        ("xvf64gerpp a4,vs44,vs40", "x", 4), ("pmxvi4ger8", "y", 32), ("xvf32ger", "acc", 16),
    ],
)  # fmt: skip
def test_every_operand_has_a_layout(instruction: str, operand: str, elements: int) -> None:
    result = mmaproof("layout", instruction, "--operand", operand, "--format", "json")
    document = json.loads(result.out)
    validate("layout", document)
    assert (result.status, len(document["elements"])) == (0, elements)
    for output in ("table", "svg", "html"):
        drawn = mmaproof("layout", instruction, "--operand", operand, "--format", output)
        assert (drawn.status, drawn.err) == (0, "")
        if output == "svg":
            ElementTree.fromstring(drawn.out)


def test_an_element_and_a_lane_are_found() -> None:
    one = mmaproof("layout", MMA, "--operand", "c", "--element", "3,5", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(one.out))
    assert (row["lane"], row["register"], row["bit"]) == ("14", "1", "0")
    held = mmaproof("layout", MMA, "--operand", "a", "--lane", "5", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(held.out)))
    assert [(int(r["row"]), int(r["column"])) for r in rows] == [
        (1, 2), (1, 3), (9, 2), (9, 3), (1, 10), (1, 11), (9, 10), (9, 11),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("instruction", "operand", "element", "register", "byte"),
    [
        ("xvf64ger", "x", "3,0", 1, 8), ("xvf64ger", "y", "1,0", 0, 8), ("xvf64ger", "acc", "2,1", 2, 8),
        ("xvi16ger2s", "x", "2,1", 0, 10), ("xvi4ger8pp", "y", "1,3", 0, 5),
        ("xvf16ger2", "acc", "1,2", 1, 8),
    ],
)  # fmt: skip
def test_an_element_of_a_power_operand_is_found(
    instruction: str, operand: str, element: str, register: int, byte: int
) -> None:
    result = mmaproof("layout", instruction, "--operand", operand, "--element", element, "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(result.out))
    assert (row["register"], row["byte"]) == (str(register), str(byte))


def test_what_ptx_leaves_unspecified_is_status_3() -> None:
    wmma = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"
    result = mmaproof("layout", wmma, "--operand", "a")
    assert (result.status, result.out) == (3, "")
    assert result.err.startswith("mmaproof: error: PTX does not specify which thread holds")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((MMA, "--operand", "scale_a"), "no operand 'scale_a'"),
        ((MMA, "--operand", "a", "--lane", "32"), "no lane 32"),
        ((MMA, "--operand", "a", "--element", "16,0"), "no row 16"),
        ((MMA, "--operand", "a", "--element", "x"), "not two numbers"),
        (("mma.sync.aligned.m16n8k15.row.col.f32.f16.f16.f32", "--operand", "a"), "m16n8k15"),
        (("xvf32ger", "--operand", "a"), "no operand 'a'; it has x, y, acc"),
        (("xvf32ger", "--operand", "x", "--lane", "0"), "held by registers; there is no lane 0"),
        (("xvf32ger", "--operand", "x", "--element", "4,0"), "no row 4"),
        (("xxmtacc", "--operand", "acc"), "no rank-k update"),
        (("frobnicate", "--operand", "a"), "frobnicate"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments: tuple[str, ...], message: str) -> None:
    result = mmaproof("layout", *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("instruction", "operand"),
    [
        (MMA, "a"),
        (SPARSE, "metadata"),
        (LOAD, "registers"),
        ("xvi8ger4pp", "x"),
        ("v_mfma_f32_4x4x4f16", "b"),
    ],
)
def test_the_view_of_registers_has_every_element_once(instruction: str, operand: str) -> None:
    document = json.loads(mmaproof("layout", instruction, "--operand", operand, "--format", "json").out)
    axes, places = list(document["axes"]), {}
    for row in document["elements"]:
        owner = row.get("lane", row["register"])
        places.setdefault(owner, []).append(tuple(row[axis] for axis in axes))
    result = mmaproof(
        "layout", instruction, "--operand", operand, "--view", "registers", "--format", "markdown"
    )
    assert (result.status, result.err) == (0, "")
    shown: dict[int, list[tuple[int, ...]]] = {}
    for line in result.out.splitlines():
        name, *cells = line.strip("| ").split(" | ")
        if not re.fullmatch(r"[TR]\d+", name):
            continue
        for place in " ".join(cells).split():
            first, _, last = place.partition("-")
            *front, column = map(int, first.split(","))
            shown.setdefault(int(name[1:]), []).extend(
                (*front, each) for each in range(column, int(last or column) + 1)
            )
    assert {owner: sorted(each) for owner, each in shown.items()} == {
        owner: sorted(each) for owner, each in places.items()
    }


def test_the_view_of_registers_is_a_table() -> None:
    result = mmaproof("layout", MMA, "--operand", "a", "--view", "registers", "--format", "csv")
    assert result.wrong_use and "--view registers" in result.err
    table = mmaproof("layout", MMA, "--operand", "c", "--view", "registers").out.splitlines()
    assert [line.split() for line in table if "T14" in line] == [["T14", "3,4", "3,5", "11,4", "11,5"]]


def test_a_layout_as_markdown() -> None:
    lines = mmaproof("layout", MMA, "--operand", "c", "--format", "markdown").out.splitlines()
    assert lines[3:6] == [
        "| column: | 0-1 | 2-3 | 4-5 | 6-7 |",
        "| --- | --- | --- | --- | --- |",
        "| row 0 | T0:0-1 | T1:0-1 | T2:0-1 | T3:0-1 |",
    ]
    one = mmaproof("layout", MMA, "--operand", "c", "--element", "3,5", "--format", "markdown").out
    assert "| 14 | 1 | 1 | 0 | 3 | 5 |" in one
