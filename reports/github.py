"""Findings as GitHub shows it: annotations of lines, and a summary of the step.

Source: GitHub Actions, workflow commands (``::error``) and job summaries (``GITHUB_STEP_SUMMARY``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..spec.findings import Finding, Standing
from ..spec.shown_text import visible
from .report import Report, Wording

SHOWN_ANNOTATIONS = 10
"""GitHub shows no more than this many of each level in a step."""

SHOWN_FINDINGS = 200
"""Rows of the table in the summary, which may have at most a mebibyte."""

_LEVELS = {
    Standing.DRIFT: "error",
    Standing.DEFECT: "error",
    Standing.UNDECIDED: "warning",
    Standing.WARNING: "warning",
}


def annotation_lines(report: Report) -> Iterator[str]:
    """Yield the workflow commands that annotate lines: drift as errors, what is undecided as warnings."""
    shown = dict.fromkeys(_LEVELS.values(), 0)
    for finding in report.findings:
        level = _LEVELS.get(finding.standing)
        if level is None or shown[level] == SHOWN_ANNOTATIONS:
            continue
        shown[level] += 1
        yield f"::{level} {_properties(finding)}::{_data(finding.summary)}"


def _properties(finding: Finding) -> str:
    where = {} if finding.file in ("", "-") else {"file": finding.file}
    if where and finding.line:
        where["line"] = str(finding.line)
    named = {**where, "title": finding.causes[0].id}
    return ",".join(f"{name}={_property(value)}" for name, value in named.items())


def _data(text: str) -> str:
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def step_summary(report: Report) -> str:
    """Return the summary of the step, as Markdown."""
    wording = report.wording
    lines = [
        f"### mmaproof {report.command}: {report.headline}",
        "",
        _row([wording.file, wording.rows, *wording.standings.values()]),
        "|---|---:|" + "---:|" * len(wording.standings),
    ]
    for checked in report.files:
        counts = (checked.count(standing) for standing in wording.standings)
        lines.append(_row([checked.file, str(len(checked.rows)), *map(str, counts)]))
    findings = list(report.findings)
    if findings:
        lines += ["", *_findings(findings[:SHOWN_FINDINGS], wording)]
    if len(findings) > SHOWN_FINDINGS:
        lines += ["", f"{len(findings) - SHOWN_FINDINGS} more are in the reports."]
    return "\n".join(lines) + "\n"


def _findings(findings: Sequence[Finding], wording: Wording) -> Iterator[str]:
    """Yield the lines of the table of findings, without the columns that none of them fills."""

    def why(finding: Finding) -> str:
        causes = "; ".join(f"{cause.id}: {cause.message}" for cause in finding.causes)
        return f"{wording.standings[finding.standing]}: {causes}"

    columns = {
        "where": [finding.place for finding in findings],
        "what": [finding.subject for finding in findings],
        "they say": [finding.they_say for finding in findings],
        "the spec says": [finding.spec_says for finding in findings],
        "why": [why(finding) for finding in findings],
    }
    filled = {title: cells for title, cells in columns.items() if any(cells)}
    yield _row(filled)
    yield "|" + "---|" * len(filled)
    yield from map(_row, zip(*filled.values(), strict=True))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    text = visible(text.replace("\n", " "))
    for character, written in (("&", "&amp;"), ("<", "&lt;"), ("|", "\\|")):
        text = text.replace(character, written)
    return text
