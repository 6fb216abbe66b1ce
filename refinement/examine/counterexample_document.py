"""The JSON document of a counterexample of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict

from ...spec.json_fields import Amount, Keyword, Positive

SCHEMA = 1
KIND = "kernel"


@dataclass(frozen=True)
class Difference:
    """An output element on which kernel and contract differ.

    Attributes
    ----------
    output : str
        The element, such as ``C[3,5]``.
    kernel : str
        What the kernel computes.
    contract : str
        What the contract says.
    """

    output: str
    kernel: str
    contract: str


class GivenInput(TypedDict):
    """An input of a kernel.

    Attributes
    ----------
    format : str
        Element format.
    shape : list of int
        Extents.
    bits : list of str
        Encodings in hexadecimal, row-major.
    """

    format: str
    shape: list[Positive]
    bits: list[Annotated[str, Keyword("pattern", "^[0-9a-f]+$")]]


class SavedKernelCounterexample(TypedDict):
    """A counterexample of a kernel, as `verify` saves it and `replay` reads it.

    Attributes
    ----------
    schema, kind : int, str
        What the document is.
    kernel, contract : str
        The files.
    against : str
        The file of the kernel that it is compared with, where it is compared with one.
    sizes : mapping of str to int
        The set of sizes.
    inputs : mapping of str to GivenInput
        By name.
    difference : Difference
        The first element that differs.
    bound : float
        The difference that the roundings of both sides explain on these inputs, at most; the element
        differs by more.
    tolerance : float
        The bound relative to the greater of the two numbers; `replay` goes by it where there is no bound.
    accuracy : bool
        The bound is the error that the contract allows on these inputs.
    bits : bool
        The contract demands the very bits, and they differ.
    """

    schema: Literal[1]
    kind: Literal["kernel"]
    kernel: str
    against: NotRequired[str]
    contract: str
    sizes: Mapping[str, int]
    inputs: Mapping[str, GivenInput]
    difference: Difference
    bound: NotRequired[Amount]
    tolerance: Amount
    accuracy: NotRequired[Literal[True]]
    bits: NotRequired[Literal[True]]
