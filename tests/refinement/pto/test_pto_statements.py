"""Statements of PTO text beyond products and moves, on small kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.pto.run import scalar_unit
from tests.pto_kernels import contract_of, line_of, text_of, verified

VEC = "!pto.tile_buf<vec, 16x32xf32>"


def copying(*statements: str, before: str = "", tile: str = VEC) -> str:
    """Return a kernel that loads X to %x and G (a row) to %g, and stores %y."""
    body = "\n    ".join(statements)
    return f"""
module attributes {{pto.target_arch = "a5"}} {{
  {before}
  func.func @k(%yp: !pto.ptr<f32>, %xp: !pto.ptr<f32>, %gp: !pto.ptr<f32>, %n: i32, %alpha: f32) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %xv = pto.make_tensor_view %xp, shape = [%c16, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %yv = pto.make_tensor_view %yp, shape = [%c16, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %gv = pto.make_tensor_view %gp, shape = [%c32], strides = [%c1] : !pto.tensor_view<?xf32>
    %xw = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c32] : !pto.tensor_view<?x?xf32>
    %yw = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c32] : !pto.tensor_view<?x?xf32>
    %gw = pto.partition_view %gv, offsets = [%c0], sizes = [%c32] : !pto.tensor_view<?xf32>
    %x = pto.alloc_tile : {tile}
    %y = pto.alloc_tile : {tile}
    %g = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32>
    %r = pto.alloc_tile : !pto.tile_buf<vec, 16x8xf32, valid=16x1>
    %h = pto.alloc_tile : !pto.tile_buf<vec, 16x32xbf16>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 32x16xf32>
    pto.tload ins(%xw : !pto.partition_tensor_view<16x32xf32>) outs(%x : {tile})
    pto.tload ins(%gw : !pto.partition_tensor_view<32xf32>) outs(%g : !pto.tile_buf<vec, 1x32xf32>)
    {body}
    pto.tstore ins(%y : {tile}) outs(%yw : !pto.partition_tensor_view<16x32xf32>)
    return
  }}
}}
"""


CONTRACT = """
[kernel]
isa = "pto"

[[param]]
name = "Y"
type = "f32"
shape = [16, 32]
access = "out"

[[param]]
name = "X"
type = "f32"
shape = [16, 32]

[[param]]
name = "g"
type = "f32"
shape = [32]

[[param]]
name = "n"
type = "s32"
value = 3

[[param]]
name = "alpha"
type = "f32"

[ensures]
formula = "{formula}"
"""


def outcome(tmp_path: Path, formula: str, *statements: str, before: str = "") -> Result:
    text = copying(*statements, before=before)
    return verified(tmp_path, text, CONTRACT.replace("{formula}", formula)).result


def op(name: str, inputs: str, types: str, output: str = "%y", of: str = VEC) -> str:
    return f"pto.{name} ins({inputs} : {types}) outs({output} : {of})"


TWO = f"{VEC}, {VEC}"
ROW = "!pto.tile_buf<vec, 1x32xf32>"
COLUMN = "!pto.tile_buf<vec, 16x8xf32, valid=16x1>"
HALF = "!pto.tile_buf<vec, 16x32xbf16>"
TURNED = "!pto.tile_buf<vec, 32x16xf32>"

RIGHT = {
    "tadd": ("X[i, j] + X[i, j]", [op("tadd", "%x, %x", TWO)]),
    "tsub": ("X[i, j] - 2 * X[i, j]", [op("tadd", "%x, %x", TWO), op("tsub", "%x, %y", TWO)]),
    "tmul": ("X[i, j] * X[i, j]", [op("tmul", "%x, %x", TWO)]),
    "tdiv": ("X[i, j] / g[j]", [op("tcolexpanddiv", "%x, %g", f"{VEC}, {ROW}")]),
    "tmax": ("max(X[i, j], 0)", [op("trelu", "%x", VEC)]),
    "tabs": ("max(X[i, j], -X[i, j])", [op("tabs", "%x", VEC)]),
    "tneg": ("-X[i, j]", [op("tneg", "%x", VEC)]),
    "tmuls": ("X[i, j] * alpha", [op("tmuls", "%x, %alpha", f"{VEC}, f32")]),
    "tdivs of a number": ("alpha / X[i, j]", [op("tdivs", "%alpha, %x", f"f32, {VEC}")]),
    "texp": ("exp(X[i, j])", [op("texp", "%x", VEC)]),
    "trsqrt": ("rsqrt(X[i, j])", [op("trsqrt", "%x", VEC)]),
    "tcolexpand": ("g[j]", [op("tcolexpand", "%g", ROW)]),
    "texpands": ("alpha", ["pto.texpands ins(%alpha : f32) outs(%y : " + VEC + ")"]),
    "trowsum": (
        "X[i, j] - sum(k, X[i, k])",
        [op("trowsum", "%x", VEC, "%r", COLUMN), op("trowexpandsub", "%x, %r", f"{VEC}, {COLUMN}")],
    ),
    "trowmax": (
        "X[i, j] - max(k, X[i, k])",
        [op("trowmax", "%x", VEC, "%r", COLUMN), op("trowexpandsub", "%x, %r", f"{VEC}, {COLUMN}")],
    ),
    "tcolsum": (
        "X[i, j] + sum(k, X[k, j])",
        [op("tcolsum", "%x", VEC, "%g", ROW), op("tcolexpandadd", "%x, %g", f"{VEC}, {ROW}")],
    ),
    "tcvt": (
        "bf16(X[i, j])",
        [
            op("tcvt", "%x{rmode = #pto<round_mode RINT>}", VEC, "%h", HALF),
            op("tcvt", "%h{rmode = #pto<round_mode RINT>}", HALF),
        ],
    ),
    "ttrans": (
        "X[i, j]",
        [op("ttrans", "%x", VEC, "%t", TURNED), op("ttrans", "%t", TURNED)],
    ),
    "scf.for that carries": (
        "X[i, j] * 8",
        [
            "%s = scf.for %i = %c0 to %c16 step %c16 iter_args(%v = %n) -> (i32) {",
            "%next = arith.addi %v, %n : i32",
            "scf.yield %next : i32",
            "}",
            "%w = arith.constant 6 : i32",
            "%same = arith.cmpi eq, %s, %w : i32",
            "%f = scf.if %same -> (f32) {",
            "%eight = arith.constant 8.0 : f32",
            "scf.yield %eight : f32",
            "} else {",
            "scf.yield %alpha : f32",
            "}",
            op("tmuls", "%x, %f", f"{VEC}, f32"),
        ],
    ),
    "load_scalar": (
        "X[i, j] * g[2]",
        [
            "%c2 = arith.constant 2 : index",
            "%p = pto.addptr %gp, %c1 : !pto.ptr<f32> -> !pto.ptr<f32>",
            "%v = pto.load_scalar %p[%c1] : !pto.ptr<f32> -> f32",
            op("tmuls", "%x, %v", f"{VEC}, f32"),
        ],
    ),
    "func.call": (
        "X[i, j] + X[i, j]",
        [f"func.call @twice(%x, %y) : ({TWO}) -> ()"],
    ),
}

FAR = "%far = arith.constant 1000000000000 : i64"

BEFORE = f"""func.func private @twice(%a: {VEC}, %b: {VEC}) {{
    pto.tadd ins(%a, %a : {TWO}) outs(%b : {VEC})
    return
  }}"""


@pytest.mark.parametrize("name", RIGHT)
def test_a_statement_computes_what_it_says(tmp_path: Path, name: str) -> None:
    formula, statements = RIGHT[name]
    found = outcome(tmp_path, f"Y[i, j] = {formula}", *statements, before=BEFORE)
    assert (found.verdict, found.findings) == ("verified", ())


@pytest.mark.parametrize(
    ("statement", "kind", "message"),
    [
        ("pto.tsort32 ins(%x : T) outs(%y : T)", Kind.UNSUPPORTED, "pto.tsort32"),
        ("%q = arith.divsi %c16, %c0 : index", Kind.UNDEFINED, "by 0"),
        ("scf.for %i = %c0 to %c16 step %c0 {\n}", Kind.UNDEFINED, "a loop from 0 to 16 by 0"),
        ("%c32 = arith.constant 8 : index", Kind.ILLEGAL, "%c32 is defined already"),
        (
            f"scf.for %i = %c0 to %c16 step %c16 {{\n%x = pto.alloc_tile : {VEC}\n}}",
            Kind.ILLEGAL,
            "%x is defined",
        ),
        ("scf.for %g = %c0 to %c16 step %c1 {\n}", Kind.ILLEGAL, "%g is defined already"),
        (op("tadd", "%x, %nothing", TWO), Kind.ILLEGAL, "%nothing is not defined here"),
        (op("tadd", "%x, %h", f"{VEC}, {HALF}"), Kind.ILLEGAL, "elements of bf16, f32"),
        ("pto.set_validshape %y, %c32, %c32 : T", Kind.ILLEGAL, "32x32 valid elements"),
        (f"pto.tload ins(%xw : V) outs(%h : {HALF})", Kind.ILLEGAL, "f32 elements into a tile of bf16"),
        (f"{FAR}\n%b = pto.alloc_tile addr = %far : {VEC}", Kind.ILLEGAL, "address"),
        ("%b = pto.alloc_tile : !pto.tile_buf<vec, 256x512xf32>", Kind.ILLEGAL, "capacity"),
        ("%b = pto.alloc_tile : !pto.tile_buf<vec, 16x3xf32>", Kind.ILLEGAL, "line-alignment"),
    ],
)
def test_what_can_not_be_run_has_its_line(tmp_path: Path, statement: str, kind: Kind, message: str) -> None:
    text = copying(statement, op("tadd", "%x, %x", TWO))
    found = verified(tmp_path, text, CONTRACT.replace("{formula}", "Y[i, j] = 2 * X[i, j]")).result
    alike = [finding for finding in found.findings if finding.kind is kind and message in finding.message]
    assert alike, found.findings
    assert alike[0].line in [line_of(text, statement) + i for i in range(statement.count("\n") + 1)]


@pytest.mark.parametrize(
    ("layout", "tile", "illegal"),
    [
        ("nd", "mat, 32x8xf32, blayout=col_major, slayout=row_major", True),
        ("nz", "mat, 32x8xf32, blayout=col_major, slayout=row_major", False),
        ("nd", "mat, 32x8xf32", False),
    ],
)
def test_a_load_that_re_orders_takes_no_stack(tmp_path: Path, layout: str, tile: str, illegal: bool) -> None:
    stack = "!pto.tensor_view<?x?x?xf32>"
    shape = "shape = [%c2, %c16, %c8], strides = [%c128, %c8, %c1]"
    found = outcome(
        tmp_path,
        "Y[i, j] = 2 * X[i, j]",
        *(f"%c{number} = arith.constant {number} : index" for number in (2, 8, 128)),
        f"%stack = pto.make_tensor_view %xp, {shape} {{layout = #pto.layout<{layout}>}} : {stack}",
        f"%m = pto.alloc_tile : !pto.tile_buf<{tile}>",
        f"pto.tload ins(%stack : {stack}) outs(%m : !pto.tile_buf<{tile}>)",
        op("tadd", "%x, %x", TWO),
    )
    assert found.verdict == ("refuted" if illegal else "verified")
    assert [finding.kind for finding in found.findings] == [Kind.ILLEGAL] * illegal
    assert all("load-dimensions" in finding.message for finding in found.findings)


def test_a_loop_of_nothing_without_an_end_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scalar_unit, "MOST_STATEMENTS", 1000)
    text = copying(
        "%far = arith.constant 4611686018427387904 : index", "scf.for %i = %c0 to %far step %c1 {", "}"
    )
    found = verified(tmp_path, text, CONTRACT.replace("{formula}", "Y[i, j] = X[i, j]")).result
    assert found.verdict == "unsupported" and "more than 1000 statements" in found.findings[0].message


def test_what_nobody_wrote_is_told_where_an_output_depends_on_it(tmp_path: Path) -> None:
    found = outcome(tmp_path, "Y[i, j] = 2 * X[i, j]", op("tadd", "%x, %y", TWO))
    assert {finding.kind for finding in found.findings} == {Kind.UNINITIALISED}
    assert "of the buffer of %y" in found.findings[0].message


def test_what_nobody_wrote_may_be_moved(tmp_path: Path) -> None:
    moved = op("tmuls", "%h, %alpha", f"{HALF}, f32", "%h", HALF)
    found = outcome(tmp_path, "Y[i, j] = 2 * X[i, j]", moved, op("tadd", "%x, %x", TWO))
    assert found.verdict == "verified"


def test_a_branch_on_data_is_not_supported(tmp_path: Path) -> None:
    found = outcome(
        tmp_path,
        "Y[i, j] = 2 * X[i, j]",
        "%v = pto.load_scalar %gp[%c1] : !pto.ptr<f32> -> f32",
        "%zero = arith.constant 0.0 : f32",
        "%b = arith.cmpf ogt, %v, %zero : f32",
        "scf.if %b {\n}",
        op("tadd", "%x, %x", TWO),
    )
    assert found.verdict == "unsupported"
    assert "depends on data" in found.findings[0].message


def test_tiles_that_are_in_use_together_must_fit(tmp_path: Path) -> None:
    big = "!pto.tile_buf<mat, 512x256xf16, valid=1x1, blayout=col_major, slayout=row_major>"
    of_one = "offsets = [%c0, %c0], sizes = [%c1, %c1]"
    window = f"%one = pto.partition_view %b_view, {of_one} : !pto.tensor_view<?x?xf16>"
    names = ("%big0", "%big1", "%big2")
    lines = [window, *(f"{name} = pto.alloc_tile : {big}" for name in names)]
    lines += [
        f"pto.tload ins(%one : !pto.partition_tensor_view<1x1xf16>) outs({name} : {big})" for name in names
    ]
    used = [f"pto.textract ins({name}, %c0, %c0 : {big}, index, index) outs(%a : !left)" for name in names]
    loop = "      scf.for %t = "
    apart = [line for pair in zip(lines[4:], used, strict=True) for line in pair]
    for order, verdict in ((lines[4:] + used, "refuted"), (apart, "verified")):
        body = "\n".join([*lines[:4], *order])
        text = text_of("blocks_f16", (loop, f"{body}\n{loop}"))
        found = verified(tmp_path, text, contract_of("blocks_f16", "A5", first_sizes=True)).result
        assert found.verdict == verdict
        if verdict == "refuted":
            assert "786432 bytes are in use at one time in mat" in found.findings[0].message


def test_a_root_that_is_squared_is_its_argument_only_where_that_is_not_negative(tmp_path: Path) -> None:
    steps = [op("tsqrt", "%x", VEC), op("tmul", "%y, %y", TWO)]
    found = outcome(tmp_path, "Y[i, j] = X[i, j]", *steps)
    assert found.verdict == "undecided", found.findings
    assert '"X[i, j] >= 0"' in found.findings[0].message
    required = CONTRACT + '\n[requires]\nconditions = "X[i, j] >= 0"\n'
    kept = verified(tmp_path, copying(*steps), required.replace("{formula}", "Y[i, j] = X[i, j]")).result
    assert kept.verdict == "verified", kept.findings
