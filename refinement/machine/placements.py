"""Addresses as values: only the alignment of an array or a variable is known.

Machines place memory at addresses of their own. Where a kernel makes anything else of an address than an
address in the same array, it gets a word in place of it of which only the bits below the alignment are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.open_results import PLACEMENT
from ..terms import bit_slices
from ..terms.evaluation import Words
from ..terms.interning import Ids
from ..terms.store import CONSTANT, TermStore
from ..terms.traversal import leaves_of

Owners = NDArray[np.intp]
"""The places (n,) that numbers are addresses in, or near; -1 of other numbers."""


class Place(NamedTuple):
    """Memory at an unknown address.

    Attributes
    ----------
    start, end : int
        Its bytes, where the machine has placed it.
    alignment : int
        What its address is a multiple of.
    before, behind : int
        How many bytes before and behind it addresses are still reckoned from it.
    """

    start: int
    end: int
    alignment: int
    before: int
    behind: int


class Places:
    """All memory that addresses may point to.

    Parameters
    ----------
    store : TermStore
        Of the words.
    places : iterable of Place
        The memory.
    """

    def __init__(self, store: TermStore, places: Iterable[Place]) -> None:
        self._store = store
        self._places = sorted(places)
        ends = [0, *(place.end for place in self._places)]
        firsts = [max(end, each.start - each.before) for each, end in zip(self._places, ends, strict=False)]
        self._first = np.array(firsts, dtype=np.uint64)
        self._starts = np.array([place.start for place in self._places], dtype=np.uint64)
        self._lasts = np.array([place.end + place.behind for place in self._places], dtype=np.uint64)
        self._ends = np.array([place.end for place in self._places], dtype=np.uint64)
        self._low_bits = np.array([place.alignment - 1 for place in self._places], dtype=np.uint64)
        self._words: dict[tuple[int, int], int] = {}
        self._of_terms: dict[tuple[int, int], int] = {}
        self._originals: dict[int, tuple[int, int | None]] = {}

    def owners(self, numbers: Words) -> Owners:
        """Return which place each number is an address of."""
        found = np.searchsorted(self._first, numbers, side="right") - 1
        if not len(self._places) or (found < 0).all():
            return np.full(len(numbers), -1)
        within = numbers <= self._lasts[found]
        return np.where((found >= 0) & within, found, -1)

    def inside(self, numbers: Words, owners: Owners) -> NDArray[np.bool_]:
        """Tell which addresses are those of bytes of their places."""
        return np.asarray((owners >= 0) & (numbers >= self._starts[owners]) & (numbers < self._ends[owners]))

    def low_bits(self, owners: Owners) -> Words:
        """Return the bits that are known of the addresses of places."""
        return np.asarray(self._low_bits[owners], dtype=np.uint64)

    def words(self, numbers: Words, owners: Owners, width: int) -> Ids:
        """Return addresses (n,) as words of which the low bits are known; equal ones are equal words."""
        found = np.zeros(len(numbers), dtype=np.int32)
        for index, (number, owner) in enumerate(zip(numbers.tolist(), owners.tolist(), strict=True)):
            key = number, width
            if key not in self._words:
                known = min(width, int(self._low_bits[owner]).bit_count())
                self._words[key] = word = self._word(number, known, width)
                self._originals[word] = number, None
            found[index] = self._words[key]
        return found

    def words_of_terms(self, terms: Ids, width: int) -> Ids:
        """Return addresses that data lead to (n,) as unknown words; equal ones are equal words."""
        found = np.zeros(len(terms), dtype=np.int32)
        for index, term in enumerate(terms.tolist()):
            key = term, width
            if key not in self._of_terms:
                self._of_terms[key] = word = int(self._store.undefined(1, width, PLACEMENT)[0])
                self._originals[word] = 0, term
            found[index] = self._of_terms[key]
        return found

    def originals(self, terms: Ids) -> Iterator[tuple[int, int, int | None]]:
        """Yield which of terms (n,) are words for addresses, with the number or the term of these."""
        for index, term in enumerate(terms.tolist() if self._originals else ()):
            if term in self._originals:
                yield index, *self._originals[term]

    def among(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell which terms (n,) are made of addresses, as a choice of two is."""
        found = np.zeros(len(terms), dtype=bool)
        distinct = np.unique(terms).astype(np.int32)
        if not self._any_is_of_addresses(distinct):  # one look at all of them is far shorter
            return found
        for term in distinct:
            if self._any_is_of_addresses(np.array([term], dtype=np.int32)):
                found |= terms == term
        return found

    def _any_is_of_addresses(self, terms: Ids) -> bool:
        """Tell whether any of some terms is made of an address."""
        leaves = leaves_of(self._store, terms)
        constants = leaves[self._store.are(CONSTANT, leaves)]
        values: Any = self._store.constant_values(constants)
        return bool(len(constants) and (self.owners(np.asarray(values, dtype=np.uint64)) >= 0).any())

    def _word(self, number: int, known: int, width: int) -> int:
        parts = []
        if known:
            low = self._store.constants(number & ((1 << known) - 1), known)
            parts.append(np.array([low], dtype=np.int32).reshape(1))
        if width > known:
            parts.append(self._store.undefined(1, width - known, PLACEMENT))
        return int(bit_slices.concatenate(self._store, parts)[0]) if len(parts) > 1 else int(parts[0][0])
