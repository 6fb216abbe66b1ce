"""What the host code of a module did: storages, operations of PyTorch, launches of kernels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from ...spec.errors import MmaproofError


class NotRecordedError(MmaproofError):
    """Something that host code did, of which a recording would be wrong."""


@dataclass(frozen=True)
class View:
    """A tensor: where its elements are in a storage.

    Attributes
    ----------
    storage : int
        The storage's number.
    dtype : str
        ``float32``.
    shape, strides : tuple of int
        In elements.
    offset : int
        Of its first element.
    """

    storage: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @property
    def is_row_major(self) -> bool:
        """Whether its elements lie one behind the other, in row-major order."""
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != expected:
                return False
            expected *= extent
        return True


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a tensor whose elements lie one behind the other."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


@dataclass(frozen=True)
class Storage:
    """Memory of a tensor.

    Attributes
    ----------
    dtype : str
        Of its elements.
    elements : int
        How many.
    origin : str
        ``input``, ``parameter``, ``constant`` (with `values`), ``empty``, or ``result`` of an operation.
    name : str
        What messages call it.
    values : tuple of numbers, optional
        What it holds at first, repeated.
    shape : tuple of int
        Of the tensor that it was made for, in the order of its memory.
    variable : (str, str), optional
        The PTX file, and the variable in it that the storage is.
    """

    dtype: str
    elements: int
    origin: str
    name: str
    values: tuple[float | int | str, ...] | None = None
    shape: tuple[int, ...] = ()
    variable: tuple[str, str] | None = None


@dataclass(frozen=True)
class Operation:
    """An operation of PyTorch.

    Attributes
    ----------
    name : str
        ``aten.add.Tensor``.
    arguments : tuple
        Views, numbers, lists of them, in order.
    options : mapping
        By name.
    results : tuple of View or None
        What is written; None for what nobody has.
    where : str
        ``file:line`` of the host code.
    """

    name: str
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]
    results: tuple[View | None, ...]
    where: str


@dataclass(frozen=True)
class Pointer:
    """An address that is passed to a kernel.

    Attributes
    ----------
    storage : int
        In which storage.
    at : int
        Bytes from its beginning.
    """

    storage: int
    at: int


@dataclass(frozen=True)
class Word:
    """A number that is passed to a kernel.

    Attributes
    ----------
    size : int
        Bytes.
    bits : int
        Its encoding.
    """

    size: int
    bits: int


@dataclass(frozen=True)
class Passed:
    """One parameter of a launch: an address, a number, or a structure of them.

    Attributes
    ----------
    size : int
        Bytes.
    parts : tuple of (int, Pointer or Word)
        What lies where in it; one part of its size, at 0, where it is no structure.
    is_structure : bool
        Whether it is passed as bytes.
    """

    size: int
    parts: tuple[tuple[int, Pointer | Word], ...]
    is_structure: bool = False


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel.

    Attributes
    ----------
    entry : str
        The kernel's name in its PTX.
    ptx : str
        The file.
    grid, block : tuple of int
        Three extents each.
    shared : int
        Bytes of dynamic shared memory.
    passed : tuple of Passed
        Its parameters.
    where : str
        ``file:line`` of the host code.
    variables : tuple of int
        The storages that are variables of its module, which it may read.
    """

    entry: str
    ptx: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    passed: tuple[Passed, ...]
    where: str
    variables: tuple[int, ...] = ()

    @property
    def storages(self) -> set[int]:
        """The storages that it may read or write."""
        parts = [part for passed in self.passed for _, part in passed.parts]
        return {part.storage for part in parts if isinstance(part, Pointer)} | set(self.variables)


Step = Operation | Launch


@dataclass
class Recording:
    """All that was done, in order.

    Attributes
    ----------
    storages : list of Storage
        By number.
    steps : list of Step
        In order.
    inputs : list of View
        The tensors that the module was called with.
    results : list of View
        What it returned.
    notes : list of str
        What a reader should know.
    sources : mapping of str to str
        Kernels' sources by the name that PTX has for them, and the file to name.
    """

    storages: list[Storage] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    inputs: list[View] = field(default_factory=list)
    results: list[View] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    @property
    def launches(self) -> Sequence[Launch]:
        """The launches alone."""
        return [step for step in self.steps if isinstance(step, Launch)]


def identifier(origin: str, name: str) -> str:
    """Return what contracts call an input or a parameter."""
    return f"{'p' if origin == 'parameter' else 'x'}_" + re.sub(r"\W", "_", name)


def identifiers(recording: Recording) -> list[str]:
    """Return a name that contracts can have for each storage."""
    found: list[str] = []
    for number, storage in enumerate(recording.storages):
        name = f"t{number}"
        if storage.origin in ("input", "parameter"):
            name = identifier(storage.origin, storage.name)
        found.append(name if name not in found else f"{name}_{number}")
    return found


def other_results(candidate: Recording, reference: Recording) -> str | None:
    """Return in what the results of both modules are not alike, before any number is looked at."""
    if len(candidate.results) != len(reference.results):
        return f"returns {len(candidate.results)} tensors, not {len(reference.results)}"
    for mine, theirs in zip(candidate.results, reference.results, strict=True):
        if mine.shape != theirs.shape:
            return f"returns a tensor of shape {list(mine.shape)}, not {list(theirs.shape)}"
        if mine.dtype != theirs.dtype:
            return f"returns a tensor of {mine.dtype}, not {theirs.dtype}"
    return None


_KINDS = {
    each.__name__: each for each in (View, Storage, Operation, Pointer, Word, Passed, Launch, Recording)
}


def to_json(value: Any) -> Any:
    """Return a recording, or a part of one, as lists and dictionaries."""
    if type(value).__name__ in _KINDS and type(value) is _KINDS[type(value).__name__]:
        return {"": type(value).__name__, **{key: to_json(each) for key, each in vars(value).items()}}
    if isinstance(value, tuple | list):
        return [to_json(each) for each in value]
    if isinstance(value, Mapping):
        return {"": "mapping", **{str(key): to_json(each) for key, each in value.items()}}
    if isinstance(value, float) and not isfinite(value):
        return {"": "float", "text": str(value)}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise NotRecordedError(f"{type(value).__name__} {value!r} can't be written down")


def from_json(value: Any) -> Any:
    """Return what `to_json` wrote; lists are tuples, but those of a recording itself."""
    if isinstance(value, list):
        return tuple(from_json(each) for each in value)
    if not isinstance(value, dict):
        return value
    kind = value[""]
    if kind == "float":
        return float(value["text"])
    given = {key: from_json(each) for key, each in value.items() if key}
    if kind == "mapping":
        return given
    if kind == "Recording":
        parts: dict[str, Any] = {k: list(v) if isinstance(v, tuple) else dict(v) for k, v in given.items()}
        return Recording(**parts)
    return _KINDS[kind](**given)
