"""Matrix products and convolutions that both modules leave to PyTorch: their results are data.

A candidate often calls ``self.conv(x)`` as the reference does, and launches a kernel on the result. The same
operation of the same tensors has the same result, so what is shown for any result is shown for this one; and
the products need not be multiplied out. In their place both modules copy the data. Nothing else is replaced:
behind a ``relu`` numbers are not negative, which a kernel may rely on.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

from .recording import Launch, Operation, Recording, Storage, View, row_major

PRODUCTS = ("convolution", "mm", "bmm", "addmm", "baddbmm", "mv", "addmv")
"""Operations of which no result is replaced by less than all numbers of its type."""

_GIVEN = ("input", "parameter")


def with_shared_products_as_data(
    candidate: Recording, reference: Recording
) -> tuple[Recording, Recording, tuple[str, ...]]:
    """Return both recordings with the products that they share as inputs, and what these are.

    Parameters
    ----------
    candidate, reference : Recording
        Of modules whose inputs and parameters of the same name are the same.
    """
    numbers: dict[Hashable, int] = {}
    mine, theirs = (_products(each, numbers) for each in (candidate, reference))
    shared = [value for value in dict.fromkeys(theirs.values()) if value in mine.values()]
    made = [_with_data(candidate, mine, shared), _with_data(reference, theirs, shared)]
    first = {value: place for place, value in reversed(theirs.items())}
    steps = (reference.steps[first[value]] for value in shared)
    return (
        made[0],
        made[1],
        tuple(f"{step.name} in {step.where}" for step in steps if isinstance(step, Operation)),
    )


def _with_data(recording: Recording, products: Mapping[int, int], shared: list[int]) -> Recording:
    """Return a recording in which products that are shared are copies of inputs, in the order of `shared`."""
    storages, steps = list(recording.storages), list(recording.steps)
    for number, value in enumerate(shared):
        storage = len(storages)
        for place in (place for place, each in products.items() if each == value):
            step = steps[place]
            assert isinstance(step, Operation) and step.results[0] is not None
            result = step.results[0]
            data = View(storage, result.dtype, result.shape, row_major(result.shape), 0)
            steps[place] = Operation("copy", (data,), {}, (result,), step.where)
            name = f"result {number} of {step.name}"
            storages[storage:] = [Storage(data.dtype, prod(data.shape), "input", name, None, data.shape)]
    return replace(recording, storages=storages, steps=steps)


def _products(recording: Recording, numbers: dict[Hashable, int]) -> dict[int, int]:
    """Return the steps that are products, with numbers of what they are.

    Parameters
    ----------
    recording : Recording
        Of one module.
    numbers : dict
        Of values, equal for equal values alone; the same dict for both modules.
    """

    def number(value: Hashable) -> int:
        return numbers.setdefault(value, len(numbers))

    values: dict[int, int] = {}
    for storage, what in enumerate(recording.storages):
        given = what.origin in _GIVEN
        values[storage] = number((what.origin, what.name, what.dtype, what.elements) if given else object())
    found: dict[int, int] = {}
    for place, step in enumerate(recording.steps):
        if isinstance(step, Launch):  # may write to all that is not given; `verify` sees what it does
            written = {each for each in step.storages if recording.storages[each].origin not in _GIVEN}
            values.update((each, number(object())) for each in written)
            continue
        what_of = _value(step.arguments, values), _value(step.options, values)
        for which, result in enumerate(step.results):
            if result is None:
                continue
            value = number((step.name, which, result.dtype, result.shape, what_of))
            values[result.storage] = value if _is_whole(result, recording) else number(object())
            if step.name in PRODUCTS and len(step.results) == 1 and 0 not in result.shape:
                found[place] = value
    return found


def _is_whole(result: View, recording: Recording) -> bool:
    """Tell whether a result is all of its storage, which is made for it."""
    storage = recording.storages[result.storage]
    fits = result.is_row_major and result.offset == 0 and prod(result.shape) == storage.elements
    return fits and storage.origin not in _GIVEN and storage.values is None and storage.dtype == result.dtype


def _value(argument: Any, values: Mapping[int, int]) -> Hashable:
    """Return what is equal for equal arguments alone, in whichever recording."""
    if isinstance(argument, View):
        where = argument.dtype, argument.shape, argument.strides, argument.offset
        return View.__name__, values[argument.storage], where
    if isinstance(argument, tuple | list):
        return tuple(_value(each, values) for each in argument)
    if isinstance(argument, Mapping):
        return tuple((name, _value(each, values)) for name, each in sorted(argument.items()))
    return type(argument).__name__, argument
