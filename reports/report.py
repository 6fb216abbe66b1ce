"""The outcome of a run: every verdict beside what was expected, per theorem and in total."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..proofs.obligation import Obligation, Status, Theorem, theorem_of
from ..proofs.pinned import Difference
from ..proofs.verdict import Verdict


class Judgement(StrEnum):
    """What a verdict means for its obligation; the value is how tables name it."""

    PROVED = "proved"
    PINNED = "refuted as pinned"
    UNKNOWN = "unknown"
    UNEXPECTED = "unexpected"
    DEFECT = "error"


class Conclusion(StrEnum):
    """What a run means as a whole."""

    HOLDS = "every verdict is the expected one"
    FAILS = "a verdict is not the expected one"
    UNDECIDED = "some obligations are undecided"
    DEFECT = "mmaproof has a defect"


@dataclass(frozen=True)
class Outcome:
    """An obligation with its verdict."""

    obligation: Obligation
    verdict: Verdict

    @property
    def judgement(self) -> Judgement:
        """What the verdict means."""
        match self.verdict.status:
            case Status.ERROR:
                return Judgement.DEFECT
            case Status.UNKNOWN:
                return Judgement.UNKNOWN
            case status if status is not self.obligation.expect:
                return Judgement.UNEXPECTED
            case status:
                return Judgement.PROVED if status is Status.PROVED else Judgement.PINNED

    @property
    def summary(self) -> str:
        """One line: what came out instead of what."""
        verdict, expected = self.verdict, self.obligation.expect
        line = f"{self.obligation.id}: {verdict.status}, expected {expected}"
        return f"{line}: {verdict.message}" if verdict.message else line


@dataclass(frozen=True)
class Tally:
    """Outcomes counted."""

    outcomes: tuple[Outcome, ...]

    def count(self, *judgements: Judgement) -> int:
        """Return how many outcomes were judged so."""
        return sum(outcome.judgement in judgements for outcome in self.outcomes)

    @property
    def seconds(self) -> float:
        """Time the verdicts took where they were decided, added up."""
        return sum(outcome.verdict.seconds for outcome in self.outcomes)

    @property
    def cached(self) -> int:
        """How many verdicts came from the cache."""
        return sum(outcome.verdict.cached for outcome in self.outcomes)

    @property
    def slowest(self) -> Outcome | None:
        """The outcome that took longest."""
        return max(self.outcomes, key=lambda outcome: outcome.verdict.seconds, default=None)

    @property
    def conclusion(self) -> Conclusion:
        """What the outcomes mean together: a failure outweighs a defect, and that what is undecided."""
        for judgement, conclusion in (
            (Judgement.UNEXPECTED, Conclusion.FAILS),
            (Judgement.DEFECT, Conclusion.DEFECT),
            (Judgement.UNKNOWN, Conclusion.UNDECIDED),
        ):
            if self.count(judgement):
                return conclusion
        return Conclusion.HOLDS


@dataclass(frozen=True)
class TheoremReport(Tally):
    """The outcomes of one theorem's obligations."""

    theorem: Theorem


@dataclass(frozen=True)
class Report(Tally):
    """A whole run.

    Attributes
    ----------
    theorems : tuple of TheoremReport
        The theorems that had obligations in the run, in the catalogue's order.
    elapsed : float
        Seconds on the wall clock.
    version : str
        Version of mmaproof.
    unpinned : tuple of Difference
        Where the catalogue is not the pinned set.
    """

    theorems: tuple[TheoremReport, ...]
    elapsed: float
    version: str
    unpinned: tuple[Difference, ...] = ()

    @property
    def conclusion(self) -> Conclusion:
        """What the run means: another set of obligations than the pinned one is a failure."""
        return Conclusion.FAILS if self.unpinned else super().conclusion

    @property
    def headline(self) -> str:
        """The conclusion in words."""
        if not self.unpinned:
            return self.conclusion.value
        outcome = f"; {super().conclusion}" if self.spoiling else ""
        return f"the obligations are not the pinned ones{outcome}"

    @property
    def spoiling(self) -> tuple[Outcome, ...]:
        """The outcomes that are not the expected ones: failures first, then the undecided."""
        spoils = (Judgement.UNEXPECTED, Judgement.DEFECT, Judgement.UNKNOWN)
        spoiling = (outcome for outcome in self.outcomes if outcome.judgement in spoils)
        return tuple(sorted(spoiling, key=lambda outcome: outcome.judgement is Judgement.UNKNOWN))

    @property
    def totals(self) -> dict[str, int | float | str]:
        """The run in numbers, as ``check --json`` has it."""
        statuses = {status.value: sum(o.verdict.status is status for o in self.outcomes) for status in Status}
        return {
            "obligations": len(self.outcomes),
            **statuses,
            "expected": self.count(Judgement.PROVED, Judgement.PINNED),
            "unexpected": self.count(Judgement.UNEXPECTED, Judgement.DEFECT),
            "unpinned": len(self.unpinned),
            "cached": self.cached,
            "seconds": round(self.seconds, 3),
            "elapsed": round(self.elapsed, 3),
            "conclusion": self.conclusion.name.lower(),
        }


def report(
    obligations: Sequence[Obligation],
    verdicts: Iterable[Verdict],
    theorems: Sequence[Theorem],
    elapsed: float,
    version: str,
    unpinned: tuple[Difference, ...] = (),
) -> Report:
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
    version : str
        Version of mmaproof.
    unpinned : tuple of Difference
        Where the catalogue is not the pinned set.
    """
    found = {verdict.id: verdict for verdict in verdicts}
    missing = "defect of mmaproof: the run ended without a verdict"
    outcomes = tuple(
        Outcome(o, found.get(o.id, Verdict(o.id, Status.ERROR, "", message=missing))) for o in obligations
    )
    grouped: dict[str, list[Outcome]] = {theorem.id: [] for theorem in theorems}
    for outcome in outcomes:
        grouped[theorem_of(outcome.obligation, theorems).id].append(outcome)
    reports = tuple(
        TheoremReport(tuple(grouped[theorem.id]), theorem) for theorem in theorems if grouped[theorem.id]
    )
    return Report(outcomes, reports, elapsed, version, unpinned)
