"""What was found about a kernel, for the reports: a row for each set of sizes, or what is wrong at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..refinement.findings import Kind
from ..spec.findings import (
    NOWHERE,
    Cause,
    Checked,
    Conclusion,
    Finding,
    FindingReport,
    Position,
    Standing,
    Wording,
)

if TYPE_CHECKING:
    from ..refinement import findings as kernel
    from ..refinement.contract import Contract, Instance
    from ..refinement.verification import Verification

SOURCE = "docs/command-line.md, verify"
"""Where the kinds of findings are described."""

OF_MEMORY = Wording(
    "kernel",
    "checked",
    {Standing.AGREES: "safe", Standing.DRIFT: "refuted", Standing.UNDECIDED: "undecided"},
    {
        Conclusion.HOLDS: "the kernel uses memory as its contract lets it",
        Conclusion.FAILS: "the kernel is refuted",
        Conclusion.UNDECIDED: "the kernel is not decided",
    },
)

OF_KERNELS = Wording(
    "kernel",
    "checked",
    {Standing.AGREES: "verified", Standing.DRIFT: "refuted", Standing.UNDECIDED: "undecided"},
    {
        Conclusion.HOLDS: "the kernel computes what its contract says",
        Conclusion.FAILS: "the kernel is refuted",
        Conclusion.UNDECIDED: "the kernel is not decided",
    },
)


def report(found: Verification, version: str) -> FindingReport:
    """Return a verification as findings; its rules are the kinds of ``verify``'s findings.

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
        here = [_finding(found, instance, finding) for finding in examination.findings]
        findings += here
        if here:
            rows += [(finding.at, finding.subject) for finding in here]
        else:
            shown = "memory" if found.contract.memory_only else examination.equality
            rows.append((NOWHERE, f"{_subject(found.contract, instance)} ({shown})"))
    causes = [_cause(kind, kind.meaning) for kind in Kind]
    checked = Checked(found.result.kernel, "kernel", tuple(rows), tuple(findings))
    return FindingReport(
        "verify",
        version,
        (checked,),
        {cause.id: cause for cause in causes},
        found.result.stats["total_seconds"],
        wording=OF_MEMORY if found.contract.memory_only else OF_KERNELS,
    )


def _finding(found: Verification, instance: Instance, finding: kernel.Finding) -> Finding:
    return Finding(
        Standing.DRIFT if finding.kind.refutes else Standing.UNDECIDED,
        finding.file or found.result.kernel,
        Position(finding.line),
        _subject(found.contract, instance, finding.output or finding.thread),
        "",
        "",
        (_cause(finding.kind, finding.message),),
    )


def _subject(contract: Contract, instance: Instance, of: str = "") -> str:
    """Return what a row is about: the kernel, or an output element or thread of it, at its sizes."""
    entry = contract.entry or "the kernel"
    name = f"{entry}, {of}" if of else entry
    return f"{name} at {instance}" if instance.sizes else name


def _cause(kind: Kind, message: str) -> Cause:
    return Cause("verify", kind.value, kind.meaning, SOURCE, message)
