"""Outputs of a run compared with the contract: right, wrong with a cause, or open."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, IntegerFormat
from ..analysis.rounding_depth import Roundings, roundings, worst
from ..certificate.sections import ShownOutput, section_of
from ..checker.evaluated import Checked
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..contract.footprint import Offsets
from ..equality.equivalence import Comparison
from ..equality.refuted_pairs import compare_unrefuted
from ..findings.finding import KernelFinding, KernelNote, Kind
from ..findings.guard_outcomes import GuardOutcome
from ..findings.hypothesis import Hypothesis
from ..findings.output_status import OutputStatus
from ..findings.result import Coverage, Equality, Written
from ..machine.array_memory import ArrayMemory, elements_in, first_lanes, memories, untouched
from ..machine.front_end import Kernel, Outcome
from ..normal_forms.forms import NormalForms
from ..normal_forms.polynomials import ExpansionError
from ..terms.inputs import Inputs
from ..terms.interning import Ids
from ..terms.operations import DOT, SCALED_DOT
from ..terms.store import TermStore
from .absent_writers import absent_writers
from .accuracy import AccuracyCheck, Limit
from .bit_differences import found_apart
from .clobbering import clobbered
from .counterexamples import KernelCounterexample, candidates, disproved
from .detour_findings import DetourFindings
from .diagnosis import Namer
from .error_search import ErrorSearch
from .misplaced_stores import MisplacedStores
from .references import Reference, coverage
from .trial_judgement import Compared
from .trials import Trials
from .wrong_values import WrongValues

SHOWN = 4
"""Outputs that are told one by one."""

_SAMPLES = (64, 4096)
"""How many outputs are computed on inputs that may tell, at first and if those don't."""


@dataclass
class Examination:
    """All results of a kernel at one set of sizes.

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
    checked : Checked
        What the checker evaluated again of outputs that are shown to be right.
    coverage : list of Coverage
        How much of each output the contract is about.
    written : list of Written
        How much of each output was written, where the contract is about memory alone.
    assumptions : list of str
        What is taken from the contract.
    guards : tuple of GuardOutcome
        What guards were that depend on sizes.
    notes : tuple of KernelNote
        What the kernel does that is no fault.
    accuracy : list of str
        How far the errors of outputs are within what the contract allows.
    accuracy_hypotheses : list of Hypothesis
        What that takes for granted.
    certificate : dict, optional
        The section of a certificate, where one is made.
    """

    findings: list[KernelFinding] = field(default_factory=list)
    equality: Equality | None = Equality.BITS
    roundings: Roundings | None = None
    former_roundings: Roundings | None = None
    outputs: list[OutputStatus] = field(default_factory=list)
    counterexample: KernelCounterexample | None = None
    trials: Trials = field(default_factory=Trials)
    checked: Checked = field(default_factory=Checked)
    coverage: list[Coverage] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    guards: tuple[GuardOutcome, ...] = ()
    notes: tuple[KernelNote, ...] = ()
    accuracy: list[str] = field(default_factory=list)
    accuracy_hypotheses: list[Hypothesis] = field(default_factory=list)
    certificate: dict[str, Any] | None = None


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
    instance : Instance
        The contract at these sizes.
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
        contract = instance.contract
        self._chosen = contract.matrix_rounding
        self._reads_all = bool(given) or contract.certified or contract.accuracy is not None
        self._forms = NormalForms(store)
        self._memories = memories(instance)
        shapes = {array.name: array.shape for array in instance.arrays.values()}
        self._namer = Namer(self._forms.quantifier, shapes)
        self._wrong_values = WrongValues(kernel, instance, self._forms, outcome, reference, self._namer)
        self._detours = DetourFindings(kernel, instance, self._forms, reference, self._namer)
        self.instance = instance
        self.compared: list[Compared] = []
        self._equal: list[ShownOutput] = []
        self._not_of_terms: list[str] = []

    @property
    def masks(self) -> tuple[float, ...]:
        """The finite numbers that have been taken for -∞."""
        return self._forms.masks

    def certificate(self) -> dict[str, Any] | None:
        """Return the section of a certificate, where one is made and nothing is wrong."""
        if self._examination.equality is None or not self.instance.contract.certified:
            return None
        return section_of(self._store, str(self.instance), self._equal, self._not_of_terms)

    def _require_every_digit(self, output: Array, actual: Ids, expected: Ids) -> None:
        """Refuse outputs whose type drops digits of what is stored there, which no bound counts."""
        fmt = output.format
        if isinstance(fmt, FloatFormat) and fmt.padding_bits and (actual != expected).any():
            raise UnsupportedError(
                f"its type {fmt} drops digits of the stored value; "
                f"state it as f32, with {fmt}(…) in the formula"
            )

    def compare(self, output: Array) -> None:
        """Compare one output, and note what is wrong with it."""
        expected, wanted = self._reference.expected(output), self._reference.covered(output)
        memory = self._memories[output.name]
        written, actual = elements_in(self._store, memory, self._outcome.arrays[output.name].lanes)
        written &= ~untouched(self._store, memory, actual)
        self._note_strays(output)
        self._examination.coverage.append(coverage(self._instance, output, wanted))
        members = np.flatnonzero(written & wanted)
        self.compared.append(Compared(output, members, actual, expected))
        self._require_every_digit(output, actual[members], expected[members])
        terms = actual[members], expected[members], output.format, self._reads_all
        compared = partial(compare_unrefuted, self._forms, *terms, self._wrong_values.refuted)
        try:
            found, some = compared(patient=False)
        except ExpansionError:
            if self._is_shown_wrong(output, members, actual, expected):
                return
            found, some = compared()
        _, _, actual, expected = self.compared[-1] = self.compared[-1].read_as(found.read)
        self._note_shown(output, members[found.equal], actual, expected, found)
        right = written | ~wanted
        right[members] = found.equal
        right[~wanted] = ~np.isin(first_lanes(output), self._clobbered(memory))[~wanted]
        self._examination.outputs.append(
            OutputStatus(output.name, right.reshape(output.shape), written.reshape(output.shape))
        )
        if self._unordered and isinstance(output.format, FloatFormat):
            nowhere = np.zeros(len(members), dtype=bool)
            undergone = roundings(self._store, actual[members[found.equal]])
            if found.roundings is not None:
                undergone = undergone.granting(found.roundings)
            found = replace(found, identical=nowhere, roundings=undergone)
        if found.roundings is not None:
            rounded = actual[members[found.equal & (self._unordered | ~found.identical)]]
            found = replace(found, roundings=self._by_choice(found.roundings, rounded))
        unwritten = np.flatnonzero(wanted & ~written)
        stores = self._wrong_values.misplaced(
            output, memory, actual, expected, members[~found.equal], unwritten
        )
        if len(unwritten) and (stores is None or not len(stores.unwritten)):
            self._missing(output, unwritten, np.flatnonzero(written))
        self._weaken(found)
        self._weaken_by_former(expected[members[found.equal & ~found.identical]])
        if not found.equal.all():
            self._wrong(output, members, actual, expected, found, stores)
        elif stores is not None:
            self._examination.equality = None
            self._put_first(stores, self._wrong_values.of_misplaced(output, stores))
        elif self._instance.contract.accuracy is not None and isinstance(output.format, FloatFormat):
            self._look_at_accuracy(output, members, actual, expected)
        if self._given and found.equal.all():
            self._on_given_data(output, members, actual, expected, found.roundings)
        if found.equal.all() and found.roundings is not None:
            self._look_for_detours(output, members[some[~found.identical[some]]], actual, expected)
        self._value_only(output, members[found.equal & ~found.identical], actual, expected)

    def _note_shown(
        self, output: Array, members: NDArray[np.intp], actual: Ids, expected: Ids, found: Comparison
    ) -> None:
        """Note what the checker evaluated again of elements that are shown to be equal, and these."""
        self._examination.checked += found.checked
        if not self.instance.contract.certified:
            return
        exact = isinstance(output.format, IntegerFormat) and found.roundings is None
        is_open = self._unordered and isinstance(output.format, FloatFormat)
        how = "ring" if exact else "reals", members, actual[members], expected[members], is_open
        self._equal.append(ShownOutput(output.name, output.format, *how))
        if found.read is not None:
            self._not_of_terms.append(f"that bits of {output.name} are the bits of conversions")

    def _look_at_accuracy(self, output: Array, members: NDArray[np.intp], actual: Ids, expected: Ids) -> None:
        """Note whether elements, all right over the reals, are as near as the contract demands."""
        if not len(members):
            return
        if self._outcome.reordered:
            message = "no bound is known for its error: the order of a sum is open"
            self._note(Kind.UNDECIDED, f"{output.name}: {message}", 0, output.name)
            self._examination.equality = None
            return
        if uncounted := self._forms.uncounted:
            message = f"no bound is known for its error: the error of {uncounted[0]} is not counted"
            self._note(Kind.UNDECIDED, f"{output.name}: {message}", 0, output.name)
            self._examination.equality = None
            return
        check = AccuracyCheck(self._kernel.path, self._instance, self._forms)
        found = check.of(
            output,
            members,
            actual[members],
            expected[members],
            lambda place: self._namer.element(output.name, int(members[place])),
            partial(self._shown, output, members, actual, expected),
        )
        self._examination.findings += found.findings
        self._examination.accuracy += found.statements
        self._examination.accuracy_hypotheses += found.hypotheses
        if found.findings:
            self._examination.equality = None

    def _shown(
        self,
        output: Array,
        members: NDArray[np.intp],
        actual: Ids,
        expected: Ids,
        limit: Limit,
        place: int,
    ) -> str | None:
        """Say what an element's error is on inputs on which it is above a limit; None if none are found."""
        if self._unordered:
            return None
        element = int(members[place])
        terms = int(actual[element]), int(expected[element])
        search = ErrorSearch(self._kernel, self._instance, self._forms, self._given)
        shown = search.shown(output, element, terms, limit, place)
        if shown is None:
            return None
        if self._examination.counterexample is None:
            self._examination.counterexample = shown.counterexample
        error, allowed = float(shown.excess.error), float(shown.excess.allowed)
        return f"its error is {error:.4g} on the inputs found; allowed: {allowed:.4g} ({limit.text})"

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
        sides = actual[members], expected[members]
        wrong = disproved(self._store, {**self._others(), **self._given}, *sides, output.format, undergone)
        if wrong is None:
            return
        self._examination.equality = None
        name = self._namer.element(output.name, int(members[wrong]))
        self._note(
            Kind.UNDECIDED,
            f"{name} is right where the hypotheses of equality over the reals hold, but not on the values "
            f"given: a rounding overflows, or changes the outcome of a function with steps",
            self._line_of_store(output, int(members[wrong])),
            name,
        )

    def _look_for_detours(self, output: Array, members: NDArray[np.intp], actual: Ids, expected: Ids) -> None:
        """Note where the kernel rests on a hypothesis that the formula does not make."""
        if not len(members):
            return
        finding, counterexample = self._detours.finding(
            output,
            members,
            actual[members],
            expected[members],
            {**self._others(), **self._given} if self._given else None,
            partial(self._line_of_store, output),
        )
        if finding is None:
            return
        self._examination.equality = None
        self._examination.findings.append(finding)
        if self._examination.counterexample is None:
            self._examination.counterexample = counterexample

    def _others(self) -> Inputs:
        """Return inputs of which some may be replaced by those given."""
        return next(candidates(self._instance, self._forms.quantifier, ()), {})

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
        if not len(members) or self._reference.equality is not Equality.BITS:
            return
        self._examination.equality = None
        if self._is_apart(output, members, actual, expected):
            return
        of_all = f" ({len(members)} of {output.elements} elements are)"
        for element in members[:SHOWN].tolist():
            name = self._namer.element(output.name, element)
            stored, wanted = (self._namer.term(int(terms[element])) for terms in (actual, expected))
            open_order = "; the language does not fix its order or fusion" if self._unordered else ""
            self._note(
                Kind.UNDECIDED,
                f"{name} is equal over the reals only, but the contract demands bits: "
                f"it is {stored}{open_order}, expected {wanted}{of_all}",
                self._line_of_store(output, element),
                name,
            )
            of_all = ""

    def _is_apart(self, output: Array, members: NDArray[np.intp], actual: Ids, expected: Ids) -> bool:
        """Note it if inputs show that bits differ which the contract demands to be the same."""
        if self._unordered or not isinstance(output.format, FloatFormat):
            return False
        sides = (output, members, actual, expected)
        shown = found_apart(self._kernel, self._instance, self._forms, self._reference, sides, self._given)
        if shown is None:
            return False
        if self._examination.counterexample is None:
            self._examination.counterexample = shown.counterexample
        difference, name = shown.difference, self._namer.element(output.name, shown.element)
        stored, wanted = (self._namer.term(int(terms[shown.element])) for terms in (actual, expected))
        self._note(
            Kind.WRONG_VALUE,
            f"{name} is equal over the reals only, but the contract demands bits: on inputs found it is "
            f"{difference.kernel}, not {difference.contract}; it is {stored}, expected {wanted} "
            f"({len(members)} of {output.elements} elements are)",
            self._line_of_store(output, shown.element),
            name,
        )
        return True

    def _missing(self, output: Array, members: NDArray[np.intp], written: NDArray[np.intp]) -> None:
        first = self._namer.element(output.name, int(members[0]))
        message = f"{first} is never written ({len(members)} of {output.elements} elements are not)"
        if len(written):
            nearest = int(written[np.argmin(np.abs(written - members[0]))])
            final, lane = self._outcome.arrays[output.name], int(first_lanes(output)[nearest])
            if final.lines[lane]:
                who = self._outcome.thread_name(int(final.writers[lane]))
                name = self._namer.element(output.name, nearest)
                line = int(final.lines[lane])
                where = f"at {place}" if (place := self._kernel.place(line)) else f"in line {line}"
                wrote = f"is written by {who}" if who else "is written"
                message += f"; {name}, the nearest written element, {wrote} {where}"
        if told := absent_writers(self._instance, self._outcome, output, members):
            message += f"; {told}"
        self._note(Kind.MISSING_OUTPUT, message, 0, first)

    def _note(self, kind: Kind, message: str, line: int, output: str) -> None:
        self._examination.findings.append(
            KernelFinding(kind, message, self._kernel.path, line, output=output)
        )

    def _is_shown_wrong(self, output: Array, members: NDArray[np.intp], actual: Ids, expected: Ids) -> bool:
        """Note it if a few inputs show that an output is wrong, sooner than its formula is multiplied out."""
        shown = self._wrong_values.shown(output, members, actual, expected)
        if shown is None:
            return False
        self._examination.equality = None
        self._examination.findings.append(shown[0])
        if self._examination.counterexample is None:
            self._examination.counterexample = shown[1]
        return True

    def _wrong(
        self,
        output: Array,
        members: NDArray[np.intp],
        actual: Ids,
        expected: Ids,
        found: Comparison,
        stores: MisplacedStores | None,
    ) -> None:
        """Say what is wrong; without inputs that show it, nothing is decided."""
        self._examination.equality = None
        findings, counterexample = self._wrong_values.explained(
            output, members, actual, expected, found, stores
        )
        if stores is not None and stores.race and findings[0].kind is Kind.WRONG_VALUE:
            self._put_first(stores, findings[0])
        else:
            self._examination.findings += findings
        if self._examination.counterexample is None:
            self._examination.counterexample = counterexample

    def _put_first(self, stores: MisplacedStores, finding: KernelFinding) -> None:
        """Tell of stores to wrong places in place of the races that come of them."""
        lines = {*stores.lines.tolist(), *stores.raced.tolist()}
        findings = self._examination.findings
        races = [at for at, each in enumerate(findings) if each.kind is Kind.RACE and each.line in lines]
        first = races[0] if races else len(findings)
        rest = [each for at, each in enumerate(findings) if at not in races and at > first]
        self._examination.findings = [*findings[:first], finding, *rest]

    def _line_of_store(self, output: Array, element: int) -> int:
        return int(self._outcome.arrays[output.name].lines[int(first_lanes(output)[element])])
