"""Search for inputs on which the exact error is certainly above the accuracy clause."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, IntegerFormat
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..errors.exact_errors import LITERAL_BITS, ExactValues, OpenValueError, significant_bits
from ..expected.bound_inference import bounded_store
from ..expected.requirements import Requirements
from ..formula.tree import Binary, Formula, Number, walk
from ..machine.front_end import Kernel
from ..normal_forms.forms import NormalForms
from ..terms.inputs import Inputs, one_of_two
from .accuracy import Limit, limits_of
from .counterexample_document import Difference
from .counterexamples import KernelCounterexample, candidates, input_formats
from .kernel_runs import outputs_on
from .references import reference_of

_ATTEMPTS = 32
"""Inputs tried."""

_STEPS = 1 << 18
"""Terms that are computed exactly, on all inputs together."""


class Excess(NamedTuple):
    """An error above a limit, with its inputs."""

    error: Fraction
    allowed: Fraction
    exact: Fraction


class Shown(NamedTuple):
    """A proof that a kernel is less accurate than allowed."""

    excess: Excess
    counterexample: KernelCounterexample


class ErrorSearch:
    """Searches for inputs on which the error of an element exceeds a limit.

    Parameters
    ----------
    kernel, instance, forms : Kernel, Instance, NormalForms
        The run.
    given : mapping of str to array
        The inputs that the contract is about, if it is not about all.
    """

    def __init__(self, kernel: Kernel, instance: Instance, forms: NormalForms, given: Inputs) -> None:
        self._kernel, self._instance, self._forms, self._given = kernel, instance, forms, given

    def shown(
        self, output: Array, element: int, terms: tuple[int, int], limit: Limit, place: int
    ) -> Shown | None:
        """Return inputs on which a kernel, run on them, is further off than a limit; None if none are found.

        Parameters
        ----------
        output : Array
            The output.
        element : int
            One of its elements, by linear index.
        terms : (int, int)
            What the kernel makes it, and the contract.
        limit : Limit
            What is allowed.
        place : int
            Of the element, among the limit's terms.
        """
        if not _says_exactly(self._instance):
            return None
        steps = 0
        for inputs in islice(self._inputs(), _ATTEMPTS):
            values = ExactValues(self._forms.store, inputs)
            try:
                excess = excess_of(
                    values, terms[1], output, limit, place, values.computed(terms[0], output.format)
                )
                if excess is not None:
                    got = self._certain(values, terms[0], output, excess)
                    if (shown := self._run(inputs, output, element, excess, got)) is not None:
                        return shown
            except (OpenValueError, UnsupportedError):
                pass
            steps += values.visited
            if steps > _STEPS:
                return None
        return None

    @staticmethod
    def _certain(values: ExactValues, term: int, output: Array, excess: Excess) -> Fraction:
        """Return what a term is by `evaluation`, if its error is too great whatever is left open.

        Raises
        ------
        OpenValueError, UnsupportedError
            If it need not be.
        """
        assert isinstance(output.format, FloatFormat)
        if values.distance(term, output.format, excess.exact) > excess.allowed:
            return values.computed(term, output.format)
        return values.rounded(term, output.format)

    def _run(
        self, inputs: Inputs, output: Array, element: int, excess: Excess, got: Fraction
    ) -> Shown | None:
        """Return inputs as a counterexample, if the kernel run on them gives the very number."""
        stored = float(outputs_on(self._kernel, self._instance, inputs)[output.name][element])
        if not np.isfinite(stored) or Fraction(stored) != got:
            return None
        difference = _difference(output, element, stored, excess)
        found = KernelCounterexample.found(
            self._kernel.path, None, self._instance, inputs, difference, float(excess.allowed), accuracy=True
        )
        return Shown(excess, found)

    def _inputs(self) -> Iterator[Inputs]:
        tried: tuple[Callable[[], Iterator[Inputs]], ...] = (
            lambda: _alike(self._instance),
            lambda: candidates(self._instance, self._forms.quantifier, ()),
        )
        for each in tried:
            for inputs in each():
                yield {**inputs, **self._given}


def excess_of(
    values: ExactValues, expected: int, output: Array, limit: Limit, place: int, got: Fraction
) -> Excess | None:
    """Return by how much a number is further from the exact value of a contract's term than a limit allows.

    Raises
    ------
    OpenValueError, UnsupportedError
        If it is not known.
    """
    wanted = values.exact(expected, output.format)
    base = values.exact(int(limit.terms[place]), limit.format).value if limit.exact else wanted.size
    error, allowed = abs(got - wanted.value), limit.factor * base
    return Excess(error, allowed, wanted.value) if error > allowed else None


def replayed(
    kernel: Kernel, instance: Instance, inputs: Inputs, output: Array, element: int
) -> Difference | None:
    """Return how an element differs whose error is above what the contract allows on inputs; else None."""
    if instance.contract.accuracy is None or not _says_exactly(instance):
        return None
    stored = float(outputs_on(kernel, instance, inputs)[output.name][element])
    store = bounded_store(instance)
    expected = reference_of(instance, store).expected(output)
    members = np.array([element])
    values = ExactValues(store, inputs)
    for limit in limits_of(instance, output, members, expected[members], store):
        try:
            if not np.isfinite(stored):
                return None
            excess = excess_of(values, int(expected[element]), output, limit, 0, Fraction(stored))
        except (OpenValueError, UnsupportedError):
            continue
        if excess is not None:
            return _difference(output, element, stored, excess)
    return None


def _difference(output: Array, element: int, stored: float, excess: Excess) -> Difference:
    index = ",".join(map(str, np.unravel_index(element, output.shape)))
    return Difference(f"{output.name}[{index}]", str(stored), str(float(excess.exact)))


def _says_exactly(instance: Instance) -> bool:
    """Tell whether the literals of a contract are the numbers that its terms have."""
    contract = instance.contract
    if contract.reference is not None or contract.accuracy is None:
        return False
    formulas: Sequence[Formula] = (
        *contract.formulas,
        *(error.formula for error in contract.accuracy.errors.values()),
    )
    for node in (node for formula in formulas for node in walk(formula.body)):
        if isinstance(node, Binary) and node.operator == "/":
            return False
        if isinstance(node, Number):
            value = Fraction(node.value)
            if value.denominator & (value.denominator - 1) or significant_bits(value) > LITERAL_BITS:
                return False
    return True


def _alike(instance: Instance) -> Iterator[Inputs]:
    """Yield inputs of one magnitude each, all of one sign or of alternating ones, then nearly cancelling.

    All roundings of a sum of equal numbers within a binade go one way.
    """
    formats, requirements = input_formats(instance), Requirements(instance)
    for seed in range(_ATTEMPTS // 4):
        random = np.random.default_rng(seed)
        found = {}
        for name, (fmt, shape) in formats.items():
            count = int(np.prod(shape))
            words = np.full(count, one_of_two(fmt, 1), dtype=np.uint64)
            if isinstance(fmt, FloatFormat):
                same = random.integers(0, 1 << fmt.fraction_bits, dtype=np.uint64)
                words += same << np.uint64(fmt.padding_bits)
                if seed % 4 == 3:
                    words[1::2] ^= np.uint64(fmt.sign_mask)
                    words[::7] = one_of_two(fmt, 1)
            else:
                assert isinstance(fmt, IntegerFormat)
            found[name] = words
        if (met := requirements.admissible(found, random)) is not None:
            yield met
