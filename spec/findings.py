"""Findings: what of a table, a kernel, or a run of the catalogue is not as it should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple


class Standing(StrEnum):
    """How a row of a table stands to the spec, a kernel to its contract, a verdict to what is expected."""

    AGREES = "agrees"
    DRIFT = "drift"
    UNDECIDED = "undecided"
    ACCEPTED = "accepted"
    WARNING = "warning"
    DEFECT = "defect"


@dataclass(frozen=True)
class Cause:
    """Why a row differs: a rule, and how it applies.

    Attributes
    ----------
    owner : str
        Whose rule it is: an instruction set, or a part of mmaproof such as ``layout``.
    rule : str
        Its stable name.
    reason : str
        The rule, in one line.
    source : str
        Where it is stated.
    message : str
        What is wrong, with the offending values; of a rule by itself, the rule in full.
    """

    owner: str
    rule: str
    reason: str
    source: str
    message: str

    @property
    def id(self) -> str:
        """Name among the rules of all owners."""
        return f"{self.owner}/{self.rule}"

    def saying(self, message: str) -> Cause:
        """Return the same rule, applied otherwise."""
        return Cause(self.owner, self.rule, self.reason, self.source, message)


class Position(NamedTuple):
    """Where a row stands in its file.

    Attributes
    ----------
    line : int
        Where it begins, from 1; 0 for what is not in a row.
    row : int
        Its number among the rows, from 1, where it shares the line with another; else 0.
    """

    line: int
    row: int = 0

    def __str__(self) -> str:
        return f"{self.line}, row {self.row}" if self.row else str(self.line)


NOWHERE = Position(0)
"""Of what is not in a row."""


@dataclass(frozen=True)
class Finding:
    """A row that does not agree, can't be decided, or should be looked at.

    Attributes
    ----------
    standing : Standing
        Not `Standing.AGREES`.
    file : str
        The file the row stands in; ``-`` for standard input, empty where there is none.
    at : Position
        Where it stands there.
    subject : str
        The row in words, without file and line: it stays when the table is edited elsewhere.
    causes : tuple of Cause
        The rules behind it, the most telling first; at least one.
    they_say, spec_says : str
        The two sides; empty where the causes say it all.
    accepted_because : str
        The reason of an accepted difference.
    details : str
        What takes more than a line, such as a counterexample.
    """

    standing: Standing
    file: str
    at: Position
    subject: str
    causes: tuple[Cause, ...]
    they_say: str = ""
    spec_says: str = ""
    accepted_because: str = ""
    details: str = ""

    @property
    def id(self) -> str:
        """Stable name, by which a difference is accepted; the id of an obligation begins with its rule's."""
        rule = self.causes[0].id
        return self.subject if self.subject.startswith(f"{rule}/") else f"{rule}: {self.subject}"

    @property
    def place(self) -> str:
        """``file:line``, with the row where its line has more of them."""
        return f"{self.file}:{self.at}" if self.at.line else self.file

    @property
    def line(self) -> int:
        """Its line, from 1; 0 for what is not in a row."""
        return self.at.line

    @property
    def summary(self) -> str:
        """One line without the place."""
        named = self.id != self.subject
        why = "; ".join(f"{cause.rule}: {cause.message}" if named else cause.message for cause in self.causes)
        sides = f"they say {self.they_say}; the spec says {self.spec_says}: " if self.they_say else ""
        return f"{self.subject}: {sides}{why}"


@dataclass(frozen=True)
class Checked:
    """One file, or theorem, that was checked.

    Attributes
    ----------
    file : str
        Its name, as given.
    kind : str
        What it is: ``table``, ``lock``, ``allowances``, ``instructions``, ``kernel`` or ``theorem``.
    rows : tuple of (Position, str)
        Position and subject of every row; a row without a line is known by its subject.
    findings : tuple of Finding
        What does not agree.
    seconds : mapping of str to float
        How long rows took, by subject, where that is known.
    """

    file: str
    kind: str
    rows: tuple[tuple[Position, str], ...]
    findings: tuple[Finding, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def agreeing(self) -> list[tuple[Position, str]]:
        """Position and subject of the rows without a finding."""
        found = {finding.at if finding.line else finding.subject for finding in self.findings}
        return [(at, subject) for at, subject in self.rows if (at if at.line else subject) not in found]

    def count(self, standing: Standing) -> int:
        """Return how many findings stand so; of `Standing.AGREES`, how many rows have no finding."""
        if standing is Standing.AGREES:
            return len(self.agreeing)
        return sum(finding.standing is standing for finding in self.findings)
