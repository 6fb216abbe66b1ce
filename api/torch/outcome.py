"""The verdict on a module of PyTorch, and its JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .own_run import OwnRun
from .sizes import Sizes

if TYPE_CHECKING:
    from ...reports.verify_report import VerifyReport

SCHEMA = 1

SHOWN = ("verified", "safe")
"""Verdicts that say that something is right."""


@dataclass(frozen=True)
class TorchResult:
    """What is known about a candidate.

    Attributes
    ----------
    verdict : str
        ``verified``, ``safe``, ``refuted``, ``undecided``, ``unsupported``.
    reference, candidate : str
        Their files.
    sizes : mapping
        Those at which it is; of the reference's names.
    own_sizes : bool
        Whether these are the problem's own.
    launches : tuple of str
        The kernels launched, in order.
    steps : int
        What PyTorch does on the host between them.
    configurations : int
        Of autotuned kernels, how many the verdict is about.
    findings : tuple of str
        What is wrong, or not shown.
    notes : tuple of str
        What a reader should know.
    hypotheses : tuple of str
        What the verdict rests on.
    bound : str
        How far results are from real numbers.
    seconds : mapping of str to float
        What took how long.
    reports : tuple of VerifyReport
        Of each configuration, against the contract that was made of it.
    failed : bool
        Whether the candidate's own code failed before it launched anything.
    own_run : OwnRun, optional
        What was run on numbers at the problem's own sizes.
    """

    verdict: str
    reference: str
    candidate: str
    sizes: Sizes = field(default_factory=dict)
    own_sizes: bool = False
    launches: tuple[str, ...] = ()
    steps: int = 0
    configurations: int = 1
    findings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    bound: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    reports: tuple[VerifyReport, ...] = ()
    failed: bool = False
    own_run: OwnRun | None = None

    @property
    def scope(self) -> str:
        """For which sizes the verdict is, in brackets behind it; empty where there are none to choose."""
        at = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        which = "the problem's own sizes" if self.own_sizes else f"at {at}, not the problem's own sizes"
        return f" ({which})" if at else ""

    @property
    def claim(self) -> str:
        """What the verdict is about, but for the sizes, in one line."""
        launches = "1 launch" if len(self.launches) == 1 else f"{len(self.launches)} launches"
        steps = "1 step" if self.steps == 1 else f"{self.steps} steps"
        start = f"{launches} and {steps} of the host"
        if self.own_run is None:
            return f"{start}; for all data"
        if self.own_run.findings:
            return f"{start}; {self.own_run.claim}"
        return f"{start}; for all data; {self.own_run.claim}"

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "reference": self.reference,
            "candidate": self.candidate,
            "sizes": {name: list(v) if isinstance(v, tuple) else v for name, v in self.sizes.items()},
            "own_sizes": self.own_sizes,
            "launches": list(self.launches),
            "steps": self.steps,
            "configurations": self.configurations,
            "findings": list(self.findings),
            "notes": list(self.notes),
            "hypotheses": list(self.hypotheses),
            "bound": self.bound,
            "seconds": dict(self.seconds),
            "own_run": self.own_run and self.own_run.document(),
        }

    def counterexample(self) -> dict[str, NDArray[Any]]:
        """Return inputs on which a refuted candidate is wrong, by name, if some are kept."""
        from ...refinement.terms.inputs import numbers_in
        from ...spec.formats import FORMATS

        found = next(
            (report.found.counterexample for report in self.reports if report.found.counterexample), None
        )
        made = {}
        for name, given in ({} if found is None else found.inputs).items():
            words = np.array([int(bits, 16) for bits in given["bits"]], dtype=np.uint64)
            numbers = numbers_in(words, FORMATS[given["format"]])
            made[name] = np.asarray(numbers, dtype=np.float64).reshape(given["shape"])
        return made

    def inputs(self) -> dict[str, Any]:
        """Return inputs on which a refuted candidate is wrong, as tensors by name, if some are kept."""
        import torch

        return {name: torch.tensor(numbers) for name, numbers in self.counterexample().items()}


def with_report(result: TorchResult, report: VerifyReport) -> TorchResult:
    """Return a result with the verdict of a verification of its kernels."""
    found = report.result
    return replace(
        result,
        verdict=str(found.verdict),
        findings=tuple(map(str, found.findings)),
        notes=(*result.notes, *map(str, found.notes)),
        hypotheses=(
            *(hypothesis.statement for hypothesis in found.hypotheses),
            *(f"assumed: {assumption}" for assumption in found.assumptions),
        ),
        bound=found.bound or "",
        reports=(report,),
    )


def with_own_run(result: TorchResult, ran: OwnRun) -> TorchResult:
    """Return a result with what was run at the problem's own sizes, which may refute it."""
    result = replace(result, own_run=ran)
    if ran.findings:
        return replace(
            result,
            verdict="refuted",
            sizes=ran.sizes,
            own_sizes=not ran.other,
            findings=ran.findings,
            hypotheses=(),
            bound="",
        )
    notes = (f"at the problem's own sizes: {each}" for each in ran.open)
    result = replace(result, notes=(*result.notes, *notes))
    if ran.doubts and result.verdict in SHOWN:
        doubts = (f"at the problem's own sizes: {doubt}" for doubt in ran.doubts)
        return replace(result, verdict="undecided", findings=(*doubts, *result.findings))
    return result
