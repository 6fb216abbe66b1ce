"""The report as SARIF 2.1.0: a rule per theorem, a result per verdict that is not the expected one."""

from __future__ import annotations

import json
from typing import Any

from ..proofs.obligation import theorem_of
from ..proofs.pinned import COMMAND, REASON, RULE, Difference
from .counterexample_text import counterexample_text
from .report import Judgement, Outcome, Report

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


_RULE_OF_THE_PINNED_SET = {
    "id": RULE,
    "shortDescription": {"text": REASON},
    "fullDescription": {"text": REASON},
    "help": {"text": f"{REASON}\nWritten anew by: {COMMAND}"},
}


def document(report: Report) -> dict[str, Any]:
    """Return the SARIF log of a run."""
    theorems = [entry.theorem for entry in report.theorems]
    rules = [
        {
            "id": theorem.id,
            "shortDescription": {"text": theorem.title},
            "fullDescription": {"text": theorem.statement},
            "help": {"text": f"{theorem.statement}\nSource: {theorem.source}"},
        }
        for theorem in theorems
    ]
    if report.unpinned:
        rules.append(_RULE_OF_THE_PINNED_SET)
    indices = {theorem.id: index for index, theorem in enumerate(theorems)}

    def result(outcome: Outcome) -> dict[str, Any]:
        rule = theorem_of(outcome.obligation, theorems).id
        return {"ruleId": rule, "ruleIndex": indices[rule], **_finding(outcome)}

    driver = {"name": "mmaproof", "version": report.version, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            *(result(outcome) for outcome in report.spoiling),
            *({"ruleId": RULE, "ruleIndex": len(theorems), **_unpinned(d)} for d in report.unpinned),
        ],
    }
    return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def _finding(outcome: Outcome) -> dict[str, Any]:
    """Return a result; what is undecided is of kind ``open``, whose level SARIF wants to be ``none``."""
    identifier, found = outcome.obligation.id, outcome.verdict.counterexample
    text = f"{outcome.summary}\n{outcome.obligation.statement}"
    if found is not None:
        text += f"\n{counterexample_text(found)}"
    undecided = outcome.judgement is Judgement.UNKNOWN
    return {
        "kind": "open" if undecided else "fail",
        "level": "none" if undecided else "error",
        "message": {"text": text},
        **_place(identifier),
    }


def _unpinned(difference: Difference) -> dict[str, Any]:
    text = f"{difference.id}: {difference.reason}"
    return {"kind": "fail", "level": "error", "message": {"text": text}, **_place(difference.id)}


def _place(identifier: str) -> dict[str, Any]:
    return {
        "locations": [{"logicalLocations": [{"fullyQualifiedName": identifier, "kind": "member"}]}],
        "partialFingerprints": {"obligation/v1": identifier},
    }


def render(report: Report) -> str:
    """Return the text of the SARIF log."""
    return json.dumps(document(report), indent=1) + "\n"
