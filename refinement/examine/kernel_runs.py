"""Runs of a kernel on numbers next to expected outputs: both sides of a counterexample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.arguments import Array
from ..contract.contract import Instance
from ..machine.array_memory import elements_in, memories
from ..machine.front_end import Kernel
from ..terms.assignments import Assignment, fillings
from ..terms.inputs import Inputs, numbers_in
from ..terms.store import TermStore
from .counterexample_document import Difference
from .counterexamples import as_constants, given_constants, unequal


def outputs_on(kernel: Kernel, instance: Instance, inputs: Inputs) -> dict[str, NDArray[Any]]:
    """Run a kernel on numbers; returns the values of each output by linear index, NaN where unwritten."""
    return next(_outcomes(kernel, instance, inputs))


def _outcomes(kernel: Kernel, instance: Instance, inputs: Inputs) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the values of outputs with what nobody has written as a great number, then as a NaN."""
    store = TermStore()
    constants = as_constants(store, instance, inputs)
    given = given_constants(store, instance)
    outcome = kernel.run(instance, store, given | constants)
    memory = memories(instance)
    for filled in fillings(store):
        assignment = Assignment(store, {}, undefined=filled)
        values = {}
        for output in instance.outputs:
            written, terms = elements_in(store, memory[output.name], outcome.arrays[output.name].lanes)
            found = np.full(output.elements, np.nan, dtype=object)
            found[written] = numbers_in(assignment.values(terms[written]), output.format).astype(object)
            values[output.name] = found
        yield values


Wanted = Callable[[Inputs], Mapping[str, NDArray[Any]]]
"""The values of each output, by linear index, that inputs are to give."""


def confirmed(
    kernel: Kernel,
    instance: Instance,
    wanted_on: Wanted,
    inputs: Inputs,
    output: Array,
    element: int,
    bound: float,
) -> Difference | None:
    """Return how an element differs between the kernel on numbers and what is wanted, if it does.

    Floats differ that are further apart than `bound`.
    """
    wanted = wanted_on(inputs)[output.name][element]
    for values in _outcomes(kernel, instance, inputs):
        got = values[output.name][element]
        if unequal(np.array([got]), np.array([wanted]), np.array([bound]))[0]:
            index = ",".join(map(str, np.unravel_index(element, output.shape)))
            return Difference(f"{output.name}[{index}]", str(got), str(wanted))
    return None


def sides(
    kernel: Kernel, instance: Instance, wanted_on: Wanted, inputs: Inputs, output: Array, element: int
) -> tuple[Any, Any]:
    """Return an element of the kernel's on numbers, and what it is to be."""
    got = outputs_on(kernel, instance, inputs)[output.name][element]
    return got, wanted_on(inputs)[output.name][element]
