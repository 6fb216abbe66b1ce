"""What a comparison found, of tables with the spec or of a kernel with its contract, however it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple


class Standing(StrEnum):
    """How a row of a table stands to the spec."""

    AGREES = "agrees"
    DRIFT = "drift"
    UNDECIDED = "undecided"
    ACCEPTED = "accepted"
    WARNING = "warning"


class Conclusion(StrEnum):
    """What a report means as a whole; the values are what is printed."""

    HOLDS = "everything agrees with the spec"
    FAILS = "not everything agrees with the spec"
    UNDECIDED = "some rows are undecided"


@dataclass(frozen=True)
class Wording:
    """What a command calls the things it counts.

    Attributes
    ----------
    file, rows : str
        Titles of what is checked, and of what it consists of.
    standings : mapping of Standing to str
        Titles of the standings that occur.
    conclusions : mapping of Conclusion to str
        What a report means.
    """

    file: str
    rows: str
    standings: Mapping[Standing, str]
    conclusions: Mapping[Conclusion, str]


OF_TABLES = Wording(
    "file",
    "rows",
    {standing: standing.value for standing in Standing},
    {conclusion: conclusion.value for conclusion in Conclusion},
)
"""How comparisons of tables with the spec speak."""


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
        What is wrong, with the offending values.
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
        Drift, undecided, accepted, or a warning.
    file : str
        The file the row stands in; ``-`` for standard input, empty where there is none.
    at : Position
        Where it stands there.
    subject : str
        The row in words, without file and line: it stays when the table is edited elsewhere.
    they_say, spec_says : str
        The two sides; empty where the causes say it all.
    causes : tuple of Cause
        The rules behind it, the most telling first; at least one.
    accepted_because : str
        The reason of an accepted difference.
    """

    standing: Standing
    file: str
    at: Position
    subject: str
    they_say: str
    spec_says: str
    causes: tuple[Cause, ...]
    accepted_because: str = ""

    @property
    def id(self) -> str:
        """Stable name, by which a difference is accepted."""
        return f"{self.causes[0].id}: {self.subject}"

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
        why = "; ".join(f"{cause.rule}: {cause.message}" for cause in self.causes)
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
    """

    file: str
    kind: str
    rows: tuple[tuple[Position, str], ...]
    findings: tuple[Finding, ...]

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


@dataclass(frozen=True)
class FindingReport:
    """A whole comparison.

    Attributes
    ----------
    command : str
        Who compared, such as ``gate``.
    version : str
        Version of mmaproof.
    files : tuple of Checked
        What was compared.
    rules : mapping of str to Cause
        Every rule that a finding may cite, by id.
    elapsed : float
        Seconds.
    allow_undecided : bool
        Whether undecided rows are let pass.
    wording : Wording
        How the command speaks.
    """

    command: str
    version: str
    files: tuple[Checked, ...]
    rules: Mapping[str, Cause]
    elapsed: float
    allow_undecided: bool = False
    wording: Wording = OF_TABLES

    @property
    def findings(self) -> Iterator[Finding]:
        """Every finding, file by file."""
        return (finding for checked in self.files for finding in checked.findings)

    def count(self, standing: Standing) -> int:
        """Return how many rows or findings of all files stand so."""
        return sum(checked.count(standing) for checked in self.files)

    @property
    def conclusion(self) -> Conclusion:
        """What the findings mean together; drift outweighs what is undecided."""
        if self.count(Standing.DRIFT):
            return Conclusion.FAILS
        undecided = self.count(Standing.UNDECIDED) and not self.allow_undecided
        return Conclusion.UNDECIDED if undecided else Conclusion.HOLDS

    @property
    def totals(self) -> dict[str, int | float | str]:
        """The comparison in numbers."""
        return {
            "files": len(self.files),
            "rows": sum(len(checked.rows) for checked in self.files),
            **{standing.value: self.count(standing) for standing in Standing},
            "elapsed": round(self.elapsed, 3),
            "conclusion": self.conclusion.name.lower(),
        }
