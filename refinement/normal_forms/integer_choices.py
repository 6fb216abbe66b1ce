"""Expansion of choices that are sums: ``where(i == 0, x, where(i == 1, y, 0))``, ``where(c, s + x, s)``.

Of ``where(i == 0, x, 0)`` and ``where(i == 1, y, 0)`` at most one is not 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format, IntegerFormat
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT
from .one_sided_sums import common_addends
from .reading_words import Piece
from .readings import Quantifier
from .sum_atoms import Groups


class ExclusiveChoices:
    """Expands selects by several numbers that one integer may be, with 0 for the others.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    """

    def __init__(self, quantifier: Quantifier) -> None:
        self._quantifier, self._store = quantifier, quantifier.store

    def expanded(self, terms: Ids, fmt: Format) -> Groups:
        """Return the expansions of those of some terms (n,) of one operation that are such choices."""
        operation = self._store.operation(int(terms[0]))
        if operation.name != operations.SELECT or fmt.bits != operation.result.bits:
            return []
        zero = int(self._store.constants(0, operation.result.bits))
        conditions, _, left = self._store.arguments(terms)[:, :3].T
        integers = self._store.arguments(conditions)[:, 0]
        lengths, valid = np.zeros(len(terms), dtype=np.intp), self._are_equalities(conditions)
        levels: list[tuple[Ids, Ids]] = []
        numbers: list[Ids] = []
        left = terms.copy()
        while (active := np.flatnonzero(valid & (left != zero))).size:
            selects = self._store.are(operations.SELECT, left[active])
            valid[active[~selects]] = False
            active = active[selects]
            conditions, then, otherwise = self._store.arguments(left[active])[:, :3].T
            same = self._are_equalities(conditions)
            same &= self._store.arguments(conditions)[:, 0] == integers[active]
            valid[active[~same]] = False
            level = np.full((2, len(terms)), zero, dtype=np.int32)
            level[:, active] = conditions, then
            levels.append((level[0], level[1]))
            numbers.append(np.full(len(terms), zero, dtype=np.int32))
            numbers[-1][active] = self._store.arguments(conditions)[:, 1]
            left[active], lengths[active] = otherwise, len(levels)
        valid &= (lengths > 1) & self._are_distinct(numbers, lengths)
        found: Groups = []
        for length in np.unique(lengths[valid]):
            some = np.flatnonzero(valid & (lengths == length))
            pieces = [
                self._store.apply(operation, condition[some], then[some], zero)
                for condition, then in levels[:length]
            ]
            found.append((some, [Piece(1, (self._quantifier.read(piece, fmt),)) for piece in pieces]))
        return found

    def _are_equalities(self, conditions: Ids) -> NDArray[np.bool_]:
        """Tell which conditions (n,) are that an integer is one number."""
        found = np.zeros(len(conditions), dtype=bool)
        numbers = self._store.operation_numbers(conditions)
        for number in np.unique(numbers):
            operation = self._store.operations[number]
            compares = operation.name == operations.COMPARE and operation.attribute == "eq"
            if compares and isinstance(operation.operands[0], IntegerFormat):
                some = numbers == number
                found[some] = self._store.are(CONSTANT, self._store.arguments(conditions[some])[:, 1])
        return found

    def _are_distinct(self, levels: list[Ids], lengths: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell in which members no number of the first levels is there twice."""
        found = np.ones(len(lengths), dtype=bool)
        if not levels:
            return found
        numbers = np.stack(levels, axis=1)
        beyond = np.arange(len(levels)) >= lengths[:, None]
        numbers = np.sort(np.where(beyond, -1 - np.arange(len(levels)), numbers), axis=1)
        return np.asarray((np.diff(numbers, axis=1) != 0).all(axis=1))


class ChoicesOfSums:
    """Expands selects between sums with a common addend, among others that are none.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    """

    def __init__(self, quantifier: Quantifier) -> None:
        self._quantifier = quantifier

    def expanded(self, terms: Ids, fmt: Format) -> Groups:
        """Return the expansions of those of some terms (n,) of one operation that are such choices."""
        operation = self._quantifier.store.operation(int(terms[0]))
        if operation.name != operations.SELECT or fmt.bits != operation.result.bits:
            return []
        quantifier = self._quantifier
        found = common_addends(quantifier.store, quantifier.magnitudes, quantifier.coarse, terms, fmt)
        places = np.flatnonzero(found.common >= 0)
        pieces = [Piece(1, (self._quantifier.read(each[places], fmt),)) for each in found]
        return [(places, pieces)] if len(places) else []
