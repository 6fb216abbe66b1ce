"""A comparison as GitHub shows it: annotations of lines, and a summary of the step.

Source: GitHub Actions, workflow commands (``::error``) and job summaries (``GITHUB_STEP_SUMMARY``).
"""

from __future__ import annotations

from collections.abc import Iterator

from .findings import Finding, FindingReport, Standing

SHOWN_ANNOTATIONS = 10
"""GitHub shows no more than this many of each level in a step."""

SHOWN_FINDINGS = 200
"""Rows of the table in the summary, which may have at most a mebibyte."""

_LEVELS = {Standing.DRIFT: "error", Standing.UNDECIDED: "warning"}


def annotation_lines(report: FindingReport) -> Iterator[str]:
    """Yield the workflow commands that annotate lines: drift as errors, undecided rows as warnings."""
    shown = dict.fromkeys(_LEVELS, 0)
    for finding in report.findings:
        level = _LEVELS.get(finding.standing)
        if level is None or shown[finding.standing] == SHOWN_ANNOTATIONS:
            continue
        shown[finding.standing] += 1
        yield f"::{level} {_properties(finding)}::{_data(finding.summary)}"


def _properties(finding: Finding) -> str:
    where = {} if finding.file == "-" else {"file": finding.file}
    if where and finding.line:
        where["line"] = str(finding.line)
    named = {**where, "title": finding.causes[0].id}
    return ",".join(f"{name}={_property(value)}" for name, value in named.items())


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def step_summary(report: FindingReport) -> str:
    """Return the summary of the step, as Markdown."""
    lines = [
        f"### mmaproof {report.command}: {report.conclusion}",
        "",
        "| file | rows | " + " | ".join(Standing) + " |",
        "|---|---:|" + "---:|" * len(Standing),
    ]
    for checked in report.files:
        counts = " | ".join(str(checked.count(standing)) for standing in Standing)
        lines.append(f"| {_cell(checked.file)} | {len(checked.rows)} | {counts} |")
    findings = list(report.findings)
    if findings:
        lines += ["", "| where | what | they say | the spec says | why |", "|---|---|---|---|---|"]
        lines += [_row(finding) for finding in findings[:SHOWN_FINDINGS]]
    if len(findings) > SHOWN_FINDINGS:
        lines += ["", f"{len(findings) - SHOWN_FINDINGS} more are in the reports."]
    return "\n".join(lines) + "\n"


def _row(finding: Finding) -> str:
    why = "; ".join(f"{cause.id}: {cause.message}" for cause in finding.causes)
    cells = (
        finding.place,
        finding.subject,
        finding.they_say,
        finding.spec_says,
        f"{finding.standing}: {why}",
    )
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    for character, written in (("&", "&amp;"), ("<", "&lt;"), ("|", "\\|"), ("\n", " ")):
        text = text.replace(character, written)
    return text
