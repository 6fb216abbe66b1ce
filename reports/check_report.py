"""The report of ``check``: each verdict that is not the expected one, by its theorem."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, cast

from ..proofs.obligation import Expected, Status
from ..proofs.outcomes import Agreement, CatalogueRun, DecidedObligation, TheoremOutcomes
from ..proofs.pinned import COMMAND, FILE, REASON, RULE, PinnedDifference
from ..proofs.rechecking import Recheck
from ..spec.findings import NOWHERE, Cause, Checked, Finding, Standing
from .check_document import (
    CheckDocument,
    CheckedObligation,
    CheckTotals,
    RecheckTotals,
    SecondVerdict,
    Unpinned,
)
from .counterexample_text import counterexample_text
from .report import Conclusion, Report, Wording

LINES, COLUMNS = 40, 200
"""What a page shows of a counterexample, of which the JSON document has everything."""

OF_THEOREMS = Wording(
    "theorem",
    "obligations",
    "obligation",
    {
        Standing.AGREES: "as expected",
        Standing.DRIFT: "unexpected",
        Standing.UNDECIDED: "unknown",
        Standing.DEFECT: "error",
    },
    {
        Conclusion.HOLDS: "every verdict is the expected one",
        Conclusion.FAILS: "a verdict is not the expected one",
        Conclusion.UNDECIDED: "some obligations are undecided",
        Conclusion.DEFECT: "mmaproof has a defect",
    },
)

_STANDINGS = {
    Agreement.UNEXPECTED: Standing.DRIFT,
    Agreement.DEFECT: Standing.DEFECT,
    Agreement.UNKNOWN: Standing.UNDECIDED,
}


@dataclass(frozen=True, kw_only=True, repr=False)
class CheckReport(Report):
    """A report of ``check``.

    Attributes
    ----------
    run : CatalogueRun
        The verdicts.
    """

    run: CatalogueRun

    template: ClassVar[str] = "check.html.j2"
    indented: ClassVar[bool] = True
    agreements: ClassVar[tuple[Agreement, ...]] = tuple(Agreement)
    shown_examples: ClassVar[tuple[Agreement, ...]] = (Agreement.PINNED, Agreement.UNEXPECTED)

    @property
    def occurring(self) -> list[Agreement]:
        """The agreements that occur."""
        return [agreement for agreement in self.agreements if self.run.count(agreement)]

    @property
    def subjects(self) -> dict[str, int]:
        """What obligations are about, most often an instruction, and how many are about it.

        It is the part of an obligation's id that follows the theorem's.
        """
        counts = Counter(
            outcome.obligation.id.removeprefix(f"{entry.theorem.id}/").partition("/")[0]
            for entry in self.run.theorems
            for outcome in entry.outcomes
        )
        return dict(sorted(counts.items()))

    @staticmethod
    def example(outcome: DecidedObligation) -> str:
        """Return the beginning of a counterexample, as text."""
        found = outcome.verdict.counterexample
        lines = counterexample_text(found).splitlines() if found else []
        more = [f"… ({len(lines) - LINES} more lines)"] if len(lines) > LINES else []
        return "\n".join([line[:COLUMNS] for line in lines[:LINES]] + more)

    @property
    def headline(self) -> str:
        """The conclusion in words; another set of obligations than the pinned one comes first."""
        if not self.run.unpinned:
            return super().headline
        verdicts = replace(self, run=replace(self.run, unpinned=()), files=self.files[1:])
        outcome = f"; {verdicts.headline}" if self.run.spoiling else ""
        return f"the obligations are not the pinned ones{outcome}"

    @property
    def totals(self) -> CheckTotals:
        """The run in numbers."""
        run = self.run
        statuses = Counter(outcome.verdict.status for outcome in run.outcomes)
        totals: CheckTotals = {
            "obligations": len(run.outcomes),
            "proved": statuses[Status.PROVED],
            "refuted": statuses[Status.REFUTED],
            "unknown": statuses[Status.UNKNOWN],
            "error": statuses[Status.ERROR],
            "expected": run.count(Agreement.PROVED, Agreement.PINNED),
            "unexpected": run.count(Agreement.UNEXPECTED, Agreement.DEFECT),
            "unpinned": len(run.unpinned),
            "cached": run.cached,
            "seconds": round(run.seconds, 3),
            "elapsed": round(self.elapsed, 3),
            "conclusion": self.conclusion,
        }
        if run.recheck is not None:
            totals["recheck"] = _second_totals(run.recheck)
        return totals

    def document(self) -> CheckDocument:
        """Return the JSON document."""
        return {
            "schema": 1,
            "version": self.version,
            "obligations": [_entry(outcome, self.run.recheck) for outcome in self.run.outcomes],
            "unpinned": [_unpinned_entry(difference) for difference in self.run.unpinned],
            "summary": self.totals,
        }


def report(run: CatalogueRun, version: str) -> CheckReport:
    """Return the report of a run; its rules are the theorems, its findings are in no file.

    Parameters
    ----------
    run : CatalogueRun
        The verdicts.
    version : str
        Version of mmaproof.
    """
    rules = {entry.theorem.id: _rule(entry) for entry in run.theorems}
    checked = [_checked(entry, rules[entry.theorem.id]) for entry in run.theorems]
    if run.unpinned:
        owner, _, name = RULE.partition("/")
        rules[RULE] = Cause(owner, name, REASON, f"proofs/{FILE}, regenerate it with: {COMMAND}", REASON)
        checked.insert(0, _unpinned(run, rules[RULE]))
    return CheckReport("check", version, OF_THEOREMS, tuple(checked), rules, run.elapsed, run=run)


def _rule(entry: TheoremOutcomes) -> Cause:
    owner, _, rule = entry.theorem.id.partition("/")
    return Cause(owner, rule, entry.theorem.title, entry.theorem.source, entry.theorem.statement)


def _checked(entry: TheoremOutcomes, rule: Cause) -> Checked:
    rows = tuple((NOWHERE, outcome.obligation.id) for outcome in entry.outcomes)
    findings = (_finding(outcome, rule) for outcome in entry.outcomes if outcome.agreement in _STANDINGS)
    seconds = {outcome.obligation.id: outcome.verdict.seconds for outcome in entry.outcomes}
    return Checked(entry.theorem.id, "theorem", rows, tuple(findings), seconds)


def _finding(outcome: DecidedObligation, rule: Cause) -> Finding:
    identifier, found = outcome.obligation.id, outcome.verdict.counterexample
    cause = rule.saying(outcome.summary.removeprefix(f"{identifier}: "))
    details = [outcome.obligation.statement, *([counterexample_text(found)] if found else [])]
    standing = _STANDINGS[outcome.agreement]
    return Finding(standing, "", NOWHERE, identifier, (cause,), details="\n".join(details))


def _unpinned(run: CatalogueRun, rule: Cause) -> Checked:
    rows = tuple((NOWHERE, difference.id) for difference in run.unpinned)
    findings = tuple(
        Finding(Standing.DRIFT, "", NOWHERE, difference.id, (rule.saying(difference.reason),))
        for difference in run.unpinned
    )
    return Checked(RULE, "theorem", rows, findings)


def _entry(outcome: DecidedObligation, recheck: Recheck | None) -> CheckedObligation:
    obligation, verdict = outcome.obligation, outcome.verdict
    entry: CheckedObligation = {
        "id": obligation.id,
        "status": verdict.status,
        "expect": cast(Expected, obligation.expect),
        "equality": obligation.equality,
        "solver": verdict.solver,
        "seconds": round(verdict.seconds, 6),
        "cached": verdict.cached,
        "method": verdict.method,
        "witness": verdict.witness,
        "choices": obligation.choices,
        "message": verdict.message,
    }
    if verdict.counterexample is not None:
        entry["counterexample"] = verdict.counterexample.document()
    if recheck is not None:
        entry["recheck"] = _second(obligation.id, recheck)
    return entry


_AGAIN: dict[Status, Literal["confirmed", "contradicted", "error", "unknown"]] = {
    Status.PROVED: "confirmed",
    Status.REFUTED: "contradicted",
    Status.ERROR: "error",
    Status.UNKNOWN: "unknown",
}


def _second(identifier: str, recheck: Recheck) -> SecondVerdict:
    again = recheck.again.get(identifier)
    if again is None:
        return {"status": "not possible", "message": recheck.not_possible.get(identifier, "")}
    return {
        "status": _AGAIN[again.status],
        "solver": again.solver,
        "seconds": round(again.seconds, 6),
        "message": again.message,
    }


def _second_totals(recheck: Recheck) -> RecheckTotals:
    return {
        "confirmed": recheck.count(Status.PROVED),
        "contradicted": recheck.count(Status.REFUTED),
        "error": recheck.count(Status.ERROR),
        "unknown": recheck.count(Status.UNKNOWN),
        "not_possible": len(recheck.not_possible),
        "seconds": round(recheck.seconds, 3),
    }


def _unpinned_entry(difference: PinnedDifference) -> Unpinned:
    return {
        "id": difference.id,
        "kind": difference.kind,
        "pinned": cast(Expected | None, difference.pinned),
        "expect": cast(Expected | None, difference.built),
    }
