"""Boolean functions of a few bits as multilinear polynomials, which are unique.

``a ^ b`` is a + b - 2ab, ``a & b`` is ab: counts of bits (``popc``) are compared with sums of products so.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format, IntegerFormat
from ..terms.domains import Domain, Reading
from ..terms.evaluation import evaluate
from ..terms.interning import Ids, RowTable
from ..terms.store import CONCATENATION, CONSTANT, INPUT, VECTOR, Operation, TermStore, is_raw
from ..terms.traversal import operands
from ..terms.value_tables import NOT_TABULATED, exact_numbers
from .reading_words import Piece, Pieces
from .readings import Quantifier
from .sum_atoms import Groups

_MOST = 4
"""Bits that a function may have."""

_MUCH, _NONE = -2, -1

_CASES = np.arange(1 << _MOST)
"""What the bits of a function may be, together: bit p of a number is the function's bit p."""


class BitProducts:
    """Expands boolean functions into multilinear polynomials.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    """

    def __init__(self, quantifier: Quantifier) -> None:
        self._quantifier = quantifier
        self._store = quantifier.store
        self._bits = _BitSets(self._store)
        self._values = _CaseTables(self._bits)

    def expanded(self, terms: Ids, fmt: Format) -> Groups:
        """Return the expansions, by index, of the terms (n,) that are functions of single bits."""
        store = self._store
        if not any(_is_bit(operation) for operation in store.operations):
            return []
        sets = self._bits.values(terms)
        members = np.flatnonzero(sets >= 0)
        if not len(members):
            return []
        found: Groups = []
        tables, bits = self._values.values(terms[members]), self._bits.sets.rows[sets[members]]
        counts = (bits != _NONE).sum(axis=1)
        for table, count in np.unique(np.stack([tables, counts], axis=1), axis=0).tolist():
            some = np.flatnonzero((tables == table) & (counts == count))
            words = np.ascontiguousarray(self._values.tables.rows[table]).view(np.uint64)[: 1 << count]
            pieces = self._pieces(words, bits[some, :count], fmt)
            if pieces is not None:
                found.append((members[some], pieces))
        return found

    def _pieces(self, words: NDArray[np.uint64], bits: Ids, fmt: Format) -> Pieces | None:
        """Return the products of bits (n, count) that a function is a sum of; None if it is no number."""
        if is_raw(fmt):
            numbers: list[Any] = [int(word) for word in words]
        else:
            numbers = [
                None if exact_number is None else _plain(exact_number)
                for exact_number in exact_numbers(words, fmt)
            ]
        if None in numbers:
            return None
        for bit in range(bits.shape[1]):
            for case in range(len(numbers)):
                if case >> bit & 1:
                    numbers[case] -= numbers[case ^ 1 << bit]
        read = [
            self._quantifier.read(column, self._store.operation(int(column[0])).result) for column in bits.T
        ]
        return [
            Piece(
                np.full(len(bits), number, dtype=object),
                tuple(each for bit, each in enumerate(read) if case >> bit & 1),
            )
            for case, number in enumerate(numbers)
            if number or not case
        ]


class _BitSets(Domain):
    """Numbers of the sets of bits that terms depend on."""

    dtype = np.int64

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self.sets = RowTable(_MOST)

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[Reading]:
        return [(argument, read) for argument in self.arguments(operation, terms)]

    def arguments(self, operation: Operation, terms: Ids) -> list[Ids]:
        """Return the arguments (n,) of what may be a function of bits."""
        if operation.name == CONCATENATION:
            return list(self.store.elements(self.store.arguments(terms)[:, 0]).T)
        unseen = (VECTOR, *NOT_TABULATED)
        return [] if operation.name in unseen else operands(self.store, operation, terms)

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> NDArray[np.int64]:
        rows = np.full((len(terms), _MOST), _NONE, dtype=np.int32)
        if operation.name == CONSTANT:
            return self.sets.numbers(rows).astype(np.int64)
        if _is_bit(operation):
            rows[:, 0] = terms
            return self.sets.numbers(rows).astype(np.int64)
        columns = self.arguments(operation, terms)
        if operation.name == INPUT or not columns:
            return np.full(len(terms), _MUCH)
        among = self.table()[np.stack(columns, axis=-1)]
        found = np.full(len(terms), _MUCH)
        few = np.flatnonzero((among != _MUCH).all(axis=1))
        if not len(few):  # there need not be any set
            return found
        distinct = -np.sort(-self.sets.rows[among[few]].reshape(len(few), -1), axis=1)
        distinct[:, 1:][distinct[:, 1:] == distinct[:, :-1]] = _NONE
        distinct = -np.sort(-distinct, axis=1)
        fits = (distinct != _NONE).sum(axis=1) <= _MOST
        found[few[fits]] = self.sets.numbers(np.ascontiguousarray(distinct[fits, :_MOST]))
        return found


class _CaseTables(Domain):
    """Numbers of the tables of what terms are in every case of their bits."""

    dtype = np.int64

    def __init__(self, bits: _BitSets) -> None:
        super().__init__(bits.store)
        self._bits, self.tables = bits, RowTable(2 * len(_CASES))

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[Reading]:
        return self._bits.depends(operation, terms, read)

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> NDArray[np.int64]:
        own = self._sets_of(terms)
        if operation.name == CONSTANT:
            values = np.repeat(self.store.constant_values(terms)[:, None], len(_CASES), axis=1)
        elif operation.name == INPUT:
            values = np.broadcast_to((_CASES & 1).astype(np.uint64), (len(terms), len(_CASES)))
        else:
            given = [self._in_cases_of(own, argument) for argument in self._bits.arguments(operation, terms)]
            if operation.name == CONCATENATION:
                given = [np.stack(given, axis=-1)]
            values = evaluate(operation, given)
        words = np.ascontiguousarray(values, dtype=np.uint64).view(np.int32)
        return self.tables.numbers(words).astype(np.int64)

    def _sets_of(self, terms: Ids) -> Ids:
        found: Ids = self._bits.sets.rows[self._bits.values(terms)]
        return found

    def _in_cases_of(self, bits: Ids, terms: Ids) -> NDArray[np.uint64]:
        """Return what terms (n,) are (n, cases) in the cases of bits (n, _MOST), which theirs are among."""
        theirs = self._sets_of(terms)
        tables = np.ascontiguousarray(self.tables.rows[self.table()[terms]]).view(np.uint64)
        places = np.zeros((len(terms), len(_CASES)), dtype=np.intp)
        for place, bit in enumerate(theirs.T):
            position = (bits == bit[:, None]).argmax(axis=1)
            one = (_CASES >> position[:, None] & 1) << place
            places += np.where((bit == _NONE)[:, None], 0, one)
        return np.take_along_axis(tables, places, axis=1)


def _is_bit(operation: Operation) -> bool:
    """Tell whether an operation is an input of a single bit, 0 or 1."""
    fmt = operation.result
    return operation.name == INPUT and isinstance(fmt, IntegerFormat) and fmt.bits == 1 and not fmt.signed


def _plain(number: Fraction) -> Any:
    return number.numerator if number.denominator == 1 else number
