"""Reports as JUnit XML: a suite for each file or theorem, a test case for each row or obligation."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from ..spec.findings import Checked, Finding, Position, Standing
from .report import Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_ELEMENTS = {Standing.DRIFT: "failure", Standing.DEFECT: "error", Standing.UNDECIDED: "skipped"}
"""What does not pass; rows that agree, accepted differences and warnings do."""

_COUNTED = {"failures": Standing.DRIFT, "errors": Standing.DEFECT, "skipped": Standing.UNDECIDED}


def render(report: Report) -> str:
    """Return the text of the JUnit report."""
    root = ET.Element("testsuites", {"name": f"mmaproof {report.command}", **_counts(*report.files)})
    root.set("time", f"{report.elapsed:.3f}")
    for checked in report.files:
        suite = ET.SubElement(root, "testsuite", {"name": _xml(checked.file), **_counts(checked)})
        if checked.seconds:
            suite.set("time", f"{sum(checked.seconds.values()):.3f}")
        for at, subject in checked.agreeing:
            _case(suite, checked, at, subject)
        for finding in checked.findings:
            _add_finding(suite, checked, finding)
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _counts(*files: Checked) -> dict[str, str]:
    def count(standing: Standing) -> int:
        return sum(checked.count(standing) for checked in files)

    counts = {name: str(count(standing)) for name, standing in _COUNTED.items()}
    return {"tests": str(sum(map(count, Standing))), **counts}


def _case(
    suite: ET.Element, checked: Checked, at: Position, subject: str, file: str = "", rule: str = ""
) -> ET.Element:
    """Add the case of a row; what the suite's name says already is left out."""
    name = f"line {at}: {subject}" if at.line else subject.removeprefix(f"{checked.file}/")
    if rule not in ("", checked.file):
        name += f" ({rule})"
    case = ET.SubElement(suite, "testcase", {"classname": _xml(file or checked.file), "name": _xml(name)})
    if subject in checked.seconds:
        case.set("time", f"{checked.seconds[subject]:.3f}")
    return case


def _add_finding(suite: ET.Element, checked: Checked, finding: Finding) -> None:
    case = _case(suite, checked, finding.at, finding.subject, finding.file, finding.causes[0].id)
    if element := _ELEMENTS.get(finding.standing):
        detail = ET.SubElement(case, element, {"message": _xml(finding.summary)})
        rules = (f"{cause.id}: {cause.reason} ({cause.source})" for cause in finding.causes)
        detail.text = _xml("\n".join(filter(None, [finding.place, *rules, finding.details])))


def _xml(text: str) -> str:
    """Replace what XML 1.0 has no way to write."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
