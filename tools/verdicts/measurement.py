"""One kernel verified: the rows of its verdict, and the share of the checker and of the runs in its cost."""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from mmaproof.refinement import instance_verification
from mmaproof.refinement.analysis.rounding_depth import Hypothesis, worst
from mmaproof.refinement.checker.evaluated import Checked
from mmaproof.refinement.equality import equivalence
from mmaproof.refinement.examine.output_comparison import Examination
from mmaproof.refinement.findings.finding import KernelFinding
from mmaproof.refinement.findings.result import verdict_of
from mmaproof.refinement.verification import Verification, verify

from .cases import REPOSITORY, Case

VERDICT_COLUMNS = (
    "corpus",
    "kernel",
    "sizes",
    "verdict",
    "equality",
    "hypotheses",
    "findings",
    "checked",
    "by_residues",
    "by_points",
    "open",
)
"""Of the table that is the same on every machine."""

COST_COLUMNS = ("corpus", "kernel", "cpu_seconds", "checker_seconds", "runs_seconds", "peak_mib")
"""Of the table that is not; the seconds are those of the processor, in the kernel's own process."""

WHOLE = "all"
"""The sizes of the row about the whole contract; the other rows are about one set of sizes each."""

_TEXT = 80
"""Characters of a finding's message that are kept."""

_PREFIX = "verdicts-"
_PLACES = re.compile(rf"(?:{re.escape(str(REPOSITORY))}|[^\s:]*/{_PREFIX}[^/\s]*)/")

Row = tuple[str, ...]


class _Clock:
    """The processor's time that some functions take, those that they call included."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    @contextmanager
    def watching(self, what: str, module: Any, name: str) -> Iterator[None]:
        """Measure a function of a module while the context lasts."""
        original = getattr(module, name)

        def measured(*arguments: Any, **options: Any) -> Any:
            started = time.process_time()
            try:
                return original(*arguments, **options)
            finally:
                self.seconds[what] += time.process_time() - started

        with mock.patch.object(module, name, measured):
            yield


def measured(case: Case) -> tuple[list[Row], Row]:
    """Verify a kernel; return its rows of verdicts, and its costs without the memory."""
    clock = _Clock()
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX) as folder,
        clock.watching("checker", equivalence, "checked"),
        clock.watching("runs", instance_verification, "tried"),
    ):
        kernel, contract = case.place(Path(folder))
        started = time.process_time()
        try:
            verification = verify(kernel, contract)
        except Exception as error:  # a defect of mmaproof is a row like any other
            rows = [(WHOLE, type(error).__name__, "", "", _short(str(error)), "", "", "", "")]
        else:
            rows = list(_rows(verification))
        spent = time.process_time() - started
    costs = (spent, clock.seconds["checker"], clock.seconds["runs"])
    return [(*case.key, *row) for row in rows], (*case.key, *(f"{seconds:.2f}" for seconds in costs))


def failed(case: Case, reason: str) -> Row:
    """Return the row of a kernel whose process ended before its verdict."""
    return (*case.key, WHOLE, reason, "", "", "", "", "", "", "")


def _rows(verification: Verification) -> Iterator[Row]:
    """Yield the row of the whole contract, then one for each set of sizes if there are several."""
    result = verification.result
    examinations = verification.examinations
    every = sum((each.checked for _, each in examinations), start=Checked())
    equality = "" if result.equality is None else str(result.equality)
    whole = _row(WHOLE, str(result.verdict), equality, result.hypotheses, result.findings, every)
    of_proofs = result.stats.get("checker_of_proofs", {}).get("open", [])
    proofs = [f"of proofs {proof['elements']}: {proof['reason']}" for proof in of_proofs]
    yield (*whole[:-1], " | ".join(filter(None, [whole[-1], *proofs])))
    names = [_sizes(instance.sizes) for instance, _ in examinations]
    if len(set(names)) < 2:
        return
    for name in dict.fromkeys(names):
        some = [each for (_, each), own in zip(examinations, names, strict=True) if own == name]
        yield _of_sizes(name, some, memory_only=verification.memory_only)


def _of_sizes(name: str, examinations: Sequence[Examination], *, memory_only: bool) -> Row:
    findings = [finding for examination in examinations for finding in examination.findings]
    equalities = [examination.equality for examination in examinations]
    equality = None if None in equalities else max(equalities, key=lambda each: str(each) == "value")
    undergone = worst(
        [examination.roundings for examination in examinations if examination.roundings is not None]
    )
    hypotheses = () if undergone is None or str(equality) != "value" else undergone.hypotheses
    checked = sum((examination.checked for examination in examinations), start=Checked())
    verdict = verdict_of(findings, equality, memory_only=memory_only)
    return _row(name, str(verdict), "" if equality is None else str(equality), hypotheses, findings, checked)


def _row(
    sizes: str,
    verdict: str,
    equality: str,
    hypotheses: Sequence[Hypothesis],
    findings: Sequence[KernelFinding],
    checked: Checked,
) -> Row:
    told = [f"{finding.kind}:{finding.line}: {_short(finding.message)}" for finding in findings]
    still_open = [f"{count}: {reason}" for reason, count in sorted(checked.open.items())]
    counts = map(str, (checked.elements, checked.by_residues, checked.by_points))
    return (
        sizes,
        verdict,
        equality,
        " | ".join(sorted(hypothesis.name for hypothesis in hypotheses)),
        " | ".join(told),
        *counts,
        " | ".join(still_open),
    )


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {number}" for name, number in sizes.items())


def _short(message: str) -> str:
    """Return the beginning of a message, without the names of folders of this machine."""
    return " ".join(_PLACES.sub("", message).split())[:_TEXT]
