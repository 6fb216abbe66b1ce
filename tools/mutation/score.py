"""What became of faults in the specification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from .scope import Role, SpecificationModule
from .source_faults import Fault, FaultKind
from .survivor_tests import Ending


class Fate(StrEnum):
    """What became of a fault; the value is how reports name it."""

    REFUTED = "refuted"
    ERROR = "error"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    SURVIVED = "survived"

    @property
    def meaning(self) -> str:
        """One line on it."""
        return {
            Fate.REFUTED: "a verdict is not the expected one, or the obligations are not the pinned ones",
            Fate.ERROR: "an obligation can't be decided for an exception",
            Fate.CRASHED: "the catalogue can't be built",
            Fate.TIMEOUT: "no verdict is unexpected, but not all came in time",
            Fate.SURVIVED: "every verdict is the expected one",
        }[self]


NOTICED = (Fate.REFUTED, Fate.ERROR)
"""What the catalogue notices."""


@dataclass(frozen=True)
class Mutant:
    """A fault in its module."""

    module: SpecificationModule
    fault: Fault

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.module.shown}:{self.fault.line}"


@dataclass(frozen=True)
class TriedMutant:
    """What became of a mutant.

    Attributes
    ----------
    mutant : Mutant
        The fault.
    outcome : Fate
        What happened.
    obligation : str
        The obligation that noticed it, where one did.
    message : str
        What that said, or why nothing was tried.
    seconds : float
        How long it took.
    tested : Ending, optional
        How the tests ended, of what no obligation noticed and where they were to be run.
    """

    mutant: Mutant
    outcome: Fate
    obligation: str
    message: str
    seconds: float
    tested: Ending | None = None

    @property
    def by_tests(self) -> bool:
        """Whether tests notice what no obligation does."""
        return self.tested is not None and bool(self.tested.test)


@dataclass(frozen=True)
class EquivalentMutant:
    """A mutant that was put back, since it is shown to change nothing.

    Attributes
    ----------
    mutant : Mutant
        The fault.
    how : str
        How that is shown.
    """

    mutant: Mutant
    how: str


@dataclass(frozen=True)
class Score:
    """The outcome of a campaign.

    Attributes
    ----------
    results : tuple of TriedMutant
        In the order of files and lines.
    candidates : int
        Faults that could have been drawn.
    equivalent : tuple of EquivalentMutant
        Faults drawn and put back, since they are shown to change nothing.
    elsewhere : int
        Faults drawn and put back, since they are in generic functions that only obligations of instruction
        sets enter that are not selected.
    obligations : int
        Obligations that the baseline decided.
    elapsed : float
        Seconds on the wall clock.
    """

    results: tuple[TriedMutant, ...]
    candidates: int
    equivalent: tuple[EquivalentMutant, ...]
    elsewhere: int
    obligations: int
    elapsed: float

    @property
    def specifying(self) -> Score:
        """The score without what is for people to read."""
        return self._only(lambda result: result.mutant.module.role is not Role.PRESENTATION)

    def of(self, role: Role) -> Score:
        """Return the score on modules of one kind."""
        return self._only(lambda result: result.mutant.module.role is role)

    def of_kind(self, kind: FaultKind) -> Score:
        """Return the score on faults of one kind, without what is for people to read."""
        return self.specifying._only(lambda result: result.mutant.fault.kind == kind)

    def _only(self, wanted: Callable[[TriedMutant], bool]) -> Score:
        return replace(self, results=tuple(filter(wanted, self.results)))

    def count(self, *outcomes: Fate) -> int:
        """Return how many mutants ended so."""
        return sum(result.outcome in outcomes for result in self.results)

    @property
    def noticed(self) -> float:
        """The part that the catalogue refutes or is in error on; a crash while it is built does not count."""
        return self.count(*NOTICED) / max(1, len(self.results))

    @property
    def by_tests(self) -> int:
        """How many mutants tests notice that the catalogue does not."""
        return sum(result.by_tests for result in self.results)

    @property
    def together(self) -> float:
        """The part that the catalogue or tests notice."""
        return (self.count(*NOTICED) + self.by_tests) / max(1, len(self.results))
