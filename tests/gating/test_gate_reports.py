"""The reports of a comparison say the same, each in its format."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from document_schemas import SCHEMAS, validate
from gate_tables import EXAMPLES, MMA, TODAY, json_table
from html_pages import Page

from mmaproof.gating.columns import COLUMNS
from mmaproof.gating.settings import GateSettings, GivenTable
from mmaproof.reports import gate_report, github, html, json_report, junit, sarif
from mmaproof.reports.report import Conclusion, Report
from mmaproof.spec.findings import Standing

ROWS = (
    {"instr": MMA, "target": "sm_80"},
    {"instr": MMA, "target": "sm_75"},
    {"instr": MMA, "target": "sm_70"},
    {"instr": MMA, "target": "sm_61"},
    {"instr": "mma.\a<&>%", "target": "sm_80"},
)


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """One row of each standing, and one that no format can write as it is."""
    allow = tmp_path / "accepted.toml"
    allow.write_text(
        f'[[allow]]\nfinding = "ptx/target: {MMA} on sm_70"\nreason = "why <&>"\nexpires = 2030-01-01\n',
        encoding="utf-8",
    )
    return gate_report.report(GateSettings((GivenTable(json_table(tmp_path, *ROWS)),), allow), "1.2.3", TODAY)


def standings(report: Report) -> dict[int, Standing]:
    return {finding.line: finding.standing for finding in report.findings}


def test_the_report_has_one_of_each(report: Report) -> None:
    assert standings(report) == {
        4: Standing.DRIFT, 5: Standing.ACCEPTED, 6: Standing.UNDECIDED, 7: Standing.DRIFT
    }  # fmt: skip


@pytest.mark.parametrize("allow_undecided", [False, True])
def test_conclusions(tmp_path: Path, allow_undecided: bool) -> None:
    def conclusion(*rows: dict) -> Conclusion:
        tables = (GivenTable(json_table(tmp_path, *rows)),)
        return gate_report.report(GateSettings(tables, None, allow_undecided), "1.2.3", TODAY).conclusion

    undecided = Conclusion.HOLDS if allow_undecided else Conclusion.UNDECIDED
    assert conclusion(ROWS[0]) is Conclusion.HOLDS
    assert conclusion(ROWS[0], ROWS[3]) is undecided
    assert conclusion(ROWS[3], ROWS[1]) is Conclusion.FAILS


def test_json_has_the_documented_form(report: Report) -> None:
    document = json.loads(json_report.render(report))
    validate("gate", document)
    assert {finding["line"]: finding["standing"] for finding in document["findings"]} == standings(report)
    summary = document["summary"]
    assert (
        summary["agrees"] + summary["drift"] + summary["undecided"] + summary["accepted"] == summary["rows"]
    )


def test_junit_has_a_case_for_each_row(report: Report) -> None:
    root = ET.fromstring(junit.render(report))
    details = {int(c.get("name", "").split()[1][:-1]): [d.tag for d in c] for c in root[0].iter("testcase")}
    assert details == {3: [], 4: ["failure"], 5: [], 6: ["skipped"], 7: ["failure"]}
    for tally in (root, *root.iter("testsuite")):
        cases = list(tally.iter("testcase"))
        assert int(tally.get("tests", "")) == len(cases)
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(tally.get(attribute, "")) == sum(case.find(tag) is not None for case in cases)


def test_sarif_results_have_places_and_rules_with_help(report: Report) -> None:
    log = json.loads(sarif.render(report))
    validate("sarif-subset", log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert {"ptx/shape", "ptx/target", "gate/missing", "layout/collision"} <= {rule["id"] for rule in rules}
    assert all(rule["help"]["text"].startswith(rule["fullDescription"]["text"]) for rule in rules)
    found = {}
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert re.fullmatch(r"[\w/.%~-]+", physical["artifactLocation"]["uri"])
        found[physical["region"]["startLine"]] = (result["kind"], result["level"], "suppressions" in result)
    assert found == {
        4: ("fail", "error", False), 5: ("fail", "error", True),
        6: ("open", "none", False), 7: ("fail", "error", False),
    }  # fmt: skip


def test_the_page_shows_every_finding_with_its_line(report: Report) -> None:
    page = html.render(report)
    Page(page)
    shown = re.findall(r'class="here">\s*(\d+) ', page)
    assert [int(number) for number in shown] == list(standings(report))
    assert "mma.\\u0007&lt;&amp;&gt;%" in page and "why &lt;&amp;&gt;" in page
    assert all(cause.id in page for finding in report.findings for cause in finding.causes)


def test_github_annotates_lines(report: Report) -> None:
    lines = list(github.annotation_lines(report))
    command = re.compile(r"::(error|warning) file=[^,:]+,line=(\d+),title=[\w/-]+::(.+)")
    found = [command.fullmatch(line) for line in lines]
    assert all(found)
    assert [(match[1], int(match[2])) for match in found if match] == [
        ("error", 4), ("warning", 6), ("error", 7)
    ]  # fmt: skip
    assert "%25" in lines[-1] and not any("%" in re.sub("%(25|0A|0D|2C|3A)", "", line) for line in lines)


def test_github_gets_no_more_annotations_than_it_shows(tmp_path: Path) -> None:
    rows = ({"shape": f"m16n8k{k}", "a": "f16", "target": "sm_80"} for k in range(100, 150))
    report = gate_report.report(GateSettings((GivenTable(json_table(tmp_path, *rows)),)), "1.2.3", TODAY)
    assert len(list(github.annotation_lines(report))) == github.SHOWN_ANNOTATIONS
    assert report.count(Standing.DRIFT) == 50


def test_the_step_summary_is_a_table_of_every_finding(report: Report) -> None:
    lines = github.step_summary(report).splitlines()
    table = [line for line in lines if line.startswith("|")]
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in table]
    assert set(widths) == {len(report.wording.standings) + 3, 6}
    assert widths.count(6) == 2 + len(standings(report))
    assert "<" not in "".join(table)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.name)
def test_the_example_tables_are_of_the_documented_form(path: Path) -> None:
    validate("gate-table", json.loads(path.read_text(encoding="utf-8")))


def test_the_documents_name_every_column() -> None:
    text = (SCHEMAS.parent / "gate.md").read_text(encoding="utf-8")
    assert [column.name for column in COLUMNS if f"`{column.name}`" not in text] == []


def test_every_rule_that_a_finding_cites_has_help(tmp_path: Path) -> None:
    layout = {"instruction": MMA, "operand": "a", "layout": "((4,8),(2,2,2)):((32,1),(16,8,128))"}
    rows = (
        {**layout, "legal": False},
        {**layout, "layout": "((4,8),(2,2,2)):((32,1),(16,8))"},
        {**layout, "layout": "((4,8),(2,2,2)):((32,1),(16,8,64))"},
        {"instr": "xvi8ger4 a9,vs33,vs34"},
        {"instruction": "tmatmul", "a": "f16", "b": "i8", "target": "A5"},
        {"shape": "m16n8k16", "a": "f16", "sparse": False, "metadata": "sp"},
        {"shape": "m16n8k16", "a": "f99"},
    )
    report = gate_report.report(
        GateSettings((GivenTable(json_table(tmp_path, *rows), complete=True),)), "1.2.3", TODAY
    )
    cited = {cause.id for finding in report.findings for cause in finding.causes}
    assert {"layout", "power", "pto", "gate"} <= {name.partition("/")[0] for name in cited}
    assert cited <= set(report.rules)
    validate("sarif-subset", json.loads(sarif.render(report)))
