"""Replay of saved counterexamples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..spec.errors import InputError
from ..spec.formats import format_named
from ..spec.json_text import read_json
from ..spec.text_files import read_text
from .contract.reading import read_contract
from .examine.bit_differences import replayed_bits
from .examine.counterexample_document import KIND, SCHEMA, Difference
from .examine.counterexamples import input_formats
from .examine.error_search import replayed
from .examine.kernel_runs import confirmed, outputs_on, sides
from .examine.references import reference_of
from .expected.bound_inference import bounded_store
from .machine.launch_sequence import kernel_of


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
    kernel = kernel_of(contract, kernel_path)
    other = document.get("against")
    if other is None:
        wanted_on = reference_of(instance, bounded_store(instance)).values
    else:
        former = kernel_of(contract.of_former, Path(other))
        wanted_on = partial(outputs_on, former, contract.instance(sizes, former=True))
    name, _, index = element.partition("[")
    try:
        output = next(each for each in instance.outputs if each.name == name)
        place = tuple(int(each) for each in index.rstrip("]").split(",")) if index else ()
        number = int(np.ravel_multi_index(place, output.shape))
    except (StopIteration, ValueError, TypeError, OverflowError):
        raise InputError(f"{path}: {element!r} is not an element of an output of {contract_path}") from None
    if document.get("accuracy"):
        return Replayed(document, replayed(kernel, instance, inputs, output, number))
    if document.get("bits") and other is None:
        return Replayed(document, replayed_bits(kernel, instance, inputs, output, number))
    if relative:  # written when bounds were relative
        values = (float(side) for side in sides(kernel, instance, wanted_on, inputs, output, number))
        bound = relative * max(abs(each) for each in values)
    return Replayed(document, confirmed(kernel, instance, wanted_on, inputs, output, number, bound))
