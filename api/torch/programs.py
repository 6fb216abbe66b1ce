"""Recordings as text: a reference in numpy, steps of the host in numpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from .data_conditions import index_extents
from .recording import Launch, NotRecordedError, Operation, Recording, View

HEAD = '''"""{what}"""

import numpy as np
from numpy import inf, nan

from mmaproof.api.torch.arrays import bounded, stored, view, written
from mmaproof.api.torch.operations import OPERATIONS as aten

'''


def views_in(value: Any) -> Iterator[View]:
    """Yield every tensor among arguments."""
    if isinstance(value, View):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from views_in(each)
    elif isinstance(value, dict):
        yield from views_in(list(value.values()))


def _argument(value: Any, storages: Sequence[str]) -> str:
    if isinstance(value, View):
        read = f"{storages[value.storage]}.reshape((-1,))"
        return f"view({read}, {value.dtype!r}, {value.shape}, {value.strides}, {value.offset})"
    if isinstance(value, tuple | list):
        return "(" + "".join(f"{_argument(each, storages)}, " for each in value) + ")"
    return repr(value)


def needed(recording: Recording) -> list[Operation | Launch]:
    """Return the steps that results depend on; of statistics that a module only keeps none are."""
    wanted = {result.storage for result in recording.results}
    found: list[Operation | Launch] = []
    for step in reversed(recording.steps):
        if isinstance(step, Launch):
            wanted |= step.storages
            found.append(step)
            continue
        kept = tuple(
            result if result is not None and result.storage in wanted else None for result in step.results
        )
        if any(kept):
            wanted |= {view.storage for view in views_in([*step.arguments, *step.options.values()])}
            found.append(replace(step, results=kept))
    return found[::-1]


def call(operation: Operation, storages: Sequence[str]) -> str:
    """Return an operation as an expression."""
    if wrong := [key for key in operation.options if not key.isidentifier()]:
        raise NotRecordedError(f"{operation.name} with the option {wrong[0]!r}")
    given = [_argument(argument, storages) for argument in operation.arguments]
    given += [
        f"{key}={_argument(value, storages)}"
        for key, value in operation.options.items()
        if value is not None and key != "dtype"
    ]
    return f"aten[{operation.name!r}]({', '.join(given)})"


def _comment(where: str) -> str:
    """Return a place on one line: what the host's process says is no code of the program."""
    return "".join(each if each.isprintable() else " " for each in where)


def writes(operation: Operation, value: str) -> Iterator[tuple[int, str]]:
    """Yield the storages that an operation writes, and as expressions where and what."""
    several = len(operation.results) > 1
    for place, each in enumerate(operation.results):
        if each is None:
            continue
        part = f"{value}[{place}]" if several else value
        yield each.storage, f"stored({part}, {each.dtype!r}, {each.shape}, {each.strides}, {each.offset})"


def constant(values: Sequence[Any], elements: int) -> str:
    """Return a storage of known numbers as an expression."""
    numbers = "[" + ", ".join(repr(value) for value in values) + "]"
    return f"np.resize(np.array({numbers}), {elements})"


def reference_text(recording: Recording, names: Sequence[str], outputs: Sequence[str], title: str) -> str:
    """Return a module with the function ``reference`` of inputs and parameters.

    Parameters
    ----------
    recording : Recording
        Of a module in which nothing is launched.
    names : sequence of str
        What each storage is called.
    outputs : sequence of str
        What each result is called.
    title : str
        Its docstring.
    """
    given = [
        name
        for name, storage in zip(names, recording.storages, strict=True)
        if storage.origin in ("input", "parameter")
    ]
    lines = [f"def reference({', '.join(given)}):"]
    for number, extent in index_extents(recording).items():
        lines.append(f"    {names[number]} = bounded({names[number]}, {extent})")
    for name, storage in zip(names, recording.storages, strict=True):
        if storage.values is not None:
            lines.append(f"    {name} = {constant(storage.values, storage.elements)}")
        elif storage.origin not in ("input", "parameter"):
            lines.append(f"    {name} = None")
    for step in needed(recording):
        if not isinstance(step, Operation):
            raise NotRecordedError(f"the reference launches {step.entry}, in {step.where}")
        lines.append(f"    value = {call(step, names)}  # {_comment(step.where)}")
        for number, change in writes(step, "value"):
            name = names[number]
            lines.append(f"    {name} = written({name}, {recording.storages[number].elements}, {change})")
    results = [
        f"{name!r}: {_argument(each if each.shape else replace(each, shape=(1,), strides=(1,)), names)}"
        for name, each in zip(outputs, recording.results, strict=True)
    ]
    lines.append(f"    return {{{', '.join(results)}}}")
    return HEAD.format(what=title) + "\n".join(lines) + "\n"


def step_text(name: str, operation: Operation, names: Sequence[str]) -> tuple[str, list[str]]:
    """Return an operation as a function of the arrays that it reads, and all arrays that it takes."""
    given = views_in([*operation.arguments, *operation.options.values()])
    read = dict.fromkeys(names[each.storage] for each in given)
    changes = list(writes(operation, "value"))
    lines = [f"def {name}({', '.join(read)}):"]
    lines.append(f"    value = {call(operation, names)}  # {_comment(operation.where)}")
    parts = ", ".join(f"{names[storage]!r}: {change}" for storage, change in changes)
    lines.append(f"    return {{{parts}}}")
    taken = list(dict.fromkeys([*read, *(names[storage] for storage, _ in changes)]))
    return "\n".join(lines) + "\n", taken
