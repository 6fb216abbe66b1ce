"""Conditions on data that PyTorch itself has: truths are 0 or 1, indices are inside of what they index."""

from __future__ import annotations

from math import prod

from .recording import Operation, Recording, Storage, View, identifiers

_KEEPING = ("where", "_to_copy", "clone", "copy")
"""Operations whose results are elements of what they are of."""


def data_conditions(candidate: Recording, reference: Recording | None) -> list[str]:
    """Return conditions, as ``[requires]`` of a contract has them."""
    found = []
    every = [candidate] if reference is None else [candidate, reference]
    for recording in every:
        for storage, name in zip(recording.storages, identifiers(recording), strict=True):
            if storage.origin in ("input", "parameter") and storage.dtype == "bool":
                found.append(f"{_element(storage, name)} <= 1")
        names = identifiers(recording)
        for number, extent in index_extents(recording).items():
            found.append(f"0 <= {_element(recording.storages[number], names[number])} < {extent}")
    return list(dict.fromkeys(found))


def _element(storage: Storage, name: str) -> str:
    rank = len(storage.shape) if storage.shape and prod(storage.shape) == storage.elements else 1
    return f"{name}[{', '.join(f'i{axis}' for axis in range(rank))}]"


def index_extents(recording: Recording) -> dict[int, int]:
    """Return how many there are of what inputs, by storage, are indices of: elsewhere PyTorch fails."""
    found: dict[int, int] = {}
    sources: dict[int, set[int]] = {}
    for step in recording.steps:
        if not isinstance(step, Operation):
            continue
        views = [argument for argument in step.arguments if isinstance(argument, View)]
        if step.name in _KEEPING:
            kept = {source for view in views for source in sources.get(view.storage, {view.storage})}
            for result in step.results:
                if result is not None:
                    sources[result.storage] = kept
        if step.name != "gather":
            continue
        values, index = views
        extent = values.shape[int(step.arguments[1])]
        for number in sources.get(index.storage, {index.storage}):
            storage = recording.storages[number]
            if storage.origin in ("input", "parameter") and storage.dtype.startswith(("int", "uint")):
                found[number] = min(extent, found.get(number, extent))
    return found
