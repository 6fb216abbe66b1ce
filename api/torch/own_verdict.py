"""What runs at the problem's own sizes make of a verdict at smaller ones."""

from __future__ import annotations

from dataclasses import replace

from .outcome import TorchResult
from .own_run import OwnRun

SHOWN = ("verified", "safe")
"""Verdicts that say that something is right."""


def judged_with(result: TorchResult, ran: OwnRun) -> TorchResult:
    """Return a result with what was run at the problem's own sizes, which may refute it."""
    result = replace(result, own_run=ran)
    if ran.findings:
        return replace(
            result,
            verdict="refuted",
            sizes=ran.sizes,
            own_sizes=not ran.other,
            findings=ran.findings,
            hypotheses=(),
            bound="",
        )
    notes = (f"at the problem's own sizes: {each}" for each in ran.open)
    result = replace(result, notes=(*result.notes, *notes))
    if ran.doubts and result.verdict in SHOWN:
        doubts = (f"at the problem's own sizes: {doubt}" for doubt in ran.doubts)
        return replace(result, verdict="undecided", findings=(*doubts, *result.findings))
    return result
