"""A kernel verified at one set of sizes, in every case of scalars that it distinguishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..spec.errors import InputError, OutOfBudget, UnsupportedError
from ..spec.formats import FloatFormat
from .checker.evaluated import ObjectionError
from .conditions.scalar_cases import MOST_CASES, Case
from .conditions.scalar_conditions import Condition, deciding
from .contract.arguments import Array
from .contract.assumptions import assumptions_of
from .contract.contract import Instance
from .contract.given_data import Given, wider_contracts
from .examine.clobbering import clobbered_beside
from .examine.counterexamples import KernelCounterexample
from .examine.memory_safety import memory_findings
from .examine.output_comparison import Examination, OutputComparison
from .examine.references import KernelReference, Reference, reference_of
from .examine.trial_inputs import admitted
from .examine.trials import DisagreementError, disagreement, tried
from .expected.contract_terms import rounded_literals
from .expected.requirements import Requirements, UnmetError
from .findings.finding import KernelFinding, Kind
from .findings.groups import one_for_each_cause
from .hypotheses.unused_inputs import omitting_choices
from .machine.array_memory import inputs_of
from .machine.front_end import Kernel, Outcome
from .normal_forms.forms import NormalForms
from .terms.interning import Ids
from .terms.store import TermStore
from .terms.traversal import within

_SHOWN_LITERALS = 4
"""Rounded numbers of formulas that a verdict names."""

Told = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and all of it."""


class ScalarDependenceError(UnsupportedError):
    """A run depends on a condition on free scalars.

    Parameters
    ----------
    condition : Condition
        The condition.
    """

    def __init__(self, condition: Condition) -> None:
        super().__init__(condition.text(True))
        self.condition = condition


def examined_in_cases(
    kernel: Kernel, instance: Instance, told: Told | None, former: Kernel | None
) -> tuple[list[tuple[Instance, Examination]], Mapping[str, Any]]:
    """Verify a kernel at one set of sizes, in every case of scalars that it goes different ways for.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    instance : Instance
        The contract at these sizes.
    told : callable, optional
        Told about the progress.
    former : Kernel, optional
        The kernel that it is compared with.

    Returns
    -------
    list of (Instance, Examination)
        Each case and what was found in it; only one where nothing is told apart.
    mapping
        Counts of the last run.
    """
    empty = [each for each in (instance.grid, *(step.grid for step in instance.launches)) if min(each) < 1]
    if empty:
        return [(instance, Examination([_no_grid(kernel, instance, empty[0])], None))], {}
    found: list[tuple[Instance, Examination]] = []
    stats: Mapping[str, Any] = {}
    pending = [instance.in_case(Requirements(instance).case())]
    while pending:
        one = pending.pop(0)
        try:
            examination, stats = examine(kernel, one, told, former)
        except ScalarDependenceError as reason:
            cases = [one.in_case(case) for case in one.case.split(reason.condition)]
            if len(found) + len(pending) + len(cases) <= MOST_CASES:
                pending = [*cases, *pending]
                continue
            message = f"scalars make more than {MOST_CASES} cases: {reason}"
            finding = KernelFinding(Kind.UNSUPPORTED, message, kernel.path, reason.condition.line)
            return [(instance, Examination([finding], None))], stats
        except (OutOfBudget, MemoryError, RecursionError) as reason:
            examination = Examination([KernelFinding(Kind.UNDECIDED, _given_up(reason), kernel.path)], None)
        if one.case:
            _tell_case(examination, one.case)
        found.append((one, examination))
    return found, stats


def _no_grid(kernel: Kernel, instance: Instance, grid: tuple[int, int, int]) -> KernelFinding:
    """Return that a kernel can't be launched at sizes that its contract says it is for."""
    sizes = ", ".join(f"{name} = {number}" for name, number in instance.sizes.items())
    extents = " x ".join(map(str, grid))
    return KernelFinding(
        Kind.ILLEGAL,
        f"a grid of {extents} blocks launches nothing at {sizes}; each extent must be at least 1",
        kernel.path,
    )


def _given_up(reason: BaseException) -> str:
    """Return why a set of sizes was given up."""
    match reason:
        case MemoryError():
            return "out of memory"
        case RecursionError():
            return "terms are nested too deeply"
    return str(reason)


def words_of(case: Case) -> str:
    """Return with what findings of a case begin."""
    if not case:
        return ""
    return f"if {case}{'' if case.example is not None else ', for which no values are found'}: "


def _tell_case(examination: Examination, case: Case) -> None:
    """Say of every finding in which case it is; nothing is refuted by a case that may be none."""
    possible = case.example is not None
    examination.findings = [
        replace(
            finding,
            kind=Kind.UNDECIDED if finding.kind.refutes and not possible else finding.kind,
            message=f"{words_of(case)}{finding.message}",
        )
        for finding in examination.findings
    ]
    examination.assumptions += case.granted


def examine(
    kernel: Kernel, instance: Instance, told: Told | None = None, former: Kernel | None = None
) -> tuple[Examination, Mapping[str, Any]]:
    """Verify a kernel at one set of sizes; returns what was found, and the run's counts.

    Raises
    ------
    ScalarDependenceError
        If the kernel goes different ways by what scalars are that may be anything.
    """
    examination, stats = _examined(kernel, instance, told, {}, former)
    if not examination.findings or not all(finding.kind in _OPEN for finding in examination.findings):
        return examination, stats
    shown = [examination]
    for wider in wider_contracts(instance):
        if (found := _of_wider(kernel, *wider, told, former)) is not None:
            shown.append(found)
            if not found.findings:
                break
    return min(shown[1:] or shown, key=lambda each: len(each.findings)), stats


_OPEN = (Kind.WRONG_VALUE, Kind.UNDECIDED, Kind.UNSUPPORTED, Kind.RACE)
"""What may be found on given numbers, of which sums are rounded, of a kernel that is right for all."""


def _of_wider(
    kernel: Kernel, wider: Instance, given: Given, told: Told | None, former: Kernel | None
) -> Examination | None:
    """Verify a kernel by a contract of which another one, with given numbers, is an instance.

    Returns what was found, in the cases of scalars that the numbers are in; None if not all outputs are
    right there.
    """
    case = Requirements(wider).case()
    for _ in range(MOST_CASES):
        try:
            found, _ = _examined(kernel, wider.in_case(case), told, given, former)
        except ScalarDependenceError as reason:
            cases = [each for each in case.split(reason.condition) if each.has(given)]
            if not cases:
                return None
            case = cases[0]
        except (UnsupportedError, InputError):
            return None
        else:
            shown = {output.name for output in wider.outputs} == {output.name for output in found.outputs}
            return found if shown and all(output.right.all() for output in found.outputs) else None
    return None


def _examined(
    kernel: Kernel, instance: Instance, told: Told | None, given: Mapping[str, Any], former: Kernel | None
) -> tuple[Examination, Mapping[str, Any]]:
    store = TermStore()
    instance.case.assume(store)
    requirements = Requirements(instance)
    requirements.bound(store)
    store.admitted = admitted(instance, requirements)
    where = f" at {instance}" if str(instance) else ""
    progress = None if told is None else lambda done, all_: told(f"running{where}", done, all_)
    outcome = kernel.run(instance, store, inputs_of(store, instance), progress)
    _decide(store, instance, outcome.depends)
    examination = Examination(_of_causes(kernel, outcome), guards=outcome.guards, notes=outcome.notes)
    examination.assumptions = [*outcome.assumptions, *assumptions_of(instance, outcome.alignments)]
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
    examination.assumptions += _rounded_literals(instance)
    comparer = OutputComparison(kernel, instance, store, outcome, reference, examination, given)
    if outcome.complete:
        for index, output in enumerate(instance.outputs):
            if told is not None:
                told(f"comparing{where}", index, len(instance.outputs))
            _compare(kernel, comparer, output, examination, reference)
        examination.findings += clobbered_beside(kernel, instance, NormalForms(store), outcome)
    if not outcome.complete or examination.findings:
        examination.equality = None
    elif examination.roundings is not None and examination.roundings.float_inputs:
        formula = np.concatenate([each.expected for each in comparer.compared])
        _decide(store, instance, omitting_choices(store, within(store, formula)))
    examination.findings.sort(key=lambda each: not each.kind.refutes)
    if examination.equality is None and not examination.findings:
        examination.findings.append(
            KernelFinding(Kind.UNDECIDED, "no output could be compared", kernel.path)
            if outcome.complete
            else _without_end(kernel)
        )
    if examination.equality is not None and instance.case.example is not None:
        if told is not None:
            told(f"running on numbers{where}", 0, 1)
        _run_on_numbers(kernel, instance, store, comparer, examination, outcome, reference)
    examination.certificate = comparer.certificate()
    return examination, outcome.stats


def _run_on_numbers(
    kernel: Kernel,
    instance: Instance,
    store: TermStore,
    comparer: OutputComparison,
    examination: Examination,
    outcome: Outcome,
    reference: Reference,
) -> None:
    """Run a kernel that is right on numbers; note it if no inputs are found, or some outweigh a mask."""
    undergone, equality = examination.roundings, examination.equality
    assert equality is not None
    growth = 0.0 if undergone is None else float(undergone.growth)
    claim = kernel, instance, store, comparer.compared, equality, outcome, growth, reference
    try:
        examination.trials = tried(*claim, comparer.masks)
    except UnmetError as reason:
        message = f"{reason}: the kernel is not run on numbers"
        examination.findings.append(KernelFinding(Kind.UNDECIDED, message, kernel.path))
        examination.equality = None
    except DisagreementError as error:
        if not comparer.masks:
            raise
        examination.findings.append(_outweighed(kernel, comparer.masks, error.counterexample))
        examination.equality, examination.counterexample = None, error.counterexample


def _outweighed(
    kernel: Kernel, masks: Sequence[float], counterexample: KernelCounterexample
) -> KernelFinding:
    """Return that a kernel is right only where no number outweighs what it masks with."""
    found, numbers = counterexample.difference, " or ".join(f"{mask:g}" for mask in masks)
    message = (
        f"{found.output} is right only if no value outweighs the mask {numbers}, which the formula does not "
        f"need: on inputs found the kernel is {found.kernel}, the formula {found.contract}; "
        f"bound the masked values in [requires]; if none can outweigh it, this is a defect of mmaproof"
    )
    return KernelFinding(Kind.UNDECIDED, message, kernel.path, output=found.output)


def _rounded_literals(instance: Instance) -> list[str]:
    """Return which numbers of formulas are taken for what the working format makes of them."""
    floats = [each for each in instance.outputs if isinstance(each.format, FloatFormat)]
    named = {formula.output for formula in instance.contract.formulas}
    found = dict.fromkeys(
        text for output in floats if output.name in named for text in rounded_literals(instance, output)
    )
    return list(found)[:_SHOWN_LITERALS] + (["and so are others"] if len(found) > _SHOWN_LITERALS else [])


def _compare(
    kernel: Kernel,
    comparer: OutputComparison,
    output: Array,
    examination: Examination,
    reference: Reference,
) -> None:
    """Compare an output; where that is given up, what else is known of the kernel stays known."""
    try:
        comparer.compare(output)
        return
    except ObjectionError as objection:
        compared = comparer.compared[-1]
        error = disagreement(kernel, comparer.instance, compared, objection, reference)
        if not comparer.masks:
            raise error from objection
        examination.findings.append(_outweighed(kernel, comparer.masks, error.counterexample))
        examination.equality, examination.counterexample = None, error.counterexample
        return
    except UnsupportedError as error:
        reason, kind = str(error), Kind.UNSUPPORTED
    except RecursionError as error:
        reason, kind = _given_up(error), Kind.UNDECIDED
    message = f"{output.name} can't be compared: {reason}"
    examination.findings.append(KernelFinding(kind, message, kernel.path, output=output.name))
    examination.equality = None


def _of_causes(kernel: Kernel, outcome: Outcome) -> list[KernelFinding]:
    """Return what was found, each cause once; of object code everything, as it has no lines to list."""
    if any(finding.line and kernel.place(finding.line) for finding in outcome.findings):
        return list(outcome.findings)
    return one_for_each_cause(outcome.findings)


def _decide(store: TermStore, instance: Instance, terms: Ids) -> None:
    """Ask for cases where a run, or what a formula chooses, depends on free scalars by some terms."""
    scalars = [scalar.name for scalar in instance.scalars.values() if scalar.value is None]
    if condition := deciding(store, terms, scalars):
        raise ScalarDependenceError(condition)


def _run_of_former(
    former: Kernel, instance: Instance, store: TermStore
) -> tuple[KernelReference | None, list[KernelFinding]]:
    """Run the kernel that another one is compared with; what is wrong with it leaves the other undecided."""
    own = instance.contract.instance(instance.sizes, former=True).in_case(instance.case)
    outcome = former.run(own, store, inputs_of(store, own))
    _decide(store, own, outcome.depends)
    objections = [
        replace(
            finding,
            kind=Kind.UNSUPPORTED if finding.kind is Kind.UNSUPPORTED else Kind.UNDECIDED,
            message=f"the reference kernel has a finding of its own: {finding.kind}: {finding.message}",
        )
        for finding in outcome.findings
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
    return KernelFinding(Kind.UNDECIDED, "the run did not reach the end of the kernel", kernel.path)
