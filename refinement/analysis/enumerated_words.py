"""Enumeration of words: all values of a word that depends on data by one integer of few values.

An index below 64, a masked one (``i & 31``), a clamped one: what is computed of it, an address, is computed
for each of its values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..terms import bit_slices, operations
from ..terms.domains import Domain
from ..terms.evaluation import Words, evaluate, ones
from ..terms.interning import Ids
from ..terms.slices import fields
from ..terms.store import (
    CONCATENATION,
    CONSTANT,
    LEAVES,
    NORMAL_FORM,
    UNDEFINED,
    VECTOR,
    Operation,
    TermStore,
    is_raw,
)
from ..terms.traversal import by_operation, gathered
from ..terms.value_tables import NOT_TABULATED
from .integer_intervals import Magnitudes

MOST = 1024
"""Values that are enumerated, at most."""

_WORD = 32
"""Bits of the words that masked bits are extended to, as which formulas compare them."""

_NOTHING, _MUCH, _UNDEFINED = -1, -2, -3

_EXACT = 2.0**53


class Enumerated(NamedTuple):
    """Words that depend on integers with the same values.

    Attributes
    ----------
    places : array (n,)
        Where they are among the terms.
    integers : int32 array (n,)
        On which integer, a term, each depends.
    codes : uint64 array (E,)
        What each integer may be.
    words : uint64 array (n, E)
        What the word is for each.
    """

    places: NDArray[np.intp]
    integers: Ids
    codes: Words
    words: Words


class EnumeratedWords:
    """Finds the words of a store that one integer of few values tells.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store, self._deciding = store, _DecidingIntegers(store)

    def are(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell which terms (n,) are such words; constants are none."""
        return self._deciding.values(terms)["term"] >= 0

    def of(self, terms: Ids) -> Iterator[Enumerated]:
        """Yield those of terms (n,) that are such words, in groups of integers that have the same values."""
        found = self._deciding.values(terms)
        places = np.flatnonzero(found["term"] >= 0)
        integers = found["term"][places].astype(np.int32)
        sorts = found[["low", "count", "field"]][places]
        widths, width_of = np.unique(self._store.widths(integers), return_inverse=True)
        _, kinds = np.unique(sorts, return_inverse=True)
        kinds = kinds.reshape(-1) * len(widths) + width_of.reshape(-1)
        _, first, sort_of = np.unique(kinds, return_index=True, return_inverse=True)
        for index, sort in enumerate(sorts[first]):
            some = places[sort_of == index]
            integers = found["term"][some].astype(np.int32)
            numbers = np.arange(sort["count"], dtype=np.uint64)
            free = free_bits(self._store.operations[sort["field"]]) if sort["field"] >= 0 else []
            codes = sort["low"] + (_deposited(numbers, free) if free else numbers)
            codes &= ones(int(self._store.widths(integers[:1])[0]))
            words = self._words(terms[some], integers, codes)
            if free and free[-1] - free[0] + 1 == len(free):
                masked = bit_slices.extract(self._store, integers, free[0], len(free))
                integers, codes = bit_slices.zero_extend(self._store, masked, _WORD), numbers
            yield Enumerated(some, integers, codes, words)

    def _words(self, terms: Ids, integers: Ids, codes: Words) -> Words:
        """Return what terms (n,) are, (n, E), for each value of the integers on which they depend."""
        reached = _reached(self._store, terms, integers)
        table = np.empty((len(reached), len(codes)), dtype=np.uint64)
        done = np.isin(reached, integers)
        table[done] = codes
        while not done.all():
            for operation, members in by_operation(self._store, reached[~done]):
                own = np.searchsorted(reached, members)
                if operation.name == CONSTANT:
                    table[own], done[own] = self._store.constant_values(members)[:, None], True
                    continue
                given = [np.searchsorted(reached, each) for each in gathered(self._store, operation, members)]
                ready = np.all([done[each].reshape(len(own), -1).all(axis=1) for each in given], axis=0)
                if ready.any():
                    arguments = [np.moveaxis(table[each[ready]], -1, 1) for each in given]
                    table[own[ready]], done[own[ready]] = evaluate(operation, arguments), True
        return table[np.searchsorted(reached, terms)]


def free_bits(operation: Operation) -> list[int]:
    """Return which bits are no constants of a word that is put together of constants and others.

    Nothing for other words, and where bits are repeated.
    """
    found, start = list[int](), 0
    for field in fields(operation) if operation.name == CONCATENATION else ():
        if field.repeats and not field.constant:
            return []
        found += [] if field.constant else range(start, start + field.width)
        start += field.width
    return found


def _deposited(numbers: Words, places: list[int]) -> Words:
    """Return words whose bits at some places are the lowest bits of numbers (n,)."""
    bits = numbers[:, None] >> np.arange(len(places), dtype=np.uint64) & np.uint64(1)
    found: Words = np.bitwise_or.reduce(bits << np.array(places, dtype=np.uint64), axis=1)
    return found


def _reached(store: TermStore, terms: Ids, integers: Ids) -> Ids:
    """Return terms and what they are made of, but for what the integers are made of, in increasing order."""
    found, pending = np.unique(integers), np.setdiff1d(terms, integers)
    while len(pending):
        found = np.union1d(found, pending)
        needed = [pending[:0]]
        for operation, members in by_operation(store, pending):
            if operation.name not in LEAVES:
                needed += [each.reshape(-1) for each in gathered(store, operation, members)]
        pending = np.setdiff1d(np.concatenate(needed), found)
    return found.astype(np.int32)


class _DecidingIntegers(Domain):
    """The one integer of few values on which a term depends: of several, one with the fewest values.

    It has numbers from ``low`` on, or if ``field`` is the number of its operation, all values of the bits
    that are no constants.
    """

    dtype = np.dtype([("term", np.int64), ("low", np.uint64), ("count", np.int64), ("field", np.int64)])

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self._magnitudes = Magnitudes(store)

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        """Return the integer on which terms of one operation depend: themselves, if they have few values."""
        found = super().transfer(operation, terms, read)
        given = (operation.result, *operation.operands)
        if operation.name in NOT_TABULATED or any(isinstance(fmt, FloatFormat) for fmt in given):
            found["term"] = np.where(found["term"] == _UNDEFINED, _UNDEFINED, _MUCH)
        if 1 < operation.result.bits <= 64 and operation.name not in (VECTOR, CONSTANT, NORMAL_FORM):
            for own in self._alone(operation, terms):
                fewer = (found["term"] == _MUCH) | ((found["term"] >= 0) & (own["count"] < found["count"]))
                found = np.where(fewer & (own["count"] <= MOST), own, found)
        return found

    def _alone(self, operation: Operation, terms: Ids) -> Iterator[NDArray[Any]]:
        """Yield how many values terms of one operation have by themselves, in several ways."""
        yield self._in_field(operation, terms)
        fmt = operation.result
        if isinstance(fmt, IntegerFormat) and not is_raw(fmt):
            yield self._in_interval(terms, fmt)
        elif not isinstance(fmt, FloatFormat):
            yield self._in_interval(terms, operations.signed(fmt.bits))
            yield self._in_interval(terms, operations.unsigned(fmt.bits))

    def leaf(self, operation: Operation, terms: Ids) -> NDArray[Any]:
        """Return on what leaves depend, of which nothing is known."""
        kinds = {CONSTANT: _NOTHING, UNDEFINED: _UNDEFINED}
        return self._of(np.full(len(terms), kinds.get(operation.name, _MUCH)))

    def vector(self, elements: NDArray[Any]) -> NDArray[Any]:
        """Return on what all elements (n, K) depend."""
        first = elements["term"].argmax(axis=1)
        found: NDArray[Any] = elements[np.arange(len(elements)), first]
        others = (elements["term"] != found["term"][:, None]) & (elements["term"] != _NOTHING)
        found["term"][others.any(axis=1)] = _MUCH
        found["term"][(elements["term"] == _UNDEFINED).any(axis=1)] = _UNDEFINED
        return found

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> NDArray[Any]:
        """Return on what all arguments depend."""
        return self.vector(np.stack(given, axis=1))

    def _of(self, terms: Any, low: Any = 0, count: Any = 0, field: int = -1) -> NDArray[Any]:
        found = np.zeros(len(terms), dtype=self.dtype)
        found["term"], found["low"], found["count"], found["field"] = terms, low, count, field
        return found

    def _in_interval(self, terms: Ids, fmt: Format) -> NDArray[Any]:
        """Return integers by the intervals in which they are, read in a format."""
        low, high = self._magnitudes.intervals(terms, fmt).T
        few = (high - low < MOST) & (np.abs(low) < _EXACT) & (np.abs(high) < _EXACT)
        low, high = np.where(few, low, 0), np.where(few, high, MOST)
        return self._of(terms, low.astype(np.int64).view(np.uint64), (high - low + 1).astype(np.int64))

    def _in_field(self, operation: Operation, terms: Ids) -> NDArray[Any]:
        """Return integers of few bits that are no constants."""
        free = len(free_bits(operation))
        if not 0 < free < MOST.bit_length():
            return self._of(terms, count=MOST + 1)
        parts = self.store.elements(self.store.arguments(terms)[:, 0])
        words = np.zeros(parts.shape, dtype=np.uint64)
        for index, field in enumerate(fields(operation)):
            if field.constant:
                words[:, index] = self.store.constant_values(parts[:, index])
        low = evaluate(operation, [words])
        return self._of(terms, low, 1 << free, self.store.number(operation))
