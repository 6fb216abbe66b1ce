"""The outputs of a run compared with the contract: what is right, what is wrong and why, what is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..spec.formats import FloatFormat
from .arguments import Array
from .array_memory import ArrayMemory, elements_in, first_lanes, memories, untouched
from .clobbering import clobbered
from .contract import Instance
from .counterexamples import (
    Difference,
    Inputs,
    KernelCounterexample,
    candidates,
    disproved,
    documented,
    relative_to,
    telling,
)
from .diagnosis import Monomial, Namer, differing, explained, line_of_product
from .equivalence import Comparison, compare, compared_as
from .findings import KernelFinding, Kind
from .footprint import Offsets
from .front_end import Kernel, Outcome
from .interning import Ids
from .kernel_runs import confirmed
from .normal_forms import NormalForms
from .operations import DOT, FUNCTION, SCALED_DOT
from .overflow import NONE
from .references import Reference
from .result import Coverage, Equality, Written
from .rounding_depth import Roundings, roundings, worst
from .terms import UNDEFINED, Operation, TermStore
from .trials import Compared, Trials

SHOWN = 4
"""Outputs that are told one by one."""

_SAMPLES = (64, 4096)
"""How many outputs are computed on inputs that may tell, at first and if those don't."""


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
    findings : list of KernelFinding
        What is wrong, or not modelled.
    equality : Equality, optional
        The weakest that an output needed; None while something is not shown to be right.
    roundings : Roundings, optional
        Those of outputs that are right over the reals.
    former_roundings : Roundings, optional
        Those of the same outputs of the kernel that it is compared with.
    outputs : list of OutputStatus
        Element by element.
    counterexample : KernelCounterexample, optional
        Inputs that show a wrong output, confirmed by running the kernel on them.
    trials : Trials
        Runs on numbers, where nothing is wrong.
    coverage : list of Coverage
        How much of each output the contract is about.
    written : list of Written
        How much of each output was written, where the contract is about memory alone.
    assumptions : list of str
        What is taken from the contract.
    """

    findings: list[KernelFinding] = field(default_factory=list)
    equality: Equality | None = Equality.BITS
    roundings: Roundings | None = None
    former_roundings: Roundings | None = None
    outputs: list[OutputStatus] = field(default_factory=list)
    counterexample: KernelCounterexample | None = None
    trials: Trials = field(default_factory=Trials)
    coverage: list[Coverage] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)


class OutputComparison:
    """Compares the outputs of one run with the contract.

    Parameters
    ----------
    kernel, instance, store, outcome : Kernel, Instance, TermStore, Outcome
        The run.
    reference : Reference
        What the outputs are to be.
    examination : Examination
        Where it is noted what is found.
    given : mapping of str to array
        The inputs that the contract is about, if it is not about all; what is right for all data must be
        right on these.

    Attributes
    ----------
    compared : list of Compared
        What was compared.
    """

    def __init__(
        self,
        kernel: Kernel,
        instance: Instance,
        store: TermStore,
        outcome: Outcome,
        reference: Reference,
        examination: Examination,
        given: Inputs,
    ) -> None:
        self._given, self._reference = given, reference
        self._unordered = outcome.unordered or reference.unordered
        self._kernel, self._instance, self._store = kernel, instance, store
        self._outcome, self._examination = outcome, examination
        self._chosen = instance.contract.matrix_rounding
        self._forms = NormalForms(store)
        self._memories = memories(instance)
        shapes = {array.name: array.shape for array in instance.arrays.values()}
        self._namer = Namer(self._forms.quantifier, shapes)
        self.compared: list[Compared] = []

    def compare(self, output: Array) -> None:
        """Compare one output, and note what is wrong with it."""
        expected, wanted = self._reference.expected(output), self._reference.covered(output)
        memory = self._memories[output.name]
        written, actual = elements_in(self._store, memory, self._outcome.arrays[output.name].lanes)
        written &= ~untouched(self._store, memory, actual)
        if (wanted & ~written).any():
            self._missing(output, np.flatnonzero(wanted & ~written))
        self._note_strays(output)
        self._examination.coverage.append(_coverage(self._instance, output, wanted))
        members = np.flatnonzero(written & wanted)
        self.compared.append(Compared(output, members, actual, expected))
        found = compare(self._forms, actual[members], expected[members], output.format)
        right = written | ~wanted
        right[members] = found.equal
        right[~wanted] = ~np.isin(first_lanes(output), self._clobbered(memory))[~wanted]
        self._examination.outputs.append(
            OutputStatus(output.name, right.reshape(output.shape), written.reshape(output.shape))
        )
        if self._unordered and isinstance(output.format, FloatFormat):
            nowhere = np.zeros(len(members), dtype=bool)
            undergone = roundings(self._store, actual[members[found.equal]])
            found = replace(found, identical=nowhere, roundings=undergone)
        if found.roundings is not None:
            rounded = actual[members[found.equal & (self._unordered | ~found.identical)]]
            found = replace(found, roundings=self._by_choice(found.roundings, rounded))
        self._weaken(found)
        self._weaken_by_former(expected[members[found.equal & ~found.identical]])
        if not found.equal.all():
            self._wrong(output, members, actual, expected, found)
        if self._given and found.equal.all():
            self._on_given_data(output, members, actual, expected, found.roundings)
        if self._reference.equality is Equality.BITS:
            self._value_only(output, members[found.equal & ~found.identical], actual, expected)

    def _note_strays(self, output: Array) -> None:
        """Note what is written beside the elements that are compared."""
        if strays := list(self._reference.strays(self._kernel, output, self._outcome)):
            self._examination.findings += strays
            self._examination.equality = None

    def _on_given_data(
        self,
        output: Array,
        members: NDArray[np.intp],
        actual: Ids,
        expected: Ids,
        undergone: Roundings | None,
    ) -> None:
        """Note where given numbers are not what equality for all data takes for granted."""
        others = next(candidates(self._instance, self._forms.quantifier, ()), {})
        sides = actual[members], expected[members]
        wrong = disproved(self._store, {**others, **self._given}, *sides, output.format, undergone)
        if wrong is None:
            return
        self._examination.equality = None
        name = self._namer.element(output.name, int(members[wrong]))
        self._note(
            Kind.UNDECIDED,
            f"{name} is right where the hypotheses of equality over the reals hold, but not on the numbers "
            f"given: a rounding overflows, or turns the outcome of a function with steps",
            self._line_of_store(output, int(members[wrong])),
            name,
        )

    def _clobbered(self, memory: ArrayMemory) -> Offsets:
        """Note what happened to memory that is not the kernel's to write; returns the lanes changed."""
        findings, lanes = clobbered(self._kernel, self._instance, memory, self._forms, self._outcome)
        self._examination.findings += findings
        if findings:
            self._examination.equality = None
        return lanes

    def _by_choice(self, undergone: Roundings, terms: Ids) -> Roundings:
        """Return roundings, with what a choice says of matrix units where there is any."""
        used = any(self._store.named(name).any() for name in (DOT, SCALED_DOT))
        if self._chosen is None or not used:
            return undergone
        return undergone.by(self._chosen, roundings(self._store, terms, unit=self._chosen))

    def _weaken(self, found: Comparison) -> None:
        examination = self._examination
        if examination.equality is not None and not found.identical.all():
            examination.equality = Equality.VALUE
        if found.roundings is not None:
            known = [] if examination.roundings is None else [examination.roundings]
            examination.roundings = worst([*known, found.roundings])

    def _weaken_by_former(self, expected: Ids) -> None:
        """Note the roundings of the other kernel, in terms that are equal over the reals only."""
        if self._reference.former is not None and len(expected):
            known = self._examination.former_roundings
            undergone = roundings(self._store, expected)
            undergone = self._by_choice(undergone, expected)
            self._examination.former_roundings = worst([each for each in (known, undergone) if each])

    def _value_only(self, output: Array, members: NDArray[np.intp], actual: Ids, expected: Ids) -> None:
        """Say which elements are equal over the reals only, where the contract demands bits."""
        if not len(members):
            return
        self._examination.equality = None
        of_all = f" ({len(members)} of {output.elements} elements are)"
        for element in members[:SHOWN].tolist():
            name = self._namer.element(output.name, element)
            stored, wanted = (self._namer.term(int(terms[element])) for terms in (actual, expected))
            open_order = "; the language leaves its order or fusion open" if self._unordered else ""
            self._note(
                Kind.UNDECIDED,
                f"{name} is equal over the reals only, and the contract demands bits: "
                f"it is {stored}{open_order}, expected {wanted}{of_all}",
                self._line_of_store(output, element),
                name,
            )
            of_all = ""

    def _missing(self, output: Array, members: NDArray[np.intp]) -> None:
        first = self._namer.element(output.name, int(members[0]))
        message = f"{first} is never written ({len(members)} of {output.elements} elements are not)"
        self._note(Kind.MISSING_OUTPUT, message, 0, first)

    def _note(self, kind: Kind, message: str, line: int, output: str) -> None:
        self._examination.findings.append(
            KernelFinding(kind, message, self._kernel.path, line, output=output)
        )

    def _wrong(
        self, output: Array, members: NDArray[np.intp], actual: Ids, expected: Ids, found: Comparison
    ) -> None:
        """Name the first wrong elements; without inputs that show one, nothing is decided."""
        self._examination.equality = None
        owners = np.flatnonzero(~found.equal)
        shown = members[owners[:SHOWN]]
        read = compared_as(output.format)
        kernel, contract = self._forms.compared(
            actual[shown], expected[shown], read, thorough=found.reason is None
        )
        monomials = [differing(kernel, contract, owner, output.format) for owner in range(len(shown))]
        counterexample = self._counterexample(output, members[owners], actual, expected, monomials)
        if counterexample is not None and self._examination.counterexample is None:
            self._examination.counterexample = counterexample
        reason = "" if found.reason is None else f", and {found.reason}"
        for owner, difference in zip(owners[:SHOWN].tolist(), monomials, strict=True):
            element = int(members[owner])
            name = self._namer.element(output.name, element)
            message = f"{name} {explained(difference, self._namer, self._inside)}"
            message += self._reference.origin(output, element)
            line = self._line_of_store(output, element)
            if found.overflowing is not None and found.overflowing[owner] != NONE:
                rounding = int(found.overflowing[owner])
                message = f"{name}: {self._forms.overflows.described(rounding)}"
                line = int(self._store.lines(rounding)) or line
            of_all = (
                f" ({len(owners)} of {output.elements} elements are not shown to be right)"
                if owner == owners[0]
                else ""
            )
            if counterexample is not None:
                kind = Kind.WRONG_VALUE
                if difference:
                    kind, line = self._cause(difference, output, element, int(actual[element]))
                self._note(kind, message + of_all, line, name)
                continue
            stored, wanted = (self._namer.term(int(terms[element])) for terms in (actual, expected))
            self._note(
                Kind.UNDECIDED,
                f"{message}; no inputs are found on which that is more than rounding explains{reason}: "
                f"it is {stored}, expected {wanted}{of_all.replace('wrong', 'undecided')}",
                line,
                name,
            )

    def _inside(self, one: int, other: int) -> str:
        """Say in what the arguments of two functions of the same name differ."""
        quantifier = self._forms.quantifier
        terms = [quantifier.origin(int(term)) for term in quantifier.terms(np.array([one, other]))]
        if terms[0] is None or terms[1] is None:
            return ""
        operation, wanted = (self._store.operation(term) for term in terms if term is not None)
        if operation.name != FUNCTION or _plain_name(operation) != _plain_name(wanted):
            return ""
        arguments = self._store.arguments(np.array(terms))
        for index, fmt in enumerate(operation.operands):
            sides = self._forms.compared(arguments[:1, index], arguments[1:, index], fmt)
            if monomials := differing(*sides, 0, fmt):
                return f" (its argument {explained(monomials[:1], self._namer, self._inside)})"
        return ""

    def _counterexample(
        self,
        output: Array,
        wrong: NDArray[np.intp],
        actual: Ids,
        expected: Ids,
        differences: Sequence[Sequence[Monomial]],
    ) -> KernelCounterexample | None:
        undergone = roundings(self._store, actual[wrong[:1]]) if self._outcome.reordered else None
        loose = 0.0 if undergone is None else float(undergone.growth)
        tried = product(_samples(wrong), candidates(self._instance, self._forms.quantifier, differences))
        for some, inputs in tried:
            told = telling(self._store, inputs, actual[some], expected[some], output.format, loose)
            if told is None:
                continue
            index, bound = told
            difference = self._confirmed(inputs, output, int(some[index]), bound)
            if difference is not None:
                return KernelCounterexample(
                    self._kernel.path,
                    self._reference.former,
                    self._instance.contract.path,
                    dict(self._instance.sizes),
                    documented(self._instance, inputs),
                    difference,
                    bound,
                    relative_to(difference, bound),
                )
        return None

    def _confirmed(self, inputs: Inputs, output: Array, element: int, bound: float) -> Difference | None:
        return confirmed(self._kernel, self._instance, self._reference.values, inputs, output, element, bound)

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
        return Kind.WRONG_VALUE, self._line_of_store(output, element)

    def _line_of_store(self, output: Array, element: int) -> int:
        return int(self._outcome.arrays[output.name].lines[int(first_lanes(output)[element])])


def _plain_name(function: Operation) -> str:
    """Return the name of a function without how it is approximated."""
    return str(function.attribute).partition(".")[0]


def _samples(wrong: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return a few wrong elements, the first ones and some from everywhere, then, if there are, many."""
    found = []
    for most in _SAMPLES:
        spread = np.linspace(0, len(wrong) - 1, most // 2).astype(np.intp)
        found.append(wrong[np.union1d(np.arange(min(most // 2, len(wrong))), spread)])
        if len(wrong) <= most // 2:
            break
    return found


def _coverage(instance: Instance, output: Array, wanted: NDArray[np.bool_]) -> Coverage:
    count = int(wanted.sum())
    size = -(-count * output.element_bits // 8)
    return Coverage(output.name, dict(instance.sizes), output.elements, count, size)
