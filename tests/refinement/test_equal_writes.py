"""Threads that write one value to one place in no order: noted beside a verdict, and no finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from document_schemas import validate

from mmaproof.refinement.findings.finding import MOST
from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify

from ..command_line import mmaproof

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 C)
{{
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<6>;
    ld.param.u64 %d1, [C]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
    setp.eq.u32 %p1, %r1, 0; setp.ge.u32 %p2, %r1, 32;
{body}
    ret;
}}
"""
FIRST = 10
CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = 2
block = 64
[sizes]
N = 2
[[param]]
name = "C"
type = "u32"
shape = ["N"]
access = "out"
"""
FORMULA = '[ensures]\nformula = "C[i] = 7"'
WHOLE = "st.global.v2.u32 [%d1], {{{0}, {0}}};"


def result_of(folder: Path, *body: str, ensures: str = FORMULA) -> Result:
    (folder / "fill.ptx").write_text(KERNEL.format(body="\n".join(body)), encoding="utf-8")
    (folder / "fill.toml").write_text(CONTRACT + ensures, encoding="utf-8")
    result = verify(folder / "fill.ptx", folder / "fill.toml").result
    validate("verify", json.loads(json.dumps(result.document())))
    return result


def noted(result: Result) -> list[tuple[int, int, str]]:
    return [(note.line, note.other_line, note.message) for note in result.notes]


def told(place: str, other: str = "") -> str:
    return f"two threads write the same value to {place}{other}, with no barrier between"


@pytest.mark.parametrize("ensures", [FORMULA, ""])
def test_each_pair_of_instructions_is_noted_once(tmp_path: Path, ensures: str) -> None:
    store = WHOLE.format("%r3")
    body = ("mov.u32 %r3, 7;", f"@!%p2 {store}", f"@%p2 {store}")
    result = result_of(tmp_path, *body, ensures=ensures)
    assert result.verdict == ("verified" if ensures else "safe")
    first, second = FIRST + 1, FIRST + 2
    assert noted(result) == [
        (first, first, told("C+0x0")),
        (second, first, told("C+0x0", f", one of them in line {first}")),
        (second, second, told("C+0x0")),
    ]


def test_nothing_is_noted_of_what_is_in_order(tmp_path: Path) -> None:
    store = "mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2; mov.u32 %r3, 7; @%p1 st.global.u32 [%d3], %r3;"
    result = result_of(tmp_path, store, "bar.sync 0;", store)
    assert (result.verdict, noted(result)) == ("verified", [])


def test_different_values_are_a_race_and_no_note(tmp_path: Path) -> None:
    result = result_of(tmp_path, "add.u32 %r3, %r2, 7;", f"@%p1 {WHOLE.format('%r3')}")
    assert (result.verdict, noted(result)) == ("refuted", [])
    assert "race" in {finding.kind for finding in result.findings}


def test_notes_are_printed_and_change_no_exit_status(tmp_path: Path) -> None:
    result_of(tmp_path, "mov.u32 %r3, 7;", WHOLE.format("%r3"))
    page = tmp_path / "page.html"
    arguments = ["verify", tmp_path / "fill.ptx", "--contract", tmp_path / "fill.toml", "--html", page]
    done = mmaproof(*map(str, arguments))
    assert done.status == 0
    assert f"note: {tmp_path / 'fill.ptx'}:{FIRST + 1}: {told('C+0x0')}" in done.out
    assert told("C+0x0") in page.read_text(encoding="utf-8")


def test_of_many_pairs_a_few_are_told(tmp_path: Path) -> None:
    result = result_of(tmp_path, "mov.u32 %r3, 7;", *[WHOLE.format("%r3")] * (MOST + 2), ensures="")
    assert len(result.notes) == MOST + 1
    assert result.notes[-1].message.endswith("more pairs of instructions write the same values")


ARGUMENTS = """shl.b32 %r3, %r1, 2; cvt.u64.u32 %d2, %r3; add.u64 %d2, %d1, %d2; ld.global.f32 %f1, [%d2];
    shfl.sync.bfly.b32 %f2, %f1, 1, 31, -1; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
    setp.eq.f32 %p1, %f1, %f2; setp.lt.s32 %p2, %r1, %r2; and.pred %p1, %p1, %p2;
    setp.gt.f32 %p3, %f1, %f2; or.pred %p1, %p3, %p1; selp.b32 %r4, %r1, {other}, %p1;
    shr.u32 %r3, %r1, 1; shl.b32 %r3, %r3, 2; cvt.u64.u32 %d2, %r3; add.u64 %d2, %d3, %d2;
    st.global.u32 [%d2], %r4;"""


@pytest.mark.parametrize(("other", "verdict"), [("%r2", "undecided"), ("%r1", "refuted"), ("%r5", "refuted")])
def test_lanes_that_may_store_one_value_are_no_race(tmp_path: Path, other: str, verdict: str) -> None:
    """Each lane of a pair stores which of the two has the greater number: the same, unless one is a NaN."""
    text = KERNEL.replace("(.param .u64 C)", "(.param .u64 C, .param .u64 X)")
    body = "ld.param.u64 %d3, [C]; ld.param.u64 %d1, [X]; mov.u32 %r5, %laneid;" + ARGUMENTS
    text = text.replace(".reg .b64", ".reg .f32 %f<4>; .reg .b64").format(body=body.format(other=other))
    (tmp_path / "fill.ptx").write_text(text, encoding="utf-8")
    inputs = '[[param]]\nname = "X"\ntype = "f32"\nshape = [32]\n'
    contract = CONTRACT.replace("grid = 2", "grid = 1").replace("block = 64", "block = 32") + inputs
    (tmp_path / "fill.toml").write_text(contract.replace("N = 2", "N = 16"), encoding="utf-8")
    result = verify(tmp_path / "fill.ptx", tmp_path / "fill.toml").result
    assert result.verdict == verdict, result.findings
    if verdict == "undecided":
        assert "not shown to be the same" in result.findings[0].message
