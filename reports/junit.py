"""The report as JUnit XML: a suite per theorem, a test case per obligation."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from ..proofs.pinned import RULE
from .counterexample_text import counterexample_text
from .report import Judgement, Outcome, Report, TheoremReport

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_ELEMENTS = {Judgement.UNEXPECTED: "failure", Judgement.DEFECT: "error", Judgement.UNKNOWN: "skipped"}


def render(report: Report) -> str:
    """Return the text of the JUnit report.

    Proved as expected and refuted as pinned pass; another verdict is a failure, an unknown is skipped,
    a defect of mmaproof is an error.
    """
    root = ET.Element("testsuites", _counts(report, "mmaproof check"))
    for count in ("tests", "failures"):
        root.set(count, str(int(root.get(count, 0)) + len(report.unpinned)))
    root.set("time", f"{report.elapsed:.3f}")
    if report.unpinned:
        root.append(_pinned_suite(report))
    for theorem in report.theorems:
        root.append(_suite(theorem))
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _counts(tally: Report | TheoremReport, name: str) -> dict[str, str]:
    counts = {"tests": str(len(tally.outcomes))}
    for judgement, attribute in zip(_ELEMENTS, ("failures", "errors", "skipped"), strict=True):
        counts[attribute] = str(tally.count(judgement))
    return {"name": xml_text(name), **counts, "time": f"{tally.seconds:.3f}"}


def _suite(theorem: TheoremReport) -> ET.Element:
    suite = ET.Element("testsuite", _counts(theorem, theorem.theorem.id))
    suite.extend(_case(theorem.theorem.id, outcome) for outcome in theorem.outcomes)
    return suite


def _pinned_suite(report: Report) -> ET.Element:
    number = str(len(report.unpinned))
    counts = {"tests": number, "failures": number, "errors": "0", "skipped": "0", "time": "0.000"}
    suite = ET.Element("testsuite", {"name": RULE, **counts})
    for difference in report.unpinned:
        case = ET.SubElement(
            suite, "testcase", {"classname": RULE, "name": xml_text(difference.id), "time": "0.000"}
        )
        ET.SubElement(case, "failure", {"message": xml_text(difference.reason)})
    return suite


def _case(theorem: str, outcome: Outcome) -> ET.Element:
    obligation, verdict = outcome.obligation, outcome.verdict
    name = obligation.id.removeprefix(theorem + "/")
    case = ET.Element(
        "testcase",
        {"classname": xml_text(theorem), "name": xml_text(name), "time": f"{verdict.seconds:.3f}"},
    )
    if element := _ELEMENTS.get(outcome.judgement):
        detail = ET.SubElement(case, element, {"message": xml_text(outcome.summary)})
        if verdict.counterexample is not None:
            detail.text = xml_text(counterexample_text(verdict.counterexample))
    return case


def xml_text(text: str) -> str:
    """Replace what XML 1.0 has no way to write."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
