"""Matrix products and convolutions that both modules leave to PyTorch: their results are data.

A candidate often calls ``self.conv(x)`` as the reference does, and launches a kernel on the result. The same
operation of the same tensors has the same result, so what is shown for any result is shown for this one; and
the products need not be multiplied out. Nothing else is replaced: behind a ``relu`` numbers are not negative,
which a kernel may rely on.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

from .programs import views_in
from .recording import Launch, Operation, Recording, View

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
    values: dict[Hashable, int] = {}
    shared: list[int] | None = None
    while True:
        mine, theirs = (_results_of_products(each, values, shared) for each in (candidate, reference))
        before, shared = shared, [key for key in theirs if key in mine]
        if shared == before:
            break
    found = []
    for recording, places in ((candidate, mine), (reference, theirs)):
        storages, steps = list(recording.storages), list(recording.steps)
        for number, key in enumerate(shared):
            step = steps[places[key]]
            assert isinstance(step, Operation) and step.results[0] is not None
            result = step.results[0]
            storages[result.storage] = replace(
                storages[result.storage],
                origin="input",
                name=f"result {number} of {step.name}",
                shape=result.shape,
            )
        left = [step for place, step in enumerate(steps) if place not in {places[key] for key in shared}]
        found.append(replace(recording, storages=storages, steps=left))
    steps = [reference.steps[theirs[key]] for key in shared]
    where = tuple(f"{step.name} in {step.where}" for step in steps if isinstance(step, Operation))
    return found[0], found[1], where


def _results_of_products(
    recording: Recording, numbers: dict[Hashable, int], shared: Collection[int] | None
) -> dict[int, int]:
    """Return the steps that fill storages with products for good, by the number of what these are.

    Launches are taken to leave products that are data as they are: those that write to data are findings of
    `verify`. Other products may be something else after each launch that gets their address.

    Parameters
    ----------
    recording : Recording
        Of one module.
    numbers : dict
        Of values of storages, equal for equal values alone; the same dict for both modules.
    shared : collection of int, optional
        The products that are data; by default all of them.
    """

    def number(value: Hashable) -> int:
        return numbers.setdefault(value, len(numbers))

    values: dict[int, int] = {}
    for storage, what in enumerate(recording.storages):
        given = what.origin in _GIVEN
        values[storage] = number((what.origin, what.name, what.dtype, what.elements) if given else object())
    found: dict[int, int] = {}
    filled: dict[int, int] = {}
    used = set[int]()
    for place, step in enumerate(recording.steps):
        if isinstance(step, Launch):
            written = {each for each in step.storages if recording.storages[each].origin not in _GIVEN}
            data = {each for each, value in filled.items() if shared is None or value in shared}
            values.update((each, number(object())) for each in written - data)
            used |= step.storages
            continue
        what_of = _value(step.arguments, values), _value(step.options, values)
        used |= {view.storage for view in views_in([*step.arguments, *step.options.values()])}
        for which, result in enumerate(step.results):
            if result is None:
                continue
            found.pop(filled.pop(result.storage, -1), None)
            is_whole = _is_whole(result, recording)
            value = number((step.name, which, result.dtype, result.shape, what_of) if is_whole else object())
            values[result.storage] = value
            is_product = step.name in PRODUCTS and len(step.results) == 1 and is_whole
            if is_product and result.storage not in used and value not in found:
                found[value], filled[result.storage] = place, value
            used.add(result.storage)
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
