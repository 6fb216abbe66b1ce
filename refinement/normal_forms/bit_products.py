"""Boolean functions of a few bits as multilinear polynomials, which are unique.

``a ^ b`` is a + b - 2ab, ``a & b`` is ab: counts of bits (``popc``) are compared with sums of products so.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format, IntegerFormat
from ..terms.evaluation import evaluate
from ..terms.interning import Ids, RowTable
from ..terms.store import CONCATENATION, CONSTANT, INPUT, VECTOR, Operation, is_raw
from ..terms.traversal import fill, operands
from ..terms.value_tables import NOT_TABULATED, exact_numbers
from .reading_words import Piece, Pieces
from .readings import Quantifier
from .sum_atoms import Groups

_MOST = 4
"""Bits that a function may have."""

_UNKNOWN, _MUCH, _NONE = -3, -2, -1

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
        self._bits = np.empty(0, dtype=np.int64)
        self._values = np.empty(0, dtype=np.int64)
        self._sets = RowTable(_MOST)
        self._tables = RowTable(2 * len(_CASES))

    def expanded(self, terms: Ids, fmt: Format) -> Groups:
        """Return the expansions, by index, of the terms (n,) that are functions of single bits."""
        store = self._store
        if not any(_is_bit(operation) for operation in store.operations):
            return []
        missing = max(0, 2 * len(store) - len(self._bits)) if len(self._bits) < len(store) else 0
        self._bits = np.concatenate([self._bits, np.full(missing, _UNKNOWN)])
        self._values = np.concatenate([self._values, np.full(missing, _UNKNOWN)])
        fill(store, terms, self._bits, _UNKNOWN, self._depends, self._bits_of)
        members = np.flatnonzero(self._bits[terms] >= 0)
        if not len(members):
            return []
        fill(store, terms[members], self._values, _UNKNOWN, self._depends, self._values_of)
        found: Groups = []
        tables, bits = self._values[terms[members]], self._sets.rows[self._bits[terms[members]]]
        counts = (bits != _NONE).sum(axis=1)
        for table, count in np.unique(np.stack([tables, counts], axis=1), axis=0).tolist():
            some = np.flatnonzero((tables == table) & (counts == count))
            words = np.ascontiguousarray(self._tables.rows[table]).view(np.uint64)[: 1 << count]
            pieces = self._pieces(words, bits[some, :count], fmt)
            if pieces is not None:
                found.append((members[some], pieces))
        return found

    def _pieces(self, words: NDArray[np.uint64], bits: Ids, fmt: Format) -> Pieces | None:
        """Return the products of bits (n, count) that a function is a sum of; None if it is no number."""
        if is_raw(fmt):
            numbers: list[Any] = [int(word) for word in words]
        else:
            numbers = [None if each is None else _plain(each) for each in exact_numbers(words, fmt)]
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

    def _depends(self, operation: Operation, terms: Ids) -> list[Ids]:
        if operation.name == CONCATENATION:
            return list(self._store.elements(self._store.arguments(terms)[:, 0]).T)
        unseen = (VECTOR, *NOT_TABULATED)
        return [] if operation.name in unseen else operands(self._store, operation, terms)

    def _bits_of(self, operation: Operation, terms: Ids, known: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return numbers of the sets of bits that terms (n,) of one operation depend on."""
        rows = np.full((len(terms), _MOST), _NONE, dtype=np.int32)
        if operation.name == CONSTANT:
            return self._sets.numbers(rows).astype(np.int64)
        if _is_bit(operation):
            rows[:, 0] = terms
            return self._sets.numbers(rows).astype(np.int64)
        columns = self._depends(operation, terms)
        if operation.name == INPUT or not columns:
            return np.full(len(terms), _MUCH)
        among = known[np.stack(columns, axis=-1)]
        found = np.full(len(terms), _MUCH)
        few = np.flatnonzero((among != _MUCH).all(axis=1))
        if not len(few):  # there need not be any set
            return found
        distinct = -np.sort(-self._sets.rows[among[few]].reshape(len(few), -1), axis=1)
        distinct[:, 1:][distinct[:, 1:] == distinct[:, :-1]] = _NONE
        distinct = -np.sort(-distinct, axis=1)
        fits = (distinct != _NONE).sum(axis=1) <= _MOST
        found[few[fits]] = self._sets.numbers(np.ascontiguousarray(distinct[fits, :_MOST]))
        return found

    def _values_of(self, operation: Operation, terms: Ids, known: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return numbers of the tables of what terms (n,) of one operation are in every case."""
        own = self._sets.rows[self._bits[terms]]
        if operation.name == CONSTANT:
            values = np.repeat(self._store.constant_values(terms)[:, None], len(_CASES), axis=1)
        elif operation.name == INPUT:
            values = np.broadcast_to((_CASES & 1).astype(np.uint64), (len(terms), len(_CASES)))
        else:
            given = [self._in_cases_of(own, each, known) for each in self._depends(operation, terms)]
            if operation.name == CONCATENATION:
                given = [np.stack(given, axis=-1)]
            values = evaluate(operation, given)
        words = np.ascontiguousarray(values, dtype=np.uint64).view(np.int32)
        return self._tables.numbers(words).astype(np.int64)

    def _in_cases_of(self, bits: Ids, terms: Ids, known: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return what terms (n,) are (n, cases) in the cases of bits (n, _MOST), which theirs are among."""
        theirs = self._sets.rows[self._bits[terms]]
        tables = np.ascontiguousarray(self._tables.rows[known[terms]]).view(np.uint64)
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
