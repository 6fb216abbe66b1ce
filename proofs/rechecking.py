"""Decide many proved obligations again, in worker processes; see `recheck` for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..smt.dyadic import NO_TRANSLATION
from .obligation import Status
from .pool import Pool
from .runner import Settings
from .verdict import ARGUMENT, COMPARISON, COUNTEREXAMPLE, ENUMERATION, INDUCTION, Verdict

NOT_POSSIBLE = {
    INDUCTION: "an induction rests on its premises, which are decided again themselves",
    ARGUMENT: "an argument in words rests on its premises, which are decided again themselves",
    COUNTEREXAMPLE: "a counterexample was evaluated by numpy, with no solver",
    COMPARISON: "numpy compared two tables; nothing in them is for a solver",
    ENUMERATION: "numpy enumerated it; nothing in it is for a solver",
}
"""Why what was decided so is not decided again, by the method."""


@dataclass(frozen=True)
class Recheck:
    """What came out when proved obligations were decided again.

    Attributes
    ----------
    again : mapping of str to Verdict
        Second verdicts by obligation id.
    not_possible : mapping of str to str
        The obligations that were not decided again, and why.
    """

    again: Mapping[str, Verdict] = field(default_factory=dict)
    not_possible: Mapping[str, str] = field(default_factory=dict)

    def count(self, status: Status) -> int:
        """Return how many second verdicts have a status."""
        return sum(verdict.status is status for verdict in self.again.values())

    @property
    def contradictions(self) -> list[Verdict]:
        """The second verdicts that contradict the first ones, or are errors."""
        return [v for v in self.again.values() if v.status in (Status.REFUTED, Status.ERROR)]

    @property
    def agrees(self) -> bool:
        """Whether no second verdict contradicts the first one, or is an error."""
        return not self.contradictions

    @property
    def by_solver(self) -> Counter[str]:
        """How many obligations each solver, or several together, confirmed."""
        confirmed = (v.solver for v in self.again.values() if v.status is Status.PROVED)
        return Counter(confirmed)

    @property
    def reasons(self) -> Counter[str]:
        """How many obligations were not decided again for which reason."""
        return Counter(self.not_possible.values())

    @property
    def seconds(self) -> float:
        """Time the second verdicts took, added up."""
        return sum(verdict.seconds for verdict in self.again.values())

    def worth(self, verdict: Verdict) -> Verdict:
        """Return what a verdict is worth after this: contradicted is an error, unconfirmed is unknown."""
        again = self.again.get(verdict.id)
        if again is None or again.status is Status.PROVED:
            return verdict
        first = f"{verdict.decided_by} proved it"
        if again.status in (Status.REFUTED, Status.ERROR):
            message = f"defect of mmaproof or of a solver: {first}, but decided again: {again.message}"
            return replace(verdict, status=Status.ERROR, message=message)
        return replace(verdict, status=Status.UNKNOWN, message=f"{first}, but decided again: {again.message}")


def possible(verdicts: Iterable[Verdict]) -> tuple[list[str], dict[str, str]]:
    """Return the ids of what can be decided again, and why the rest can't be."""
    ids, not_possible = [], {}
    for verdict in verdicts:
        reason = NOT_POSSIBLE.get(verdict.decided_by)
        if verdict.status is not Status.PROVED:
            reason = reason or f"it is {verdict.status}, not proved"
        elif verdict.witness and verdict.witness in NOT_POSSIBLE:
            reason = NOT_POSSIBLE[verdict.witness]
        if reason is None:
            ids.append(verdict.id)
        else:
            not_possible[verdict.id] = reason
    return ids, not_possible


def decide_again(
    verdicts: Sequence[Verdict],
    settings: Settings,
    report: Callable[[Verdict], None] = lambda verdict: None,
    certificates: Path | None = None,
) -> Recheck:
    """Decide proved obligations of the catalogue again, in processes that can be killed.

    Parameters
    ----------
    verdicts : sequence of Verdict
        What was decided the first time.
    settings : Settings
        How that was; the second time it is by another solver.
    report : callable
        Is given each second verdict as it arrives.
    certificates : Path, optional
        Directory that gets the files of certificates; then whatever has none is unknown.
    """
    ids, not_possible = possible(verdicts)
    again: dict[str, Verdict] = {}
    directory = None if certificates is None else str(certificates.absolute())
    assignment = replace(settings.assignment, again=True, certificates=directory)
    with Pool(assignment, max(1, min(settings.jobs, len(ids)))) as pool:
        futures = [pool.submit(identifier) for identifier in ids]
        try:
            for future in as_completed(futures):
                verdict = future.result()
                if verdict.message == NO_TRANSLATION:
                    not_possible[verdict.id] = verdict.message
                else:
                    again[verdict.id] = verdict
                report(verdict)
        finally:
            for future in futures:
                future.cancel()
    return Recheck(again, not_possible)
