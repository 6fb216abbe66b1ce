"""A comparison as JSON (``docs/schemas/gate.schema.json``)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..spec.findings import Checked, Finding, FindingReport, Standing
from .json_lines import spread

SCHEMA = 1


def document(report: FindingReport) -> dict[str, Any]:
    """Return the JSON document of a comparison."""
    return {
        "schema": SCHEMA,
        "version": report.version,
        "command": report.command,
        "files": [_file(checked) for checked in report.files],
        "findings": [_finding(finding) for finding in report.findings],
        "summary": report.totals,
    }


def _file(checked: Checked) -> dict[str, Any]:
    counts = {standing.value: checked.count(standing) for standing in Standing}
    return {"file": checked.file, "kind": checked.kind, "rows": len(checked.rows), **counts}


def _finding(finding: Finding) -> dict[str, Any]:
    first = finding.causes[0]
    entry: dict[str, Any] = {
        "id": finding.id,
        "standing": finding.standing.value,
        "file": finding.file,
        "line": finding.line,
        **({"row": finding.at.row} if finding.at.row else {}),
        "subject": finding.subject,
        "they_say": finding.they_say,
        "spec_says": finding.spec_says,
        "rule": first.rule,
        "reason": first.reason,
        "source": first.source,
        "message": first.message,
        "causes": [asdict(cause) for cause in finding.causes],
    }
    if finding.accepted_because:
        entry["accepted_because"] = finding.accepted_because
    return entry


def render(report: FindingReport) -> str:
    """Return the text of the JSON report."""
    return spread(document(report), 2) + "\n"
