"""The report of ``legal -``: each line that is illegal, or is not decided to be legal, is a finding."""

from __future__ import annotations

from collections.abc import Sequence

from ..gating.rule_book import rule_book
from ..spec.findings import Cause, Checked, Finding, Position, Standing
from ..spec.instruction_set import of_target
from ..spec.legality import Violation
from .findings_document import FindingsReport
from .legality_answer import SYNTAX, LegalityAnswer
from .report import Conclusion, Wording

OWNER = "legal"
"""Whose rule it is that a line is an instruction."""

OF_INSTRUCTIONS = Wording(
    "input",
    "instructions",
    "finding",
    {Standing.AGREES: "legal", Standing.DRIFT: "illegal", Standing.UNDECIDED: "undecided"},
    {
        Conclusion.HOLDS: "no instruction is illegal",
        Conclusion.FAILS: "not every instruction is legal",
        Conclusion.UNDECIDED: "some instructions are undecided",
    },
)
"""How judgements of instructions speak."""

_UNDECIDED = Cause(
    OWNER, "undecided", "what a text leaves open can't be judged", "docs/command-line.md", "no rule is broken"
)


def report(answers: Sequence[tuple[int, LegalityAnswer]], version: str, elapsed: float) -> FindingsReport:
    """Return the report of what ``legal -`` answers; lines that are undecided count by themselves.

    Parameters
    ----------
    answers : sequence of (int, LegalityAnswer)
        Line of standard input, from 1, and answer.
    version : str
        Of mmaproof.
    elapsed : float
        Seconds.
    """
    rows = tuple((Position(line), answer.subject) for line, answer in answers)
    findings = tuple(
        _finding(line, answer) for line, answer in answers if not answer.legal or answer.judgement.undecided
    )
    causes = [cause for finding in findings for cause in finding.causes]
    isas = sorted({cause.owner for cause in causes} - {OWNER})
    rules = {**rule_book(isas), **{c.id: c.saying(c.reason) for c in causes if c.owner == OWNER}}
    checked = Checked("-", "instructions", rows, findings)
    everything_judged = all(answer.legal is not None for _, answer in answers)
    return FindingsReport(
        "legal", version, OF_INSTRUCTIONS, (checked,), rules, elapsed, allow_undecided=everything_judged
    )


def _finding(line: int, answer: LegalityAnswer) -> Finding:
    if answer.legal is not False:
        undecided = tuple(_UNDECIDED.saying(note.text) for note in answer.judgement.undecided)
        return Finding(Standing.UNDECIDED, "-", Position(line), answer.subject, undecided)
    causes = tuple(_cause(violation, answer.judgement.target) for violation in answer.judgement.violations)
    return Finding(Standing.DRIFT, "-", Position(line), answer.subject, causes)


def _cause(violation: Violation, target: str) -> Cause:
    rule = violation.rule
    owner = OWNER if rule is SYNTAX else of_target(target).name
    return Cause(owner, rule.id, rule.reason, rule.source, violation.message)
