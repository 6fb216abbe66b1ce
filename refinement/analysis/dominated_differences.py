"""Differences from a maximum: ``x - max(…, x, …)`` is at most 0.

Scores are so shifted before their exponentials are taken, which are then at most 1. Both may be scaled by a
factor c ≥ 0: where ``c·x - max(…, c·max(…, x, …), …)`` is rounded once, it may be greater than 0 by as much
as the other product was rounded down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format
from ..terms import operations
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import Operation, TermStore
from .intervals import Interval
from .maxima import Maxima
from .rounding_errors import coarseness, least

Read = Callable[[Ids, Format], Interval]
"""From terms and a format to their ranges in it."""


class DominatedDifferences:
    """Bounds differences by maxima of the numbers that are subtracted from.

    Parameters
    ----------
    store : TermStore
        The terms.
    read : callable
        Reads ranges of what terms are made of.
    """

    def __init__(self, store: TermStore, read: Read) -> None:
        self._store, self._read, self._maxima = store, read, Maxima(store)
        self._scaled: dict[tuple[int, FloatFormat], list[tuple[int, Operation, list[int]]]] = {}

    def greatest(self, operation: Operation, terms: Ids) -> NDArray[np.float64]:
        """Return the greatest that terms (n,) of one operation can be, not yet rounded; ∞ if unknown."""
        found, how = np.full(len(terms), np.inf), operation.attribute
        if operation.name != operations.FUSED or not isinstance(how, Sum):
            return found
        alike = set(operation.operands) == {operation.result}
        if not alike or (how.products, how.addends) not in ((0, 2), (1, 1)):
            return found
        *_, other, last = self._store.arguments(terms)[:, : len(operation.operands)].T
        for subtracted in (other, last) if how.products == 0 else (last,):
            negated = self._store.are(operations.NEGATE, subtracted) & self._maxima.are_in(subtracted)
            for place in np.flatnonzero(negated).tolist():
                maximum = int(self._store.arguments(subtracted[place : place + 1])[0, 0])
                given = self._store.arguments(terms[place : place + 1])[0].tolist()[: len(operation.operands)]
                found[place] = min(found[place], self._above(operation, given, maximum))
        return found

    def _above(self, operation: Operation, given: list[int], maximum: int) -> float:
        """Return how far a number may be above a maximum that is subtracted from it."""
        how, fmt = operation.attribute, operation.result
        assert isinstance(how, Sum) and isinstance(fmt, FloatFormat)
        if how.products == 1:
            products = self._greater(given[:2], fmt, maximum)
            return min((self._lost(each, fmt) for each, _ in products), default=np.inf)
        if any(self._maxima.dominates(maximum, each, fmt) for each in given):
            return 0.0
        for rounding, factors in map(self._maxima.parts, given):
            if _multiplies(rounding, fmt) and any(
                other == rounding for _, other in self._greater(factors, fmt, maximum)
            ):
                return 0.0
        return np.inf

    def _greater(self, factors: list[int], fmt: FloatFormat, maximum: int) -> Iterator[tuple[int, Operation]]:
        """Yield products among what a term is the maximum of that are not less than that of two factors."""
        for term, rounding, others in self._products(maximum, fmt):
            for (number, factor), (greatest, scale) in product(
                (factors, factors[::-1]), (others, others[::-1])
            ):
                dominates = scale == factor and self._maxima.dominates(greatest, number, fmt)
                if dominates and self._read(np.array([factor], dtype=np.int32), fmt).low[0] >= 0:
                    yield term, rounding

    def _products(self, maximum: int, fmt: FloatFormat) -> list[tuple[int, Operation, list[int]]]:
        """Return the products among those that a term is the maximum of, with their factors."""
        if (maximum, fmt) not in self._scaled:
            parts = ((term, *self._maxima.parts(term)) for term in self._maxima.numbers(maximum, fmt))
            self._scaled[maximum, fmt] = [each for each in parts if _multiplies(each[1], fmt)]
        return self._scaled[maximum, fmt]

    def _lost(self, rounded: int, fmt: FloatFormat) -> float:
        """Return how far a product may be rounded down."""
        ends = self._read(np.array([rounded], dtype=np.int32), fmt)
        return 2 * coarseness(fmt) * float(np.abs(ends.rows).max()) + least(fmt, flush=True)


def _multiplies(operation: Operation, fmt: FloatFormat) -> bool:
    """Tell whether an operation is a product of two numbers of a format that is rounded to it."""
    how = operation.attribute
    alone = (
        operation.name == operations.FUSED and isinstance(how, Sum) and (how.products, how.addends) == (1, 0)
    )
    return alone and {operation.result, *operation.operands} == {fmt}
