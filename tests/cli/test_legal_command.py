"""``mmaproof legal`` and ``tables``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from command_line import mmaproof
from document_schemas import validate

import mmaproof as mmaproof_package
from mmaproof.spec.power import tables
from mmaproof.spec.power.contradictions import CONTRADICTIONS
from mmaproof.spec.power.forms import FORMS


def answers(stdin: str | bytes, *options: str) -> tuple[int, list[dict]]:
    result = mmaproof("legal", "-", *options, stdin=stdin)
    assert result.err == ""
    documents = [json.loads(line) for line in result.out.splitlines()]
    for document in documents:
        validate("legal", document)
    return result.status, documents


def test_a_legal_instruction_has_status_0() -> None:
    result = mmaproof("legal", "xvf32ger a0,vs34,vs35")
    assert (result.status, result.out) == (0, "legal on power10: xvf32ger a0,vs34,vs35\n")


def test_an_illegal_one_has_status_1_and_every_violated_rule() -> None:
    result = mmaproof("legal", "pmxvf32ger a0,vs1,vs35,16,0", "--target", "power9", "--json")
    assert result.status == 1
    document = json.loads(result.out)
    validate("legal", document)
    assert {v["rule"] for v in document["violations"]} == {"target-isa", "mask-range", "vsr-overlap"}
    text = mmaproof("legal", "pmxvf32ger a0,vs1,vs35,16,0", "--target", "power9").out
    assert all(
        v[key] in text for v in document["violations"] for key in ("rule", "reason", "source", "message")
    )


def test_the_target_matters() -> None:
    overlapping = "xvf32ger a0,vs1,vs35"
    assert [mmaproof("legal", overlapping, "--target", t).status for t in ("power10", "future")] == [1, 0]


def test_each_line_gets_one_answer_in_order() -> None:
    lines = ["xvf32ger", "", "  pmxvf32ger a0,vs34,vs35,1,2  ", "xvf64ger a0,vs33,vs36", "frobnicate"]
    status, documents = answers("\n".join(lines))
    assert status == 1
    assert [(d["instr"], d["legal"]) for d in documents] == [
        ("xvf32ger", True),
        ("pmxvf32ger a0,vs34,vs35,1,2", True),
        ("xvf64ger a0,vs33,vs36", False),
        ("frobnicate", False),
    ]
    assert [v["rule"] for d in documents for v in d["violations"]] == ["odd-pair", "syntax"]
    assert "unknown mnemonic 'frobnicate'" in documents[-1]["violations"][0]["message"]


def test_a_json_line_names_its_own_target() -> None:
    requests = [{"instr": "xvf32ger"}, {"instr": "xvf32ger", "target": "power9", "ptx": "8.6"}]
    for request in requests:
        validate("legal-request", request)
    status, documents = answers("\n".join(map(json.dumps, requests)), "--target", "power11", "--ptx", "8.6")
    assert status == 1
    assert [(d["target"], d["legal"]) for d in documents] == [("power11", True), ("power9", False)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"instr": 7}', '"instr" and "target" must be strings'),
        ('{"target": "power10"}', '"instr" and "target" must be strings'),
        ('{"instr": "xvf32ger", "target": []}', '"instr" and "target" must be strings'),
        ('{"instr": "xvf32ger", "target": "vax"}', "unknown target 'vax'"),
        ('{"instr"', "not JSON"),
        ("{" * 50_000, "not JSON"),
        ("[1]", "unknown mnemonic"),
        ("\0", "unknown mnemonic"),
    ],
)
def test_a_line_that_is_no_instruction_violates_the_syntax_and_does_not_stop_the_rest(
    line: str, message: str
) -> None:
    status, documents = answers(f"{line}\nxvf32ger\n")
    assert status == 1
    assert [d["legal"] for d in documents] == [False, True]
    (violation,) = documents[0]["violations"]
    assert violation["rule"] == "syntax" and message in violation["message"]


def test_lines_may_be_any_bytes() -> None:
    status, documents = answers(b"\xff\xfe xvf32ger\nxvf32ger\n")
    assert (status, [d["legal"] for d in documents]) == (1, [False, True])


@pytest.mark.parametrize("stdin", ["", "\n \n"])
def test_where_nothing_is_judged_nothing_is_legal(stdin: str) -> None:
    result = mmaproof("legal", "-", stdin=stdin)
    assert (result.status, result.out) == (3, "") and "no instruction to judge" in result.err


def test_thousands_of_lines() -> None:
    status, documents = answers("pmxvi4ger8pp a1,vs34,vs35,15,15,255\n" * 3000)
    assert (status, len(documents)) == (0, 3000)


@pytest.mark.parametrize(
    ("options", "rows"),
    [((), tables.rows), (("--rules",), tables.rule_rows), (("--contradictions",), tables.contradiction_rows)],
)
def test_every_format_has_the_same_table(options: tuple[str, ...], rows, tmp_path: Path) -> None:
    expected = rows()
    document = json.loads(mmaproof("tables", "power", *options, "--format", "json").out)
    validate("tables", document)
    assert document["rows"] == expected
    as_csv = mmaproof("tables", *options, "--format", "csv").out
    assert list(csv.DictReader(as_csv.splitlines())) == expected
    markdown = mmaproof("tables", *options, "--format", "md").out.splitlines()
    assert len(markdown) == len(expected) + 2
    assert len({line.replace("\\|", "").count("|") for line in markdown}) == 1
    out = tmp_path / "table"
    assert mmaproof("tables", *options, "--format", "csv", "--out", out).out == ""
    assert out.read_text() == as_csv


def test_the_tables_are_complete() -> None:
    instructions = json.loads(mmaproof("tables", "--format", "json").out)["rows"]
    assert [row["mnemonic"] for row in instructions] == list(FORMS)
    contradictions = mmaproof("tables", "--contradictions").out
    assert all(who in contradictions for c in CONTRADICTIONS for who, _ in c.claims)


LDMATRIX = "ldmatrix.sync.aligned.m8n8.x1.shared.b16"
BODY = f"""// what stands in a function
.reg .b32 %r<10>; .reg .pred %p1;
.shared .align 16 .b8 s[64];
@%p1 {LDMATRIX} {{%r0}}, [s+(4*4)];
"""


@pytest.mark.parametrize(
    ("instruction", "registers", "rules"),
    [
        (f"@%p1 {LDMATRIX} {{%r2}}, [s+(16*2)]", "%r<10>:b32, %p1:pred, s:shared", []),
        (f"@%r1 {LDMATRIX} {{%r2}}, [s]", "%r<10>:b32, s:shared", ["guard"]),
        (f"@%p1 {LDMATRIX} {{%r20}}, [s]", "%r<10>:b32, s:shared", ["declaration", "declaration"]),
        (f"{LDMATRIX} {{%r2}}, [s]", "%r<10>:b32, s:global", ["address-space"]),
        (f"{LDMATRIX} {{%f2}}, [%p1]", "%f<10>:f64, %p1:pred", ["register-class", "register-class"]),
    ],
)
def test_declared_registers_are_looked_at(instruction: str, registers: str, rules: list[str]) -> None:
    result = mmaproof("legal", instruction, "--registers", registers, "--json")
    assert [violation["rule"] for violation in json.loads(result.out)["violations"]] == rules
    request = json.dumps({"instr": instruction, "registers": registers})
    (answer,) = mmaproof("legal", "-", stdin=f"{request}\n").out.splitlines()
    assert [violation["rule"] for violation in json.loads(answer)["violations"]] == rules


@pytest.mark.parametrize(
    ("instruction", "contradiction"),
    [
        (f"{LDMATRIX.replace('x1', 'x8')}", "x8"),
        ("mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", "f8f6f4-m16n8k16"),
        (LDMATRIX.replace("m8n8", "m8n9"), None),
        (LDMATRIX, None),
    ],
)
def test_the_contradiction_is_cited_where_the_assembler_takes_more(
    instruction: str, contradiction: str | None
) -> None:
    notes = json.loads(mmaproof("legal", instruction, "--json").out).get("notes", [])
    assert [note.partition("contradiction ")[2].partition(" ")[0] for note in notes] == (
        [contradiction] if contradiction else []
    )


@pytest.mark.parametrize("around", ["{}", "{{\n{}}}", ".visible .entry k() {{\n{}}}"])
def test_a_body_of_ptx_declares_its_own_names(around: str) -> None:
    def judged(text: str) -> tuple[int, list[str]]:
        result = mmaproof("legal", "-", "--target", "sm_75", stdin=around.format(text))
        answers = [json.loads(line) for line in result.out.splitlines()]
        return result.status, [
            f"{v['rule']}: {v['message']}" for answer in answers for v in answer["violations"]
        ]

    assert judged(BODY) == (0, [])
    status, (message,) = judged(BODY.replace("m8n8", "m8n16"))
    assert status == 1 and message.startswith(f"element-type: line {4 + around.count(chr(10))}, ldmatrix")
    status, (message,) = judged(BODY.replace(".shared .align", ".local .align"))
    assert status == 1 and message.startswith("address-space: ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@%p1", "@%r1", "a guard must be a register of type .pred, unlike '%r1'"),
        ("@%p1", "@%p2", "'%p2' is not declared here"),
        ("%r0}", "%r10}", "'%r10' is not declared here"),
    ],
)
def test_a_body_that_can_not_be_read_is_refused_with_its_line(old: str, new: str, message: str) -> None:
    result = mmaproof("legal", "-", stdin=BODY.replace(old, new))
    assert result.wrong_use and message in result.err and "standard input:4:" in result.err


def test_a_file_of_ptx_is_judged_for_its_own_target(tmp_path: Path) -> None:
    path = tmp_path / "kernel.ptx"
    head = ".version 8.0\n.target sm_75\n.address_size 64\n"
    path.write_text(
        f"{head}.visible .entry k() {{\n{BODY.replace('m8n8', 'm16n16').replace('x1', 'x1.trans')}}}\n"
    )
    result = mmaproof("legal", path)
    assert result.status == 1 and result.out.startswith(f"illegal on sm_75: {path}")
    assert "line 8" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("legal", "xvf32ger", "--registers", "a:b32"), "registers are declared for instructions of PTX"),
        (("legal", LDMATRIX, "--registers", "a:b33"), "unknown type 'b33'"),
        (("legal", "kernel.ptx", "--registers", "a:b32"), "a module declares its own"),
    ],
)
def test_registers_that_can_not_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernel.ptx").write_text(BODY)
    result = mmaproof(*arguments)
    assert result.wrong_use and message in result.err


@pytest.mark.parametrize(
    "before",
    [
        "/* a licence\n * of two lines */\n",
        "\ufeff",
        "\ufeff// c\n\n",
        "/* a */ /* b */",
        "// /* c\n",
    ],
)
def test_comments_may_stand_before_a_whole_text(before: str) -> None:
    status, (document,) = answers(before + BODY)
    assert (status, document) == (answers(BODY)[0], answers(BODY)[1][0])


def test_lines_behind_a_byte_order_mark_are_answered_one_by_one() -> None:
    assert [answer["legal"] for answer in answers("\ufeffxvf32ger\nxvf32ger")[1]] == [True, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty text"),
        ("// nothing\n\n", "an empty text"),
        ("\n\n/* never closed\n mma", ":3: the comment is not closed"),
        (".version 8.0\n.target sm_80\n/* never closed", ":3: the comment is not closed"),
    ],
)
def test_a_file_without_a_statement_is_wrong_use(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "k.ptx").write_text(text)
    result = mmaproof("legal", tmp_path / "k.ptx")
    assert result.wrong_use
    assert message in result.err


def test_strings_hide_what_begins_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text('.version 8.0\n.target sm_80\n.address_size 64\n.file 1 "/a/*.cu"\n.entry k() { ret; }\n')
    result = mmaproof("legal", path)
    assert result.status == 3 and "has no matrix instruction" in result.out


NOT_JUDGED = {
    "st.bulk.weak.shared::cta": "sm_121f",
    "@%p1 multimem.red.relaxed.sys.global.add.f32": "sm_121f",
    "mov.u32 %r1, %r2;": "sm_121f",
    "@!%p2 ret;": "sm_121f",
}
"""Instructions of PTX that no rule looks at, and the newest target that has the opcode."""


@pytest.mark.parametrize(("instruction", "target"), NOT_JUDGED.items())
def test_an_instruction_that_no_rule_looks_at_is_neither_legal_nor_illegal(
    instruction: str, target: str
) -> None:
    result = mmaproof("legal", instruction)
    assert result.status == 3 and result.out.startswith(f"undecided on {target}: {instruction}\n")
    status, (answer,) = answers(instruction)
    assert (status, answer["legal"], answer["violations"]) == (3, None, []) and answer["undecided"]
    report = mmaproof_package.legal(instruction)
    assert report.legal is None and f"undecided on {target}" in report._repr_html_()


@pytest.mark.parametrize(
    ("instruction", "target"),
    [("multimem.banana", "sm_80"), ("st.bulk.weak", "sm_90a"), ("redux.test", "sm_75")],
)
def test_an_opcode_that_the_target_lacks_is_illegal(instruction: str, target: str) -> None:
    status, (answer,) = answers(instruction, "--target", target)
    assert (status, answer["legal"]) == (1, False)
    assert [each["rule"] for each in answer["violations"]] == ["opcode-target"]


def test_a_line_that_is_not_modelled_is_undecided_and_the_next_is_answered() -> None:
    lines = ("multimem.st.weak.global.f32", "v_smfmac_f32_16x16x32_f16", "xvi8ger4pp a0,vs32,vs33")
    status, found = answers("\n".join(lines))
    assert (status, [each["instr"] for each in found]) == (3, list(lines))
    assert [each["legal"] for each in found] == [None, None, True]
    assert ["undecided" in each for each in found] == [True, True, False]


def test_other_instructions_of_power_kernels_are_known_and_not_judged() -> None:
    status, (answer,) = answers("lwz 3,0(4)")
    assert (status, answer["legal"]) == (3, None)
    assert answer["undecided"] == ["lwz of power: known, no matrix instruction, not judged"]
    assert mmaproof("legal", "lwz 3,0(4)").status == 3
    assert mmaproof("legal", "lwz 3,0(4)", "--target", "sm_80").status == 2


def test_an_illegal_line_outweighs_one_that_is_not_judged() -> None:
    assert answers("multimem.st.weak.global.f32\nxvf64ger a0,vs33,vs36")[0] == 1


MODULE = """.version 8.7
.target {target}
.address_size 64
.entry k() {{
  .reg .b32 %r<4>;
  .shared .align 16 .b8 s[64];
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r0}}, [s];
  {line}
  {line}
  ret;
}}
"""


@pytest.mark.parametrize(
    ("line", "target", "status", "said"),
    [
        ("add.u32 %r1, %r2, %r3;", "sm_80", 0, "1 matrix instruction is judged; of the other 3 instructions"),
        ("tcgen05.mma.cta_group::3.kind::banana;", "sm_100a", 1, "async-modifier: line 8, tcgen05.mma"),
        ("tcgen05.wait::ld.sync.aligned;", "sm_100a", 0, "1 matrix instruction and 2 asynchronous ones are"),
        ("tcgen05.wait::ld.sync.aligned;", "sm_120a", 1, "async-target: line 8, tcgen05.wait::ld"),
        ("wgmma.fence.sync.aligned;", "sm_90a", 0, "3 matrix instructions are judged"),
        ("wgmma.fence.sync.aligned;", "sm_90", 1, "target: line 9, wgmma.fence"),
        ("wgmma.wait_group.sync.aligned %r0;", "sm_90a", 1, "operand-sort: line 8, wgmma.wait_group"),
        ("frobnicate.b32 %r1;", "sm_80", 2, "k.ptx:8: PTX has no opcode 'frobnicate'"),
    ],
)
def test_a_file_is_legal_only_where_every_matrix_instruction_is_judged(
    tmp_path: Path, line: str, target: str, status: int, said: str
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(MODULE.format(target=target, line=line))
    result = mmaproof("legal", path)
    assert result.status == status and said in result.out + result.err
    if status != 2:
        answer = json.loads(mmaproof("legal", path, "--json").out)
        validate("legal", answer)
        assert answer["legal"] is {0: True, 1: False, 3: None}[status]


@pytest.mark.parametrize(
    "mnemonic",
    [
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16",
        "movmatrix.sync.aligned.m8n8.trans.b16",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16",
        "wmma.store.d.sync.aligned.row.m16n16k16.f32",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
    ],
)
def test_a_statement_of_a_file_has_its_operands_though_a_line_may_name_a_form(
    tmp_path: Path, mnemonic: str
) -> None:
    assert mmaproof("legal", mnemonic, "--target", "sm_90").status == 0
    path = tmp_path / "k.ptx"
    for guard in ("", "@%p0 "):
        line = f".reg .pred %p0; {guard}{mnemonic};"
        path.write_text(MODULE.format(target="sm_90", line=f"{{ {line} }}"))
        result = mmaproof("legal", path)
        assert result.status == 1 and f"line 8, {mnemonic}" in result.out and "not 0 operands" in result.out


def test_products_that_are_not_modelled_are_listed_as_such(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(MODULE.format(target="sm_90a", line="tcgen05.mma.cta_group::1.kind::f16 [%r0], %r1;"))
    listed = mmaproof("verify", "--list", path).out
    assert listed == "k: 2 tcgen05.mma.cta_group::1.kind::f16 (not modelled)\n"


BULK = "cp.async.bulk.commit_group;"
PRODUCT = (
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};"
)


@pytest.mark.parametrize(
    ("version", "target", "status"), [("8.0", "sm_80", 1), ("8.0", "sm_90", 0), ("99.0", "sm_90", 3)]
)
def test_forms_that_the_target_lacks_and_unknown_versions(version: str, target: str, status: int) -> None:
    text = (
        f".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n"
        f".reg .b32 %r<6>; .reg .f32 %f<4>;\n{PRODUCT}\n{BULK}\nret;\n}}\n"
    )
    assert answers(text)[0] == status


def test_a_form_alone_is_illegal_where_the_target_lacks_it() -> None:
    assert [mmaproof("legal", BULK, "--target", each).status for each in ("sm_80", "sm_90")] == [1, 0]


def test_lines_of_comments_are_no_instructions() -> None:
    assert mmaproof("legal", "-", stdin="// one\n/* two */\n").status == 3
    status, documents = answers("// one\nxvf32ger\n/* two */\n")
    assert (status, [document["instr"] for document in documents]) == (0, ["xvf32ger"])
