"""A kernel's counterexample for people to read: its inputs, and both values of the element that differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..spec.formats import format_named
from ..spec.values import values_of_encodings

SHOWN = 8
"""Elements of an input that are shown."""


def difference_text(output: str, kernel: str, found: str, reference: str, wanted: str) -> str:
    """Return both values of an element, and whose each is.

    Parameters
    ----------
    output : str
        The element.
    kernel, reference : str
        The kernel's file, and that of the contract or of the other kernel.
    found, wanted : str
        The value that each of them gives.
    """
    return f"{output} is {found} in {kernel}, where {reference} gives {wanted}"


def input_lines(inputs: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the inputs of a counterexample: of each array the first elements that are not 0."""
    for name, given in inputs.items():
        yield _input(name, given)


def _input(name: str, given: Mapping[str, Any]) -> str:
    """Write an array of a counterexample: its format and extents, and elements."""
    shape = tuple(given["shape"])
    head = (
        f"{name}: {given['format']}[{', '.join(map(str, shape))}]" if shape else f"{name}: {given['format']}"
    )
    nonzero = [place for place, bits in enumerate(given["bits"]) if int(bits, 16)]
    if not nonzero:
        return f"{head} = 0"
    fmt = format_named(given["format"])
    bits = np.array([int(given["bits"][place], 16) for place in nonzero[:SHOWN]], dtype=fmt.storage)
    values = [
        f"{value:g} (0x{word:x})" for value, word in zip(values_of_encodings(bits, fmt), bits, strict=True)
    ]
    if not shape:
        return f"{head} = {values[0]}"
    places = (",".join(map(str, np.unravel_index(place, shape))) for place in nonzero[:SHOWN])
    shown = [f"{name}[{place}] = {value}" for place, value in zip(places, values, strict=True)]
    if more := len(nonzero) - len(shown):
        shown.append(f"{more} more are not 0")
    elif len(nonzero) < len(given["bits"]):
        shown.append("the others are 0")
    return f"{head}: {', '.join(shown)}"
