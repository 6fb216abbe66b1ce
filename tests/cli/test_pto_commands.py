"""``legal``, ``tables``, ``layout``, ``explain``, ``list`` and ``run`` on PTO."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from command_line import mmaproof
from document_schemas import validate
from pto_texts import INSTRUCTIONS, MANUAL_MODE, OTHER_STATEMENTS, PAGE_LISTINGS

MATMUL = INSTRUCTIONS["E1"]
LARGE = "%c = tmatmul %a, %b : (!pto.tile<128x128xf16>, !pto.tile<128x128xf16>) -> !pto.tile<128x128xf32>"
HALF_BIAS = (
    "%c = tmatmul.bias %a, %b, %bias : (!pto.tile<16x16xf16>, !pto.tile<16x16xf16>, !pto.tile<1x16xf16>) "
    "-> !pto.tile<16x16xf32>"
)


@pytest.mark.parametrize("text", [*INSTRUCTIONS.values(), *PAGE_LISTINGS, MANUAL_MODE])
def test_every_form_is_recognised_and_judged(text: str) -> None:
    result = mmaproof("legal", text, "--json")
    document = json.loads(result.out)
    validate("legal", document)
    assert result.status == (0 if document["legal"] else 1)
    assert document["target"] == "A5"


@pytest.mark.parametrize("target", ["A2A3", "a2a3", "A5", "a5", "CPU", "cpu"])
def test_a_half_bias_is_illegal_on_every_profile(target: str) -> None:
    result = mmaproof("legal", HALF_BIAS, "--target", target)
    assert result.status == 1
    assert f"illegal on {target.upper()}" in result.out
    assert "bias-type: the bias is f16, the accumulator f32 (static: it does not compile)" in result.out
    assert "note: by the aliases" in result.out


@pytest.mark.parametrize(
    ("name", "target", "status"),
    [
        ("tmatmul.mx", "A2A3", 1), ("tmatmul.mx", "A5", 0), ("pto.tmatmul_bias", "A2A3", 0),
        ("TGEMV", "CPU", 0), ("tload", "A5", 0),
    ],
)  # fmt: skip
def test_a_bare_name_is_judged_by_availability(name: str, target: str, status: int) -> None:
    assert mmaproof("legal", name, "--target", target).status == status


def test_lines_of_three_instruction_sets_are_answered() -> None:
    lines = [
        MATMUL, "xvf32ger", json.dumps({"instr": "tgemv.mx", "target": "a2a3"}), HALF_BIAS, "pto.tmatmul %a",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    ]  # fmt: skip
    result = mmaproof("legal", "-", stdin="\n".join(lines))
    answers = [json.loads(line) for line in result.out.splitlines()]
    for answer in answers:
        validate("legal", answer)
    assert [(a["target"], a["legal"]) for a in answers] == [
        ("A5", True), ("power10", True), ("A2A3", False), ("A5", False), ("", False), ("sm_120a", True),
    ]  # fmt: skip
    assert answers[4]["violations"][0]["rule"] == "syntax"


def test_a_whole_text_is_judged_line_by_line() -> None:
    text = f"""%off = arith.constant 12288 : i64
    %bias = pto.alloc_tile addr = %off : !pto.tile_buf<bias, 1x16xf32>
    {MATMUL}"""
    result = mmaproof("legal", text)
    assert result.status == 1
    assert (
        "line 2, alloc_tile %bias: bias bytes 0x3000 to 0x3040 are not in the 0x1000 bytes of A5"
        in result.out
    )
    assert mmaproof("legal", text, "--target", "CPU").status == 0


HALF_MODULE = """// a listing of ptoas
#map = affine_map<(d0) -> (d0)>
module attributes {pto.target_arch = "a3"} {
  func.func @f() {
    %bias = pto.alloc_tile : !pto.tile_buf<bias, 1x16xf32>
    MATMUL
    return
  }
}
""".replace("MATMUL", HALF_BIAS)


def test_a_file_is_judged_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "half.pto"
    path.write_text(HALF_MODULE, encoding="utf-8")
    result = mmaproof("legal", str(path))
    assert (result.status, result.err) == (1, "")
    assert result.out.startswith(f"illegal on A2A3: {path}\n")
    assert "line 6, tmatmul.bias: the bias is f16, the accumulator f32" in result.out
    document = json.loads(mmaproof("legal", str(path), "--json", "--target", "A5").out)
    validate("legal", document)
    assert (document["instr"], document["target"]) == (str(path), "A5")


@pytest.mark.parametrize(
    "text",
    [
        HALF_MODULE,
        HALF_MODULE.replace("#map = affine_map<(d0) -> (d0)>\n", "\n  \n"),
        f"func.func @f() {{\n{HALF_BIAS}\n}}",
        f'"builtin.module"() ({{\n{HALF_BIAS}\n}}) : () -> ()',
        f"!t = !pto.tile_buf<bias, 1x16xf32>\n{HALF_BIAS}",
    ],
)
def test_a_whole_text_on_standard_input_is_one_answer(text: str) -> None:
    result = mmaproof("legal", "-", stdin=text)
    (answer,) = map(json.loads, result.out.splitlines())
    validate("legal", answer)
    assert (result.status, answer["instr"]) == (1, "-")
    assert [violation["rule"] for violation in answer["violations"]] == ["bias-type"]


def test_a_text_that_no_argument_holds_is_read_from_standard_input() -> None:
    body = "\n".join(MATMUL.replace("%c", f"%c{number}") for number in range(2000))
    result = mmaproof("legal", "-", "--target", "CPU", stdin=f"func.func @f() {{\n{body}\nreturn\n}}\n")
    assert (result.status, json.loads(result.out)["legal"]) == (0, True)


def test_lines_behind_comments_are_answered_line_by_line() -> None:
    result = mmaproof("legal", "-", stdin=f"\n{MATMUL}\n{HALF_BIAS}\nmodule {{\n")
    assert [json.loads(line)["legal"] for line in result.out.splitlines()] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("A2", "A2A3"), ("a3", "A2A3"), ("Ascend910B", "A2A3"), ("ascend910c", "A2A3"), ("dav-2201", "A2A3"),
        ("Ascend950", "A5"), ("dav-3510", "A5"), ("cpu", "CPU"),
    ],
)  # fmt: skip
def test_targets_are_understood_as_other_tools_spell_them(name: str, profile: str) -> None:
    assert f" on {profile}: " in mmaproof("legal", MATMUL, "--target", name).out
    (answer,) = map(json.loads, mmaproof("legal", "-", "--target", name, stdin=MATMUL).out.splitlines())
    assert answer["target"] == profile


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"module {\n  pto.tmatmul ins(\n}\n", "line "),
        (b"module {\n  // \xff\n}\n", "line 2 is not UTF-8"),
        (
            b'module attributes {pto.target_arch = "a6"} {\n' + HALF_BIAS.encode() + b"\n}",
            "the module is for 'a6'",
        ),
    ],
)
def test_a_whole_text_that_cannot_be_read_is_wrong_use(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "bad.pto"
    path.write_bytes(text)
    result = mmaproof("legal", str(path))
    assert result.wrong_use
    assert str(path) in result.err
    assert message in result.err
    result = mmaproof("legal", "-", stdin=text)
    assert result.wrong_use
    assert "standard input" in result.err
    assert mmaproof("legal", str(tmp_path / "none.ptx")).wrong_use
    assert mmaproof("legal", str(tmp_path / "none.pto")).wrong_use


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ((), 16), (("--rules",), 40), (("--contradictions",), 70), (("--table", "types"), 7),
        (("--table", "buffers"), 9), (("--table", "tiles"), 8), (("--table", "blocks"), 6),
    ],
)  # fmt: skip
@pytest.mark.parametrize("table_format", ["md", "csv", "json"])
def test_tables_have_rows(options: tuple[str, ...], least: int, table_format: str) -> None:
    result = mmaproof("tables", "pto", *options, "--format", table_format)
    assert (result.status, result.err) == (0, "")
    if table_format == "json":
        document = json.loads(result.out)
        validate("tables", document)
        assert len(document["rows"]) >= least
    else:
        assert len(result.out.splitlines()) > least


def test_layout_depends_on_the_profile() -> None:
    offsets = {
        target: mmaproof(
            "layout", LARGE, "--operand", "a", "--element", "17,20", "--format", "csv", "--target", target
        ).out
        for target in ("A2A3", "A5", "CPU")
    }
    rows = {target: next(csv.DictReader(io.StringIO(out))) for target, out in offsets.items()}
    assert {target: int(row["offset"]) for target, row in rows.items()} == {
        "A2A3": 2048 + 256 + 16 + 4, "A5": 2048 + 256 + 16 + 4, "CPU": 2048 + 256 + 16 + 4,
    }  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize("operand", ["a", "b", "d"])
def test_every_format_draws_a_large_tile(operand: str) -> None:
    result = mmaproof("layout", LARGE, "--operand", operand, "--format", "json")
    document = json.loads(result.out)
    validate("layout", document)
    assert len(document["elements"]) == 128 * 128
    for output in ("table", "csv", "svg", "html"):
        drawn = mmaproof("layout", LARGE, "--operand", operand, "--format", output)
        assert (drawn.status, drawn.err) == (0, "")
        if output == "svg":
            ElementTree.fromstring(drawn.out)


@pytest.mark.parametrize(
    "operation", ["tmatmul", "pto.tmatmul.acc", "tgemv_bias", "tmatmul.mx", "tload", "textract"]
)
def test_explain_says_what_is_computed_and_what_constrains_it(operation: str) -> None:
    result = mmaproof("explain", operation)
    assert result.status == 0
    assert "Semantics on A5" in result.out
    assert "Legality rules" in result.out


def test_list_has_the_operations() -> None:
    document = json.loads(mmaproof("list", "tgemv", "--json").out)
    found = [row["mnemonic"] for row in document["instructions"]]
    assert "tgemv.mx.bias" in found
    assert len(found) == 6


def test_run_multiplies_matrices(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    a, b = random.integers(-8, 8, (3, 16, 32)), random.integers(-8, 8, (32, 16))
    np.savez(tmp_path / "in.npz", a=a, b=b)
    for target in ((), ("--target", "a2a3"), ("--target", "CPU", "--choice", "accumulation=seeded")):
        result = mmaproof(
            "run", MATMUL, str(tmp_path / "in.npz"), "--out", str(tmp_path / "out.npz"), *target
        )
        assert (result.status, result.err) == (0, "")
        assert np.array_equal(np.load(tmp_path / "out.npz")["d"], a @ b)


def test_an_illegal_statement_is_not_run(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", a=np.ones((16, 16)), b=np.ones((16, 16)), bias=np.ones((1, 16)))
    result = mmaproof("run", HALF_BIAS, str(tmp_path / "in.npz"), "--out", str(tmp_path / "out.npz"))
    assert result.wrong_use
    assert "tmatmul.bias is illegal on A5: bias-type" in result.err
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("legal", "pto.tmatmul %a"), "expected 2 operands of tmatmul"),
        (("legal", "pto.tmatmull"), "unknown operation 'pto.tmatmull'; known: tmatmul"),
        (("legal", "pto.tmatmul ins("), "line 1, column"),
        (("legal", MATMUL, "--target", "A6"), "unknown target 'A6'"),
        (("legal", MATMUL, "--target", "power10"), "unknown profile 'power10'; known: A2A3, A5, CPU"),
        (("legal", OTHER_STATEMENTS[4]), "expected an instruction"),
        (("layout", "tmatmul", "--operand", "a"), "needs its extent and element type"),
        (("layout", MATMUL, "--operand", "x"), "no operand 'x'"),
        (("layout", MATMUL, "--operand", "a", "--lane", "0"), "held by blocks; there is no lane 0"),
        (("layout", MATMUL, "--operand", "a", "--element", "16,0"), "there is no row 16"),
        (("tables", "pto", "--table", "tile"), "pto has no table 'tile'; it has instructions, rules"),
        (("tables", "power", "--table", "buffers"), "power has no table 'buffers'"),
        (("tables", "pto", "--rules", "--table", "types"), "two tables"),
        (("explain", "tmatmul.ac"), "nothing is called 'tmatmul.ac'; did you mean"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments: tuple[str, ...], message: str) -> None:
    result = mmaproof(*arguments)
    assert result.wrong_use
    assert message in result.err
