"""Buffers that several arrays share: assembled before a run, taken apart after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..contract.arguments import Array, SharedBuffer
from ..contract.element_places import place_of
from ..terms.interning import Ids
from ..terms.store import TermStore
from .array_memory import ArrayMemory, initial_bytes, results_of
from .front_end import FinalArray
from .memory import ByteLanes, Naming, Offsets


@dataclass(frozen=True)
class Joined:
    """The initial contents of a shared buffer.

    Attributes
    ----------
    lanes : ByteLanes
        Its bytes.
    unowned : array (size,), optional
        Bytes that may be read only by who writes them back.
    naming : callable
        Tells what a byte is.
    results : array (size,)
        Bytes of outputs.
    """

    lanes: ByteLanes
    unowned: NDArray[np.bool_] | None
    naming: Naming
    results: NDArray[np.bool_]


def put_together(
    buffer: SharedBuffer,
    memory: Mapping[str, ArrayMemory],
    store: TermStore,
    inputs: Mapping[str, Ids],
    before: Mapping[str, ByteLanes],
) -> Joined:
    """Return what a buffer holds: what its arrays do, or what `before` says that they do."""
    lanes = ByteLanes(store, buffer.size)
    unowned = np.zeros(buffer.size, dtype=bool)
    results = np.zeros(buffer.size, dtype=bool)
    owners = np.full(buffer.size, -1)
    rest = memory[buffer.name]
    whole = before.get(buffer.name)
    whole = initial_bytes(store, rest, inputs) if whole is None else whole
    lanes.terms[rest.unknown], lanes.lows[rest.unknown] = whole.terms[rest.unknown], whole.lows[rest.unknown]
    for number, array in enumerate(buffer.arrays):
        part = memory[array.name]
        held = before.get(array.name)
        held = initial_bytes(store, part, inputs) if held is None else held
        own, places = array.footprint.lanes(array.occupied), array.at + array.occupied
        lanes.terms[places], lanes.lows[places] = held.terms[own], held.lows[own]
        owners[places] = number
        results[places] |= results_of(part)[own]
        if part.unowned is not None:
            unowned[places] = part.unowned[own]

    def named(byte: int) -> str:
        if not 0 <= byte < buffer.size or owners[byte] < 0:
            return ""
        array = buffer.arrays[int(owners[byte])]
        return str(place_of(array, 8 * (byte - array.at)))

    return Joined(lanes, unowned if unowned.any() else None, named, results)


def taken_apart(buffer: SharedBuffer, final: FinalArray) -> dict[str, FinalArray]:
    """Return what each array of a buffer holds, and what the buffer does, by name."""
    return {buffer.name: final} | {array.name: _part(array, final) for array in buffer.arrays}


def _part(array: Array, final: FinalArray) -> FinalArray:
    places = array.at + _bytes(array)
    lanes = ByteLanes(final.lanes.store, len(places))
    lanes.terms[:], lanes.lows[:] = final.lanes.terms[places], final.lanes.lows[places]
    return FinalArray(lanes, final.lines[places], final.writers[places])


def _bytes(array: Array) -> Offsets:
    """Return the distance of each lane of an array from its address."""
    runs = zip(array.footprint.offsets.tolist(), array.footprint.lengths.tolist(), strict=True)
    return np.concatenate([np.arange(start, start + length) for start, length in runs])
