"""Arrays of a contract as byte lanes: initial contents, and elements read back after the run.

Bits that belong to no element are gaps. Those of an element's own memory (`element_bits`) are zeros where
the array is read; of all others nothing is known, so that they are data of their own: bytes named by
`ArrayMemory.name`. So is what an output holds where no formula covers it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import U8
from ..contract.arguments import Array, SharedBuffer
from ..contract.contract import Instance
from ..contract.footprint import Offsets
from ..contract.parameters import Access, Gaps
from ..expected.formula_space import FormulaSpace
from ..formula.tree import Formula
from ..terms import bit_slices
from ..terms.interning import Ids
from ..terms.store import TermStore, bits
from .memory import ABSENT, ByteLanes

BYTE = 8
_ALL = 0xFF

Masks = NDArray[np.uint8]
"""Bits of each lane of an array."""


@dataclass(frozen=True)
class ArrayMemory:
    """The layout of an array in memory at one set of sizes.

    Attributes
    ----------
    array : Array
        The array.
    kept : array (lanes,), optional
        Bits that the kernel must leave as they are; None where it may write them all, or none.
    unknown : array (n,)
        Lanes with bits of which nothing is known before the kernel; the n-th holds the n-th byte of the
        input `name`.
    unowned : array (lanes,), optional
        Lanes that are there for being left as they are: who reads one must write it too. None if there
        are none.
    """

    array: Array
    kept: Masks | None
    unknown: Offsets
    unowned: NDArray[np.bool_] | None

    @property
    def name(self) -> str:
        """What bytes of which nothing is known are called as data."""
        return f"{self.array.name} before"


def memories(instance: Instance) -> dict[str, ArrayMemory]:
    """Return the memory of every array of a contract at one set of sizes.

    Raises
    ------
    InputError
        If a formula covers nothing, or an index leaves its array.
    """
    covered = {formula.output: _covered(instance, formula) for formula in instance.contract.formulas}
    found = {
        name: (_memory if array.within is None else _part)(array, covered.get(name))
        for name, array in instance.arrays.items()
    }
    return found | {buffer.name: _rest(buffer) for buffer in instance.buffers}


def _part(array: Array, covered: NDArray[np.bool_] | None) -> ArrayMemory:
    """Return the memory of an array that lies in a buffer: bytes between its elements are not its own."""
    own = np.zeros(array.footprint.size, dtype=np.uint8)
    own[array.footprint.lanes(array.occupied)] = _ALL
    nowhere: Offsets = np.zeros(0, dtype=np.int64)
    if array.access is Access.SCRATCH:
        return ArrayMemory(array, None, nowhere, None)
    if array.access.is_output:
        members = np.arange(array.elements) if covered is None else np.flatnonzero(covered)
        own &= ~_element_memory(array, members, padded=False)
    kept = own if own.any() else None
    if array.access is not Access.OUT or kept is None:
        return ArrayMemory(array, kept, nowhere, None)
    return ArrayMemory(array, kept, np.flatnonzero(own), own != 0)


def _rest(buffer: SharedBuffer) -> ArrayMemory:
    """Return the bytes of a buffer in which no array has elements: data that must stay as they are."""
    own = np.full(buffer.size, _ALL, dtype=np.uint8)
    for array in buffer.arrays:
        own[array.at + array.occupied] = 0
    whole = Array(buffer.name, U8, Access.SCRATCH, (buffer.size,), (1,), buffer.alignment, BYTE, 0, None)
    return ArrayMemory(whole, own if own.any() else None, np.flatnonzero(own), None)


def _covered(instance: Instance, formula: Formula) -> NDArray[np.bool_]:
    """Return which elements (by linear index) a formula describes."""
    found: NDArray[np.bool_] = FormulaSpace(instance, formula).covered().reshape(-1)
    if not found.any():
        where = f" at {instance}" if str(instance) else ""
        raise formula.source.error(0, f"it covers no element of {formula.output}{where}")
    return found


def inputs_of(store: TermStore, instance: Instance) -> dict[str, Ids]:
    """Return everything that a kernel is given, as terms: elements of arrays, unknown bytes, scalars."""
    given = {name: input_terms(store, array) for name, array in instance.arrays.items() if array.is_given}
    unknown = {
        memory.name: store.inputs(memory.name, U8, np.arange(len(memory.unknown)))
        for memory in memories(instance).values()
        if len(memory.unknown)
    }
    scalars = {
        scalar.name: store.inputs(scalar.name, scalar.format, 0)
        for scalar in instance.scalars.values()
        if scalar.value is None
    }
    return given | unknown | scalars


def _memory(array: Array, covered: NDArray[np.bool_] | None) -> ArrayMemory:
    """Return an array's memory, of which the kernel may write the elements that are covered."""
    nowhere: Offsets = np.zeros(0, dtype=np.int64)
    whole = covered is None or bool(covered.all())
    if whole and array.is_packed and array.format.bits == array.element_bits:
        return ArrayMemory(array, None, nowhere, None)
    everything = np.arange(array.elements)
    own = _element_memory(array, everything, padded=True)
    gaps = own != _ALL
    if array.access is Access.SCRATCH:
        return ArrayMemory(array, None, nowhere, None)
    if not array.access.is_output:
        unknown = gaps if array.gaps is Gaps.ANY else gaps & (own != 0)
        return ArrayMemory(array, None, np.flatnonzero(unknown), None)
    written = everything if covered is None else np.flatnonzero(covered)
    free = _element_memory(array, written, padded=False)
    if array.is_contiguous:
        free[-1] |= ~own[-1]
    if array.access is Access.INOUT:
        unknown, unowned = gaps, own == 0
    else:
        padding = _element_memory(array, written, padded=array.is_zero_padded)
        unknown = unowned = (free | padding) != _ALL
    if array.gaps is Gaps.ANY:
        free |= ~_element_memory(array, everything, padded=False)
        unknown, unowned = unknown | gaps, unowned & (own != 0)
    return ArrayMemory(
        array,
        ~free if (free != _ALL).any() else None,
        np.flatnonzero(unknown),
        unowned if unowned.any() else None,
    )


def _element_memory(array: Array, members: NDArray[np.intp], *, padded: bool) -> Masks:
    """Return the bits (lanes,) of some elements (by linear index), or of all the memory that they take."""
    found = np.zeros(array.footprint.size, dtype=np.uint8)
    places = array.places.reshape(-1)[members] * array.element_bits
    lanes = array.footprint.lanes(places // BYTE)
    mask = (1 << array.element_bits) - 1 if padded else bits(array.format.bits).maximum << array.low_bit
    if array.element_bits >= BYTE:
        for byte in range(array.element_bits // BYTE):
            found[lanes + byte] |= np.uint8(mask >> BYTE * byte & _ALL)
        return found
    for low in range(0, BYTE, array.element_bits):
        found[lanes[places % BYTE == low]] |= np.uint8(mask << low)
    return found


def input_terms(store: TermStore, array: Array) -> Ids:
    """Return the elements of an array before the kernel runs, by linear index."""
    if array.contents is not None:
        return store.constants(array.contents, array.format.bits)
    return store.inputs(array.name, array.format, np.arange(array.elements))


def initial_bytes(store: TermStore, memory: ArrayMemory, inputs: Mapping[str, Ids]) -> ByteLanes:
    """Return the bytes of an array before the kernel.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    memory : ArrayMemory
        The array's.
    inputs : mapping of str to array
        Elements by linear index, of arrays that may be read, and unknown bytes; see `inputs_of`.
    """
    array = memory.array
    lanes = ByteLanes(store, array.footprint.size)
    before = np.full(len(lanes), ABSENT, dtype=np.int32)
    if len(memory.unknown):
        before[memory.unknown] = inputs[memory.name]
        lanes.write(memory.unknown, before[memory.unknown])
    if not array.is_given:
        return lanes
    elements = _widened(store, array, inputs[array.name])
    places = array.places.reshape(-1) * array.element_bits
    at = array.footprint.lanes(places // BYTE)
    if array.element_bits >= BYTE:
        lanes.write(at, elements)
        return lanes
    held, row = np.unique(at, return_inverse=True)
    grid = np.full((len(held), BYTE // array.element_bits), ABSENT, dtype=np.int32)
    grid[row, places % BYTE // array.element_bits] = elements
    for slot, column in enumerate(grid.T):
        others = column == ABSENT
        if others.any():
            low = slot * array.element_bits
            column[others] = bit_slices.extract(store, before[held[others]], low, array.element_bits)
    lanes.write(held, bit_slices.concatenate(store, list(grid.T)))
    return lanes


def _widened(store: TermStore, array: Array, elements: Ids) -> Ids:
    """Return elements with the padding bits of their place in memory."""

    def zeros(width: int) -> list[Ids]:
        return [np.full(len(elements), store.constants(0, width), dtype=np.int32)] if width else []

    above = array.element_bits - array.low_bit - array.format.bits
    parts = [*zeros(array.low_bit), elements, *zeros(above)]
    return elements if len(parts) == 1 else bit_slices.concatenate(store, parts)


def results_of(memory: ArrayMemory) -> NDArray[np.bool_]:
    """Return which lanes of an array hold bits that somebody may read when the kernel has ended.

    Those of elements that are outputs, as far as the kernel may write them; of a workspace none.
    """
    array = memory.array
    if not array.access.is_output:
        return np.zeros(array.footprint.size, dtype=bool)
    own = _element_memory(array, np.arange(array.elements), padded=False)
    found: NDArray[np.bool_] = (own if memory.kept is None else own & ~memory.kept) != 0
    return found


def first_lanes(array: Array) -> Offsets:
    """Return the lane of the first byte of each element, by linear index."""
    return array.footprint.lanes(array.bit_offsets.reshape(-1) // BYTE)


def elements_in(store: TermStore, memory: ArrayMemory, lanes: ByteLanes) -> tuple[NDArray[np.bool_], Ids]:
    """Return which elements of an array (by linear index) were written whole, and their terms.

    The term of an element that was not is `ABSENT`.
    """
    array = memory.array
    places = array.bit_offsets.reshape(-1)
    first = first_lanes(array)
    count = -(-(array.low_bit % BYTE + array.format.bits) // BYTE)
    written = lanes.written(first, count)
    terms = np.full(array.elements, ABSENT, dtype=np.int32)
    for low in np.unique(places % BYTE):
        members = np.flatnonzero(written & (places % BYTE == low))
        words = lanes.read(first[members], count)
        terms[members] = bit_slices.extract(store, words, int(low), array.format.bits)
    return written, terms


def untouched(store: TermStore, memory: ArrayMemory, terms: Ids) -> NDArray[np.bool_]:
    """Tell which elements, by their terms, are what an output's memory happened to hold before."""
    if memory.array.access is not Access.OUT or not len(memory.unknown):
        return np.zeros(len(terms), dtype=bool)
    given = store.inputs(memory.name, U8, np.arange(len(memory.unknown)))
    there, before = elements_in(store, memory, initial_bytes(store, memory, {memory.name: given}))
    found: NDArray[np.bool_] = there & (terms == before)
    return found
