"""Findings about a kernel's own hypotheses: undecided, or refuted where no input meets one."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..equality.decided_comparisons import DecidedComparisons
from ..equality.order_cases import OrderCases
from ..expected.input_bounds import numbers_of, words_of
from ..findings.finding import KernelFinding, Kind
from ..hypotheses.own_conditions import OwnCondition, OwnConditions, finite
from ..hypotheses.unused_inputs import compared_input
from ..machine.front_end import Kernel
from ..normal_forms.forms import NormalForms
from ..terms import operations
from ..terms.assignments import Assignment
from ..terms.inputs import Inputs
from ..terms.instances import TermInstances
from ..terms.interning import Ids
from ..terms.store import INPUT, TermStore, bits
from ..terms.traversal import leaves_of, within
from .counterexamples import KernelCounterexample
from .detours import Detour, Detours
from .diagnosis import Namer
from .kernel_runs import confirmed
from .references import Reference

_PATTERNS = 256
"""Elements of which others are no instances, whose conditions are looked at."""


class DetourFindings:
    """Finds hypotheses of a kernel that its reference does not need.

    Parameters
    ----------
    kernel, instance, forms : Kernel, Instance, NormalForms
        What was run.
    reference : Reference
        What the outputs are to be.
    namer : Namer
        Of the terms.
    """

    def __init__(
        self, kernel: Kernel, instance: Instance, forms: NormalForms, reference: Reference, namer: Namer
    ) -> None:
        self._kernel, self._instance, self._forms, self._store = kernel, instance, forms, forms.store
        store = forms.store
        self._reference, self._namer = reference, namer
        self._messages = DetourMessages(instance, store, namer)

    def finding(
        self,
        output: Array,
        members: NDArray[np.intp],
        actual: Ids,
        expected: Ids,
        given: Inputs | None,
        line_of_store: Callable[[int], int],
    ) -> tuple[KernelFinding | None, KernelCounterexample | None]:
        """Return what rests on such a hypothesis, and inputs where none meet it.

        Parameters
        ----------
        output : Array
            The output.
        members : array (n,)
            Its elements that are equal over the reals only, by linear index.
        actual, expected : array (n,)
            Their terms.
        given : mapping of str to array, optional
            The only inputs that the contract is about.
        line_of_store : callable
            Returns the line that stores an element.
        """
        search = Detours(self._instance, self._store, actual, expected, output.format)
        if given is None:
            detour = search.found()
        else:
            real = self._reference.values(given)[output.name][members].astype(np.float64)
            detour = search.on_given(given, real)
        if detour is None:
            return (self._not_implied(output, members, actual, expected) if given is None else None), None
        element = int(members[detour.place])
        name = self._namer.element(output.name, element)
        hypothesis, line, condition = self._messages.explained(search, detour)
        line = line or line_of_store(element)
        only = f"{name} is right only if {hypothesis}"
        if detour.always and (shown := self._shown(output, element, detour)) is not None:
            message = f"{only}, which no inputs tried meet"
            return KernelFinding(Kind.WRONG_VALUE, message, self._kernel.path, line, output=name), shown
        ask = f'; state it in [requires]: "{condition}"' if condition else ""
        message = (
            f"{only}, which the formula does not need: on inputs that break it, "
            f"the kernel is {detour.got:.6g}, the formula {detour.wanted:.6g}{ask}"
        )
        return KernelFinding(Kind.UNDECIDED, message, self._kernel.path, line, output=name), None

    def _not_implied(
        self, output: Array, members: NDArray[np.intp], actual: Ids, expected: Ids
    ) -> KernelFinding | None:
        """Return a condition that neither the formula nor ``[requires]`` implies."""
        condition = not_implied(self._forms, actual, expected)
        if condition is None:
            return None
        found, place = condition
        name = self._namer.element(output.name, int(members[place]))
        what, ask = self._messages.asked(found.argument, found.relation)
        message = f"{name} is right only if {found.hypothesis} ({what}), which the formula does not need{ask}"
        line = int(self._store.lines(found.term))
        return KernelFinding(Kind.UNDECIDED, message, self._kernel.path, line, output=name)

    def _shown(self, output: Array, element: int, detour: Detour) -> KernelCounterexample | None:
        """Return the inputs of a detour, if the kernel is wrong when it runs on them."""
        bound = abs(detour.wanted) / 4
        if np.isfinite(detour.got):
            bound = min(bound, abs(detour.got - detour.wanted) / 2)
        values, inputs = self._reference.values, detour.inputs
        shown = confirmed(self._kernel, self._instance, values, inputs, output, element, bound)
        if shown is None:
            return None
        former = self._reference.former
        return KernelCounterexample.found(self._kernel.path, former, self._instance, inputs, shown, bound)


def not_implied(forms: NormalForms, actual: Ids, expected: Ids) -> tuple[OwnCondition, int] | None:
    """Return a condition that only the actual ones of equal terms (n,) need, and for which of them."""
    places = TermInstances(forms.store).patterns(np.stack([actual, expected], axis=1), _PATTERNS)
    # Functions first: decided comparisons change them, and they are then not recognised.
    functions = forms.software.replaced(actual[places])
    replaced = forms.software.replaced(DecidedComparisons(forms, of_inputs=True).values(functions))
    found = OwnConditions(forms, replaced, expected[places]).first()
    if found is None:
        return _only_compared(forms, actual, expected, places)
    of_these = [found.term in within(forms.store, each[None]) for each in replaced]
    return found, int(places[of_these.index(True)])


def _only_compared(
    forms: NormalForms, actual: Ids, expected: Ids, places: NDArray[np.intp]
) -> tuple[OwnCondition, int] | None:
    """Return that an input is finite which the formula lacks and on which comparisons depend.

    These are decided over the reals. Terms that are equal under each order of all floats do not need it.
    """
    store, formula = forms.store, within(forms.store, expected[places])

    def compared_in(some: Ids) -> tuple[int, int] | None:
        own = np.setdiff1d(within(store, some), formula).astype(np.int32)
        return compared_input(store, formula, own)

    for place in places if compared_in(actual[places]) is not None else ():
        pair, compared = (actual[place, None], expected[place, None]), compared_in(actual[place, None])
        if compared is not None and len(OrderCases(forms).unequal(*pair, bits(1))):
            return finite(store, *compared), int(place)
    return None


_LETTERS = "ijklmnop"

_STEPS, _BITS = 16, 8
"""Times that inputs are made smaller by so many binary digits until the kernel is right on them; then larger
by one at a time while it stays so."""

_ZERO, _NEGATIVE, _NOT_POSITIVE = "!= 0", ">= 0", "> 0"


class Explanation(NamedTuple):
    """A kernel's own hypothesis: its line, and the condition that states it, if any."""

    hypothesis: str
    line: int
    condition: str


class DetourMessages:
    """Explains detours.

    Parameters
    ----------
    instance : Instance
        The contract.
    store : TermStore
        The terms.
    namer : Namer
        Of the terms.
    """

    def __init__(self, instance: Instance, store: TermStore, namer: Namer) -> None:
        self._instance, self._store, self._namer = instance, store, namer

    def explained(self, search: Detours, detour: Detour) -> Explanation:
        """Return which hypothesis fails on the inputs of a detour."""
        operation = self._store.operation(detour.culprit)
        line = int(self._store.lines(detour.culprit))
        argument = self._outside(detour)
        if argument is not None:
            term, relation, hypothesis = argument
            return Explanation(hypothesis, line, f"{self._named(term)} {relation}")
        if operation.name in (operations.COMPARE, operations.SELECT):  # a literal that is compared, rounded
            return Explanation("no rounding changes the outcome of a comparison", line, "")
        word = self._assignment(detour).values(np.array([detour.culprit]))
        fmt = operation.result
        if isinstance(fmt, FloatFormat) and np.isfinite(numbers_of(word, fmt)[0]):
            small = abs(numbers_of(word, fmt)[0]) < 2.0**fmt.minimum_exponent
            what = (
                f"no rounding to {fmt} underflows" if small else "no large value absorbs other terms of a sum"
            )
            return Explanation(what, line, "")
        return Explanation(f"no rounding to {fmt} overflows", line, self._limit(search, detour))

    def asked(self, term: int, relation: str) -> tuple[str, str]:
        """Return what a condition is about, and how ``[requires]`` can state it if that is an input."""
        name = self._named(term)
        if self._store.operation(term).name != INPUT or not relation:
            return self._namer.term(term), ""
        condition = f"abs({name}) {relation}" if relation.startswith("<") else f"{name} {relation}"
        return name, f'; state it in [requires]: "{condition}"'

    def _assignment(self, detour: Detour) -> Assignment:
        return Assignment(self._store, detour.inputs)

    def _outside(self, detour: Detour) -> tuple[int, str, str] | None:
        """Return an argument outside its function's domain, what it is to be, and what is supposed of it."""
        operation = self._store.operation(detour.culprit)
        if operation.name not in (operations.FUNCTION, operations.QUOTIENT):
            return None
        stem = str(operation.attribute).partition(".")[0]
        term = int(self._store.arguments(detour.culprit)[len(operation.operands) - 1])
        fmt = operation.operands[-1]
        if not isinstance(fmt, FloatFormat):
            return None
        value = float(numbers_of(self._assignment(detour).values(np.array([term])), fmt)[0])
        divides = stem in ("rcp", "rsqrt", "div") or operation.name == operations.QUOTIENT
        if divides and value == 0:
            return term, _NOT_POSITIVE if stem == "rsqrt" else _ZERO, "no divisor is 0"
        if stem in ("sqrt", "rsqrt", "lg2") and value <= 0:
            relation = _NEGATIVE if stem == "sqrt" else _NOT_POSITIVE
            return term, relation, "no square root or logarithm has a negative argument"
        return None

    def _named(self, term: int) -> str:
        """Return a term as conditions write it, an element of an input for any indices."""
        operation = self._store.operation(term)
        if operation.name != INPUT:
            return self._namer.term(term)
        return self._input(str(operation.attribute))

    def _input(self, name: str) -> str:
        array = self._instance.arrays.get(name)
        if array is None:
            return name
        return f"{name}[{', '.join(_LETTERS[: len(array.shape)])}]"

    def _limit(self, search: Detours, detour: Detour) -> str:
        """Return up to which magnitude inputs make no overflow; empty where none is found."""
        leaves = leaves_of(self._store, np.array([detour.culprit], dtype=np.int32))
        greatest = self._greatest(leaves, detour)
        if greatest is None:
            return ""
        name, fmt, value = greatest
        words, numbers = dict(detour.inputs), numbers_of(detour.inputs[name], fmt)

        def admitted(exponent: int) -> bool:
            words[name] = words_of(numbers * 2.0**-exponent, fmt)
            return search.admits(words)

        coarse = next((each for each in range(_BITS, _STEPS * _BITS, _BITS) if admitted(each)), None)
        if coarse is None:
            return ""
        exponent = coarse
        while exponent - 1 > coarse - _BITS and admitted(exponent - 1):
            exponent -= 1
        limit = value * 2.0**-exponent
        digit = 10.0 ** floor(log10(limit)) if limit > 0 else 0.0
        return f"abs({self._input(name)}) <= {floor(limit / digit) * digit if digit else 0:g}"

    def _greatest(self, leaves: Ids, detour: Detour) -> tuple[str, Format, float] | None:
        """Return which input among leaves has the greatest magnitude, its format, and that."""
        found: tuple[str, Format, float] | None = None
        inputs = leaves[self._store.are(INPUT, leaves)]
        words = self._assignment(detour).values(inputs)
        for term, word in zip(inputs.tolist(), words, strict=True):
            operation = self._store.operation(term)
            name, fmt = str(operation.attribute), operation.result
            if name not in detour.inputs or not isinstance(fmt, FloatFormat):
                continue
            value = abs(float(numbers_of(np.array([word]), fmt)[0]))
            if found is None or value > found[2]:
                found = name, fmt, value
        return found
