"""Interning of polynomials: equal ones, and only they, have the same number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..terms.interning import Ids, RowTable
from .polynomials import ABSENT, Polynomials
from .reading_words import Quantities

_WHOLE, _LISTED = 0, 1
"""Whether a coefficient is written in two words, or as its place in a list."""


class PolynomialNumbers:
    """Interns polynomials, a whole array of them at a time."""

    def __init__(self) -> None:
        self._coefficients: dict[Any, int] = {}
        self._monomials: dict[int, RowTable] = {}
        self._rows = RowTable(2)
        self._sums: dict[int, RowTable] = {}
        self._polynomials = RowTable(3)

    def numbers(self, kind: int, found: Polynomials, count: int) -> Ids:
        """Return the numbers (count,) of the polynomials of owners 0 to ``count - 1``.

        Parameters
        ----------
        kind : int
            What else tells polynomials apart.
        found : Polynomials
            Some of the owners may have none: their polynomial is 0.
        count : int
            How many owners there are.
        """
        rows = self._of_rows(found)
        first = np.searchsorted(found.owners, np.arange(count + 1))
        lengths = np.diff(first)
        keys = np.zeros((count, 3), dtype=np.int32)
        keys[:, 0], keys[:, 1] = kind, lengths
        for length in np.unique(lengths[lengths > 0]):
            members = np.flatnonzero(lengths == length)
            sums = rows[first[members][:, None] + np.arange(length)]
            keys[members, 2] = _table(self._sums, int(length)).numbers(sums)
        return self._polynomials.numbers(keys)

    def _of_rows(self, found: Polynomials) -> Ids:
        """Return the numbers of products with their coefficients."""
        words = self._coefficient_words(found.coefficients)
        degrees = (found.atoms != ABSENT).sum(axis=1)
        keys = np.empty((len(found), 2), dtype=np.int32)
        keys[:, 0] = degrees
        for degree in np.unique(degrees):
            members = np.flatnonzero(degrees == degree)
            atoms = _words(found.atoms[members, :degree])
            rows = np.concatenate([words[members], atoms], axis=1)
            keys[members, 1] = _table(self._monomials, rows.shape[1]).numbers(rows)
        return self._rows.numbers(keys)

    def _coefficient_words(self, coefficients: NDArray[Any]) -> NDArray[np.int32]:
        """Return coefficients (n,) as words (n, 3), the same for equal numbers of any type."""
        if coefficients.dtype != object:  # whose elements have no identity of their own
            whole = np.full((len(coefficients), 1), _WHOLE, dtype=np.int32)
            return np.concatenate([whole, _words(coefficients[:, None].astype(np.int64))], axis=1)
        identities = np.fromiter(map(id, coefficients), dtype=np.int64, count=len(coefficients))
        _, first, inverse = np.unique(identities, return_index=True, return_inverse=True)
        words = np.full((len(first), 3), _WHOLE, dtype=np.int32)
        for index, number in enumerate(coefficients[first].tolist()):  # many share one object
            if number.denominator == 1 and -(1 << 63) <= number < 1 << 63:
                words[index, 1:] = np.array([int(number)], dtype=np.int64).view(np.int32)
            else:
                place = self._coefficients.setdefault(number, len(self._coefficients))
                words[index] = _LISTED, place, 0
        return words[inverse.reshape(-1)]


def _words(columns: NDArray[np.int64] | Quantities) -> NDArray[np.int32]:
    """Return columns (n, c) of 64 bits as two of 32 each."""
    return np.ascontiguousarray(columns).view(np.int32)


def _table(tables: dict[int, RowTable], columns: int) -> RowTable:
    return tables.setdefault(columns, RowTable(columns))
