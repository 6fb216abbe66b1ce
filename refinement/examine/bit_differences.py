"""Inputs that show different bits where a contract demands bits and only real values are equal.

Only numbers count whose bits are certain on both sides: each operation rounds as the specification says, and
nothing is left open, as the order in which a matrix unit adds up is.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..errors.exact_errors import ExactValues, OpenValueError
from ..expected.bound_inference import bounded_store
from ..machine.front_end import Kernel
from ..normal_forms.forms import NormalForms
from ..terms.assignments import Assignment
from ..terms.inputs import Inputs, numbers_in
from ..terms.interning import Ids
from .counterexample_document import Difference
from .counterexamples import KernelCounterexample, candidates
from .kernel_runs import outputs_on
from .references import Reference, reference_of

_ATTEMPTS = 24
"""Inputs tried."""

_LOOKED_AT, _ASKED = 256, 4
"""Elements that are evaluated on them, and those with other bits of which certainty is asked."""

_ROUNDED = {"ptx": ("div", "rcp", "sqrt"), "power": ("div", "rcp", "sqrt")}
"""Functions whose results an instruction set rounds to nearest; documents of PTO round none."""


class Apart(NamedTuple):
    """An element whose bits differ, with the inputs that show it."""

    element: int
    difference: Difference
    counterexample: KernelCounterexample


def found_apart(
    kernel: Kernel,
    instance: Instance,
    forms: NormalForms,
    reference: Reference,
    compared: tuple[Array, NDArray[np.intp], Ids, Ids],
    given: Inputs,
) -> Apart | None:
    """Return inputs on which an element has other bits than are demanded; None if none are found.

    Parameters
    ----------
    kernel, instance, forms, reference : Kernel, Instance, NormalForms, Reference
        The run, and what outputs are to be.
    compared : (Array, array (n,), array (elements,), array (elements,))
        An output, elements of it by linear index, and the terms of the kernel and of the contract.
    given : mapping of str to array
        The inputs that the contract is about, if it is not about all.
    """
    output, members, actual, expected = compared
    some = members[:_LOOKED_AT]
    for inputs in islice(candidates(instance, forms.quantifier, ()), _ATTEMPTS):
        tried = {**inputs, **given}
        assignment = Assignment(forms.store, tried)
        try:
            sides = [
                numbers_in(assignment.values(terms[some]), output.format) for terms in (actual, expected)
            ]
        except UnsupportedError:
            return None
        got, wanted = (side.astype(np.float64) for side in sides)
        apart = np.flatnonzero(np.isfinite(got) & np.isfinite(wanted) & _are_different(got, wanted))
        exact = ExactValues(forms.store, tried, _ROUNDED.get(instance.contract.isa, ()))
        for place in apart[:_ASKED]:
            element = int(some[place])
            of_zeros = not got[place] and not wanted[place]
            if not _are_certain(exact, output, int(actual[element]), int(expected[element]), of_zeros):
                continue
            run = float(outputs_on(kernel, instance, tried)[output.name][element])
            if _are_different(run, got[place]):
                continue
            difference = _difference(output, element, got[place], wanted[place])
            shown = KernelCounterexample.found(
                kernel.path, reference.former, instance, tried, difference, 0.0, bits=True
            )
            return Apart(element, difference, shown)
    return None


def replayed_bits(
    kernel: Kernel, instance: Instance, inputs: Inputs, output: Array, element: int
) -> Difference | None:
    """Return how an element's bits differ from the contract's on inputs; None if they don't, or may not."""
    store = bounded_store(instance)
    term = int(reference_of(instance, store).expected(output)[element])
    try:
        ExactValues(store, inputs, _ROUNDED.get(instance.contract.isa, ())).rounded(term, output.format)
        wanted = float(numbers_in(Assignment(store, inputs).values(np.array([term])), output.format)[0])
    except (OpenValueError, UnsupportedError):
        return None
    got = float(outputs_on(kernel, instance, inputs)[output.name][element])
    return _difference(output, element, got, wanted) if _are_different(got, wanted) else None


def _are_different(one: Any, other: Any) -> Any:
    """Tell which numbers have other bits; zeros of two signs have."""
    return (one != other) | (np.signbit(one) != np.signbit(other))


def _are_certain(exact: ExactValues, output: Array, actual: int, expected: int, of_zeros: bool) -> bool:
    """Tell whether the numbers of two terms are certain, if so of zeros with their signs."""
    try:
        for term in (actual, expected):
            exact.rounded(term, output.format)
    except (OpenValueError, UnsupportedError):
        return False
    return not of_zeros or exact.states_signs


def _difference(output: Array, element: int, got: float, wanted: float) -> Difference:
    index = ",".join(map(str, np.unravel_index(element, output.shape)))
    return Difference(f"{output.name}[{index}]", str(got), str(wanted))
