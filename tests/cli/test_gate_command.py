"""``mmaproof gate``, and the result files of ``legal -``."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from command_line import mmaproof
from document_schemas import validate
from gate_tables import EXAMPLES, MMA, csv_table, json_table

RIGHT = {"instr": MMA, "target": "sm_80"}
WRONG = {"instr": MMA, "target": "sm_75"}
OPEN = {"instr": MMA, "target": "sm_61"}


@pytest.fixture(autouse=True)
def _not_on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("rows", "options", "status"),
    [
        ([RIGHT], [], 0),
        ([RIGHT, WRONG], [], 1),
        ([RIGHT, OPEN], [], 3),
        ([RIGHT, OPEN], ["--allow-undecided"], 0),
        ([WRONG, OPEN], ["--allow-undecided"], 1),
        ([{"instr": MMA}], ["--target", "sm_75"], 1),
        ([RIGHT], ["--ptx", "6.5"], 1),
        ([{**RIGHT, "frob": 1}], [], 2),
        ([{**RIGHT, "frob": 1}], ["--column", "frob="], 0),
        ([{"instr": MMA, "frob": "sm_75"}], ["--column", "frob=target"], 1),
        ([{"instruction": "ldmatrix", "count": "x4", "target": "sm_90"}], ["--complete"], 1),
        ([{"instruction": "ldmatrix", "target": "sm_90"}], ["--complete"], 0),
    ],
)
def test_exit_status(tmp_path: Path, rows: list[dict], options: list[str], status: int) -> None:
    result = mmaproof("gate", json_table(tmp_path, *rows), *options)
    assert result.status == status
    assert result.wrong_use == (status == 2)
    assert result.err == "" or status == 2


def test_what_is_printed(tmp_path: Path) -> None:
    table = json_table(tmp_path, RIGHT, WRONG)
    lines = mmaproof("gate", table).out.splitlines()
    assert lines[0] == f"{table}:4: drift: {MMA} on sm_75"
    assert lines[1:4] == [
        "  they say: legal",
        "  the spec says: illegal on sm_75, PTX 9.1",
        "  ptx/target: mma of this form needs sm_80+, not sm_75",
    ]
    assert lines[-2].startswith("2 rows in 1 file: agrees: 1, drift: 1, undecided: 0, accepted: 0; ")
    assert lines[-1] == "not everything agrees with the spec"


def test_result_files(tmp_path: Path) -> None:
    names = {kind: tmp_path / f"out.{kind}" for kind in ("json", "junit", "sarif", "html")}
    options = [argument for kind, path in names.items() for argument in (f"--{kind}", path)]
    assert mmaproof("gate", json_table(tmp_path, RIGHT, WRONG), *options).status == 1
    document = json.loads(names["json"].read_text())
    validate("gate", document)
    assert [finding["line"] for finding in document["findings"]] == [4]
    assert len(ET.parse(names["junit"]).findall(".//failure")) == 1
    validate("sarif-subset", json.loads(names["sarif"].read_text()))
    assert "not everything agrees with the spec" in names["html"].read_text().lower()


def test_no_result_file_of_a_table_that_can_not_be_used(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert mmaproof("gate", json_table(tmp_path, RIGHT, {**RIGHT, "legal": "no"}), "--json", out).wrong_use
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no table is named, and there is no mmaproof.toml in this directory"),
        (("nothing.csv",), "nothing.csv: can't be read"),
        (("t.json", "--column", "x"), "is not OLD=NEW"),
        (("t.json", "--column", "x=frob"), "unknown column 'frob'"),
        (("t.json", "--isa", "vax"), "unknown ISA 'vax'"),
        (("t.json", "--target", "vax"), "unknown target 'vax'"),
        (("t.json", "--ptx", "x"), "unknown PTX version 'x'"),
        (("t.json", "--allow", "nothing.toml"), "nothing.toml: can't be read"),
        (("t.json", "--json", "no/folder/x"), "can't be written"),
    ],
)
def test_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    json_table(tmp_path, {"instr": MMA}).rename(tmp_path / "t.json")
    result = mmaproof("gate", *arguments)
    assert result.wrong_use and message in result.err


def test_settings_here_are_read_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    csv_table(tmp_path, "shape,a,target\nm16n8k16,f16,sm_75\n")
    (tmp_path / "mmaproof.toml").write_text('[gate]\n[[gate.table]]\nfile = "table.csv"\n')
    result = mmaproof("gate")
    assert (result.status, result.out.splitlines()[0]) == (
        1,
        "table.csv:2: drift: m16n8k16 a=f16 on sm_75",
    )


def test_one_file_of_accepted_differences(tmp_path: Path) -> None:
    result = mmaproof("gate", EXAMPLES / "mmaproof.toml", "--allow", tmp_path / "more.toml")
    assert result.wrong_use and "already" in result.err


def test_a_lock_that_tables_wrote_holds(tmp_path: Path) -> None:
    lock = tmp_path / "ptx.lock.json"
    assert mmaproof("tables", "ptx", "--format", "json", "--out", lock).status == 0
    assert mmaproof("gate", lock).status == 0
    lock.write_text(lock.read_text().replace('"sm_75+"', '"sm_70+"', 1))
    result = mmaproof("gate", lock)
    assert result.status == 1 and "they say: 'sm_70+'" in result.out


def test_many_findings_are_counted_and_not_all_printed(tmp_path: Path) -> None:
    rows = ({"shape": f"m16n8k{k}", "a": "f16", "target": "sm_80"} for k in range(100, 350))
    result = mmaproof("gate", json_table(tmp_path, *rows))
    assert result.out.count("the spec says") == 100
    assert "150 more findings are not shown" in result.err
    assert "drift: 250" in result.out


def test_a_missing_form_is_one_line(tmp_path: Path) -> None:
    result = mmaproof(
        "gate",
        json_table(tmp_path, {"instruction": "ldmatrix", "count": "x4", "target": "sm_90"}),
        "--complete",
    )
    first, second, *rest = result.out.splitlines()
    assert first.endswith(
        ": drift: ldmatrix count=x1: missing: no row is about it; it is legal on sm_90 (PTX 9.1)"
    )
    assert "count=x2" in second and len(rest) == 3


def test_a_repeated_row_is_a_warning(tmp_path: Path) -> None:
    result = mmaproof("gate", json_table(tmp_path, RIGHT, RIGHT))
    assert result.status == 0
    assert (
        ":4: warning: " in result.out
        and "agrees: 1, drift: 0, undecided: 0, accepted: 0, warning: 1" in result.out
    )


def test_rows_of_one_line_are_told_apart(tmp_path: Path) -> None:
    path, names = (
        tmp_path / "table.json",
        {kind: tmp_path / f"out.{kind}" for kind in ("json", "junit", "sarif")},
    )
    path.write_text(json.dumps([RIGHT, WRONG, OPEN, {**RIGHT, "ptx": "7.0"}]))
    options = [argument for kind, file in names.items() for argument in (f"--{kind}", file)]
    result = mmaproof("gate", path, *options)
    assert "4 rows in 1 file: agrees: 2, drift: 1, undecided: 1, accepted: 0" in result.out
    assert f"{path}:1, row 2: drift" in result.out
    document = json.loads(names["json"].read_text())
    validate("gate", document)
    assert [(finding["line"], finding["row"]) for finding in document["findings"]] == [(1, 2), (1, 3)]
    assert len(ET.parse(names["junit"]).findall(".//testcase")) == 4
    validate("sarif-subset", json.loads(names["sarif"].read_text()))


def test_github_is_told_when_it_runs_this(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    table = json_table(tmp_path, RIGHT, WRONG)
    assert "::error" not in mmaproof("gate", table).out
    assert summary.read_text() == "before\n"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert f"::error file={table},line=4,title=ptx/target::" in mmaproof("gate", table).out
    assert summary.read_text().startswith("before\n### mmaproof gate: not everything agrees with the spec\n")


LINES = "xvf32ger\n\nxvf64ger a0,vs33,vs36\nfrobnicate\n"


def test_legal_lines_have_result_files(tmp_path: Path) -> None:
    junit, sarif, html = (tmp_path / f"legal.{kind}" for kind in ("xml", "sarif", "html"))
    result = mmaproof("legal", "-", "--junit", junit, "--sarif", sarif, "--html", html, stdin=LINES)
    assert (result.status, result.out.count("\n")) == (1, 3)
    cases = {case.get("name"): len(case) for case in ET.parse(junit).iter("testcase")}
    assert cases == {
        "line 1: xvf32ger on power10": 0,
        "line 3: xvf64ger a0,vs33,vs36 on power10 (power/odd-pair)": 1,
        "line 4: frobnicate (legal/syntax)": 1,
    }
    assert all(rule in html.read_text() for rule in ("power/odd-pair", "legal/syntax"))
    log = json.loads(sarif.read_text())
    validate("sarif-subset", log)
    (run,) = log["runs"]
    assert [each["ruleId"] for each in run["results"]] == ["power/odd-pair", "legal/syntax"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {"power/odd-pair", "power/vsr-overlap", "legal/syntax"} <= rules


def test_lines_that_are_undecided_are_counted_by_themselves(tmp_path: Path) -> None:
    """Neither as legal, since they may not be, nor as illegal."""
    junit, sarif = tmp_path / "legal.xml", tmp_path / "legal.sarif"
    stdin = json.dumps({"instr": "%c = tmatmul %a, %b", "target": "A5"}) + "\nxvf32ger\n"
    result = mmaproof("legal", "-", "--junit", junit, "--sarif", sarif, stdin=stdin)
    assert result.status == 0
    undecided, decided = map(json.loads, result.out.splitlines())
    validate("legal", undecided)
    assert undecided["undecided"]
    assert "undecided" not in decided
    (suite,) = ET.parse(junit).iter("testsuite")
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["2", "0", "1"]
    (found,) = json.loads(sarif.read_text())["runs"][0]["results"]
    assert (found["ruleId"], found["kind"]) == ("legal/undecided", "open")


def test_legal_lines_leave_standard_output_to_the_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = mmaproof("legal", "-", stdin=LINES)
    assert all(json.loads(line) for line in result.out.splitlines())
    assert summary.read_text().startswith("### mmaproof legal: ")


def test_result_files_are_for_lines(tmp_path: Path) -> None:
    assert mmaproof("legal", "xvf32ger", "--junit", tmp_path / "x.xml").wrong_use
