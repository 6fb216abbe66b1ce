"""The report as JSON (``docs/schemas/check.schema.json``)."""

from __future__ import annotations

import json
from typing import Any

from ..proofs.pinned import Difference
from .report import Outcome, Report

SCHEMA = 1


def document(report: Report) -> dict[str, Any]:
    """Return the JSON document of a run."""
    return {
        "schema": SCHEMA,
        "version": report.version,
        "obligations": [_entry(outcome) for outcome in report.outcomes],
        "unpinned": [_unpinned(difference) for difference in report.unpinned],
        "summary": report.totals,
    }


def _entry(outcome: Outcome) -> dict[str, Any]:
    obligation, verdict = outcome.obligation, outcome.verdict
    entry: dict[str, Any] = {
        "id": obligation.id,
        "status": verdict.status.value,
        "expect": obligation.expect.value,
        "equality": obligation.equality.value,
        "solver": verdict.solver,
        "seconds": round(verdict.seconds, 6),
        "cached": verdict.cached,
        "method": obligation.method.value,
        "choices": obligation.choices,
        "message": verdict.message,
    }
    if verdict.counterexample is not None:
        entry["counterexample"] = verdict.counterexample.document()
    return entry


def _unpinned(difference: Difference) -> dict[str, Any]:
    return {
        "id": difference.id,
        "kind": difference.kind,
        "pinned": difference.pinned and difference.pinned.value,
        "expect": difference.built and difference.built.value,
    }


def render(report: Report) -> str:
    """Return the text of the JSON report."""
    return json.dumps(document(report), indent=1) + "\n"
