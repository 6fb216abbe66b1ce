"""The outcome of ``check`` as findings: each verdict that is not the expected one, by its theorem."""

from __future__ import annotations

from dataclasses import replace

from ..proofs.pinned import REASON, RULE
from ..spec.findings import NOWHERE, Cause, Checked, Conclusion, Finding, FindingReport, Standing, Wording
from .report import Conclusion as Outcomes
from .report import Judgement, Outcome, Report, TheoremReport

OF_THEOREMS = Wording(
    "theorem",
    "obligations",
    {Standing.AGREES: "as expected", Standing.DRIFT: "unexpected", Standing.UNDECIDED: "unknown"},
    {conclusion: Outcomes[conclusion.name].value for conclusion in Conclusion},
)

_STANDINGS = {
    Judgement.UNEXPECTED: Standing.DRIFT,
    Judgement.DEFECT: Standing.DRIFT,
    Judgement.UNKNOWN: Standing.UNDECIDED,
}


def findings_of(report: Report) -> FindingReport:
    """Return a run as findings, which are in no file; their rules are the theorems."""
    causes = {entry.theorem.id: _cause(entry) for entry in report.theorems}
    checked = tuple(_checked(entry, causes[entry.theorem.id]) for entry in report.theorems)
    wording = OF_THEOREMS
    if report.unpinned:
        owner, _, rule = RULE.partition("/")
        causes[RULE] = Cause(owner, rule, REASON, "", "")
        checked = (_unpinned(report, causes[RULE]), *checked)
        wording = replace(wording, conclusions={**wording.conclusions, Conclusion.FAILS: report.headline})
    return FindingReport("check", report.version, checked, causes, report.elapsed, wording=wording)


def _unpinned(report: Report, cause: Cause) -> Checked:
    rows = tuple((NOWHERE, difference.id) for difference in report.unpinned)
    findings = tuple(
        Finding(Standing.DRIFT, "", NOWHERE, difference.id, "", "", (cause.saying(difference.reason),))
        for difference in report.unpinned
    )
    return Checked(RULE, "theorem", rows, findings)


def _cause(entry: TheoremReport) -> Cause:
    owner, _, rule = entry.theorem.id.partition("/")
    return Cause(owner, rule, entry.theorem.title, entry.theorem.source, entry.theorem.statement)


def _checked(entry: TheoremReport, cause: Cause) -> Checked:
    rows = tuple((NOWHERE, outcome.obligation.id) for outcome in entry.outcomes)
    findings = (_finding(outcome, cause) for outcome in entry.outcomes if outcome.judgement in _STANDINGS)
    return Checked(entry.theorem.id, "theorem", rows, tuple(findings))


def _finding(outcome: Outcome, cause: Cause) -> Finding:
    identifier = outcome.obligation.id
    message = outcome.summary.removeprefix(f"{identifier}: ")
    standing = _STANDINGS[outcome.judgement]
    return Finding(standing, "", NOWHERE, identifier, "", "", (cause.saying(message),))
