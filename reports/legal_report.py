"""The report of ``legal -``: each illegal line is a finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..gate.rule_book import rule_book
from ..spec.findings import Cause, Checked, Finding, Position, Standing
from ..spec.instruction_set import of_target
from .gate_report import OF_TABLES
from .report import Report

OWNER = "legal"
"""Whose rule it is that a line is an instruction."""


SYNTAX = "syntax"
"""Its name."""


def report(answers: Sequence[tuple[int, Mapping[str, Any]]], version: str, elapsed: float) -> Report:
    """Return the report of answers as ``legal -`` prints them.

    Parameters
    ----------
    answers : sequence of (int, mapping)
        Line of standard input, from 1, and answer.
    version : str
        Of mmaproof.
    elapsed : float
        Seconds.
    """
    rows = tuple((Position(line), _subject(answer)) for line, answer in answers)
    findings = tuple(_finding(line, answer) for line, answer in answers if not answer["legal"])
    causes = [cause for each in findings for cause in each.causes]
    isas = sorted({cause.owner for cause in causes} - {OWNER})
    rules = {**rule_book(isas), **{c.id: c.saying(c.reason) for c in causes if c.owner == OWNER}}
    checked = Checked("-", "instructions", rows, findings)
    return Report("legal", version, OF_TABLES, (checked,), rules, elapsed)


def _subject(answer: Mapping[str, Any]) -> str:
    return f"{answer['instr']} on {answer['target']}" if answer["target"] else str(answer["instr"])


def _finding(line: int, answer: Mapping[str, Any]) -> Finding:
    owner = (
        OWNER
        if any(each["rule"] == SYNTAX for each in answer["violations"])
        else of_target(answer["target"]).name
    )
    causes = tuple(
        Cause(owner, each["rule"], each["reason"], each["source"], each["message"])
        for each in answer["violations"]
    )
    return Finding(Standing.DRIFT, "-", Position(line), _subject(answer), "legal", "illegal", causes)
