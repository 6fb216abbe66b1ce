"""Does a kernel compute what its contract says? For all data, at every set of the contract's sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..spec.errors import InputError, OutOfBudget, UnsupportedError
from .array_memory import inputs_of
from .assumptions import assumptions_of
from .contract import Contract, Instance
from .contract_reading import read_contract
from .counterexamples import KernelCounterexample
from .findings import KernelFinding, Kind
from .front_end import Kernel, Outcome, read_kernel
from .given_data import for_all_numbers
from .memory_safety import memory_findings
from .output_comparison import Examination, OutputComparison
from .references import KernelReference, reference_of
from .result import Equality, Result, verdict_of
from .rounding_depth import Roundings, worst
from .terms import TermStore
from .trials import Trials, tried

Told = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and all of it."""


@dataclass(frozen=True)
class Verification:
    """A result, and what its reports show.

    Attributes
    ----------
    result : Result
        The outcome.
    contract : Contract
        What was to be shown.
    examinations : tuple of (Instance, Examination)
        Every set of sizes that was looked at, in order; the last one may be refuted.
    counterexample : KernelCounterexample, optional
        That of the first examination that has one.
    """

    result: Result
    contract: Contract
    examinations: tuple[tuple[Instance, Examination], ...]
    counterexample: KernelCounterexample | None

    @property
    def memory_only(self) -> bool:
        """Whether only what the kernel does to memory was looked at."""
        return self.result.against is None and not self.contract.says_values


def verify(
    kernel_path: Path, contract_path: Path, told: Told | None = None, *, against: Path | None = None
) -> Verification:
    """Verify a kernel against a contract, or against another kernel that computes the same.

    Parameters
    ----------
    kernel_path, contract_path : Path
        The files.
    told : callable, optional
        Told about the progress.
    against : Path, optional
        The other kernel's file; the contract then has no formulas.

    Raises
    ------
    InputError
        If a file can't be read, or the contract does not suit the kernel.
    UnsupportedError
        If there is no front end for the kernel's language.
    """
    started = time.perf_counter()
    contract = read_contract(contract_path)
    if against is not None and contract.says_values:
        raise InputError("two kernels are compared by a contract without [ensures]", str(contract_path))
    kernel = read_kernel(contract.isa, kernel_path, contract.entry, contract.target)
    former = None
    if against is not None:
        former = read_kernel(contract.isa, against, contract.former.entry or contract.entry, contract.target)
    examinations: list[tuple[Instance, Examination]] = []
    stats: Mapping[str, Any] = {}
    for instance in contract.instances():
        try:
            examination, stats = examine(kernel, instance, told, former)
        except (OutOfBudget, MemoryError, RecursionError) as reason:
            examination = Examination([KernelFinding(Kind.UNDECIDED, _given_up(reason), kernel.path)], None)
        _name_sources(examination, [each for each in (kernel, former) if each is not None])
        examinations.append((instance, examination))
        if examination.equality is None and examination.findings:
            break
    found = [examination for _, examination in examinations]
    coverage = tuple(each for examination in found for each in examination.coverage)
    findings = tuple(finding for examination in found for finding in examination.findings)
    equality = _weakest([examination.equality for examination in found])
    undergone = worst([each.roundings for each in found if each.roundings is not None])
    former_undergone = worst([each.former_roundings for each in found if each.former_roundings is not None])
    result = Result(
        str(kernel_path),
        None if against is None else str(against),
        str(contract_path),
        verdict_of(findings, equality, memory_only=former is None and not contract.says_values),
        equality,
        None if equality is None else _bound(undergone, former_undergone, against),
        findings,
        None,
        coverage,
        tuple(each for examination in found for each in examination.written),
        undergone.hypotheses if undergone is not None and equality is Equality.VALUE else (),
        tuple(dict.fromkeys(each for examination in found for each in examination.assumptions)),
        {
            **stats,
            "sizes": [dict(instance.sizes) for instance, _ in examinations],
            "outputs": sum(int(each.right.size) for examination in found for each in examination.outputs),
            "wrong": sum(int((~each.right).sum()) for examination in found for each in examination.outputs),
            "runs": sum((examination.trials for examination in found), start=Trials()).document(),
            "total_seconds": round(time.perf_counter() - started, 3),
        },
    )
    counterexample = next((e.counterexample for e in found if e.counterexample is not None), None)
    return Verification(result, contract, tuple(examinations), counterexample)


def _name_sources(examination: Examination, kernels: Sequence[Kernel]) -> None:
    """Say of every finding where the compiler says that its line comes from."""
    for kernel in kernels:
        examination.findings = [
            replace(each, source=kernel.source(each.line)) if each.file == kernel.path else each
            for each in examination.findings
        ]


def _bound(undergone: Roundings | None, former: Roundings | None, against: Path | None) -> str | None:
    """Return how far the kernel is from the real numbers, and how far the one that it is compared with."""
    if against is None or undergone is None:
        return None if undergone is None else str(undergone)
    return f"{undergone}; of {against}: {former}" if former is not None else str(undergone)


def _given_up(reason: BaseException) -> str:
    """Return why a set of sizes was given up."""
    match reason:
        case MemoryError():
            return "out of memory"
        case RecursionError():
            return "terms are nested too deeply"
    return str(reason)


def _weakest(found: Sequence[Equality | None]) -> Equality | None:
    if any(equality is None for equality in found):
        return None
    return Equality.VALUE if Equality.VALUE in found else Equality.BITS


def examine(
    kernel: Kernel, instance: Instance, told: Told | None = None, former: Kernel | None = None
) -> tuple[Examination, Mapping[str, Any]]:
    """Verify a kernel at one set of sizes; returns what was found, and the run's counts."""
    examination, stats = _examined(kernel, instance, told, {}, former)
    if former is not None:
        return examination, stats
    wrong = any(not output.right.all() for output in examination.outputs)
    of_values = all(finding.kind in (Kind.WRONG_VALUE, Kind.UNDECIDED) for finding in examination.findings)
    if not (wrong and of_values) or (wider := for_all_numbers(instance)) is None:
        return examination, stats
    again, _ = _examined(kernel, wider[0], told, wider[1], None)
    shown = len(again.outputs) == len(instance.outputs) and all(each.right.all() for each in again.outputs)
    return (again if shown else examination), stats


def _examined(
    kernel: Kernel, instance: Instance, told: Told | None, given: Mapping[str, Any], former: Kernel | None
) -> tuple[Examination, Mapping[str, Any]]:
    store = TermStore()
    where = f" at {instance}" if instance.sizes else ""
    progress = None if told is None else lambda done, all_: told(f"running{where}", done, all_)
    outcome = kernel.run(instance, store, inputs_of(store, instance), progress)
    examination = Examination(list(outcome.findings))
    examination.assumptions = assumptions_of(instance, outcome.alignments)
    reference = reference_of(instance, store)
    if former is not None:
        if told is not None:
            told(f"running {former.path}{where}", 0, 1)
        other, objections = _run_of_former(former, instance, store)
        examination.findings += objections
        if other is None:
            examination.equality = None
            return examination, outcome.stats
        reference = other
    elif not instance.contract.says_values:
        return _memory_only(kernel, instance, store, outcome, examination), outcome.stats
    comparer = OutputComparison(kernel, instance, store, outcome, reference, examination, given)
    if outcome.complete:
        for index, output in enumerate(instance.outputs):
            if told is not None:
                told(f"comparing{where}", index, len(instance.outputs))
            try:
                comparer.compare(output)
            except UnsupportedError as error:
                message = f"{output.name} can't be compared: {error}"
                examination.findings.append(
                    KernelFinding(Kind.UNSUPPORTED, message, kernel.path, output=output.name)
                )
                examination.equality = None
    if not outcome.complete or any(finding.kind.refutes for finding in examination.findings):
        examination.equality = None
    if examination.equality is None and not examination.findings:
        examination.findings.append(
            KernelFinding(Kind.UNDECIDED, "nothing is shown of it", kernel.path)
            if outcome.complete
            else _without_end(kernel)
        )
    if examination.equality is not None:
        if told is not None:
            told(f"running on numbers{where}", 0, 1)
        undergone, equality = examination.roundings, examination.equality
        growth = 0.0 if undergone is None else float(undergone.growth)
        examination.trials = tried(
            kernel, instance, store, comparer.compared, equality, outcome, growth, reference
        )
    return examination, outcome.stats


def _run_of_former(
    former: Kernel, instance: Instance, store: TermStore
) -> tuple[KernelReference | None, list[KernelFinding]]:
    """Run the kernel that another one is compared with; what is wrong with it leaves the other undecided."""
    own = instance.contract.instance(instance.sizes, former=True)
    outcome = former.run(own, store, inputs_of(store, own))
    objections = [
        replace(
            each,
            kind=Kind.UNSUPPORTED if each.kind is Kind.UNSUPPORTED else Kind.UNDECIDED,
            message=f"the kernel to compare with can't be relied on: {each.kind}: {each.message}",
        )
        for each in outcome.findings
    ]
    if not outcome.complete and not objections:
        objections.append(_without_end(former))
    return (None if objections else KernelReference(former, own, store, outcome)), objections


def _memory_only(
    kernel: Kernel, instance: Instance, store: TermStore, outcome: Outcome, examination: Examination
) -> Examination:
    """Examine what a kernel does to memory, of a contract that says nothing of values."""
    examination.equality = None
    if not outcome.complete:
        if not examination.findings:
            examination.findings.append(_without_end(kernel))
        return examination
    findings, examination.written = memory_findings(kernel, instance, store, outcome)
    examination.findings += findings
    return examination


def _without_end(kernel: Kernel) -> KernelFinding:
    return KernelFinding(Kind.UNDECIDED, "the kernel did not come to its end", kernel.path)
