"""What a result at smaller sizes says of the problem's own ones."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from .outcome import TorchResult
from .sizes import TILE, Sizes, keeps_factors, replaced


def one_sided(result: TorchResult) -> int:
    """Return how many notes are about guards that took one branch alone."""
    return sum("the guard " in note and " held for " in note for note in result.notes)


OF_ANY_SIZE = ("race", "deadlock", "divergence", "undefined", "pending-registers", "missing-proxy-fence")
"""What is wrong at a problem's own sizes where it is at smaller ones."""

VALUES = ("wrong-value", "uninitialised")
"""What is wrong there if loops have no remainders that the problem's own sizes lack."""


def kinds_of(result: TorchResult) -> set[str]:
    """Return what kinds of findings refute a candidate."""
    findings = [finding for report in result.reports for finding in report.result.findings]
    return {str(finding.kind) for finding in findings if finding.kind.refutes}


def is_of_any_size(result: TorchResult, own: Sizes, solution: Path) -> bool:
    """Tell whether a refutation says that a candidate is wrong at the problem's own sizes.

    A kernel without a check of bounds may be right where sizes are multiples of its block, and one that has
    the problem's own numbers in its text may be right at these alone.
    """
    kinds = kinds_of(result)
    if result.own_sizes or not kinds or kinds & set(OF_ANY_SIZE):
        return True
    if numbers_in(solution) & replaced(result.sizes, own):
        return False
    if keeps_factors(result.sizes, own):
        return True
    return kinds <= set(VALUES) and keeps_factors(result.sizes, own, TILE, batches=False)


def numbers_in(solution: Path) -> set[int]:
    """Return the integers that stand in a text."""
    text = solution.read_text(encoding="utf-8", errors="replace")
    return {int(each) for each in re.findall(r"\b\d{1,9}\b", text)}


def only_there(result: TorchResult) -> TorchResult:
    """Return what is said of a candidate that is wrong at sizes that may be to blame."""
    what = (
        "wrong at these sizes; it may be right at the problem's own ones, which have more factors of two "
        "or are numbers in its text"
    )
    return replace(result, verdict="undecided", findings=(what, *result.findings))
