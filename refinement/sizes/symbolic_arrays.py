"""Arrays with symbolic extents: places of elements, and loads from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import Format
from ..machine.memory import ByteLanes
from ..terms import bit_slices
from ..terms.interning import Ids
from ..terms.operations import select
from ..terms.truth_tables import A, B
from .integer_forms import UNBOUNDED, Rows, Symbols, divided
from .open_comparisons import Where, at_least_0
from .symbolic_terms import SymbolicTerms

BYTE = 8


@dataclass(frozen=True)
class SymbolicArray:
    """An array with polynomial extents.

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
    is_written, is_given : bool
        Whether the kernel may store to it, and whether it holds something before that it may read.
    """

    name: str
    format: Format
    element_bits: int
    extents: Rows
    strides: Rows
    alignment: int
    is_written: bool = False
    is_given: bool = True

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
                raise UnsupportedError(
                    f"the address of an element of {self.name} is a polynomial of too high a degree"
                )
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


class OutsideError(UnsupportedError):
    """An access that may be out of bounds.

    Parameters
    ----------
    array : SymbolicArray
        The array.
    offsets : Rows (n, monomials)
        Bytes from its beginning to those that may.
    threads : array (n,)
        Whose accesses these are.
    total : int
        Bytes of an access.
    """

    def __init__(self, array: SymbolicArray, offsets: Rows, threads: NDArray[np.intp], total: int) -> None:
        super().__init__(f"an access of {total} bytes to {array.name} may be out of bounds at some sizes")
        self.array, self.offsets, self.threads, self.total = array, offsets, threads, total


Visited = Callable[[SymbolicArray, Rows, NDArray[np.intp], bool], None]
"""Told the array of accesses, how far from its first byte they are, whose they are, and if they store."""


def _some(where: Where, members: NDArray[np.intp]) -> Where:
    return None if where is None else where.of_some(members)


class Part(NamedTuple):
    """Neighbouring bytes of accesses that belong to one element each.

    Attributes
    ----------
    first, length : int
        Which bytes of each access.
    places : Rows (n, monomials)
        The elements' places.
    within : array (n,)
        Where in its element the first of these bytes is.
    """

    first: int
    length: int
    places: Rows
    within: NDArray[np.int64]


def parts_of_elements(
    store: SymbolicTerms, array: SymbolicArray, offsets: Rows, total: int
) -> Iterator[Part]:
    """Yield the parts of accesses of `total` bytes at some distances (n, monomials) from an array's first.

    Raises
    ------
    UnsupportedError
        If it depends on sizes where in an element an access begins.
    """
    size = array.element_bits // BYTE
    if not (offsets % size).any() and total % size == 0:
        for first in range(0, total, size):
            places = offsets // size
            places[:, 0] += first // size
            yield Part(first, size, places, np.zeros(len(places), dtype=np.int64))
        return
    for byte in range(total):
        at = offsets.copy()
        at[:, 0] += byte
        places, rests, known = divided(store.symbols, at, size)
        if not known.all() or rests[:, 1:].any():
            raise UnsupportedError(f"an access to {array.name} may begin within an element at some sizes")
        yield Part(byte, 1, places, rests[:, 0])


class WrittenElements:
    """Stores to an array with symbolic extents, byte by byte, with their writers.

    Nothing says in which order threads store and load: all of the bytes that one stores, and that it may
    have loaded before, are to be its own.

    Parameters
    ----------
    store : SymbolicTerms
        The terms.
    array : SymbolicArray
        The array.
    """

    def __init__(self, store: SymbolicTerms, array: SymbolicArray) -> None:
        self._store, self._array, self._bytes = store, array, array.element_bits // BYTE
        self.forget()

    def forget(self) -> None:
        """Forget what was stored and loaded: it has been looked at."""
        none = np.empty((0, 6), dtype=np.int64)
        self._stored = none  # number of the place, byte, term, lowest bit, thread, condition
        self._loaded = none[:, :2]  # number of the place, thread

    @property
    def is_used(self) -> bool:
        """Whether anything was stored or loaded."""
        return bool(len(self._stored) or len(self._loaded))

    @property
    def counts(self) -> tuple[int, int]:
        """How often bytes were stored, and loaded."""
        return len(self._stored), len(self._loaded)

    @property
    def terms(self) -> Ids:
        """What was stored, byte by byte."""
        return np.asarray(self._stored[:, 2], dtype=np.int32)

    def note_loads(self, offsets: Rows, total: int, threads: NDArray[np.intp]) -> None:
        """Note that threads load bytes; what was stored before they can't see."""
        if not self._array.is_given:
            raise UnsupportedError(f'{self._array.name} is read, but its access is "out"')
        for part in parts_of_elements(self._store, self._array, offsets, total):
            places = self._store.row_numbers(part.places).astype(np.int64)
            if np.isin(places, self._stored[:, 0]).any():
                raise UnsupportedError(f"an element of {self._array.name} is read after it is written")
            self._loaded = np.concatenate([self._loaded, np.stack([places, threads], axis=1)])

    def store(self, offsets: Rows, terms: Ids, lows: NDArray[np.uint8], who: NDArray[np.int64]) -> None:
        """Note that threads store bytes (n, total), each and where it does a row of `who`."""
        found = [self._stored]
        for part in parts_of_elements(self._store, self._array, offsets, terms.shape[1]):
            places = self._store.row_numbers(part.places).astype(np.int64)
            for byte in range(part.length):
                data = terms[:, part.first + byte], lows[:, part.first + byte]
                columns = np.stack([places, part.within + byte, *data], axis=1)
                found.append(np.concatenate([columns, who], axis=1))
        self._stored = np.concatenate(found)

    def elements(self, places: Rows) -> tuple[Ids, Ids]:
        """Return what is stored to the elements at some places (n, monomials), as long as these are all.

        Returns
        -------
        array (n,)
            Terms.
        array (n, bytes)
            Bits that say whether each byte is stored.

        Raises
        ------
        UnsupportedError
            If something else is stored or loaded too, an element is not, or another thing is stored to one
            again, or another thread loads it.
        """
        name, size = self._array.name, self._bytes
        wanted = self._store.row_numbers(places).astype(np.int64)
        keys = self._stored[:, 0] * size + self._stored[:, 1]
        order = np.argsort(keys, kind="stable")
        stored, keys = self._stored[order], keys[order]
        bytes_of, first = np.unique(keys, return_index=True)
        if not np.isin(stored[:, 0], wanted).all():
            raise UnsupportedError(f"a block stores to elements of {name} outside its tile")
        at = (wanted[:, None] * size + np.arange(size)).reshape(-1)
        if len(bytes_of) != len(at) or not np.isin(at, bytes_of).all():
            raise UnsupportedError(f"a block does not store to all elements of {name} in its tile")
        self._check_loads(stored)
        held = self._left(stored, first)[np.searchsorted(bytes_of, at)]
        lanes = ByteLanes(self._store, len(at))
        lanes.terms[:], lanes.lows[:] = held[:, 2], held[:, 3]
        words = lanes.read(size * np.arange(len(places)), size)
        return words, held[:, 5].reshape(-1, size).astype(np.int32)

    def _left(self, stored: NDArray[np.int64], first: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return what is left of the stores to each byte, which are in order: of one thread the last.

        Raises
        ------
        UnsupportedError
            If threads store different things to one byte, or parts of words that don't lie alike.
        """
        found, ends = stored[first], np.append(first[1:], len(stored))
        writers = [extreme.reduceat(stored[:, 4], first) for extreme in (np.minimum, np.maximum)]
        for turn in range(1, int((ends - first).max(initial=1))):
            some = np.flatnonzero(first + turn < ends)
            before, later = found[some], stored[first[some] + turn]
            what = [2, 3, 5]  # whoever stores it
            differ = (before[:, what] != later[:, what]).any(axis=1)
            some, before, later = some[differ], before[differ], later[differ]
            if not len(some):
                continue
            terms = before[:, 2].astype(np.int32), later[:, 2].astype(np.int32)
            widths = self._store.widths(np.stack(terms))
            several = (writers[0] != writers[1])[some].any()  # any of them may come last
            if several or (before[:, 3] != later[:, 3]).any() or (widths[0] != widths[1]).any():
                raise UnsupportedError(f"an element of {self._array.name} is written more than once")
            conditions = later[:, 5].astype(np.int32)
            for width in np.unique(widths).tolist():
                own = np.flatnonzero(widths[0] == width)
                chosen = select(width), conditions[own], terms[1][own], terms[0][own]
                found[some[own], 2] = self._store.apply(*chosen)
            given = conditions, before[:, 5].astype(np.int32), conditions
            found[some, 5] = bit_slices.bitwise(self._store, A | B, *given)
        return found

    def _check_loads(self, stored: NDArray[np.int64]) -> None:
        """Check that only who stores to an element has loaded it before."""
        owners = np.unique(stored[:, [0, 4]], axis=0)
        loaded = np.unique(self._loaded, axis=0)
        several = len(np.unique(owners[:, 0])) != len(owners)
        alike = len(np.unique(np.concatenate([owners, loaded]), axis=0)) == len(owners)
        if len(loaded) and (several or not alike):
            message = f"an element of {self._array.name} is read by a thread that does not write it"
            raise UnsupportedError(message)


class SymbolicMemory:
    """Arrays with symbolic extents, by address.

    Parameters
    ----------
    store : SymbolicTerms
        The terms.
    arrays : sequence of (int, SymbolicArray)
        Addresses, and the arrays there; other memory lies far from them.

    Attributes
    ----------
    written : dict of str to WrittenElements
        Of arrays that may be written, what was stored.
    visited : list of (str, Rows)
        The array and the distance in bytes (1, monomials) from its beginning of each access's first word.
    watch : callable, optional
        Told of every access before it is looked at.
    """

    def __init__(self, store: SymbolicTerms, arrays: Sequence[tuple[int, SymbolicArray]]) -> None:
        self._store = store
        self._arrays = sorted(arrays, key=lambda each: each[0])
        self.written = {
            each.name: WrittenElements(store, each) for _, each in self._arrays if each.is_written
        }
        self.visited: list[tuple[str, Rows]] = []
        self.watch: Visited | None = None

    REACH = 1 << 35
    """Bytes around an address within which every constant belongs to the array there."""

    def moved(self, move: Callable[[Rows], Rows]) -> SymbolicMemory:
        """Return the same arrays, of which none is written or read for writing, with other polynomials."""
        if any(each.is_used for each in self.written.values()):
            raise UnsupportedError("an output is accessed before the main loop ends")
        return SymbolicMemory(
            self._store,
            [
                (base, replace(each, extents=move(each.extents), strides=move(each.strides)))
                for base, each in self._arrays
            ],
        )

    def stored_terms(self) -> list[tuple[Format, Ids]]:
        """Return what was stored in each array, whatever the place, and how its elements are read."""
        return [(self.array(name).format, np.unique(each.terms)) for name, each in self.written.items()]

    def array(self, name: str) -> SymbolicArray:
        """Return an array by its name."""
        return next(each for _, each in self._arrays if each.name == name)

    def array_at(self, address: int) -> tuple[int, SymbolicArray] | None:
        """Return the array that an address belongs to, and where it begins; None of other memory."""
        return next((array for array in self._arrays if abs(address - array[0]) < self.REACH), None)

    def owners(self, rows: Rows) -> NDArray[np.intp]:
        """Return which array addresses (n, monomials) belong to; -1 for other memory."""
        found = np.full(len(rows), -1)
        for number, (base, _) in enumerate(self._arrays):
            found[np.abs(rows[:, 0] - base) < self.REACH] = number
        return found

    def at_least(self, rows: Rows, number: int) -> bool:
        """Tell whether integers (n, monomials) are never below a number."""
        return bool((self._store.symbols.bounds(rows)[0] >= number).all())

    def load(
        self,
        rows: Rows,
        size: int,
        count: int,
        alignment: int,
        threads: NDArray[np.intp],
        where: Where = None,
    ) -> Ids:
        """Return neighbouring words (n, count) of `size` bytes at addresses (n, monomials).

        Raises
        ------
        UnsupportedError
            If for some sizes in the domain an address may lie outside its array, or not be aligned.
        """
        terms, lows = self.load_bytes(rows, size * count, alignment, threads, where)
        lanes = ByteLanes(self._store, terms.size)
        lanes.terms[:], lanes.lows[:] = terms.reshape(-1), lows.reshape(-1)
        return lanes.read(size * np.arange(len(rows) * count), size).reshape(len(rows), count)

    def load_bytes(
        self, rows: Rows, total: int, alignment: int, threads: NDArray[np.intp], where: Where = None
    ) -> tuple[Ids, NDArray[np.uint8]]:
        """Return neighbouring bytes (n, total), each a term and its lowest bit there; raises as `load`."""
        terms = np.empty((len(rows), total), dtype=np.int32)
        lows = np.zeros((len(rows), total), dtype=np.uint8)
        owners = self.owners(rows)
        for number in np.unique(owners).tolist():
            if number < 0:
                raise UnsupportedError(
                    "one instruction loads from arrays whose extents depend on sizes and from other memory"
                )
            base, array = self._arrays[number]
            some = np.flatnonzero(owners == number)
            offsets = rows[some].copy()
            offsets[:, 0] -= base
            self._check(array, offsets, total, alignment, _some(where, some), threads[some], False)
            self.visited.append((array.name, offsets[:1]))
            terms[some], lows[some] = self._bytes(array, offsets, total)
            if array.name in self.written:
                self.written[array.name].note_loads(offsets, total, threads[some])
        return terms, lows

    def store_words(
        self,
        rows: Rows,
        words: Ids,
        alignment: int,
        threads: NDArray[np.intp],
        conditions: Ids,
        where: Where = None,
    ) -> None:
        """Note that threads store neighbouring words (n, count) at addresses (n, monomials).

        Each does where a bit is 1.

        Raises
        ------
        UnsupportedError
            If for some sizes in the domain an address may lie outside its array, or not be aligned, or if
            the array may not be written.
        """
        lanes = ByteLanes(self._store, 0)
        flat_terms, flat_lows = lanes.bytes_of(words.reshape(-1))
        terms, lows = flat_terms.reshape(len(rows), -1), flat_lows.reshape(len(rows), -1)
        owners = self.owners(rows)
        for number in np.unique(owners).tolist():
            if number < 0:
                raise UnsupportedError(
                    "one instruction stores to arrays whose extents depend on sizes and to other memory"
                )
            base, array = self._arrays[number]
            if array.name not in self.written:
                raise UnsupportedError(f'{array.name} is written, but its access is "in"')
            some = np.flatnonzero(owners == number)
            offsets = rows[some].copy()
            offsets[:, 0] -= base
            self._check(array, offsets, terms.shape[1], alignment, _some(where, some), threads[some], True)
            self.visited.append((array.name, offsets[:1]))
            who = np.stack([threads[some], conditions[some]], axis=1).astype(np.int64)
            self.written[array.name].store(offsets, terms[some], lows[some], who)

    def _check(
        self,
        array: SymbolicArray,
        offsets: Rows,
        total: int,
        alignment: int,
        where: Where,
        threads: NDArray[np.intp],
        stores: bool,
    ) -> None:
        if self.watch is not None:
            self.watch(array, offsets, threads, stores)
        symbols = self._store.symbols
        room = array.size(symbols) - offsets
        room[:, 0] -= total
        bits = array.element_bits
        factors = np.concatenate([array.strides, symbols.form({(): 1})[None]]) * max(bits // BYTE, 1)
        inside = at_least_0(symbols, offsets, where, factors) & at_least_0(symbols, room, where, factors)
        if not inside.all():
            low = symbols.bounds(offsets)[0] < 0
            self._store.doubt("an address may be out of bounds", -offsets[~inside & low])
            out = room[~inside]
            known = (symbols.bounds(out)[0] > -UNBOUNDED).all()
            what = "an address may be out of bounds" if known else "an address has no known upper bound"
            self._store.doubt(what, -out, 0 if known else UNBOUNDED - 1)
            raise OutsideError(array, offsets[~inside], threads[~inside], total)
        if alignment > array.alignment or (offsets % alignment).any():
            raise UnsupportedError(
                f"an address in {array.name} must be a multiple of {alignment} at every size"
            )

    def _bytes(self, array: SymbolicArray, offsets: Rows, total: int) -> tuple[Ids, NDArray[np.uint8]]:
        terms = np.empty((len(offsets), total), dtype=np.int32)
        lows = np.zeros((len(offsets), total), dtype=np.uint8)
        if array.element_bits < BYTE:
            for byte in range(total):
                at = offsets.copy()
                at[:, 0] += byte
                terms[:, byte] = self._packed(array, at)
            return terms, lows
        for part in parts_of_elements(self._store, array, offsets, total):
            found = self._store.elements_at(array.name, array.format, part.places)
            for byte in range(part.length):
                terms[:, part.first + byte] = found
                lows[:, part.first + byte] = (BYTE * (part.within + byte)).astype(np.uint8)
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
