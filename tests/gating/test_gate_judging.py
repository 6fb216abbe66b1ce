"""Rows of tables are judged as the instruction sets judge instructions."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from example_counts import examples
from gate_tables import MMA, compared, csv_table, json_table, judged, rules, standing
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.gating.judging import answer
from mmaproof.gating.vocabulary import vocabulary
from mmaproof.spec.errors import InputError
from mmaproof.spec.findings import Standing
from mmaproof.spec.instruction_set import NAMES
from mmaproof.spec.ptx.targets import TARGETS, VERSIONS, spell_version

PTX = vocabulary("ptx")
POINTS = PTX.points
AGREES, DRIFT, UNDECIDED = Standing.AGREES, Standing.DRIFT, Standing.UNDECIDED
F16 = {"shape": "m16n8k16", "a": "f16", "b": "f16"}


@given(st.sampled_from(POINTS), st.sampled_from(list(TARGETS)), st.sampled_from(VERSIONS), st.booleans())
@settings(max_examples=examples(300), deadline=None)
def test_an_instruction_is_judged_as_legal_judges_it(point, target, version, broken) -> None:
    text = point.text.replace(".sync", "", 1) if broken else point.text
    spelled = spell_version(version)
    expected = PTX.isa.read(text).legal(target, spelled).violations
    found = answer(PTX, text, target, spelled)
    assert found.legal == (not expected)
    if expected:
        assert [(c.rule, c.message) for c in found.causes] == [(v.rule.id, v.message) for v in expected]


@given(st.sampled_from(POINTS))
@settings(max_examples=examples(200), deadline=None)
def test_columns_of_an_instruction_spell_it(point) -> None:
    assert PTX.spell(point.cells) == point.text


@pytest.mark.parametrize("isa", NAMES)
def test_no_instruction_is_listed_twice(isa: str) -> None:
    texts = [point.text for point in vocabulary(isa).points]
    assert texts and len(set(texts)) == len(texts)


@pytest.mark.parametrize("isa", ["power", "pto", "mfma"])
def test_every_instruction_is_legal_somewhere(isa: str) -> None:
    words = vocabulary(isa)
    for point in words.points:
        assert any(answer(words, point.text, target, None).legal for target in words.isa.targets), point


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"instr": MMA, "target": "sm_80", "ptx": "7.0"}, AGREES),
        ({"instr": MMA, "target": "sm_80", "ptx": "6.5"}, DRIFT),
        ({"instr": MMA, "target": "sm_75"}, DRIFT),
        ({"instr": MMA, "target": "sm_75", "legal": "no"}, AGREES),
        ({"instr": MMA + " {r0,r1,r2,r3}, {r4}, {r5}, {r6}", "target": "sm_90"}, DRIFT),
        ({"instr": MMA.replace("f32.f16", "f32.f99"), "target": "sm_90"}, DRIFT),
        ({"instr": MMA.replace("f32.f16", "f32.f99"), "target": "sm_90", "legal": False}, AGREES),
        ({**F16, "target": "sm_80"}, AGREES),
        ({**F16, "target": "8.0"}, AGREES),
        ({**F16, "min_sm": 80, "min_ptx": "7.0"}, AGREES),
        ({**F16, "min_sm": 75}, DRIFT),
        ({"shape": "m16n8k32", "a": "e4m3", "d": "f32", "target": "sm_89", "min_ptx": "8.3"}, DRIFT),
        ({"shape": "m16n8k32", "a": "e4m3", "d": "f32", "target": "sm_89", "min_ptx": "8.4"}, AGREES),
        ({**F16, "target": "compute_80"}, AGREES),
        ({**F16, "d": "f32", "c": "f16", "target": "sm_80"}, DRIFT),
        ({"shape": "16x8x16", "a": "half", "b": "fp16", "d": "float", "arch": 80}, AGREES),
        ({"m": 16, "n": 8, "k": 16, "types": "f32.bf16.bf16.f32", "target": "sm_80"}, AGREES),
        ({"m": 16, "n": 8, "k": 16, "types": {"a": "tf32"}, "target": "sm_80"}, DRIFT),
        ({"shape": "m16n8k16", "a": "tf32", "sparse": True, "target": "sm_80"}, AGREES),
        ({"shape": "m16n16k16", "a": "f16", "target": "sm_70", "ptx": "6.0"}, AGREES),
        ({"instruction": "mma.sp::ordered_metadata", "shape": "m16n8k32", "a": "f16", "ptx": "8.4"}, DRIFT),
        ({"instruction": "mma.sp", "shape": "m16n8k32", "a": "f16", "ptx": "8.4"}, AGREES),
        ({**F16, "layout": "row.row", "target": "sm_80"}, DRIFT),
        ({**F16, "a_layout": "row_major", "b_layout": "col-major", "target": "sm_80"}, AGREES),
        ({**F16, "layout": "col.row", "legal": "no", "target": "sm_80"}, AGREES),
        ({**F16, "instruction": "mma", "sparse": "yes", "target": "sm_80"}, DRIFT),
        ({"instruction": "ldmatrix", "shape": "m8n8", "a": "f16", "target": "sm_80"}, DRIFT),
        ({"instruction": "ldmatrix", "shape": "m8n8", "type": "f16", "target": "sm_80"}, DRIFT),
        ({"kind": "mxf4", "block_scale": "yes", "target": "sm_120"}, DRIFT),
        ({"kind": "mxf4", "block_scale": "yes", "target": "sm_120a"}, AGREES),
        ({"instruction": "ldmatrix", "shape": "8x8", "type": "b16", "count": 4, "target": "75"}, AGREES),
        ({"instruction": "ldmatrix", "shape": "8x8", "type": "b16", "count": 8, "target": "75"}, DRIFT),
        ({"instr": "xvi8ger4pp a1,vs5,vs34", "target": "power10"}, DRIFT),
        ({"instr": "xvi8ger4pp", "target": "power9+"}, DRIFT),
        ({"instruction": "xvi8ger4", "a": "int8", "b": "uint8", "d": "i32", "target": "pwr10"}, AGREES),
        ({"instruction": "xvi8ger4", "a": "uint8", "target": "power10"}, DRIFT),
        ({"instruction": "tmatmul", "a": "f16", "b": "f16", "d": "f32", "profile": "a5"}, AGREES),
        ({"instruction": "tmatmul", "a": "f16", "b": "bf16", "d": "f32", "profile": "A5"}, DRIFT),
        ({"instruction": "tmatmul", "a": "f16", "b": "f16", "d": "f32", "shape": "m16n16k8", "profile": "A5"},
         DRIFT),
        ({"instr": "tmatmul", "profile": "A5"}, UNDECIDED),
        ({**F16, "target": "sm_61", "legal": False}, UNDECIDED),
        ({**F16, "target": "sm_80", "ptx": "19.3"}, UNDECIDED),
        ({"instr": "tcgen05.mma.cta_group::1.kind::f16", "target": "sm_100a"}, AGREES),
        ({"instr": "tcgen05.mma.cta_group::1.kind::i8", "target": ["sm_100a", "sm_103a"]}, DRIFT),
        ({"instr": "tcgen05.mma.cta_group::3.kind::f16", "target": "sm_100a", "legal": "no"}, AGREES),
        ({"instr": "tcgen05.ld.sync.aligned.16x256b.x64.b32", "target": "sm_100a"}, DRIFT),
        ({"instr": "mbarrier.init.shared.b64 [%r1], 1", "target": "sm_90"}, AGREES),
        ({"instr": "dp4a.s32.s32 d, a, b, c", "target": "sm_61"}, UNDECIDED),
        ({"instruction": "dp4a", "a": "s8", "d": "s32"}, UNDECIDED),
        ({"instruction": "tcgen05.mma", "shape": "any", "a": "f16", "target": "sm_100a"}, UNDECIDED),
        ({"instruction": ["mma", "tcgen05"], "a": "f16", "target": "sm_100a"}, UNDECIDED),
        ({"instruction": "wgmma", "shape": "m64n64k16", "a": "f16", "d": "f32", "target": "sm_90a"}, AGREES),
        ({"instruction": "wgmma", "shape": "m64n8k16", "target": ["sm_90", "sm_100"], "legal": "no"}, AGREES),
        ({"instruction": "wgmma.sp", "shape": "m64n40k64", "a": "e4m3", "target": "sm_90a"}, AGREES),
        ({"instruction": "wgmma", "shape": "m64n40k32", "a": "s8", "b": "s8", "target": "sm_90a"}, DRIFT),
        ({"instruction": "wgmma", "shape": "m64n64k16", "a": "bf16", "d": "f16", "target": "sm_90a"}, DRIFT),
        ({"instruction": "wgmma", "shape": "m64n64k16", "a": "f16", "target": "sm_100a"}, DRIFT),
        ({"instruction": "v_wmma_f32_16x16x16_f16", "target": "gfx1100"}, UNDECIDED),
        ({"instruction": "v_mfma_f32_16x16x16f16", "target": "gfx90a"}, AGREES),
        ({"instruction": "v_mfma_f32_16x16x16_f16", "target": "gfx90a"}, DRIFT),
        ({"instruction": "v_smfmac_f32_16x16x32_f16", "target": "gfx942"}, UNDECIDED),
        ({"instruction": "tstamp", "isa": "pto"}, UNDECIDED),
        ({"isa": "amdgcn", "a": "f16"}, UNDECIDED),
        ({"instr": "xvmaddasp", "target": "power10"}, UNDECIDED),
        ({**F16, "target": "vax"}, UNDECIDED),
        ({**F16, "target": "sm_80x"}, UNDECIDED),
        ({**F16, "target": "sm_6*"}, UNDECIDED),
        ({**F16, "target": ["sm_61", "sm_80"]}, UNDECIDED),
        ({**F16, "target": ["sm_61", "sm_75"]}, DRIFT),
        ({**F16, "target": "sm_80", "ptx": ["7.0", "19.3"]}, UNDECIDED),
        ({**F16, "target": "sm_80", "ptx": ["6.5", "19.3"]}, DRIFT),
        ({"instruction": "dp4a.s32.s32", "operand": "a", "layout": "(1):(1)"}, UNDECIDED),
        ({"instruction": "tcgen05.mma.cta_group::1.kind::f16", "operand": "d m=128 n=64",
          "layout": "(128,64):(1,128)"}, AGREES),
        ({"instruction": "tcgen05.mma.cta_group::1.kind::f16", "operand": "d m=128 n=64",
          "layout": "(128,64):(64,1)"}, DRIFT),
        ({"instruction": MMA, "operand": "a", "layout": "(1):(1)", "target": "sm_61"}, UNDECIDED),
    ],
    ids=str,
)  # fmt: skip
def test_rows(tmp_path: Path, row: dict, expected: Standing) -> None:
    assert standing(tmp_path, row) is expected


@pytest.mark.parametrize(
    ("row", "disagreeing"),
    [
        ({**F16, "target": "sm_80+"}, ""),
        ({**F16, "target": ">=sm_80", "ptx": "7.0+"}, ""),
        ({**F16, "target": "sm_7*", "legal": False}, ""),
        ({**F16, "target": "sm_*"}, "sm_70"),
        ({**F16, "target": ["sm_90", "sm_75"]}, "sm_75"),
        ({**F16, "c": "*", "d": "*", "target": "sm_80"}, ""),
        ({"shape": "m16n8k32", "a": "s8|e4m3", "target": "sm_80"}, "a=e4m3"),
        ({"shape": "m16n8k32", "a": "*", "target": "sm_80"}, "a=e4m3"),
        ({"shape": "m16n8k32", "a": "?8", "target": "sm_80"}, ""),
        ({"shape": "m16n8k32", "a": "e?m?", "target": "sm_80", "legal": False}, ""),
        ({"instr": "mma.sync.aligned.m8n8k4.*.f16.f16.f16.f16", "target": "sm_70"}, ""),
        ({"instr": "mma.sync.aligned.m16n8k*.row.col.f64.f64.f64.f64", "target": "sm_80"}, "m16n8k4"),
        ({"instruction": "xvf*", "target": "power10"}, ""),
    ],
    ids=str,
)
def test_lists_and_patterns_claim_it_of_each(tmp_path: Path, row: dict, disagreeing: str) -> None:
    says = [finding.spec_says for finding in judged(tmp_path, row)]
    assert len(says) == bool(disagreeing)
    assert all(disagreeing in text for text in says)


def test_a_finding_says_who_says_what_and_why(tmp_path: Path) -> None:
    (finding,) = judged(tmp_path, {"instr": MMA}, {"instr": MMA, "target": "sm_75"})
    assert (finding.line, finding.they_say, finding.spec_says) == (4, "legal", "illegal on sm_75, PTX 9.1")
    (cause,) = finding.causes
    assert (cause.id, cause.message) == ("ptx/target", "mma of this form needs sm_80+, not sm_75")
    assert "PTX ISA" in cause.source and cause.reason


def test_what_is_wrongly_forbidden_cites_where_it_is_allowed(tmp_path: Path) -> None:
    (finding,) = judged(tmp_path, {**F16, "target": "sm_80", "legal": False})
    assert rules([finding]) == ["gate/allowed"]
    assert "9.7.14.5" in finding.causes[0].source


def test_what_is_wrongly_forbidden_everywhere_cites_one_target_that_has_it(tmp_path: Path) -> None:
    row = {"kind": "mxf4", "block_scale": "yes", "legal": "no"}
    (finding,) = judged(tmp_path, row)
    assert finding.spec_says == "legal on sm_120a, PTX 9.1"


def test_defaults_hold_for_rows_that_say_nothing_else(tmp_path: Path) -> None:
    rows = [F16, {**F16, "target": "sm_80"}]
    assert [f.line for f in judged(tmp_path, *rows, target="sm_75")] == [3]
    assert [f.line for f in judged(tmp_path, *rows, defaults={"arch": "sm_75", "legal": "no"})] == [4]


def test_columns_may_be_renamed_and_ignored(tmp_path: Path) -> None:
    row = {"lhs_elem": "f16", "shape": "m16n8k16", "cycles": 17, "target": "sm_75"}
    assert rules(judged(tmp_path, row, columns={"lhs_elem": "a", "cycles": ""})) == ["ptx/target"]


@pytest.mark.parametrize("instruction", ["dp4a", "tcgen05.mma", "mma3.sync"])
@pytest.mark.parametrize("cells", [{}, {"target": "sm_90a"}, {"operand": "a", "layout": "(1):(1)"}], ids=str)
def test_what_is_not_modelled_is_said_without_the_mnemonics_of_others(
    tmp_path: Path, instruction: str, cells: dict
) -> None:
    (finding,) = judged(tmp_path, {"instruction": instruction, "target": "sm_90a", **cells})
    assert instruction.partition(".")[0] in finding.causes[0].message
    assert "xv" not in finding.summary and "tmatmul" not in finding.summary


@pytest.mark.parametrize("title", ["_shape", "_a", "_legal", "x-target", "$ptx", "_operand"])
def test_a_private_column_says_nothing_whatever_the_rest_of_its_name(tmp_path: Path, title: str) -> None:
    assert judged(tmp_path, {**F16, "target": "sm_80", title: "nothing of this kind"}) == []
    types = {"shape": "m16n8k16", "target": "sm_80", "types": {"a": "f16", "_b": "f64"}}
    assert judged(tmp_path, types) == []


def test_a_private_column_can_be_given_a_meaning(tmp_path: Path) -> None:
    row = {"_shape": "m16n8k16", "a": "tf32", "target": "sm_80"}
    assert rules(judged(tmp_path, row, columns={"_shape": "shape"})) == ["ptx/multiplicand-types"]


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.sampled_from([None, 1]))
@settings(max_examples=30, deadline=None)
def test_rows_of_one_line_are_counted_as_rows_of_several(right, indent) -> None:
    """The counts of a table do not depend on where its lines end."""
    targets = {True: "sm_80", False: "sm_75"}
    rows = [{"instr": MMA, "target": targets[agrees], "ptx": f"8.{n}"} for n, agrees in enumerate(right)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.json"
        path.write_text(json.dumps(rows, indent=indent), encoding="utf-8")
        report = compared(path)
    assert (report.count(AGREES), report.count(DRIFT)) == (right.count(True), right.count(False))
    wrong = [number for number, agrees in enumerate(right, start=1) if not agrees]
    places = [finding.place.removeprefix(f"{path}:") for finding in report.findings]
    if indent is None and len(rows) > 1:
        assert places == [f"1, row {number}" for number in wrong]
    else:
        assert places == ([str(5 * number - 3) for number in wrong] if indent else ["1"] * len(wrong))


def test_a_row_that_repeats_another_is_a_warning(tmp_path: Path) -> None:
    wrong = {**F16, "target": "sm_75"}
    layout = {"instruction": MMA, "operand": "a", "layout": "((4,8),(2,2,2)):((32,1),(16,8,128))"}
    unknown = {"instr": "dp4a", "target": "sm_61"}
    several = {**F16, "target": "sm_80+"}
    rows = [wrong, {**wrong, "arch": 75}, layout, layout, unknown, unknown, several, several]
    del rows[1]["target"]
    found = judged(tmp_path, *rows, {**F16, "target": "sm_90"})
    assert [(finding.line, finding.standing) for finding in found] == [
        (3, DRIFT), (4, Standing.WARNING), (6, Standing.WARNING), (7, UNDECIDED), (8, Standing.WARNING),
        (10, Standing.WARNING), (11, Standing.WARNING),
    ]  # fmt: skip
    assert rules(found[1:2]) == ["gate/repeated"] and "line 3" in found[1].causes[0].message


def test_a_layout_row_is_compared_with_the_layout(tmp_path: Path) -> None:
    right = {"instruction": MMA, "operand": "a", "layout": "((4,8),(2,2,2)):((32,1),(16,8,128))"}
    nested = {"shape": [[4, 8], [2, 2, 2]], "stride": [[32, 1], [16, 8, 128]]}
    wrong = right["layout"].replace("128", "64")
    assert judged(tmp_path, right, {**right, "layout": nested}, {**right, "layout": wrong, "legal": 0}) == []
    (finding,) = judged(tmp_path, right, {**right, "layout": wrong})
    assert (finding.line, finding.they_say, finding.spec_says) == (4, wrong, right["layout"])
    assert finding.causes[0].owner == "layout"
    (finding,) = judged(tmp_path, {**right, "legal": "no"})
    assert rules([finding]) == ["gate/allowed"]


def test_an_unspecified_layout_is_undecided(tmp_path: Path) -> None:
    wmma = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"
    row = {"instruction": wmma, "operand": "a", "layout": "(32,16):(1,32)"}
    assert standing(tmp_path, row) is UNDECIDED


CHANGES = {
    "shape": [point.cells["shape"] for point in POINTS],
    "a": ["f16", "bf16", "tf32", "f64", "s8", "u4", "b1", "e4m3", "e2m1", "f99"],
    "d": ["f16", "f32", "s32", "f64"],
    "layout": ["row.col", "col.row", "row", "none"],
    "kind": ["none", "f8f6f4", "mxf4"],
    "scale_vec": ["none", "2X", "4X"],
    "satfinite": ["yes", "no"],
    "sparse": ["yes", "no"],
    "count": ["none", "x2", "x8"],
    "type": ["none", "b16", "f32"],
}


@given(st.sampled_from(POINTS), st.data())
@settings(max_examples=examples(300), deadline=None)
def test_a_row_with_every_column_is_legal_exactly_if_the_isa_has_it(point, data) -> None:
    """Rows that differ from an instruction in any column are never taken for it."""
    with TemporaryDirectory() as folder:
        column = data.draw(st.sampled_from(sorted(CHANGES)))
        cells = {name: cell for name, cell in point.cells.items() if name not in ("a_layout", "b_layout")}
        cells[column] = data.draw(st.sampled_from(CHANGES[column]))
        exists = any(cells.items() <= other.cells.items() for other in POINTS)
        assert (standing(Path(folder), {**cells, "ptx": "9.1"}) is AGREES) == exists


@pytest.mark.parametrize(
    "row",
    [
        {"m": 16.0, "n": 8.0, "k": 16.0, "arch": 80.0, "legal": 1.0},
        {"shape": [16.0, 8.0, 16.0], "min_sm": 80.0, "ptx": 7.0},
        {"shape": {"m": 16.0, "n": 8.0, "k": 16.0}, "target": [80.0, 90.0]},
    ],
)
def test_whole_numbers_may_be_written_as_data_frames_write_them(tmp_path: Path, row: dict) -> None:
    assert not list(compared(json_table(tmp_path, {"a": "f16", "b": "f16", **row})).findings)
    flat = {title: cell for title, cell in row.items() if not isinstance(cell, list | dict)}
    if "m" in flat:
        text = f"{','.join(flat)}\n{','.join(map(str, flat.values()))}\n"
        assert not list(compared(csv_table(tmp_path, text)).findings)


@pytest.mark.parametrize("shape", ["16.5x8x16", [16.5, 8.0, 16.0], f"{'9' * 5000}.0"])
def test_a_shape_has_whole_numbers(tmp_path: Path, shape) -> None:
    with pytest.raises(InputError, match="not a shape"):
        compared(json_table(tmp_path, {"shape": shape, "target": "sm_80"}))


@pytest.mark.parametrize(
    ("rows", "drifting"),
    [
        (["v_mfma_f32_32x32x8f16,gfx90a,yes", "v_mfma_f32_32x32x8_f16,gfx90a,yes"], [3]),
        (["v_mfma_f32_32x32x8f16,gfx90a,yes", "v_mfma_f32_32x32x8_f16,gfx90a,no"], []),
        (
            [f"wmma.mma.sync{aligned}.row.col.m16n16k16.f32.f32,sm_80,yes" for aligned in (".aligned", "")],
            [3],
        ),
        ([f"{MMA},sm_80,yes", f"{MMA.replace('.aligned', '')},sm_80,no"], []),
    ],
)
def test_another_spelling_of_a_form_is_judged_by_itself(
    tmp_path: Path, rows: list[str], drifting: list[int]
) -> None:
    table = csv_table(tmp_path, "\n".join(["instruction,target,legal", *rows]))
    found = [finding.at for finding in compared(table).findings if finding.standing is DRIFT]
    assert [at.line for at in found] == drifting
