"""The entry point: verifies a kernel against a contract, for all data, at every set of sizes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..spec.errors import InputError
from ..spec.text_files import from_here, read_text
from .analysis.rounding_depth import Roundings, worst
from .certificate.certificate_document import certificate_document, rows_of
from .checker.evaluated import Checked
from .contract.contract import Accumulate, Contract, Instance
from .contract.parameters import ArrayParameter
from .contract.reading import read_contract
from .drafts.comments import unfinished
from .every_size import Scope, examined
from .examine.counterexamples import KernelCounterexample
from .examine.output_comparison import Examination
from .examine.trials import Trials
from .findings.finding import KernelFinding, KernelNote, Kind, some_of
from .findings.groups import of_all_cases
from .findings.guard_outcomes import notes_of, one_sided
from .findings.hypothesis import Hypothesis
from .findings.result import (
    CaseVerdict,
    Coverage,
    Equality,
    Method,
    Quantification,
    Result,
    Verdict,
    Written,
    verdict_of,
)
from .findings.result_statistics import CheckedTerms
from .guard_sizes import sizes_of_the_other_way
from .instance_verification import Told, words_of
from .machine.front_end import Kernel
from .machine.launch_sequence import kernel_of
from .remote import Submit
from .terms.matrix_rounding import matrix_rounding, require_order
from .unshown_sizes import failures_behind

_STEPS, _TIMES = 800, 1
"""Steps of the machine that other sizes may take on which guards are tried, at least and as runs."""


@dataclass(frozen=True)
class Verification:
    """A result, with what reports need of it.

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
    beyond : tuple of KernelFinding
        The findings that are about no single set of sizes.
    """

    result: Result
    contract: Contract
    examinations: tuple[tuple[Instance, Examination], ...]
    counterexample: KernelCounterexample | None
    beyond: tuple[KernelFinding, ...] = ()

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The document of a certificate; None where none was asked for, or no values are verified."""
        sections = _sections([each for _, each in self.examinations])
        result = self.result
        if result.verdict is not Verdict.VERIFIED or not sections:
            return None
        proofs = len(result.stats.get("obligations", ()))
        reasons = [f"{proofs} proofs for every size"] if proofs else []
        reasons += ["that the cases of scalars are complete"] if result.cases else []
        files = {"kernel": result.kernel, "contract": result.contract, "against": result.against}
        return certificate_document(
            files,
            str(result.equality),
            [str(hypothesis) for hypothesis in result.hypotheses],
            sections,
            reasons,
        )

    @property
    def memory_only(self) -> bool:
        """Whether only what the kernel does to memory was looked at."""
        return self.result.against is None and not self.contract.says_values


def verify(
    kernel_path: Path,
    contract_path: Path,
    told: Told | None = None,
    *,
    against: Path | None = None,
    choices: Sequence[str] = (),
    every: bool = True,
    submit: Submit | None = None,
    certified: bool = False,
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
    choices : sequence of str
        What the bound takes matrix instructions to round, as `matrix_rounding` reads it.
    every : bool
        Whether nothing is verified that is not shown for every number that sizes may be; where an index
        overflows at one, the kernel is refuted. Else a verdict holds as far as it says.
    submit : callable, optional
        Has others verify sets of sizes; see `remote`.
    certified : bool
        Whether a certificate is made.

    Raises
    ------
    InputError
        If a file can't be read, the contract does not suit the kernel, or a choice does not exist.
    UnsupportedError
        If there is no front end for the kernel's language.
    """
    started = time.perf_counter()
    contract = read_contract(contract_path)
    if (draft := unfinished(str(contract_path), read_text(contract_path))) is not None:
        return _not_begun(kernel_path, contract, against, draft, time.perf_counter() - started)
    if against is not None and contract.says_values:
        raise InputError("a contract that compares two kernels has no [ensures]", str(contract_path))
    arrays = [parameter for parameter in contract.parameters if isinstance(parameter, ArrayParameter)]
    if against is not None and not any(array.access.is_output for array in arrays):
        raise InputError('nothing can be compared: no array has access = "out"', str(contract_path))
    kernel = kernel_of(contract, kernel_path)
    unit = matrix_rounding(contract.isa, kernel.target, choices)
    if contract.accumulate is Accumulate.SEQUENTIAL:
        require_order(contract.isa, kernel.target, choices)
    contract = replace(contract, matrix_rounding=unit, certified=certified)
    former = None
    if against is not None:
        former = kernel_of(contract.of_former, against)
    examinations, stats, scope = examined(kernel, contract, told, former, submit)
    claimed = scope.claimed_overflow(every=every)
    is_wrong_behind = claimed is not None and claimed.is_outside  # seen in a run of some blocks
    if every and not is_wrong_behind and not any(each.findings for _, each in examinations):
        examinations += failures_behind(
            kernel, contract, scope.sizes, examinations, stats, told, former, submit
        )
    for _, examination in examinations:
        _name_sources(examination, [each for each in (kernel, former) if each is not None])
    found = [examination for _, examination in examinations]
    coverage: list[Coverage] = []
    for each in (each for examination in found for each in examination.coverage):
        if each not in coverage:  # cases are about the same
            coverage.append(each)
    memory_only = former is None and not contract.says_values
    findings = tuple(
        of_all_cases((words_of(each.case), _at_sizes(each, examined)) for each, examined in examinations)
    )
    beyond: list[KernelFinding] = []
    equality = _weakest([*(examination.equality for examination in found), scope.equality])
    if equality is not None and claimed is not None:
        what = f"an index overflows: {claimed}"
        kind = Kind.OUT_OF_BOUNDS if claimed.is_outside else Kind.WRONG_VALUE
        beyond.append(_named(kernel, KernelFinding(kind, what, kernel.path, claimed.line)))
        equality = None
    verdict = verdict_of((*findings, *beyond), equality, memory_only=memory_only)
    if (
        every
        and verdict in (Verdict.VERIFIED, Verdict.SAFE)
        and (missed := _not_for_all(kernel, scope.sizes))
    ):
        beyond += missed
        equality, verdict = None, Verdict.UNDECIDED
    undergone = worst([each.roundings for each in found if each.roundings is not None])
    former_undergone = worst([each.former_roundings for each in found if each.former_roundings is not None])
    result = Result(
        str(kernel_path),
        None if against is None else str(against),
        str(contract_path),
        verdict,
        equality,
        None if equality is None else _bound(undergone, former_undergone, against, scope),
        (*findings, *beyond),
        None,
        tuple(coverage),
        tuple(_written(found)),
        _hypotheses(found, undergone, equality),
        tuple(
            dict.fromkeys(
                [*(assumption for part in found for assumption in part.assumptions), *scope.assumptions]
            )
        ),
        tuple(_cases(examinations, memory_only=memory_only)),
        {
            **stats,
            **({"obligations": _placed(kernel, scope.obligations)} if scope.obligations else {}),
            "sizes": _sizes(examinations),
            "outputs": sum(int(output.right.size) for examination in found for output in examination.outputs),
            "wrong": sum(
                int((~output.right).sum()) for examination in found for output in examination.outputs
            ),
            "runs": sum((examination.trials for examination in found), start=Trials()).document(),
            "checker": _evaluated_again(sum((each.checked for each in found), start=Checked())),
            **({"checker_of_proofs": _evaluated_again(scope.checked)} if scope.obligations else {}),
            **({"rows": rows_of(_sections(found))} if certified else {}),
            "total_seconds": round(time.perf_counter() - started, 3),
        },
        scope.sizes,
        tuple(_notes(kernel, verdict, examinations, scope.sizes, stats)),
        tuple(dict.fromkeys(each for examination in found for each in examination.accuracy)),
        tuple(map(str, contract.requirements)),
    )
    counterexample = next((e.counterexample for e in found if e.counterexample is not None), None)
    return Verification(result, contract, tuple(examinations), counterexample, tuple(beyond))


def _not_begun(
    kernel: Path, contract: Contract, against: Path | None, why: KernelFinding, seconds: float
) -> Verification:
    """Return that a kernel is undecided for a reason that keeps it from being run."""
    result = Result(
        str(kernel),
        None if against is None else str(against),
        contract.path,
        Verdict.UNDECIDED,
        findings=(why,),
        stats={"sizes": [], "outputs": 0, "wrong": 0, "total_seconds": round(seconds, 3)},
    )
    return Verification(result, contract, (), None, (why,))


def _sections(found: Sequence[Examination]) -> list[dict[str, Any]]:
    """Return the sections of a certificate, where one is made."""
    return [each.certificate for each in found if each.certificate is not None]


def _evaluated_again(checked: Checked) -> CheckedTerms:
    """Return a part of a result's statistics that is about the checker."""
    return {
        "elements": checked.elements,
        "by_residues": checked.by_residues,
        "by_points": checked.by_points,
        "open": [{"reason": reason, "elements": count} for reason, count in checked.open.most_common()],
    }


def _at_sizes(instance: Instance, examination: Examination) -> list[KernelFinding]:
    """Return what is wrong, with the sizes at which it is, of those that may be many."""
    quantified = instance.contract.quantified
    if quantified is None:
        return examination.findings
    at = ", ".join(f"{domain.name} = {instance.sizes[domain.name]}" for domain in quantified.domains)
    return [
        replace(finding, message=f"{finding.message}; at {at}")
        if finding.kind.refutes and at not in finding.message
        else finding
        for finding in examination.findings
    ]


def _placed(kernel: Kernel, obligations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return parts of proofs with where the compiler says that their lines come from."""
    return [{**obligation, "source": kernel.source(obligation["line"])} for obligation in obligations]


def _not_for_all(kernel: Kernel, quantified: Sequence[Quantification]) -> list[KernelFinding]:
    """Return what keeps a verdict from holding for every number that sizes may be."""
    return [
        KernelFinding(
            Kind.UNDECIDED,
            f"not shown for every {quantification.name} ({quantification.domain}): {quantification.reason}",
            kernel.path,
        )
        for quantification in quantified
        if not quantification.is_whole
    ]


def _notes(
    kernel: Kernel,
    verdict: Verdict,
    examinations: Sequence[tuple[Instance, Examination]],
    quantified: Sequence[Quantification],
    stats: Mapping[str, Any],
) -> Iterator[KernelNote]:
    """Yield what a kernel that is right does without order, and what the sizes could not show of it."""
    if verdict not in (Verdict.VERIFIED, Verdict.SAFE):
        return
    of_pairs: dict[tuple[int, int], KernelNote] = {}
    for each in (note for _, examination in examinations for note in examination.notes):
        of_pairs.setdefault((each.line, each.other_line), each)
    notes = some_of(list(of_pairs.values()), "more pairs of instructions write the same values")
    trials = sum((examination.trials for _, examination in examinations), start=Trials())
    notes += [
        KernelNote(f"the runs on numbers could not show that {each}", kernel.path)
        for each in trials.not_shown
    ]
    if not quantified or any(quantification.method is Method.LISTED for quantification in quantified):
        guards = one_sided(examination.guards for _, examination in examinations)
        tried = [instance for instance, _ in examinations]
        budget = max(_STEPS, _TIMES * int(stats.get("instructions", 0)))
        other_ways = (
            sizes_of_the_other_way(kernel, tried[0].contract, tried, guards, budget) if guards else {}
        )
        notes += notes_of(kernel.path, guards, len(_sizes(examinations)), other_ways)
    for note in notes:
        yield replace(note, source=kernel.source(note.line))


def _hypotheses(
    found: Sequence[Examination], undergone: Roundings | None, equality: Equality | None
) -> tuple[Hypothesis, ...]:
    """Return what equality over the real numbers, and bounds of errors, take for granted."""
    if equality is None:
        return ()
    of_values = undergone.hypotheses if undergone is not None and equality is Equality.VALUE else ()
    of_errors = [hypothesis for examination in found for hypothesis in examination.accuracy_hypotheses]
    return tuple(dict.fromkeys([*of_values, *of_errors]))


def _name_sources(examination: Examination, kernels: Sequence[Kernel]) -> None:
    """Say of every finding where the compiler says that its line comes from."""
    for kernel in kernels:
        examination.findings = [
            _named(kernel, finding) if finding.file == kernel.path else finding
            for finding in examination.findings
        ]


def _named(kernel: Kernel, finding: KernelFinding) -> KernelFinding:
    source = from_here(kernel.source(finding.line))
    other = from_here(kernel.source(finding.other_line)) if finding.other_line else ""
    finding = replace(finding, source=source, other_source="" if other == source else other)
    if not finding.line or not (place := kernel.place(finding.line)):
        return finding
    return replace(finding, line=0, source=f"{source}, {place}" if source else place)


def _bound(
    undergone: Roundings | None,
    former: Roundings | None,
    against: Path | None,
    scope: Scope,
) -> str | None:
    """Return how far the kernel is from the real numbers, and how far the one that it is compared with."""
    if scope.sizes and undergone is not None:
        every = "" if scope.roundings is None else f"{scope.roundings}; "
        return f"{every}at the sizes listed: {undergone}"
    if against is None or undergone is None:
        return None if undergone is None else str(undergone)
    return f"{undergone}; of {against}: {former}" if former is not None else str(undergone)


def _weakest(found: Sequence[Equality | None]) -> Equality | None:
    if any(equality is None for equality in found):
        return None
    return Equality.VALUE if Equality.VALUE in found else Equality.BITS


def _written(examinations: Sequence[Examination]) -> Iterator[Written]:
    """Yield how much of each array was written at each set of sizes: the least of all cases."""
    found: dict[tuple[str, tuple[tuple[str, int], ...]], Written] = {}
    for each in (each for examination in examinations for each in examination.written):
        key = each.name, tuple(each.sizes.items())
        if key not in found or each.written < found[key].written:
            found[key] = each
    yield from found.values()


def _sizes(examinations: Sequence[tuple[Instance, Examination]]) -> list[dict[str, int]]:
    """Return the sets of sizes that were looked at, each once, in whatever cases."""
    found: list[dict[str, int]] = []
    for instance, _ in examinations:
        if dict(instance.sizes) not in found or not instance.case:
            found.append(dict(instance.sizes))
    return found


def _cases(
    examinations: Sequence[tuple[Instance, Examination]], *, memory_only: bool
) -> Iterator[CaseVerdict]:
    """Yield what is known in each case of scalars, at all sizes together."""
    for name in dict.fromkeys(str(instance.case) for instance, _ in examinations if instance.case):
        some = [each for instance, each in examinations if str(instance.case) == name]
        equality = _weakest([each.equality for each in some])
        findings = [finding for each in some for finding in each.findings]
        yield CaseVerdict(name, verdict_of(findings, equality, memory_only=memory_only), equality)
