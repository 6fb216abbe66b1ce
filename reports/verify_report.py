"""The report of ``verify``: a row for each set of sizes, or what is wrong with the kernel at it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..refinement.findings.finding import Kind
from ..refinement.findings.result import Verdict
from ..spec.findings import NOWHERE, Cause, Checked, Finding, Position, Standing
from .kernel_counterexample_text import input_lines
from .report import Conclusion, Report, Wording
from .source_places import source_place
from .verdict_text import verdict_lines

if TYPE_CHECKING:
    from ..refinement.contract.contract import Contract
    from ..refinement.findings.finding import KernelFinding
    from ..refinement.findings.result import Result
    from ..refinement.verification import Verification
    from .output_drawing import Drawing

SOURCE = "docs/command-line.md, verify"
"""Where the kinds of findings are described."""

OF_MEMORY = Wording(
    "kernel",
    "checked",
    "finding",
    {Standing.AGREES: "safe", Standing.DRIFT: "refuted", Standing.UNDECIDED: "undecided"},
    {
        Conclusion.HOLDS: "the kernel uses memory as its contract allows",
        Conclusion.FAILS: "the kernel is refuted",
        Conclusion.UNDECIDED: "the kernel is not decided",
    },
)

OF_KERNELS = Wording(
    "kernel",
    "checked",
    "finding",
    {Standing.AGREES: "verified", Standing.DRIFT: "refuted", Standing.UNDECIDED: "undecided"},
    {
        Conclusion.HOLDS: "the kernel computes what its contract says",
        Conclusion.FAILS: "the kernel is refuted",
        Conclusion.UNDECIDED: "the kernel is not decided",
    },
)


_CONCLUSIONS = {
    Verdict.VERIFIED: Conclusion.HOLDS,
    Verdict.SAFE: Conclusion.HOLDS,
    Verdict.REFUTED: Conclusion.FAILS,
    Verdict.UNDECIDED: Conclusion.UNDECIDED,
    Verdict.UNSUPPORTED: Conclusion.UNDECIDED,
}


@dataclass(frozen=True, kw_only=True, repr=False)
class VerifyReport(Report):
    """A report of ``verify``.

    Attributes
    ----------
    found : Verification
        The outcome for a kernel.
    """

    found: Verification

    template: ClassVar[str] = "verify.html.j2"
    indented: ClassVar[bool] = True

    @property
    def conclusion(self) -> Conclusion:
        """What the verdict means."""
        return _CONCLUSIONS[self.result.verdict]

    @property
    def result(self) -> Result:
        """The verdict, and what it rests on."""
        return self.found.result

    def __str__(self) -> str:
        return "\n".join(line.text for line in verdict_lines(self.found))

    def saved_in(self, path: Path) -> VerifyReport:
        """Return the report that names the file in which its counterexample is."""
        result = replace(self.result, counterexample=str(path))
        return replace(self, found=replace(self.found, result=result))

    def document(self) -> dict[str, Any]:
        """Return the JSON document (``docs/schemas/verify.schema.json``)."""
        return self.result.document()

    @property
    def contract(self) -> str:
        """The text of the contract."""
        return Path(self.found.result.contract).read_text(encoding="utf-8", errors="replace")

    @property
    def figures(self) -> dict[str, str]:
        """What the verification took, in words; the JSON document has all of it."""
        return {
            name.replace("_", " "): f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
            for name, value in self.result.stats.items()
            if isinstance(value, int | float)
        }

    @property
    def inputs(self) -> list[str]:
        """The inputs of the counterexample: of each array the first elements that are not 0."""
        found = self.found.counterexample
        return list(input_lines(found.inputs)) if found else []

    @property
    def drawings(self) -> list[tuple[str, list[Drawing]]]:
        """The outputs at each set of sizes, element by element."""
        from .output_drawing import drawn

        return [
            (str(instance), [drawn(status) for status in examination.outputs])
            for instance, examination in self.found.examinations
        ]


def report(found: Verification, version: str) -> VerifyReport:
    """Return the report of a verification; its rules are the kinds of ``verify``'s findings.

    Parameters
    ----------
    found : Verification
        The outcome for a kernel.
    version : str
        Version of mmaproof.
    """
    rows: list[tuple[Position, str]] = []
    findings: list[Finding] = []
    for instance, examination in found.examinations:
        here = [_finding(found, str(instance), finding) for finding in examination.findings]
        findings += here
        if here:
            rows += [(finding.at, finding.subject) for finding in here]
        else:
            shown = "memory" if found.memory_only else examination.equality
            rows.append((NOWHERE, f"{_subject(found.contract, str(instance))} ({shown})"))
    beyond = [_finding(found, "", finding) for finding in found.beyond]
    findings += beyond
    rows += [(finding.at, finding.subject) for finding in beyond]
    checked = Checked(found.result.kernel, "kernel", tuple(rows), tuple(findings))
    rules = {rule.id: rule for rule in map(_rule, Kind)}
    wording = OF_MEMORY if found.memory_only else _of_values(found.result)
    elapsed = found.result.stats["total_seconds"]
    return VerifyReport("verify", version, wording, (checked,), rules, elapsed, found=found)


def _of_values(result: Result) -> Wording:
    """Return how a report speaks of values, those of a contract or those of another kernel."""
    if result.against is None:
        return OF_KERNELS
    holds = {Conclusion.HOLDS: f"the kernel computes what {result.against} computes"}
    return replace(OF_KERNELS, conclusions={**OF_KERNELS.conclusions, **holds})


def _finding(found: Verification, sizes: str, finding: KernelFinding) -> Finding:
    """Return a finding in the line of its source, where that file is at hand, else in that of the kernel."""
    file = finding.file or found.result.kernel
    place = source_place(finding.source, file)
    written = f"{file}:{finding.line}" if finding.line else file
    other = f" ({written if place else finding.source})" if finding.source else ""
    return Finding(
        Standing.DRIFT if finding.kind.refutes else Standing.UNDECIDED,
        place[0] if place else file,
        Position(place[1] if place else finding.line),
        _subject(found.contract, sizes, finding.output or finding.thread),
        (_rule(finding.kind).saying(f"{finding.message}{other}"),),
    )


def _subject(contract: Contract, sizes: str, of: str = "") -> str:
    """Return what a row is about: the kernel, or an output element or thread of it, at its sizes."""
    entry = contract.entry or "the kernel"
    name = f"{entry}, {of}" if of else entry
    return f"{name} at {sizes}" if sizes else name


def _rule(kind: Kind) -> Cause:
    return Cause("verify", kind.value, kind.meaning, SOURCE, kind.meaning)
