"""``mmaproof layout``."""

from __future__ import annotations

import csv
import io
import json
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
    ("arguments", "message"),
    [
        ((MMA, "--operand", "scale_a"), "no operand 'scale_a'"),
        ((MMA, "--operand", "a", "--lane", "32"), "no lane 32"),
        ((MMA, "--operand", "a", "--element", "16,0"), "no row 16"),
        ((MMA, "--operand", "a", "--element", "x"), "not two numbers"),
        (("mma.sync.aligned.m16n8k15.row.col.f32.f16.f16.f32", "--operand", "a"), "m16n8k15"),
        (("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "--operand", "a"), "does not specify"),
        (("frobnicate", "--operand", "a"), "frobnicate"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments: tuple[str, ...], message: str) -> None:
    result = mmaproof("layout", *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1
