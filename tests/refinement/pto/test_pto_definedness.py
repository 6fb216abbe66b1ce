"""What nobody wrote, or nobody owns, counts only where an output, a branch or an extent depends on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result
from tests.pto_kernels import verified
from tests.refinement.pto.test_pto_statements import COLUMN, CONTRACT, TWO, VEC, copying, op

_WIDE = "!pto.tile_buf<vec, 15x40xf32>"
SHIFTED = "[%c0, %c8], sizes = [%c15, %c32]"
_ROWS = "strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>\n    %yv"


def outcome(tmp_path: Path, formula: str, *statements: str, pitch: int = 32) -> Result:
    """Return the verdict on a kernel whose X has gaps between rows."""
    text = copying(*statements).replace(_ROWS, _ROWS.replace("%c32", f"%p{pitch}"))
    text = text.replace("%xv = ", f"%p{pitch} = arith.constant {pitch} : index\n    %xv = ", 1)
    contract = CONTRACT.replace("{formula}", f"Y[i, j] = {formula}")
    x = 'name = "X"\ntype = "f32"\nshape = [16, 32]'
    assert x in contract
    return verified(tmp_path, text, contract.replace(x, f"{x}\nstrides = [{pitch}, 1]")).result


WHOLE_LINES = (
    "%c15 = arith.constant 15 : index",
    "%c40 = arith.constant 40 : index",
    f"%wide = pto.alloc_tile : {_WIDE}",
    "%wv = pto.make_tensor_view %xp, shape = [%c15, %c40], strides = [%c40, %c1] : !pto.tensor_view<?x?xf32>",
    "%ww = pto.partition_view %wv, offsets = [%c0, %c0], sizes = [%c15, %c40] : !pto.tensor_view<?x?xf32>",
    f"pto.tload ins(%ww : !pto.partition_tensor_view<15x40xf32>) outs(%wide : {_WIDE})",
)


SCRATCH = f"%s = pto.alloc_tile : {VEC}"


@pytest.mark.parametrize(("read", "verdict"), [("%x", "verified"), ("%s", "refuted")])
def test_scratch_memory_holds_anything_afterwards(tmp_path: Path, read: str, verdict: str) -> None:
    fill = op("tmov", "%x", VEC, "%s")
    reduce = op("trowsum", "%x, %s", TWO, "%r", COLUMN)
    found = outcome(tmp_path, "X[i, j]", SCRATCH, fill, reduce, op("tmov", read, VEC))
    assert found.verdict == verdict, found.findings
    if verdict == "refuted":
        assert "which trowsum leaves undefined" in found.findings[0].message


def test_gaps_between_rows_are_loaded_for_nothing(tmp_path: Path) -> None:
    found = outcome(tmp_path, "X[i, j]", *WHOLE_LINES, op("tmov", "%x", VEC), pitch=40)
    assert found.verdict == "verified", found.findings


def test_gaps_between_rows_reach_an_output(tmp_path: Path) -> None:
    whole = WHOLE_LINES[4].replace("%ww", "%gap")
    shifted = whole.replace("[%c0, %c0], sizes = [%c15, %c40]", SHIFTED)
    found = outcome(
        tmp_path,
        "X[i, j]",
        *WHOLE_LINES,
        op("tmov", "%x", VEC),
        "%c8 = arith.constant 8 : index",
        shifted,
        f"pto.set_validshape %y, %c15, %c32 : {VEC}",
        f"pto.tload ins(%gap : !pto.partition_tensor_view<15x32xf32>) outs(%y : {VEC})",
        f"pto.set_validshape %y, %c16, %c32 : {VEC}",
        pitch=40,
    )
    assert Kind.UNINITIALISED in {finding.kind for finding in found.findings}
    assert any("X" in finding.message for finding in found.findings)


@pytest.mark.parametrize(
    ("statements", "kind"),
    [
        (
            ["scf.if %cmp {", op("tmov", "%x", VEC), "} else {", op("tmov", "%x", VEC), "}"],
            Kind.UNINITIALISED,
        ),
        ([op("tmuls", "%x, %s", f"{VEC}, f32")], Kind.UNINITIALISED),
        ([op("tmuls", "%x, %s", f"{VEC}, f32"), op("tmov", "%x", VEC)], None),
    ],
)
def test_a_scalar_that_nobody_wrote(tmp_path: Path, statements: list[str], kind: Kind | None) -> None:
    read = (
        "%s = pto.load_scalar %yp[%c0] : !pto.ptr<f32> -> f32",
        "%zero = arith.constant 0.0 : f32",
        "%cmp = arith.cmpf ogt, %s, %zero : f32",
    )
    found = outcome(tmp_path, "X[i, j]", *read, *statements)
    assert {finding.kind for finding in found.findings} == {kind} - {None}


@pytest.mark.parametrize("columns", [1, 32])
def test_a_move_takes_what_is_valid(tmp_path: Path, columns: int) -> None:
    narrow = f"pto.set_validshape %x, %c16, %c{columns} : {VEC}"
    found = outcome(tmp_path, "X[i, j]", narrow, op("tmov", "%x", VEC))
    assert found.verdict == ("verified" if columns == 32 else "refuted")
    if columns == 1:
        assert {finding.kind for finding in found.findings} == {Kind.UNINITIALISED}


@pytest.mark.parametrize(("condition", "verdict"), [("true", "verified"), ("false", "refuted")])
def test_a_choice_of_tiles(tmp_path: Path, condition: str, verdict: str) -> None:
    chosen = (
        f"%which = arith.constant {condition}",
        f"%one = arith.select %which, %x, %other : {VEC}",
        op("tmov", "%one", VEC),
    )
    other = f"%other = pto.alloc_tile : {VEC}"
    assert outcome(tmp_path, "X[i, j]", other, *chosen).verdict == verdict
