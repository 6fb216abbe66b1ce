"""Arrays whose extents depend on symbols: where their elements lie, and what loads from them give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import UnsupportedError
from ..spec.formats import Format
from . import bit_slices
from .integer_forms import Rows, Symbols, divided
from .interning import Ids
from .memory import ByteLanes
from .symbolic_terms import SymbolicTerms

BYTE = 8


@dataclass(frozen=True)
class SymbolicArray:
    """An array whose extents are polynomials.

    Attributes
    ----------
    name : str
        The parameter.
    format : Format
        Of an element.
    element_bits : int
        Memory of one; all of it is the element's.
    extents, strides : Rows (axes, monomials)
        Extents, and distances of neighbours in elements.
    alignment : int
        Of its address, in bytes.
    """

    name: str
    format: Format
    element_bits: int
    extents: Rows
    strides: Rows
    alignment: int

    def place(self, symbols: Symbols, indices: Sequence[Rows]) -> Rows:
        """Return the distances (n, monomials) of elements from the first, in elements, by their indices.

        Raises
        ------
        UnsupportedError
            If they are no polynomials that the symbols have.
        """
        total = np.zeros((len(indices[0]), len(symbols)), dtype=np.int64)
        for index, stride in zip(indices, self.strides, strict=True):
            part, possible = symbols.multiplied(index, np.broadcast_to(stride, index.shape))
            if not possible.all():
                raise UnsupportedError(f"an element of {self.name} lies at a polynomial of higher degree")
            total += part
        return total

    def size(self, symbols: Symbols) -> Rows:
        """Return its bytes, up to the end of its last element."""
        last = self.extents.copy()
        last[:, 0] -= 1
        total = self.place(symbols, [row[None] for row in last])
        total[:, 0] += 1
        bits = total * self.element_bits
        if (bits % BYTE).any():
            raise UnsupportedError(f"{self.name} may end within a byte")
        return bits // BYTE


class SymbolicMemory:
    """Arrays whose extents depend on symbols, at their addresses; they are only read.

    Parameters
    ----------
    store : SymbolicTerms
        The terms.
    arrays : sequence of (int, SymbolicArray)
        Addresses, and the arrays there; other memory lies far from them.
    """

    def __init__(self, store: SymbolicTerms, arrays: Sequence[tuple[int, SymbolicArray]]) -> None:
        self._store = store
        self._arrays = sorted(arrays, key=lambda each: each[0])

    REACH = 1 << 35
    """Bytes around an address within which every constant belongs to the array there."""

    def moved(self, move: Callable[[Rows], Rows]) -> SymbolicMemory:
        """Return the same arrays with every polynomial replaced."""
        return SymbolicMemory(
            self._store,
            [
                (base, replace(each, extents=move(each.extents), strides=move(each.strides)))
                for base, each in self._arrays
            ],
        )

    def owners(self, rows: Rows) -> NDArray[np.intp]:
        """Return which array addresses (n, monomials) belong to; -1 for other memory."""
        found = np.full(len(rows), -1)
        for number, (base, _) in enumerate(self._arrays):
            found[np.abs(rows[:, 0] - base) < self.REACH] = number
        return found

    def load(self, rows: Rows, size: int, count: int, alignment: int) -> Ids:
        """Return neighbouring words (n, count) of `size` bytes at addresses (n, monomials).

        Raises
        ------
        UnsupportedError
            If for some sizes in the domain an address may lie outside its array, or not be aligned.
        """
        terms, lows = self.load_bytes(rows, size * count, alignment)
        lanes = ByteLanes(self._store, terms.size)
        lanes.terms[:], lanes.lows[:] = terms.reshape(-1), lows.reshape(-1)
        return lanes.read(size * np.arange(len(rows) * count), size).reshape(len(rows), count)

    def load_bytes(self, rows: Rows, total: int, alignment: int) -> tuple[Ids, NDArray[np.uint8]]:
        """Return neighbouring bytes (n, total), each a term and its lowest bit there; raises as `load`."""
        terms = np.empty((len(rows), total), dtype=np.int32)
        lows = np.zeros((len(rows), total), dtype=np.uint8)
        owners = self.owners(rows)
        for number in np.unique(owners).tolist():
            if number < 0:
                raise UnsupportedError("one instruction loads from arrays of any size and from other memory")
            base, array = self._arrays[number]
            some = np.flatnonzero(owners == number)
            offsets = rows[some].copy()
            offsets[:, 0] -= base
            self._check(array, offsets, total, alignment)
            terms[some], lows[some] = self._bytes(array, offsets, total)
        return terms, lows

    def _check(self, array: SymbolicArray, offsets: Rows, total: int, alignment: int) -> None:
        symbols = self._store.symbols
        room = array.size(symbols) - offsets
        room[:, 0] -= total
        inside = (symbols.bounds(offsets)[0] >= 0) & (symbols.bounds(room)[0] >= 0)
        if not inside.all():
            self._store.doubt("an address may be out of bounds", -room[~inside])
            raise UnsupportedError(f"{total} bytes of {array.name} may be out of its bounds for some sizes")
        if alignment > array.alignment or (offsets % alignment).any():
            raise UnsupportedError(
                f"an address in {array.name} is not a multiple of {alignment} for every size"
            )

    def _bytes(self, array: SymbolicArray, offsets: Rows, total: int) -> tuple[Ids, NDArray[np.uint8]]:
        terms = np.empty((len(offsets), total), dtype=np.int32)
        lows = np.zeros((len(offsets), total), dtype=np.uint8)
        for byte in range(total):
            at = offsets.copy()
            at[:, 0] += byte
            if array.element_bits < BYTE:
                terms[:, byte] = self._packed(array, at)
                continue
            quotients, rests, known = divided(self._store.symbols, at, array.element_bits // BYTE)
            if not known.all() or rests[:, 1:].any():
                raise UnsupportedError(f"a load of {array.name} begins within an element for some sizes")
            terms[:, byte] = self._store.elements_at(array.name, array.format, quotients)
            lows[:, byte] = (BYTE * rests[:, 0]).astype(np.uint8)
        return terms, lows

    def _packed(self, array: SymbolicArray, at: Rows) -> Ids:
        """Return bytes that hold several elements, the first in the low bits."""
        count = BYTE // array.element_bits
        parts = []
        for element in range(count):
            places = at * count
            places[:, 0] += element
            parts.append(self._store.elements_at(array.name, array.format, places))
        return bit_slices.concatenate(self._store, parts)
