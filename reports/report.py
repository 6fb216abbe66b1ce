"""What a command found, as all its reports say it; each format has one writer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from ..spec.findings import Cause, Checked, Finding, Standing


class Conclusion(StrEnum):
    """What a report means as a whole; the values are how JSON reports name it."""

    HOLDS = "holds"
    FAILS = "fails"
    DEFECT = "defect"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Wording:
    """What a command calls the things it counts.

    Attributes
    ----------
    file, rows : str
        Titles of what is checked, and of what it consists of.
    row : str
        What fingerprints call one of these.
    standings : mapping of Standing to str
        Titles of the standings that occur.
    conclusions : mapping of Conclusion to str
        What a report means.
    """

    file: str
    rows: str
    row: str
    standings: Mapping[Standing, str]
    conclusions: Mapping[Conclusion, str]


@dataclass(frozen=True, repr=False)
class Report:
    """What was checked, what was found, and how to speak of it; each command has its kind.

    Attributes
    ----------
    command : str
        Who checked, such as ``gate``.
    version : str
        Version of mmaproof.
    wording : Wording
        How the command speaks.
    files : tuple of Checked
        What was checked.
    rules : mapping of str to Cause
        Every rule that a finding may cite, by id.
    elapsed : float
        Seconds.
    allow_undecided : bool
        Whether undecided rows are let pass.
    """

    command: str
    version: str
    wording: Wording
    files: tuple[Checked, ...]
    rules: Mapping[str, Cause]
    elapsed: float
    allow_undecided: bool = False

    template: ClassVar[str] = "findings.html.j2"
    """The page that shows it."""

    indented: ClassVar[bool] = False
    """Whether its JSON text is indented."""

    @property
    def findings(self) -> Iterator[Finding]:
        """Every finding, file by file."""
        return (finding for checked in self.files for finding in checked.findings)

    def count(self, standing: Standing) -> int:
        """Return how many rows or findings of all files stand so."""
        return sum(checked.count(standing) for checked in self.files)

    @property
    def conclusion(self) -> Conclusion:
        """What the findings mean together: a failure outweighs a defect, and that what is undecided."""
        if self.count(Standing.DRIFT):
            return Conclusion.FAILS
        if self.count(Standing.DEFECT):
            return Conclusion.DEFECT
        undecided = self.count(Standing.UNDECIDED) and not self.allow_undecided
        return Conclusion.UNDECIDED if undecided else Conclusion.HOLDS

    @property
    def headline(self) -> str:
        """The conclusion in words."""
        return self.wording.conclusions[self.conclusion]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(len(checked.rows) for checked in self.files)

    @property
    def holds(self) -> bool:
        """Whether nothing was found wrong, and nothing left undecided that is not let pass."""
        return self.conclusion is Conclusion.HOLDS

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        lines = [f"{finding.place}: {finding.standing}: {finding.summary}" for finding in self.findings]
        return "\n".join([self.headline, *lines])

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline}>"

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame: its style is its own."""
        from html import escape

        from .html import render

        page = escape(render(self))
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 30em; border: 0"></iframe>'

    def document(self) -> Mapping[str, object]:
        """Return the JSON document."""
        raise NotImplementedError
