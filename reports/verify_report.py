"""The report of ``verify``: a row for each set of sizes, or what is wrong with the kernel at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..refinement.findings.finding import Kind
from ..spec.findings import NOWHERE, Cause, Checked, Finding, Position, Standing
from ..spec.formats import format_named
from ..spec.values import values_of_encodings
from .report import Conclusion, Report, Wording

if TYPE_CHECKING:
    from ..refinement.contract.contract import Contract, Instance
    from ..refinement.findings.finding import KernelFinding
    from ..refinement.findings.result import Result
    from ..refinement.verification import Verification
    from .output_drawing import Drawing

SOURCE = "docs/command-line.md, verify"
"""Where the kinds of findings are described."""

SHOWN = 8
"""Elements of an input of a counterexample that a page shows."""

OF_MEMORY = Wording(
    "kernel",
    "checked",
    "finding",
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
    "finding",
    {Standing.AGREES: "verified", Standing.DRIFT: "refuted", Standing.UNDECIDED: "undecided"},
    {
        Conclusion.HOLDS: "the kernel computes what its contract says",
        Conclusion.FAILS: "the kernel is refuted",
        Conclusion.UNDECIDED: "the kernel is not decided",
    },
)


@dataclass(frozen=True, kw_only=True)
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
    def result(self) -> Result:
        """The verdict, and what it rests on."""
        return self.found.result

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
        return [_input(name, given) for name, given in found.inputs.items()] if found else []

    @property
    def drawings(self) -> list[tuple[str, list[Drawing]]]:
        """The outputs at each set of sizes, element by element."""
        from .output_drawing import drawn

        return [
            (str(instance), [drawn(status) for status in examination.outputs])
            for instance, examination in self.found.examinations
        ]


def _input(name: str, given: Mapping[str, Any]) -> str:
    """Write an array of a counterexample: its format and extents, and elements."""
    shape = tuple(given["shape"])
    head = (
        f"{name}: {given['format']}[{', '.join(map(str, shape))}]" if shape else f"{name}: {given['format']}"
    )
    nonzero = [place for place, bits in enumerate(given["bits"]) if int(bits, 16)]
    if not nonzero:
        return f"{head} = 0"
    fmt = format_named(given["format"])
    bits = np.array([int(given["bits"][place], 16) for place in nonzero[:SHOWN]], dtype=fmt.storage)
    values = [
        f"{value:g} (0x{word:x})" for value, word in zip(values_of_encodings(bits, fmt), bits, strict=True)
    ]
    if not shape:
        return f"{head} = {values[0]}"
    places = (",".join(map(str, np.unravel_index(place, shape))) for place in nonzero[:SHOWN])
    shown = [f"{name}[{place}] = {value}" for place, value in zip(places, values, strict=True)]
    if more := len(nonzero) - len(shown):
        shown.append(f"{more} more are not 0")
    elif len(nonzero) < len(given["bits"]):
        shown.append("the others are 0")
    return f"{head}: {', '.join(shown)}"


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
        here = [_finding(found, instance, finding) for finding in examination.findings]
        findings += here
        if here:
            rows += [(finding.at, finding.subject) for finding in here]
        else:
            shown = "memory" if found.memory_only else examination.equality
            rows.append((NOWHERE, f"{_subject(found.contract, instance)} ({shown})"))
    checked = Checked(found.result.kernel, "kernel", tuple(rows), tuple(findings))
    rules = {rule.id: rule for rule in map(_rule, Kind)}
    wording = OF_MEMORY if found.memory_only else OF_KERNELS
    elapsed = found.result.stats["total_seconds"]
    return VerifyReport("verify", version, wording, (checked,), rules, elapsed, found=found)


def _finding(found: Verification, instance: Instance, finding: KernelFinding) -> Finding:
    return Finding(
        Standing.DRIFT if finding.kind.refutes else Standing.UNDECIDED,
        finding.file or found.result.kernel,
        Position(finding.line),
        _subject(found.contract, instance, finding.output or finding.thread),
        (_rule(finding.kind).saying(finding.message + (f" ({finding.source})" if finding.source else "")),),
    )


def _subject(contract: Contract, instance: Instance, of: str = "") -> str:
    """Return what a row is about: the kernel, or an output element or thread of it, at its sizes."""
    entry = contract.entry or "the kernel"
    name = f"{entry}, {of}" if of else entry
    return f"{name} at {instance}" if str(instance) else name


def _rule(kind: Kind) -> Cause:
    return Cause("verify", kind.value, kind.meaning, SOURCE, kind.meaning)
