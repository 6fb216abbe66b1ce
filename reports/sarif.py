"""Reports as SARIF 2.1.0: the rules with their help, and a result for each finding."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

from ..spec.findings import Cause, Finding, Standing
from .json_report import spread
from .report import Report

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_KINDS = {Standing.UNDECIDED: ("open", "none"), Standing.WARNING: ("fail", "warning")}
"""What is no error; of kind ``open``, SARIF wants the level to be ``none``."""


def document(report: Report) -> dict[str, Any]:
    """Return the SARIF log of a report."""
    rules = list(report.rules.values())
    numbers = {rule.id: number for number, rule in enumerate(rules)}
    fingerprint = f"{report.wording.row}/v1"
    driver = {"name": "mmaproof", "version": report.version, "rules": [_rule(rule) for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            {
                "ruleId": finding.causes[0].id,
                "ruleIndex": numbers[finding.causes[0].id],
                **_result(finding, fingerprint),
            }
            for finding in report.findings
        ],
    }
    return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def _rule(rule: Cause) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.reason},
        "fullDescription": {"text": rule.message},
        "help": {"text": f"{rule.message}\nSource: {rule.source}"},
    }


def _uri(file: str) -> str:
    path = file.replace("\\", "/")
    try:
        return quote(os.fsencode(path))
    except UnicodeEncodeError:  # no file has this name, but a table may say so
        return quote(path.encode("utf-8", "backslashreplace"))


def _result(finding: Finding, fingerprint: str) -> dict[str, Any]:
    kind, level = _KINDS.get(finding.standing, ("fail", "error"))
    name = f"row {finding.at.row}: {finding.subject}" if finding.at.row else finding.subject
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": name, "kind": "member"}]}
    if finding.file not in ("", "-"):
        physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.file)}}
        if finding.line:
            physical["region"] = {"startLine": finding.line}
        location["physicalLocation"] = physical
    result: dict[str, Any] = {
        "kind": kind,
        "level": level,
        "message": {"text": "\n".join(filter(None, [finding.summary, finding.details]))},
        "locations": [location],
        "partialFingerprints": {fingerprint: finding.id},
    }
    if finding.standing is Standing.ACCEPTED:
        result["suppressions"] = [
            {"kind": "external", "status": "accepted", "justification": finding.accepted_because}
        ]
    return result


def render(report: Report) -> str:
    """Return the text of the SARIF log."""
    return spread(document(report), 4) + "\n"
