"""The outcome of a run: every verdict beside what was expected, per theorem and in total."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .obligation import Obligation, Status, Theorem, theorem_of
from .pinned import PinnedDifference
from .rechecking import Recheck
from .verdict import Verdict

SHARED = re.compile(r"[^/]+/(stated/(?:arrays|bytes|conversions|digits|formats|fused|sums)/.*)")
"""Ids of obligations about what instruction sets share: each has them, of its own formats."""


class Agreement(StrEnum):
    """How a verdict agrees with what its obligation expects; the value is how tables name it."""

    PROVED = "proved"
    PINNED = "refuted as pinned"
    UNKNOWN = "unknown"
    UNEXPECTED = "unexpected"
    DEFECT = "error"


@dataclass(frozen=True)
class DecidedObligation:
    """An obligation with its verdict."""

    obligation: Obligation
    verdict: Verdict

    @property
    def agreement(self) -> Agreement:
        """How the verdict agrees with what is expected."""
        match self.verdict.status:
            case Status.ERROR:
                return Agreement.DEFECT
            case Status.UNKNOWN:
                return Agreement.UNKNOWN
            case status if status is not self.obligation.expect:
                return Agreement.UNEXPECTED
            case status:
                return Agreement.PROVED if status is Status.PROVED else Agreement.PINNED

    @property
    def summary(self) -> str:
        """One line: what came out instead of what."""
        verdict, expected = self.verdict, self.obligation.expect
        line = f"{self.obligation.id}: {verdict.status}, expected {expected}"
        return f"{line}: {verdict.message}" if verdict.message else line


@dataclass(frozen=True)
class Tally:
    """Outcomes counted."""

    outcomes: tuple[DecidedObligation, ...]

    def count(self, *agreements: Agreement) -> int:
        """Return how many outcomes agree so with what was expected."""
        return sum(outcome.agreement in agreements for outcome in self.outcomes)

    @property
    def seconds(self) -> float:
        """Time the verdicts took where they were decided, added up."""
        return sum(outcome.verdict.seconds for outcome in self.outcomes)

    @property
    def cached(self) -> int:
        """How many verdicts came from the cache."""
        return sum(outcome.verdict.cached for outcome in self.outcomes)

    @property
    def slowest(self) -> DecidedObligation | None:
        """The outcome that took longest."""
        return max(self.outcomes, key=lambda outcome: outcome.verdict.seconds, default=None)


@dataclass(frozen=True)
class TheoremOutcomes(Tally):
    """The outcomes of one theorem's obligations."""

    theorem: Theorem


@dataclass(frozen=True)
class CatalogueRun(Tally):
    """A whole run.

    Attributes
    ----------
    theorems : tuple of TheoremOutcomes
        The theorems that had obligations in the run, in the catalogue's order.
    elapsed : float
        Seconds on the wall clock.
    unpinned : tuple of PinnedDifference
        Where the catalogue is not the pinned set.
    recheck : Recheck, optional
        What came out when proved obligations were decided again, where they were.
    """

    theorems: tuple[TheoremOutcomes, ...]
    elapsed: float
    unpinned: tuple[PinnedDifference, ...] = ()
    recheck: Recheck | None = None

    @property
    def repeated(self) -> int:
        """How many obligations say of what instruction sets share what another one of the run says."""
        shared = [found[1] for outcome in self.outcomes if (found := SHARED.fullmatch(outcome.obligation.id))]
        return len(shared) - len(set(shared))

    @property
    def longest_again(self) -> list[tuple[Theorem, tuple[Verdict, ...]]]:
        """The theorems with the second verdicts on their obligations, what took longest first."""
        again = {} if self.recheck is None else self.recheck.again
        found = []
        for entry in self.theorems:
            verdicts = [again[o.obligation.id] for o in entry.outcomes if o.obligation.id in again]
            if verdicts:
                found.append((entry.theorem, tuple(sorted(verdicts, key=_duration, reverse=True))))
        return sorted(found, key=lambda each: sum(map(_duration, each[1])), reverse=True)

    @property
    def spoiling(self) -> tuple[DecidedObligation, ...]:
        """The outcomes that are not the expected ones: failures first, then the undecided."""
        spoils = (Agreement.UNEXPECTED, Agreement.DEFECT, Agreement.UNKNOWN)
        spoiling = (outcome for outcome in self.outcomes if outcome.agreement in spoils)
        return tuple(sorted(spoiling, key=lambda outcome: outcome.agreement is Agreement.UNKNOWN))


def _duration(verdict: Verdict) -> float:
    return verdict.seconds


def tallied(
    obligations: Sequence[Obligation],
    verdicts: Iterable[Verdict],
    theorems: Sequence[Theorem],
    elapsed: float,
    unpinned: tuple[PinnedDifference, ...] = (),
) -> CatalogueRun:
    """Put verdicts beside their obligations.

    Parameters
    ----------
    obligations : sequence of Obligation
        What was to be decided; the order of the report.
    verdicts : iterable of Verdict
        In any order.
    theorems : sequence of Theorem
        The catalogue.
    elapsed : float
        Seconds on the wall clock.
    unpinned : tuple of PinnedDifference
        Where the catalogue is not the pinned set.
    """
    found = {verdict.id: verdict for verdict in verdicts}
    missing = "defect of mmaproof: the run ended without a verdict"
    outcomes = tuple(
        DecidedObligation(o, found.get(o.id, Verdict(o.id, Status.ERROR, "", message=missing)))
        for o in obligations
    )
    grouped: dict[str, list[DecidedObligation]] = {theorem.id: [] for theorem in theorems}
    by_id = {theorem.id: theorem for theorem in theorems}
    for outcome in outcomes:
        grouped[theorem_of(outcome.obligation, by_id).id].append(outcome)
    decided = tuple(
        TheoremOutcomes(tuple(grouped[theorem.id]), theorem) for theorem in theorems if grouped[theorem.id]
    )
    return CatalogueRun(outcomes, decided, elapsed, unpinned)
