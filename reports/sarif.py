"""Reports as SARIF 2.1.0: the rules with their help, and a result for each finding."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal, TypedDict
from urllib.parse import quote

from ..spec.findings import Cause, Finding, Standing
from ..spec.json_fields import Keyword, Natural
from .json_report import spread
from .report import Report

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_KINDS = {Standing.UNDECIDED: ("open", "none"), Standing.WARNING: ("fail", "warning")}
"""What is no error; of kind ``open``, SARIF wants the level to be ``none``."""


class Text(TypedDict):
    """A text.

    Attributes
    ----------
    text : str
        It.
    """

    text: str


class ReportingRule(TypedDict):
    """A rule.

    Attributes
    ----------
    id : str
        Its name.
    shortDescription, fullDescription, help : Text
        What it says, in a line, in full, and with its source.
    """

    id: str
    shortDescription: Text
    fullDescription: Text
    help: Text


class Driver(TypedDict):
    """The program.

    Attributes
    ----------
    name, version : str
        Which it is.
    rules : list of ReportingRule
        Those that results name.
    """

    name: Literal["mmaproof"]
    version: str
    rules: list[ReportingRule]


class Tool(TypedDict):
    """What found the results.

    Attributes
    ----------
    driver : Driver
        The program.
    """

    driver: Driver


class LogicalLocation(TypedDict):
    """A row in words.

    Attributes
    ----------
    fullyQualifiedName, kind : str
        The words.
    """

    fullyQualifiedName: str
    kind: str


class Location(TypedDict):
    """Where a result is; its file and line are in ``physicalLocation``, where it has them.

    Attributes
    ----------
    logicalLocations : list of LogicalLocation
        The row in words.
    """

    logicalLocations: list[LogicalLocation]


class SarifResult(TypedDict):
    """A finding.

    Attributes
    ----------
    ruleId, ruleIndex : str, int
        Its rule, and the number of that.
    kind : str
        Whether it is undecided.
    level : str
        How bad it is.
    message : Text
        What is wrong.
    locations : list of Location
        Where.
    partialFingerprints : mapping
        By which a result is known again.
    """

    ruleId: str
    ruleIndex: Natural
    kind: Literal["fail", "open"]
    level: Literal["none", "warning", "error"]
    message: Text
    locations: list[Location]
    partialFingerprints: dict[str, Any]


class Run(TypedDict):
    """A run.

    Attributes
    ----------
    tool : Tool
        What ran.
    columnKind : str
        What columns count.
    results : list of SarifResult
        What was found.
    """

    tool: Tool
    columnKind: Literal["utf16CodeUnits", "unicodeCodePoints"]
    results: list[SarifResult]


Log = TypedDict(
    "Log",
    {
        "$schema": Annotated[str, Keyword("format", "uri")],
        "version": Literal["2.1.0"],
        "runs": Annotated[list[Run], Keyword("minItems", 1), Keyword("maxItems", 1)],
    },
)
Log.__doc__ = """The part of SARIF 2.1.0 that `check`, `verify`, `gate` and `legal -` use.

Attributes
----------
$schema, version : str
    The standard.
runs : list of Run
    One.
"""


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
