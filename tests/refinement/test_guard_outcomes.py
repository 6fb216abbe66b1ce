"""Guards that never went both ways are noted beside a verdict, and are no findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from document_schemas import validate

from mmaproof.refinement.findings.finding import MOST
from mmaproof.refinement.findings.guard_outcomes import GuardOutcome, notes_of, one_sided
from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify

from ..command_line import mmaproof

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 A, .param .u64 C, .param .u32 n, .param .u32 steps)
{
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .f32 %f<4>;
    ld.param.u64 %d1, [A]; ld.param.u64 %d2, [C]; ld.param.u32 %r2, [n]; ld.param.u32 %r3, [steps];
    mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
    setp.lt.u32 %p1, %r1, %r2;
    mov.f32 %f1, 0f00000000;
    @%p1 ld.global.f32 %f1, [%d4];
    mov.u32 %r4, 0;
    mov.f32 %f2, 0f00000000;
MORE:
    add.f32 %f2, %f2, %f1;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, %r3;
    @%p2 bra MORE;
    setp.lt.u32 %p3, %r1, 16;
    selp.f32 %f3, %f2, %f2, %p3;
    @%p1 st.global.f32 [%d5], %f3;
    ret;
}
"""
LOAD, LOOP = 12, 19
ALWAYS = "the guard @%p1 of ld.global.f32 held for every thread"
NEVER = "the guard @%p2 of bra held for no thread"

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
block = 32
{sizes}
[[param]]
name = "A"
type = "f32"
shape = ["N"]
[[param]]
name = "C"
type = "f32"
shape = ["N"]
access = "out"
[[param]]
name = "n"
type = "u32"
value = "N"
[[param]]
name = "steps"
type = "u32"
value = "S"
{ensures}
"""
FORMULA = '[ensures]\nformula = "C[i] = S * A[i]"'


def result_of(
    folder: Path, *sizes: tuple[int, int], ensures: str = FORMULA, fault: tuple[str, str] = ("", "")
) -> Result:
    tables = "\n".join(f"[[sizes]]\nN = {n}\nS = {steps}" for n, steps in sizes)
    (folder / "copy.ptx").write_text(KERNEL.replace(*fault), encoding="utf-8")
    (folder / "copy.toml").write_text(CONTRACT.format(sizes=tables, ensures=ensures), encoding="utf-8")
    result = verify(folder / "copy.ptx", folder / "copy.toml").result
    validate("verify", json.loads(json.dumps(result.document())))
    return result


@pytest.mark.parametrize("ensures", [FORMULA, ""])
def test_a_mask_and_a_loop_that_one_size_does_not_try(tmp_path: Path, ensures: str) -> None:
    result = result_of(tmp_path, (32, 1), ensures=ensures)
    assert result.verdict == ("verified" if ensures else "safe")
    assert [(note.line, note.count, note.message) for note in result.notes] == [
        (LOAD, 2, f"{ALWAYS} at this size; it fails for some at N = 1 (S = 1)"),
        (LOOP, 1, f"{NEVER} at this size; it holds for some at S = 2 (N = 32)"),
    ]
    assert str(result.notes[0]).startswith(f"{tmp_path / 'copy.ptx'}:{LOAD}: the guard")
    assert str(result.notes[0]).endswith("(and of 1 more line)")


def test_sizes_that_try_both_ways_together(tmp_path: Path) -> None:
    assert result_of(tmp_path, (20, 3)).notes == ()
    assert result_of(tmp_path, (32, 2), (5, 1)).notes == ()
    (note,) = result_of(tmp_path, (32, 2), (32, 1)).notes
    assert (note.line, "every thread at every size" in note.message) == (LOAD, True)
    (note,) = result_of(tmp_path, (32, 1), (20, 1)).notes
    assert (note.line, "no thread at any size" in note.message) == (LOOP, True)


def test_nothing_is_noted_of_a_kernel_that_is_wrong(tmp_path: Path) -> None:
    result = result_of(tmp_path, (32, 1), fault=("add.f32 %f2, %f2, %f1", "sub.f32 %f2, %f2, %f1"))
    assert (result.verdict, result.notes) == ("refuted", ())


def test_notes_are_printed_and_change_no_exit_status(tmp_path: Path) -> None:
    result_of(tmp_path, (32, 1))
    page = tmp_path / "page.html"
    arguments = ["verify", tmp_path / "copy.ptx", "--contract", tmp_path / "copy.toml", "--html", page]
    done = mmaproof(*map(str, arguments))
    assert done.status == 0
    for text in (done.out, page.read_text(encoding="utf-8")):
        assert "of bra held for no thread at this size" in text


def test_of_many_guards_a_few_are_told() -> None:
    guards = [
        GuardOutcome(line, f"%p{line}", f"the guard @%p{line} of bra", True, False) for line in range(20)
    ]
    notes = notes_of("k.ptx", one_sided([guards]), 1)
    assert len(notes) == MOST + 1
    assert str(notes[-1]) == f"k.ptx: {20 - MOST} more guards always had the same outcome"


def test_the_size_that_is_told_does_try_the_other_way(tmp_path: Path) -> None:
    (note,) = result_of(tmp_path, (32, 2), (32, 1)).notes
    assert note.message.endswith("; it fails for some at N = 1 (S = 1)")
    (note,) = result_of(tmp_path, (32, 1), (20, 1)).notes
    assert note.message.endswith("; it holds for some at S = 2 (N = 20)")
    assert result_of(tmp_path, (20, 1), (32, 2)).notes == ()


def test_the_smallest_of_a_few_sizes_is_told(tmp_path: Path) -> None:
    last = "setp.lt.u32 %p3, %r1, 16;"
    fault = (last, f"setp.gt.u32 %p3, %r3, 5; @%p3 bra NEXT; NEXT: {last}")
    (note,) = result_of(tmp_path, (20, 4), fault=fault).notes
    assert note.message.endswith("held for no thread at this size; it holds for some at S = 6 (N = 20)")


def test_a_guard_that_no_size_turns_is_told_without_one(tmp_path: Path) -> None:
    fault = (
        "setp.lt.u32 %p1, %r1, %r2;",
        "setp.lt.u32 %p1, %r1, %r2; or.pred %p1, %p1, %p1; setp.ge.u32 %p1, %r2, 0;",
    )
    (note,) = result_of(tmp_path, (32, 1), (32, 2), fault=fault).notes
    assert note.message == f"{ALWAYS} at every size"
