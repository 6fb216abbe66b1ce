"""The outcome of verifying a kernel, and its JSON document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from .findings import Finding, Kind

SCHEMA = 1


class Verdict(StrEnum):
    """What is known about a kernel."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    UNSUPPORTED = "unsupported"


class Equality(StrEnum):
    """In which sense all outputs are what the contract says."""

    BITS = "bits"
    VALUE = "value"


@dataclass(frozen=True)
class Result:
    """What `mmaproof verify` found out.

    Attributes
    ----------
    kernel, contract : str
        The files.
    verdict : Verdict
        For all data, at every set of sizes of the contract.
    equality : Equality, optional
        The weakest that any output needed; None unless verified.
    bound : str, optional
        For `Equality.VALUE`: how far the kernel's floats can be from the contract's real numbers.
    findings : tuple of Finding
        What is wrong, or not modelled.
    counterexample : str, optional
        The file of inputs on which the kernel is wrong.
    stats : mapping
        Counts and times.
    """

    kernel: str
    contract: str
    verdict: Verdict
    equality: Equality | None = None
    bound: str | None = None
    findings: tuple[Finding, ...] = ()
    counterexample: str | None = None
    stats: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the JSON document; ``docs/schemas/verify.schema.json`` describes it."""
        return {"schema": SCHEMA, **asdict(self), "stats": dict(self.stats)}


def verdict_of(findings: Sequence[Finding], equality: Equality | None) -> Verdict:
    """Return the verdict that findings and an equality give.

    A refutation stands whatever else is not modelled; nothing is verified while anything is left open.
    """
    kinds = {finding.kind for finding in findings}
    if any(kind.refutes for kind in kinds):
        return Verdict.REFUTED
    if Kind.UNSUPPORTED in kinds:
        return Verdict.UNSUPPORTED
    return Verdict.UNDECIDED if equality is None else Verdict.VERIFIED
