"""Layouts as explicit rows: what mmaproof prints is equal to itself, and a changed row is found."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError
from mmaproof.spec.foreign_layouts.against import compare_layout
from mmaproof.spec.foreign_layouts.comparison import Verdict
from mmaproof.spec.instruction_set import read

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
QUAD_PAIRS = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"
SPARSE = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
SCALED = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
LOAD = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
PTO = "%c = tmatmul %a, %b : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>"

OPERANDS = [
    (MMA, "a"),
    (MMA, "b"),
    (MMA, "c"),
    (QUAD_PAIRS, "c"),
    (SPARSE, "metadata"),
    (SCALED, "scale_b"),
    (LOAD, "registers"),
    (LOAD, "addresses"),
    ("xvf32ger", "acc"),
    ("xvi8ger4", "x"),
    (PTO, "a"),
    (PTO, "b"),
]
every_operand = pytest.mark.parametrize(("instruction", "operand"), OPERANDS)


def _rows(instruction: str, operand: str) -> list[dict[str, int]]:
    return read(instruction).layout(operand).rows()


def _csv(rows: list[dict[str, int]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@every_operand
def test_the_published_table_is_equal_to_itself(instruction: str, operand: str) -> None:
    rows = _rows(instruction, operand)
    for text in (_csv(rows), json.dumps(rows), json.dumps({"schema": 1, "elements": rows[::-1]})):
        assert compare_layout(instruction, operand, text).equal


def test_holders_may_be_named_by_register_and_bit_or_by_other_names() -> None:
    rows = _rows(MMA, "a")
    by_register = [{k: row[k] for k in ("lane", "register", "bit", "row", "column")} for row in rows]
    renamed = [
        {"Thread": r["lane"], "value": r["element"], "row": r["row"], "col": r["column"]} for r in rows
    ]
    assert compare_layout(MMA, "a", json.dumps(by_register)).equal
    assert compare_layout(MMA, "a", _csv(renamed)).equal


@given(st.sampled_from(OPERANDS), st.data())
def test_two_exchanged_rows_are_found(which: tuple[str, str], data: st.DataObject) -> None:
    rows = _rows(*which)
    axes = [axis.name for axis in read(which[0]).layout(which[1]).axes]
    first, second = data.draw(
        st.lists(st.integers(0, len(rows) - 1), min_size=2, max_size=2, unique=True).map(sorted)
    )
    for axis in axes:
        rows[first][axis], rows[second][axis] = rows[second][axis], rows[first][axis]
    found = compare_layout(*which, json.dumps(rows))
    assert found.verdict is Verdict.OTHER_BIJECTION
    assert "2 of " in found.witness


@given(st.sampled_from(OPERANDS), st.data())
def test_a_missing_row_is_an_element_that_nobody_holds(which: tuple[str, str], data: st.DataObject) -> None:
    rows = _rows(*which)
    axes = [axis.name for axis in read(which[0]).layout(which[1]).axes]
    lost = rows.pop(data.draw(st.integers(0, len(rows) - 1)))
    found = compare_layout(*which, _csv(rows))
    assert found.verdict is Verdict.GAP
    assert f"({', '.join(f'{axis} {lost[axis]}' for axis in axes)})" in found.witness


def test_a_holder_of_the_wrong_register_is_found() -> None:
    rows = _rows(MMA, "a")
    rows[3]["register"] += 1
    found = compare_layout(MMA, "a", json.dumps(rows))
    assert found.verdict is Verdict.OUT_OF_RANGE
    assert found.witness.startswith("row 4 of the layout: ")
    assert "has no lane 0, element 3, register 2" in found.witness


@pytest.mark.parametrize("cell", [True, 1.5, None, [1], "1e3", "٣٣٣٣٣٣٣٣٣٣٣٣", 10**30])
def test_a_cell_that_is_no_whole_number_is_refused(cell: object) -> None:
    with pytest.raises(InputError, match="not a whole number"):
        compare_layout(MMA, "c", json.dumps([{"lane": 0, "element": 0, "row": cell, "column": 0}]))


def test_rows_of_different_columns_are_refused() -> None:
    with pytest.raises(InputError, match="row 2 of the layout has the columns"):
        compare_layout(MMA, "c", json.dumps([{"lane": 0, "row": 0}, {"lane": 0, "column": 0}]))
