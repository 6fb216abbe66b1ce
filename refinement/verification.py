"""Does a kernel compute what its contract says? For all data, at every set of the contract's sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import OutOfBudget, UnsupportedError
from ..spec.formats import FloatFormat
from .array_memory import elements_in, input_terms
from .contract import Array, Contract, Instance
from .contract_reading import read_contract
from .contract_terms import covered, expected_terms
from .counterexamples import KernelCounterexample, candidates, documented, telling
from .diagnosis import Monomial, Namer, differing, explained, line_of_product
from .equivalence import Comparison, compare, compared_as
from .findings import Finding, Kind
from .front_end import Kernel, Outcome, read_kernel
from .interning import Ids
from .kernel_replay import confirmed
from .normal_forms import NormalForms
from .result import Equality, Result, verdict_of
from .rounding_depth import Roundings, roundings
from .terms import UNDEFINED, TermStore

Told = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and all of it."""

SHOWN = 4
"""Wrong outputs that are told one by one."""


@dataclass(frozen=True)
class OutputStatus:
    """What is known about the elements of one output.

    Attributes
    ----------
    name : str
        The output.
    right, written : array (shape)
        Which elements are what the contract says, and which the kernel wrote.
    """

    name: str
    right: NDArray[np.bool_]
    written: NDArray[np.bool_]


@dataclass
class Examination:
    """What was found at one set of sizes.

    Attributes
    ----------
    findings : list of Finding
        What is wrong, or not modelled.
    equality : Equality, optional
        The weakest that an output needed; None while something is not shown to be right.
    roundings : Roundings, optional
        Those of outputs that are right over the reals.
    outputs : list of OutputStatus
        Element by element.
    counterexample : KernelCounterexample, optional
        Inputs that show a wrong output, confirmed by running the kernel on them.
    """

    findings: list[Finding] = field(default_factory=list)
    equality: Equality | None = Equality.BITS
    roundings: Roundings | None = None
    outputs: list[OutputStatus] = field(default_factory=list)
    counterexample: KernelCounterexample | None = None


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


def verify(kernel_path: Path, contract_path: Path, told: Told | None = None) -> Verification:
    """Verify a kernel against a contract.

    Parameters
    ----------
    kernel_path, contract_path : Path
        The files.
    told : callable, optional
        Told about the progress.

    Raises
    ------
    InputError
        If a file can't be read, or the contract does not suit the kernel.
    UnsupportedError
        If there is no front end for the kernel's language.
    """
    started = time.perf_counter()
    contract = read_contract(contract_path)
    kernel = read_kernel(contract.isa, kernel_path, contract.entry, contract.target)
    examinations: list[tuple[Instance, Examination]] = []
    stats: Mapping[str, Any] = {}
    for instance in contract.instances():
        try:
            examination, stats = examine(kernel, instance, told)
        except (OutOfBudget, MemoryError, RecursionError) as reason:
            examination = Examination([Finding(Kind.UNDECIDED, _given_up(reason), kernel.path)], None)
        examinations.append((instance, examination))
        if examination.equality is None:
            break
    found = [examination for _, examination in examinations]
    findings = tuple(finding for examination in found for finding in examination.findings)
    equality = _weakest([examination.equality for examination in found])
    roundings = [examination.roundings for examination in found if examination.roundings is not None]
    worst = max(roundings, key=lambda each: each.growth, default=None)
    result = Result(
        str(kernel_path),
        str(contract_path),
        verdict_of(findings, equality),
        equality,
        None if worst is None or equality is None else str(worst),
        findings,
        None,
        {
            **stats,
            "sizes": [dict(instance.sizes) for instance, _ in examinations],
            "outputs": sum(int(each.right.size) for examination in found for each in examination.outputs),
            "wrong": sum(int((~each.right).sum()) for examination in found for each in examination.outputs),
            "total_seconds": round(time.perf_counter() - started, 3),
        },
    )
    counterexample = next((e.counterexample for e in found if e.counterexample is not None), None)
    return Verification(result, contract, tuple(examinations), counterexample)


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
    kernel: Kernel, instance: Instance, told: Told | None = None
) -> tuple[Examination, Mapping[str, Any]]:
    """Verify a kernel at one set of sizes; returns what was found, and the run's counts."""
    store = TermStore()
    inputs = {
        name: input_terms(store, array) for name, array in instance.arrays.items() if array.access != "out"
    }
    inputs |= {
        scalar.name: store.inputs(scalar.name, scalar.format, 0)
        for scalar in instance.scalars.values()
        if scalar.value is None
    }
    where = f" at {instance}" if instance.sizes else ""
    progress = None if told is None else lambda done, all_: told(f"running{where}", done, all_)
    outcome = kernel.run(instance, store, inputs, progress)
    examination = Examination(list(outcome.findings))
    if outcome.complete:
        comparer = _Comparer(kernel, instance, store, outcome, examination)
        for index, output in enumerate(instance.outputs):
            if told is not None:
                told(f"comparing{where}", index, len(instance.outputs))
            try:
                comparer.compare(output)
            except UnsupportedError as error:
                message = f"{output.name} can't be compared: {error}"
                examination.findings.append(
                    Finding(Kind.UNSUPPORTED, message, kernel.path, output=output.name)
                )
                examination.equality = None
    if not outcome.complete or any(finding.kind.refutes for finding in examination.findings):
        examination.equality = None
    return examination, outcome.stats


class _Comparer:
    """Compares the outputs of one run with the contract."""

    def __init__(
        self, kernel: Kernel, instance: Instance, store: TermStore, outcome: Outcome, examination: Examination
    ) -> None:
        self._kernel, self._instance, self._store = kernel, instance, store
        self._outcome, self._examination = outcome, examination
        self._forms = NormalForms(store)
        shapes = {array.name: array.shape for array in instance.arrays.values()}
        self._namer = Namer(self._forms.quantifier, shapes)

    def compare(self, output: Array) -> None:
        """Compare one output, and note what is wrong with it."""
        expected = np.asarray(expected_terms(self._instance, output, self._store)).reshape(-1)
        written, actual = elements_in(self._store, output, self._outcome.arrays[output.name].lanes)
        wanted = np.asarray(covered(self._instance, output)).reshape(-1)
        if (wanted & ~written).any():
            self._missing(output, np.flatnonzero(wanted & ~written))
        members = np.flatnonzero(written)
        found = compare(self._forms, actual[members], expected[members], output.format)
        right = written | ~wanted
        right[members] = found.equal
        self._examination.outputs.append(
            OutputStatus(output.name, right.reshape(output.shape), written.reshape(output.shape))
        )
        if self._outcome.unordered and isinstance(output.format, FloatFormat):
            nowhere = np.zeros(len(members), dtype=bool)
            undergone = roundings(self._store, actual[members[found.equal]])
            found = replace(found, identical=nowhere, roundings=undergone)
        self._weaken(found)
        if not found.equal.all():
            self._wrong(output, members, actual, expected, found)

    def _weaken(self, found: Comparison) -> None:
        examination = self._examination
        if examination.equality is not None and not found.identical.all():
            examination.equality = Equality.VALUE
        if found.roundings is not None:
            known = examination.roundings
            worse = known is None or found.roundings.growth > known.growth
            examination.roundings = found.roundings if worse else known
        if examination.equality is Equality.VALUE and self._instance.contract.equality is Equality.BITS:
            examination.equality = None

    def _missing(self, output: Array, members: NDArray[np.intp]) -> None:
        first = self._namer.element(output.name, int(members[0]))
        message = f"{first} is never written ({len(members)} of {output.elements} elements are not)"
        self._note(Kind.MISSING_OUTPUT, message, 0, first)

    def _note(self, kind: Kind, message: str, line: int, output: str) -> None:
        self._examination.findings.append(Finding(kind, message, self._kernel.path, line, output=output))

    def _wrong(
        self, output: Array, members: NDArray[np.intp], actual: Ids, expected: Ids, found: Comparison
    ) -> None:
        """Name the first wrong elements once there are inputs that show one; else nothing is decided."""
        self._examination.equality = None
        owners = np.flatnonzero(~found.equal)
        shown = members[owners[:SHOWN]]
        read = compared_as(output.format)
        kernel, contract = (self._forms.polynomials(terms[shown], read) for terms in (actual, expected))
        monomials = [differing(kernel, contract, owner, output.format) for owner in range(len(shown))]
        counterexample = self._counterexample(output, members[owners], actual, expected, monomials)
        if counterexample is None:
            return
        if self._examination.counterexample is None:
            self._examination.counterexample = counterexample
        for owner, difference in zip(owners[:SHOWN], monomials, strict=True):
            element = int(members[owner])
            name = self._namer.element(output.name, element)
            message = f"{name} {explained(difference, self._namer)}"
            if owner == owners[0]:
                message += f" ({len(owners)} of {output.elements} elements are wrong)"
            kind, line = self._cause(difference, output, element, int(actual[element]))
            self._note(kind, message, line, name)

    def _counterexample(
        self,
        output: Array,
        wrong: NDArray[np.intp],
        actual: Ids,
        expected: Ids,
        differences: Sequence[Sequence[Monomial]],
    ) -> KernelCounterexample | None:
        growth = roundings(self._store, actual[wrong[:1]]).growth
        tried = candidates(self._instance, self._forms.quantifier, differences, growth)
        for inputs, tolerance in tried:
            told = telling(self._store, inputs, actual[wrong], expected[wrong], output.format, tolerance)
            if told is None:
                continue
            element = int(wrong[told])
            difference = confirmed(self._kernel, self._instance, inputs, output, element, float(tolerance))
            if difference is not None:
                return KernelCounterexample(
                    self._kernel.path,
                    self._instance.contract.path,
                    dict(self._instance.sizes),
                    documented(self._instance, inputs),
                    difference,
                    float(tolerance),
                )
        return None

    def _cause(
        self, difference: Sequence[Monomial], output: Array, element: int, term: int
    ) -> tuple[Kind, int]:
        """Return what kind of fault a wrong element shows, and the line that brought it.

        That is the load of a factor that no right product has, else the accumulation that multiplies
        what does not belong together, else the store of the element.
        """
        wanted = {atom for each in difference if each.contract != 0 for atom in each.atoms}
        extra = [each for each in difference if each.contract == 0]
        for monomial in extra[:SHOWN]:
            terms = self._forms.quantifier.terms(np.array(monomial.atoms, dtype=np.int64))
            for atom, factor in zip(monomial.atoms, terms, strict=True):
                if self._store.operation(int(factor)).name == UNDEFINED:
                    return Kind.UNINITIALISED, int(self._store.lines(factor))
                if atom not in wanted:
                    for line, loaded in self._outcome.loads.items():
                        if factor in loaded:
                            return Kind.WRONG_VALUE, line
            if len(terms) > 1 and (line := line_of_product(self._store, term, terms.tolist())):
                return Kind.WRONG_VALUE, line
        byte = int(output.bit_offsets.reshape(-1)[element]) // 8
        return Kind.WRONG_VALUE, int(self._outcome.arrays[output.name].lines[byte])
