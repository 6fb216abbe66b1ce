"""Memory as byte lanes: the term of each byte, and its lowest bit in the term.

Vector accesses, packing and reinterpretation need no special case: a load joins the bytes it finds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..findings.demangling import variable
from ..terms.bit_slices import by_group
from ..terms.interning import Ids
from ..terms.slices import Members, Slice, cut, groups, join
from ..terms.store import CONCATENATION, TermStore

Offsets = NDArray[np.int64]

ABSENT = -1
"""The term of a byte that nobody wrote."""


class ByteLanes:
    """Bytes, each bits ``low`` to ``low + 7`` of a term.

    Attributes
    ----------
    terms : array (size,)
        Terms; `ABSENT` for bytes that nobody wrote.
    lows : array (size,)
        The byte's lowest bit in its term.
    """

    def __init__(self, store: TermStore, size: int) -> None:
        self.store = store
        self.terms = np.full(size, ABSENT, dtype=np.int32)
        self.lows = np.zeros(size, dtype=np.uint8)

    def __len__(self) -> int:
        return len(self.terms)

    def written(self, offsets: Offsets, count: int) -> NDArray[np.bool_]:
        """Tell which accesses (n,) of `count` bytes read only bytes that were written."""
        found: NDArray[np.bool_] = (self.terms[_lanes(offsets, count)] != ABSENT).all(axis=-1)
        return found

    def read(self, offsets: Offsets, count: int) -> Ids:
        """Return the words (n,) of `count` bytes, little-endian, from bytes that were all written."""
        lanes = _lanes(offsets, count)
        return self.joined(self.terms[lanes], self.lows[lanes])

    def joined(self, terms: Ids, lows: NDArray[np.uint8]) -> Ids:
        """Return the words (n,) of bytes (n, count), little-endian, as these lanes hold them."""
        count = terms.shape[1]
        whole = (terms == terms[:, :1]).all(axis=1) & (lows == 8 * np.arange(count)).all(axis=1)
        result = terms[:, 0].copy()
        split = ~(whole & (self.store.widths(result) == 8 * count))
        if split.any():
            result[split] = self._pieced(terms[split], lows[split])
        return result

    def _pieced(self, terms: Ids, lows: NDArray[np.uint8]) -> Ids:
        result = np.empty(len(terms), dtype=np.int32)
        for members in groups(lows):

            def word(sliced: list[list[Slice]], _: Members, low: NDArray[np.uint8] = lows[members[0]]) -> Ids:
                parts = [cut(each, int(first), 8) for each, first in zip(sliced, low, strict=True)]
                return join(self.store, [part for some in parts for part in some])

            result[members] = by_group(self.store, list(terms[members].T), word)
        return result

    def write(self, offsets: Offsets, words: Ids) -> None:
        """Write words (n,) of one width in whole bytes, little-endian."""
        if not len(words):
            return
        terms, lows = self.bytes_of(words)
        lanes = _lanes(offsets, terms.shape[-1])
        self.terms[lanes], self.lows[lanes] = terms, lows

    def bytes_of(self, words: Ids) -> tuple[Ids, NDArray[np.uint8]]:
        """Return the lanes (n, bytes) of words (n,): terms that are no concatenation of whole bytes."""
        count = int(self.store.widths(words[:1])[0]) // 8
        terms = np.repeat(np.asarray(words, dtype=np.int32)[:, None], count, axis=1)
        lows = np.broadcast_to(np.arange(0, 8 * count, 8, dtype=np.uint8), terms.shape).copy()
        packed = self.store.are(CONCATENATION, words)
        if packed.any():
            for byte in range(count):
                terms[packed, byte], lows[packed, byte] = self._lane(words[packed], 8 * byte)
        return terms, lows

    def _lane(self, words: Ids, low: int) -> tuple[Ids, NDArray[np.uint8]]:
        found_lows = np.zeros(len(words), dtype=np.uint8)

        def lane(sliced: list[list[Slice]], members: Members) -> Ids:
            first, *others = cut(sliced[0], low, 8)
            if others or first.field.repeats:
                return join(self.store, [first, *others])
            found_lows[members] = first.field.low
            return first.terms

        return by_group(self.store, [words], lane), found_lows


def _lanes(offsets: Offsets, count: int) -> Offsets:
    return np.asarray(offsets, dtype=np.int64)[:, None] + np.arange(count)


Naming = Callable[[int], str]
"""Tells what a byte of a buffer is, by its distance from the beginning, which may lie outside."""


@dataclass(frozen=True)
class Region:
    """Memory in an address space: a variable, a buffer, or a part of one.

    Attributes
    ----------
    name : str
        A parameter, a shared variable.
    address : int
        Where it begins.
    size : int
        How many bytes it has.
    origin : int
        How far behind the beginning of its buffer that is.
    span : int, optional
        Bytes from the beginning to the end of its buffer; its own size by default.
    naming : callable, optional
        What the buffer's bytes are.
    """

    name: str
    address: int
    size: int
    origin: int = 0
    span: int | None = None
    naming: Naming | None = None

    def place(self, offset: int) -> str:
        """Describe a byte of it for a message."""
        return f"{variable(self.name)}+{self.origin + offset:#x}"

    def beside(self, address: int) -> str:
        """Describe an address that is not in it for a message."""
        offset = address - self.address + self.origin
        size = self.size if self.span is None else self.span
        sign = "-" if offset < 0 else "+"
        named = self.named(offset - self.origin)
        has = f"({variable(self.name)} has {size:#x} bytes)" + (f", {named}" if named else "")
        return f"{variable(self.name)}{sign}{abs(offset):#x} {has}"

    def named(self, offset: int) -> str:
        """Return what a byte is, from the region's beginning; nothing where nobody knows."""
        return "" if self.naming is None else self.naming(self.origin + offset)
