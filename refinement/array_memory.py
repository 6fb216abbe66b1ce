"""Arrays of a contract as bytes: how elements lie in memory, and how they are found there again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import bit_slices
from .contract import Array
from .interning import Ids
from .memory import ABSENT, ByteLanes
from .terms import TermStore, bits

BYTE = 8


def input_terms(store: TermStore, array: Array) -> Ids:
    """Return the elements of an array before the kernel runs, by linear index."""
    if array.contents is not None:
        return store.constants(array.contents, array.format.bits)
    return store.inputs(array.name, array.format, np.arange(array.elements))


def content(store: TermStore, array: Array, elements: Ids) -> ByteLanes:
    """Return the bytes of an array with given elements (by linear index); padding bits are zero."""
    lanes = ByteLanes(store, array.size)
    places = array.bit_offsets.reshape(-1) - array.low_bit
    if array.element_bits >= BYTE:
        lanes.write(places // BYTE, _widened(store, array, elements))
        return lanes
    per_byte = BYTE // array.element_bits
    grid = np.full((array.size, per_byte), int(store.constants(0, array.element_bits)), dtype=np.int32)
    grid[places // BYTE, places % BYTE // array.element_bits] = _widened(store, array, elements)
    held = np.unique(places // BYTE)
    lanes.write(held, bit_slices.concatenate(store, list(grid[held].T)))
    return lanes


def _widened(store: TermStore, array: Array, elements: Ids) -> Ids:
    """Return elements with the padding bits of their place in memory."""

    def zeros(width: int) -> list[Ids]:
        return [np.full(len(elements), store.constants(0, width), dtype=np.int32)] if width else []

    above = array.element_bits - array.low_bit - array.format.bits
    parts = [*zeros(array.low_bit), elements, *zeros(above)]
    return elements if len(parts) == 1 else bit_slices.concatenate(store, parts)


def elements_in(store: TermStore, array: Array, lanes: ByteLanes) -> tuple[NDArray[np.bool_], Ids]:
    """Return which elements of an array (by linear index) were written whole, and their terms.

    The term of an element that was not is `ABSENT`.
    """
    places = array.bit_offsets.reshape(-1)
    first = places // BYTE
    count = -(-(array.low_bit % BYTE + array.format.bits) // BYTE)
    written = lanes.written(first, count)
    terms = np.full(array.elements, ABSENT, dtype=np.int32)
    for low in np.unique(places % BYTE):
        members = np.flatnonzero(written & (places % BYTE == low))
        words = lanes.read(first[members], count)
        terms[members] = bit_slices.extract(store, words, int(low), array.format.bits)
    return written, terms


def encodings_in(values: NDArray[Any], array: Array) -> NDArray[np.uint64]:
    """Return encodings by linear index from an array (shape) of them."""
    return np.asarray(values).reshape(-1).astype(np.uint64) & np.uint64(bits(array.format.bits).maximum)
