"""The reports of ``gate`` and of ``legal -``, and their JSON document."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from ..spec.findings import Cause, Checked, Finding, Standing
from ..spec.instruction_set import NAMES
from ..spec.json_fields import Amount, Keyword, Natural, Positive, Some
from .report import Conclusion, Report

Owner = Annotated[str, Keyword("enum", [*NAMES, "layout", "gate", "legal"])]


class CauseDocument(TypedDict):
    """Why a row differs: a rule, and how it applies.

    Attributes
    ----------
    owner : str
        Whose rule it is.
    rule : str
        Its stable name.
    reason : str
        The rule, in one line.
    source : str
        Where it is stated.
    message : str
        What is wrong, with the offending values.
    """

    owner: Owner
    rule: str
    reason: str
    source: str
    message: str


class FileDocument(TypedDict):
    """A file that was checked.

    Attributes
    ----------
    file : str
        Its name, as given.
    kind : str
        What it is.
    rows, agrees, drift, undecided, accepted, warning : int
        How many rows there are, and how they stand.
    """

    file: str
    kind: Annotated[str, Keyword("enum", ["table", "lock", "allowances", "instructions"])]
    rows: Natural
    agrees: Natural
    drift: Natural
    undecided: Natural
    accepted: Natural
    warning: Natural


class FindingDocument(TypedDict):
    """A row that does not agree, can't be decided, or should be looked at.

    Attributes
    ----------
    id : str
        Stable name, by which a difference is accepted.
    standing : Standing
        How the row stands to the specification.
    file : str
        The file that it is in.
    line : int
        Of the row, from 1; 0 for what is not in a row.
    row : int
        Its number among the rows, where it shares the line with another.
    subject : str
        The row in words.
    they_say, spec_says : str
        The two sides; empty where the causes say it all.
    rule, reason, source, message : str
        Those of the first of the causes.
    causes : list of CauseDocument
        Every rule behind it.
    accepted_because : str
        The reason of an accepted difference.
    """

    id: str
    standing: Annotated[Standing, Keyword("enum", ["drift", "undecided", "accepted", "warning"])]
    file: str
    line: Natural
    row: NotRequired[Positive]
    subject: str
    they_say: str
    spec_says: str
    rule: str
    reason: str
    source: str
    message: str
    causes: Some[CauseDocument]
    accepted_because: NotRequired[str]


class Totals(TypedDict):
    """A report in numbers.

    Attributes
    ----------
    files, rows, agrees, drift, undecided, accepted, warning : int
        How many there are.
    elapsed : float
        Seconds.
    conclusion : str
        What it means as a whole.
    """

    files: Natural
    rows: Natural
    agrees: Natural
    drift: Natural
    undecided: Natural
    accepted: Natural
    warning: Natural
    elapsed: Amount
    conclusion: Annotated[Conclusion, Keyword("enum", ["holds", "fails", "undecided"])]


class FindingsDocument(TypedDict):
    """What `gate --json` writes, and `legal -`.

    Attributes
    ----------
    schema : int
        Version of the document.
    version : str
        Of mmaproof.
    command : str
        What checked.
    files : list of FileDocument
        What was checked.
    findings : list of FindingDocument
        What was found.
    summary : Totals
        The report in numbers.
    """

    schema: Literal[1]
    version: str
    command: Annotated[str, Keyword("enum", ["gate", "legal"])]
    files: list[FileDocument]
    findings: list[FindingDocument]
    summary: Totals


class FindingsReport(Report):
    """How the rows of files stand to the specification."""

    def document(self) -> FindingsDocument:
        """Return the JSON document."""
        return {
            "schema": 1,
            "version": self.version,
            "command": self.command,
            "files": [_file(checked) for checked in self.files],
            "findings": [_finding(finding) for finding in self.findings],
            "summary": {
                "files": len(self.files),
                "rows": self.rows,
                "agrees": self.count(Standing.AGREES),
                "drift": self.count(Standing.DRIFT),
                "undecided": self.count(Standing.UNDECIDED),
                "accepted": self.count(Standing.ACCEPTED),
                "warning": self.count(Standing.WARNING),
                "elapsed": round(self.elapsed, 3),
                "conclusion": self.conclusion,
            },
        }


def _file(checked: Checked) -> FileDocument:
    return {
        "file": checked.file,
        "kind": checked.kind,
        "rows": len(checked.rows),
        "agrees": checked.count(Standing.AGREES),
        "drift": checked.count(Standing.DRIFT),
        "undecided": checked.count(Standing.UNDECIDED),
        "accepted": checked.count(Standing.ACCEPTED),
        "warning": checked.count(Standing.WARNING),
    }


def _finding(finding: Finding) -> FindingDocument:
    first = finding.causes[0]
    entry: FindingDocument = {
        "id": finding.id,
        "standing": finding.standing,
        "file": finding.file,
        "line": finding.line,
        "subject": finding.subject,
        "they_say": finding.they_say,
        "spec_says": finding.spec_says,
        "rule": first.rule,
        "reason": first.reason,
        "source": first.source,
        "message": first.message,
        "causes": [_cause(cause) for cause in finding.causes],
    }
    if finding.at.row:
        entry["row"] = finding.at.row
    if finding.accepted_because:
        entry["accepted_because"] = finding.accepted_because
    return entry


def _cause(cause: Cause) -> CauseDocument:
    return {
        "owner": cause.owner,
        "rule": cause.rule,
        "reason": cause.reason,
        "source": cause.source,
        "message": cause.message,
    }
