"""A comparison as JUnit XML: a suite for each file, a test case for each row."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ..spec.findings import Checked, Finding, FindingReport, Position, Standing
from .junit import xml_text

_ELEMENTS = {Standing.DRIFT: "failure", Standing.UNDECIDED: "skipped"}


def render(report: FindingReport) -> str:
    """Return the text of the JUnit report.

    Rows that agree, accepted differences and warnings pass; drift fails; what is undecided is skipped.
    """
    root = ET.Element("testsuites", {"name": f"mmaproof {report.command}", **_counts(*report.files)})
    root.set("time", f"{report.elapsed:.3f}")
    for checked in report.files:
        suite = ET.SubElement(root, "testsuite", {"name": xml_text(checked.file), **_counts(checked)})
        for at, subject in checked.agreeing:
            _case(suite, checked.file, at, subject)
        for finding in checked.findings:
            _add_finding(suite, finding)
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _counts(*files: Checked) -> dict[str, str]:
    def count(standing: Standing) -> int:
        return sum(checked.count(standing) for checked in files)

    return {
        "tests": str(sum(map(count, Standing))),
        "failures": str(count(Standing.DRIFT)),
        "errors": "0",
        "skipped": str(count(Standing.UNDECIDED)),
    }


def _case(suite: ET.Element, file: str, at: Position, subject: str) -> ET.Element:
    name = f"line {at}: {subject}" if at.line else subject
    return ET.SubElement(suite, "testcase", {"classname": xml_text(file), "name": xml_text(name)})


def _add_finding(suite: ET.Element, finding: Finding) -> None:
    case = _case(suite, finding.file, finding.at, f"{finding.subject} ({finding.causes[0].id})")
    if element := _ELEMENTS.get(finding.standing):
        detail = ET.SubElement(case, element, {"message": xml_text(finding.summary)})
        rules = (f"{cause.id}: {cause.reason} ({cause.source})" for cause in finding.causes)
        detail.text = xml_text("\n".join([finding.place, *rules]))
