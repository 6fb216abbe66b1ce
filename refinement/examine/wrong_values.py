"""Wrong output elements grouped by cause, with the line at fault."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from itertools import chain, islice, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format
from ..analysis.rounding_depth import roundings
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..equality.equivalence import Comparison, compared_as
from ..equality.special_values import SpecialValues
from ..findings.described_elements import described, stored_by
from ..findings.finding import KernelFinding, Kind
from ..machine.array_memory import ArrayMemory, first_lanes, inputs_of
from ..machine.front_end import Kernel, Outcome
from ..normal_forms.forms import NormalForms
from ..terms.domains import NONE
from ..terms.inputs import Inputs
from ..terms.interning import Ids
from ..terms.store import UNDEFINED
from ..terms.traversal import leaves_of
from .counterexample_document import Difference
from .counterexamples import KernelCounterexample, candidates, refuted_on, telling
from .diagnosis import Monomial, Namer, differing, explained
from .displacement import rule
from .fault_location import FaultLocator, Fetches
from .inner_differences import InnerDifferences
from .kernel_runs import confirmed
from .misplaced_stores import MisplacedStores, listed, misplaced
from .references import Reference
from .special_inputs import special_inputs

FIRST, SPREAD = 4, 4
"""Wrong elements whose causes are looked for: the first ones, and some from everywhere."""

_TRIED = 12
"""Inputs on which terms are computed before they are tried to be shown at length."""

_SOON = 2
"""Inputs on which terms are computed before they are compared at all; further ones while they refute some."""

_SAMPLES = (64, 4096)
"""How many outputs are computed on inputs that may tell, at first and if those don't."""

Indices = NDArray[np.intp]


class _Cause(NamedTuple):
    """What is at fault, and the line of it."""

    kind: Kind
    line: int
    what: str = ""


class WrongValues:
    """Diagnoses elements that are not shown to be right.

    Parameters
    ----------
    kernel, instance, forms, outcome : Kernel, Instance, NormalForms, Outcome
        The run.
    reference : Reference
        What the outputs are to be.
    namer : Namer
        Spells quantities.
    """

    def __init__(
        self,
        kernel: Kernel,
        instance: Instance,
        forms: NormalForms,
        outcome: Outcome,
        reference: Reference,
        namer: Namer,
    ) -> None:
        self._kernel, self._instance, self._forms = kernel, instance, forms
        self._outcome, self._reference, self._namer = outcome, reference, namer
        self._store = forms.store
        self._locator = FaultLocator(forms.quantifier)
        self._inner = InnerDifferences(forms)
        self._reason: str | None = None

    def misplaced(
        self,
        output: Array,
        memory: ArrayMemory,
        actual: Ids,
        expected: Ids,
        wrong: Indices,
        unwritten: Indices,
    ) -> MisplacedStores | None:
        """Return the stores to wrong places, if they are all that is wrong with an output."""

        def is_made(place: int) -> bool:
            element = wrong[[place]]
            sides = self._forms.compared(actual[element], expected[element], compared_as(output.format))
            return self._locator.makes(differing(*sides, 0, output.format))

        final = self._outcome.arrays[output.name]
        return misplaced(self._forms, output, memory, final, actual, expected, wrong, unwritten, is_made)

    def of_misplaced(self, output: Array, stores: MisplacedStores) -> KernelFinding:
        """Explain stores to wrong places that others took in the run, but nothing orders before them."""
        self._reason = None
        return self._displaced(output, stores, "")

    def explained(
        self,
        output: Array,
        members: Indices,
        actual: Ids,
        expected: Ids,
        found: Comparison,
        stores: MisplacedStores | None,
    ) -> tuple[list[KernelFinding], KernelCounterexample | None]:
        """Explain what is wrong with an output, and give inputs that show it, if there are such.

        Parameters
        ----------
        output : Array
            The output.
        members : array (n,)
            Its elements that were compared.
        actual, expected : array (elements,)
            What they are, and are to be.
        found : Comparison
            Of the members.
        stores : MisplacedStores, optional
            The stores to wrong places, if they are all that is wrong.
        """
        self._reason = found.reason
        owners = np.flatnonzero(~found.equal)
        wrong = members[owners]
        shown = np.union1d(np.arange(min(FIRST, len(wrong))), _spread(len(wrong), SPREAD))
        differences = self._differences(output, actual[wrong[shown]], expected[wrong[shown]], found)
        counterexample = self._counterexample(
            output, wrong, actual, expected, differences[:FIRST], special=found.special
        )
        overflowing = np.full(len(owners), NONE) if found.overflowing is None else found.overflowing[owners]
        certain = stores is not None and (stores.race or len(stores.unwritten))
        if counterexample is None and not certain:
            return self._undecided(output, wrong, actual, expected, differences, overflowing, found), None
        total = _total(len(wrong), output)
        if stores is not None and (overflowing == NONE).all() and (certain or any(differences)):
            return [self._displaced(output, stores, total)], counterexample
        findings: list[KernelFinding] = []
        causes = self._causes(output, wrong[shown], actual, differences, overflowing[shown])
        for cause, places in causes.items():
            at = int(shown[places[0]])
            message = self._message(output, int(wrong[at]), differences[places[0]], int(overflowing[at]))
            name, kind = self._namer.element(output.name, int(wrong[at])), cause.kind
            if found.special is not None and found.special.is_nan(actual[wrong[[at]]], output.format):
                message, kind = f"{name} is NaN for all inputs", Kind.WRONG_VALUE
            elif cause.what and cause.what not in message:  # it is deep inside
                more = "" if cause.kind is Kind.UNINITIALISED else ", which is left open"
                what = "what is undefined" if cause.kind is Kind.UNINITIALISED else cause.what
                message = f"{name} depends on {what}{more}: it{message.removeprefix(name)}"
            message += self._reference.origin(output, int(wrong[at])) + ("" if findings else total)
            alone = len(causes) == 1
            if alone and len(wrong) > 1:
                where = self._where(output, wrong)
                message += (f"; those with {where}" if where else "") + self._of_warps(output, wrong)
            count = len(wrong) if alone else len(places)
            findings.append(self._finding(kind, message, cause.line, name, count))
        return findings, counterexample

    def shown(
        self, output: Array, members: Indices, actual: Ids, expected: Ids
    ) -> tuple[KernelFinding, KernelCounterexample] | None:
        """Return what a few inputs show of an output, its formula aside; None if they show nothing.

        Parameters are as in `explained`.
        """
        wrong = members[actual[members] != expected[members]]
        counterexample = self._counterexample(output, wrong, actual, expected, [[]], thorough=False)
        if counterexample is None:
            return None
        name = counterexample.difference.output
        (some, *_) = _samples(wrong)
        element = next(each for each in some.tolist() if self._namer.element(output.name, each) == name)
        leaves = leaves_of(self._store, actual[[element]])
        unwritten = leaves[self._store.are(UNDEFINED, leaves)]
        if len(unwritten):
            kind, line, what = self._undefined(int(unwritten[0]))
            message = f"{name} depends on {'an unwritten value' if kind is Kind.UNINITIALISED else what}"
        else:
            line, kind = self._line_of_store(output, element), Kind.WRONG_VALUE
            message = f"{name} differs from the contract's value on the inputs of the counterexample"
        message += self._reference.origin(output, element)
        message += "; it has too many products for its formula to be printed"
        return self._finding(kind, message, line, name, 1), counterexample

    def refuted(self, actual: Ids, expected: Ids, fmt: Format, *, soon: bool = False) -> NDArray[np.bool_]:
        """Tell which terms (n,) are seen to be wrong on a few inputs, each by itself if `soon`."""
        found = np.zeros(len(actual), dtype=bool)
        tried = islice(candidates(self._instance, self._forms.quantifier, [[]]), _TRIED)
        for number, inputs in enumerate(tried):
            left = np.flatnonzero(~found)
            if not len(left):
                break
            loose = self._loose(actual[left])
            on = partial(refuted_on, self._store, inputs, actual[left], expected[left], fmt, loose)
            wrong = on()
            if soon and wrong.any():
                wrong = on(every=True)
            found[left] = wrong
            if soon and number + 1 >= _SOON and not wrong.any():
                break
        return found

    def _loose(self, actual: Ids) -> float:
        """Return by how much more of a sum's magnitudes a term may be off: where its order is open."""
        undergone = roundings(self._store, actual[:1]) if self._outcome.reordered else None
        return 0.0 if undergone is None else float(undergone.growth)

    # -- what is wrong
    def _differences(
        self, output: Array, actual: Ids, expected: Ids, found: Comparison
    ) -> list[list[Monomial]]:
        thorough = found.reason is None
        sides = self._forms.compared(actual, expected, compared_as(output.format), thorough=thorough)
        return [differing(*sides, owner, output.format) for owner in range(len(actual))]

    def _message(self, output: Array, element: int, difference: Sequence[Monomial], overflowing: int) -> str:
        name = self._namer.element(output.name, element)
        if overflowing != NONE:
            return f"{name}: {self._forms.overflows.described(overflowing)}"
        if not difference and self._reason is not None:
            return f"{name} has no real value: {self._reason}"
        return f"{name} {self._told(difference)}"

    def _told(self, difference: Sequence[Monomial]) -> str:
        """Say in what a value differs, and of which function it is an argument."""
        inside = self._inner.inside(difference)
        if inside is None or inside.function not in ("max", "min"):
            return explained(difference, self._namer, self._inside)
        return f"{self._told(inside.monomials)}, inside {inside.function}"

    def _undefined(self, term: int) -> _Cause:
        """Return an undefined term as a cause: what nobody has written, or a result that is left open."""
        line, of = int(self._store.lines(term)), self._store.operation(term).attribute
        if of is None:
            return _Cause(Kind.UNINITIALISED, line, "undefined")
        return _Cause(Kind.UNDEFINED, line, str(of))

    def _displaced(self, output: Array, stores: MisplacedStores, total: str) -> KernelFinding:
        """Say that elements hold, or may hold, what others are to hold: it is stored to the wrong place."""
        first = int(np.lexsort((stores.elements, stores.lines))[0])
        element, line = int(stores.elements[first]), int(stores.lines[first])
        name = self._namer.element(output.name, element)
        wanted = self._reference.expected(output)[[element]]
        thorough = self._reason is None
        sides = self._forms.compared(
            stores.terms[[first]], wanted, compared_as(output.format), thorough=thorough
        )
        difference = differing(*sides, 0, output.format)
        message = f"{name} {self._told(difference)}{total}"
        message += self._reference.origin(output, element)
        places, which = np.unique(stores.elements, return_index=True)
        where = self._where(output, places)
        message += f"; {rule(output.name, output.shape, places, stores.meant[which])}"
        message += f" for {where}" if where else ""
        message += "" if stores.race else self._of_warps(output, places)
        lines = np.unique(stores.lines).tolist()
        if others := [each for each in lines if each != line]:
            message += f"; so in {listed(others)}"
        if raced := [each for each in stores.raced.tolist() if each not in lines]:
            message += f"; its expected value is stored in {listed(raced)}, with no barrier between"
        if count := len(stores.unwritten):
            lacking = self._namer.element(output.name, int(stores.unwritten[0]))
            message += f"; {lacking} is never written ({count} of {output.elements} elements are not)"
        return self._finding(Kind.WRONG_VALUE, message, line, name, len(stores.elements))

    def _undecided(
        self,
        output: Array,
        wrong: Indices,
        actual: Ids,
        expected: Ids,
        differences: Sequence[Sequence[Monomial]],
        overflowing: Ids,
        found: Comparison,
    ) -> list[KernelFinding]:
        """Say of the first element what it is and what it should be, where no inputs show a difference."""
        element = int(wrong[0])
        line = self._line_of_store(output, element)
        if overflowing[0] != NONE:
            line = int(self._store.lines(int(overflowing[0]))) or line
        message = self._message(output, element, differences[0], int(overflowing[0]))
        message += self._reference.origin(output, element)
        stored, wanted = (self._namer.term(int(terms[element])) for terms in (actual, expected))
        reason = "" if found.reason is None else f", and {found.reason}"
        message += (
            f"; no inputs are found on which the difference exceeds rounding{reason}: "
            f"it is {stored}, expected {wanted}{_total(len(wrong), output)}"
        )
        name = self._namer.element(output.name, element)
        return [self._finding(Kind.UNDECIDED, message, line, name, len(wrong))]

    def _finding(self, kind: Kind, message: str, line: int, name: str, count: int) -> KernelFinding:
        return KernelFinding(kind, message, self._kernel.path, line, output=name, count=count)

    def _inside(self, one: int, other: int) -> str:
        """Say in what the arguments of two functions of the same name differ."""
        inside = self._inner.inside([Monomial((one,), 1, 0), Monomial((other,), 0, 1)])
        if inside is None:
            return ""
        return f" (its argument {explained(inside.monomials[:1], self._namer, self._inside)})"

    # -- where it comes from
    def _causes(
        self,
        output: Array,
        elements: Indices,
        actual: Ids,
        differences: Sequence[Sequence[Monomial]],
        overflowing: Ids,
    ) -> dict[_Cause, list[int]]:
        """Return what some wrong elements (n,) come from, and which of them come from each."""
        differences = [self._inner.innermost(each).monomials for each in differences]
        faults = [
            self._locator.faults(int(actual[element]), each)
            for element, each in zip(elements, differences, strict=True)
        ]
        fetches = self._fetches(output, elements) if any(faults) else Fetches({}, {})
        every = [fault for each in faults for fault in each]
        found: dict[_Cause, list[int]] = {}
        decided: dict[int, int] = {}
        alike: dict[Hashable, _Cause] = {}
        lacking: _Cause | None = None
        for place, (element, difference) in enumerate(zip(elements.tolist(), differences, strict=True)):
            stored = self._line_of_store(output, element)
            unwritten = self._locator.undefined(difference)
            if overflowing[place] != NONE:
                line = int(self._store.lines(int(overflowing[place])))
                cause = _Cause(Kind.WRONG_VALUE, line or stored)
            elif unwritten is not None:
                cause = self._undefined(unwritten)
            elif faults[place]:
                fault = faults[place][0]  # one operation that multiplies what is wrong has one cause
                if fault.line not in decided:
                    decided[fault.line] = self._locator.line(every, fault, fetches)
                cause = _Cause(Kind.WRONG_VALUE, decided[fault.line] or stored)
                cause = alike.setdefault(self._locator.pattern(fault, cause.line), cause)
            elif difference:  # products are missing, and nothing else is wrong: of all for one reason
                line = self._locator.accumulation(int(actual[element]))
                cause = lacking = lacking or _Cause(Kind.WRONG_VALUE, line or stored)
            else:
                cause = _Cause(Kind.WRONG_VALUE, stored)
            source = self._kernel.source(cause.line)
            cause = alike.setdefault((cause.kind, source), cause) if source else cause
            found.setdefault(cause, []).append(place)
        return found

    def _fetches(self, output: Array, elements: Indices) -> Fetches:
        """Return what the blocks that wrote elements loaded; their run is repeated for that."""
        writers = self._outcome.arrays[output.name].writers[first_lanes(output)[elements]]
        blocks = np.unique(writers[writers >= 0] // self._outcome.block_threads)
        inputs = inputs_of(self._store, self._instance)
        again = self._kernel.run(self._instance, self._store, inputs, blocks=blocks, traced=True)
        return Fetches(again.loads, again.shared_loads)

    def _line_of_store(self, output: Array, element: int) -> int:
        return int(self._outcome.arrays[output.name].lines[int(first_lanes(output)[element])])

    def _where(self, output: Array, wrong: Indices) -> str:
        """Describe which elements are wrong, if that is not all."""
        members = np.zeros(output.elements, dtype=bool)
        members[wrong] = True
        return described(members.reshape(output.shape))

    def _of_warps(self, output: Array, wrong: Indices) -> str:
        """Say which warps store what is wrong, if that is all that they store, and others store more."""
        writers = self._outcome.arrays[output.name].writers[first_lanes(output)]
        told = stored_by(writers, np.isin(np.arange(output.elements), wrong), self._outcome.block_threads)
        return f" ({told})" if told else ""

    # -- inputs that show it
    def _counterexample(
        self,
        output: Array,
        wrong: Indices,
        actual: Ids,
        expected: Ids,
        differences: Sequence[Sequence[Monomial]],
        *,
        thorough: bool = True,
        special: SpecialValues | None = None,
    ) -> KernelCounterexample | None:
        loose = self._loose(actual[wrong])
        mine, other = (leaves_of(self._store, terms[wrong[:1]]) for terms in (actual, expected))
        alone = np.setxor1d(mine, other)
        inputs_tried = candidates(self._instance, self._forms.quantifier, differences, alone)
        if special is not None and len(wrong):
            pair = int(actual[wrong[0]]), int(expected[wrong[0]])
            fitting = special_inputs(self._instance, self._store, special, *pair, output.format)
            inputs_tried = chain(fitting, inputs_tried)
        tried = product(_samples(wrong) if thorough else _samples(wrong)[:1], inputs_tried)
        for some, inputs in tried:
            told = telling(self._store, inputs, actual[some], expected[some], output.format, loose, special)
            if told is None:
                continue
            index, bound = told
            difference = self._confirmed(inputs, output, int(some[index]), bound)
            if difference is not None:
                former = self._reference.former
                return KernelCounterexample.found(
                    self._kernel.path, former, self._instance, inputs, difference, bound
                )
        return None

    def _confirmed(self, inputs: Inputs, output: Array, element: int, bound: float) -> Difference | None:
        return confirmed(self._kernel, self._instance, self._reference.values, inputs, output, element, bound)


def _total(wrong: int, output: Array) -> str:
    return f" ({wrong} of {output.elements} elements are not shown to be right)"


def _spread(count: int, most: int) -> Indices:
    """Return some of `count` places, evenly."""
    return np.linspace(0, count - 1, most).astype(np.intp)


def _samples(wrong: Indices) -> list[Indices]:
    """Return a few wrong elements, the first ones and some from everywhere, then, if there are, many."""
    found = []
    for most in _SAMPLES:
        some = np.union1d(np.arange(min(most // 2, len(wrong))), _spread(len(wrong), most // 2))
        found.append(wrong[some])
        if len(wrong) <= most // 2:
            break
    return found
