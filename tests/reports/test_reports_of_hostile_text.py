"""Whatever stands in names and tables, a report is well-formed, and an annotation is one harmless line."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

from html_pages import Page
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.reports import github, html, json_report, junit, sarif
from mmaproof.reports.findings_document import FindingsReport
from mmaproof.reports.gate_report import OF_TABLES
from mmaproof.spec.findings import Cause, Checked, Finding, Position, Standing

TEXT = st.text(st.characters(), max_size=30) | st.sampled_from(
    [
        "\x1b[31mred",
        "a\n::error::b",
        "]]>",
        "<script>",
        "::",
        "%0A",
        "\udcff",
        "\ud800",
        "\x00",
        "\ufffe",
        "\u202e",
        "|`*_",
    ]
)


@given(TEXT, TEXT, TEXT, TEXT)
def test_reports_of_hostile_text(file: str, subject: str, said: str, message: str) -> None:
    cause = Cause("ptx", "rule", "reason", "source", message)
    finding = Finding(Standing.DRIFT, file, Position(3), subject, (cause,), said, said)
    checked = Checked(file, "table", ((Position(3), subject), (Position(4), subject)), (finding,))
    report = FindingsReport("gate", "1", OF_TABLES, (checked,), {cause.id: cause}, 0.0)
    json.loads(json_report.render(report))
    json.loads(sarif.render(report))
    ET.fromstring(junit.render(report).encode("utf-8"))
    Page(html.render(report))
    (line,) = github.annotation_lines(report)
    summary = github.step_summary(report)
    assert line.startswith("::error ") and line.count("::") >= 2
    for text in (line, *summary.split("\n")):
        assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in text)
        text.encode("utf-8")
    properties = line.removeprefix("::error ").split("::", 1)[0]
    assert {each.split("=")[0] for each in properties.split(",")} <= {"file", "line", "title"}
