"""Whether a module does the same when it is called again: a verdict is about one call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import isnan
from typing import Any

from .recording import Launch, NotRecordedError, Operation, Pointer, Recording, View


def first_call(recording: Recording, steps: int, storages: int, again: list[View]) -> Recording:
    """Return what the first of two calls did, if the second one did the same.

    Parameters
    ----------
    recording : Recording
        Of both calls, with the results of the first.
    steps, storages : int
        How many there were after the first call.
    again : list of View
        The results of the second call.

    Raises
    ------
    NotRecordedError
        If the second call did something else, or with what the first one made.
    """
    first, second = recording.steps[:steps], recording.steps[steps:]
    names: dict[int, int] = {}
    for one, other in zip(first, second, strict=False):
        if not _is_same(one, other, recording, storages, names):
            raise NotRecordedError(
                f"the second call of the module differs: {_named(other)}, where it was {_named(one)} at first"
            )
    if len(first) != len(second):
        more, count = ("more", first) if len(second) > len(first) else ("less", second)
        raise NotRecordedError(
            f"the second call of the module does {more} than the first, after {len(count)} steps"
        )
    if not _is_same(recording.results, again, recording, storages, names):
        raise NotRecordedError("the second call of the module returns other results than the first")
    kept = recording.storages[:storages]
    return Recording(kept, first, recording.inputs, recording.results, recording.notes, recording.sources)


def _named(step: Launch | Operation) -> str:
    return f"{step.entry if isinstance(step, Launch) else step.name} in {step.where}"


def _is_same(one: Any, other: Any, recording: Recording, storages: int, names: dict[int, int]) -> bool:
    """Tell whether parts of both calls are alike, with new storages in place of those that the first made."""
    if type(one) is not type(other):
        return False
    if isinstance(one, View | Pointer):
        if not _is_same_storage(one.storage, other.storage, recording, storages, names):
            return False
        pairs = [(getattr(one, name), getattr(other, name)) for name in _names(one) if name != "storage"]
        return all(mine == theirs for mine, theirs in pairs)
    if is_dataclass(one):
        values = [(getattr(one, name), getattr(other, name)) for name in _names(one)]
        return all(_is_same(*pair, recording, storages, names) for pair in values)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(
            _is_same(*pair, recording, storages, names) for pair in zip(one, other, strict=True)
        )
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            _is_same(one[key], other[key], recording, storages, names) for key in one
        )
    return bool(one == other) or (isinstance(one, float) and isnan(one) and isnan(other))


def _names(value: Any) -> Iterator[str]:
    return (field.name for field in fields(value))


def _is_same_storage(
    one: int, other: int, recording: Recording, storages: int, names: dict[int, int]
) -> bool:
    if one == other:  # made by neither, or numbers in the code
        origin = recording.storages[one].origin
        if origin in ("input", "parameter") or recording.storages[one].name == "constant":
            return True
        return recording.storages[one].variable is not None  # of which each call writes what it reads
    if other < storages or names.setdefault(one, other) != other:
        return False
    return recording.storages[one] == recording.storages[other]
