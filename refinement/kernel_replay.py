"""A kernel run on numbers, and the contract computed with numpy: the two sides of a counterexample."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import InputError
from ..spec.formats import format_named
from ..spec.json_text import read_json
from ..spec.text_files import read_text
from .array_memory import elements_in, memories
from .assignments import Assignment
from .contract import Array, Instance
from .contract_reading import read_contract
from .counterexamples import (
    KIND,
    SCHEMA,
    Difference,
    Inputs,
    as_constants,
    given_constants,
    input_formats,
    numbers_in,
    unequal,
)
from .front_end import Kernel, read_kernel
from .reference_result import reference, stored
from .terms import TermStore


def outputs_on(kernel: Kernel, instance: Instance, inputs: Inputs) -> dict[str, NDArray[Any]]:
    """Run a kernel on numbers; returns the values of each output by linear index, NaN where unwritten."""
    store = TermStore()
    constants = as_constants(store, instance, inputs)
    given = given_constants(store, instance)
    outcome = kernel.run(instance, store, given | constants)
    assignment = Assignment(store, {})
    memory = memories(instance)
    values = {}
    for output in instance.outputs:
        written, terms = elements_in(store, memory[output.name], outcome.arrays[output.name].lanes)
        found = np.full(output.elements, np.nan, dtype=object)
        found[written] = numbers_in(assignment.values(terms[written]), output.format).astype(object)
        values[output.name] = found
    return values


def confirmed(
    kernel: Kernel, instance: Instance, inputs: Inputs, output: Array, element: int, bound: float
) -> Difference | None:
    """Return how an element differs between the kernel on numbers and numpy on the contract, if it does.

    Floats differ that are further apart than `bound`.
    """
    got, wanted = _sides(kernel, instance, inputs, output, element)
    if not unequal(np.array([got]), np.array([wanted]), np.array([bound]))[0]:
        return None
    index = ",".join(map(str, np.unravel_index(element, output.shape)))
    return Difference(f"{output.name}[{index}]", str(got), str(wanted))


def _sides(
    kernel: Kernel, instance: Instance, inputs: Inputs, output: Array, element: int
) -> tuple[Any, Any]:
    got = outputs_on(kernel, instance, inputs)[output.name][element]
    return got, stored(reference(instance, inputs)[output.name], output.format).reshape(-1)[element]


@dataclass(frozen=True)
class Replayed:
    """A counterexample run again.

    Attributes
    ----------
    document : mapping
        As it was saved.
    difference : Difference, optional
        What the element is now, where it still differs.
    """

    document: dict[str, Any]
    difference: Difference | None


def document_of_kernel(path: Path) -> dict[str, Any] | None:
    """Return a counterexample's document, None if it is not one of a kernel (or no document at all)."""
    try:
        document = read_json(read_text(path))
    except InputError:
        return None
    return document if isinstance(document, dict) and document.get("kind") == KIND else None


def replay(path: Path, document: dict[str, Any]) -> Replayed:
    """Run a saved counterexample again.

    Raises
    ------
    InputError
        If it is not one, or the kernel or the contract can't be read or no longer fits.
    """
    if document.get("schema") != SCHEMA or document.get("kind") != KIND:
        raise InputError(f"{path}: not a counterexample of a kernel of schema {SCHEMA}")
    try:
        kernel_path, contract_path = Path(document["kernel"]), Path(document["contract"])
        sizes = {str(name): int(value) for name, value in document["sizes"].items()}
        inputs = {
            name: np.array([int(bits, 16) for bits in each["bits"]], dtype=np.uint64)
            for name, each in document["inputs"].items()
        }
        formats = {name: format_named(each["format"]) for name, each in document["inputs"].items()}
        element, bound = str(document["difference"]["output"]), float(document.get("bound", 0))
        relative = 0.0 if "bound" in document else float(document["tolerance"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path}: not a counterexample of a kernel: {error!r}") from None
    contract = read_contract(contract_path)
    instance = contract.instance(sizes)
    for name, (fmt, shape) in input_formats(instance).items():
        if formats.get(name) != fmt or len(inputs.get(name, ())) != int(np.prod(shape)):
            raise InputError(f"{path}: {name} is not {fmt} of shape {list(shape)} as in {contract_path}")
    kernel = read_kernel(contract.isa, kernel_path, contract.entry, contract.target)
    name, _, index = element.partition("[")
    try:
        output = next(each for each in instance.outputs if each.name == name)
        place = tuple(int(each) for each in index.rstrip("]").split(",")) if index else ()
        number = int(np.ravel_multi_index(place, output.shape))
    except (StopIteration, ValueError, TypeError, OverflowError):
        raise InputError(f"{path}: {element!r} is no element of an output of {contract_path}") from None
    if relative:  # written when bounds were relative
        sides = (float(each) for each in _sides(kernel, instance, inputs, output, number))
        bound = relative * max(abs(each) for each in sides)
    return Replayed(document, confirmed(kernel, instance, inputs, output, number, bound))
