"""Quotients by a maximum of magnitudes: ``|x / max(…, |x|, …)|`` is at most 1.

Numbers are so scaled before they are rounded to few bits: ``x · (127 / m)`` needs no clamp where m is the
greatest magnitude of its row. What divides may be scaled, have a positive number added, or be replaced by a
constant where it is 0: then x is 0, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format
from ..terms import operations
from ..terms.domains import Contains
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import Operation, TermStore
from .maxima import Maxima
from .rounding_errors import coarseness

_DEPTH = 8
"""Operations from a product down to its factors; scaling, guard and division are four."""

_APPROXIMATE = 2.0**-10
"""More than any approximation of a quotient is off, relative to its result."""

_AT_ZERO = {"eq": 1, "le": 1, "ne": 2, "gt": 2}
"""Which argument of a select is taken where a magnitude is 0, by how it is compared with 0."""


class _Factors(NamedTuple):
    """``|constant · Π numerators / Π denominators|``, where none of the guards is 0; 0 where one is."""

    constant: float = 1.0
    numerators: tuple[int, ...] = ()
    denominators: tuple[int, ...] = ()
    guards: tuple[int, ...] = ()

    def times(self, other: _Factors) -> _Factors:
        with np.errstate(all="ignore"):
            constant = float(np.float64(self.constant) * other.constant)
        return _Factors(constant, *(one + more for one, more in zip(self[1:], other[1:], strict=True)))

    def inverse(self) -> _Factors:
        with np.errstate(all="ignore"):
            constant = float(1 / np.float64(self.constant))
        return _Factors(constant, self.denominators, self.numerators, self.guards)


class DominatedQuotients:
    """Bounds quotients by maxima of the numbers that are divided.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._divides = Contains(store, _divides)
        self._maxima = Maxima(store)

    def greatest(self, operation: Operation, terms: Ids) -> NDArray[np.float64]:
        """Return the greatest magnitudes of terms (n,) of one operation, not yet rounded; ∞ if unknown."""
        found = np.full(len(terms), np.inf)
        if not (_is_product(operation) or _divides(operation)):
            return found
        some = np.flatnonzero(self._divides.values(terms) & self._maxima.are_in(terms))
        for place in some.tolist():
            found[place] = self._bound(self._factors(int(terms[place]), operation.result, _DEPTH))
        return found

    def _bound(self, factors: _Factors) -> float:
        """Return the greatest magnitude of a product; ∞ where some factor is left."""
        left = list(factors.numerators)
        for maximum in factors.denominators:
            dominated = (each for each in left if self._is_dominated(each, maximum))
            if (number := next(dominated, None)) is None:
                return np.inf
            left.remove(number)
            if not all(self._is_dominated(number, guard) for guard in factors.guards):
                return np.inf
        return np.inf if left or not factors.denominators else factors.constant

    def _is_dominated(self, number: int, maximum: int) -> bool:
        """Tell whether a maximum is at least the magnitude of a number."""
        operation, arguments = self._maxima.parts(number)
        among = self._maxima.numbers(maximum, operation.result)
        if operation.name == operations.NEGATE:
            return number in among and arguments[0] in among
        fmt = operation.result
        if number not in among or not isinstance(fmt, FloatFormat):
            return False
        return int(self._store.apply(operations.negate(fmt), np.array([number]))[0]) in among

    # -- the factors of a product
    def _factors(self, term: int, fmt: Format, depth: int, *, divides: bool = False) -> _Factors:
        value = self._maxima.constant(term, fmt)
        if value is not None:
            return _Factors(abs(value))
        operation, arguments = self._maxima.parts(term)
        if depth == 0:
            return _Factors(numerators=(term,))
        if operation.name == operations.SELECT:
            return self._chosen(term, arguments, fmt, depth, divides=divides)
        if operation.result != fmt:
            return _Factors(numerators=(term,))
        if operation.name == operations.NEGATE:
            return self._factors(arguments[0], fmt, depth - 1, divides=divides)
        known = _is_product(operation) or _divides(operation)
        if not known:
            return _Factors(numerators=(term,))
        below = [divides] * (len(arguments) - 1) + [divides != _divides(operation)]
        parts = [
            self._factors(each, read, depth - 1, divides=side)
            for each, read, side in zip(arguments, operation.operands, below, strict=True)
        ]
        if _divides(operation):
            parts = [*parts[:-1], parts[-1].inverse()]
        found = _Factors(_inflation(operation))
        for part in parts:
            found = found.times(part)
        return found

    def _chosen(self, term: int, arguments: list[int], fmt: Format, depth: int, *, divides: bool) -> _Factors:
        """Return the factors of a number in whose place there is a constant where another one is 0."""
        for side in (1, 2):
            value = self._maxima.constant(arguments[side], fmt)
            if value is None:
                continue
            other = self._factors(arguments[3 - side], fmt, depth - 1, divides=divides)
            if value == 0 and not divides:
                return other
            if (guard := self._is_zero_where(arguments[0], side)) is not None:
                return other._replace(guards=(*other.guards, guard))
        return _Factors(numerators=(term,))

    def _is_zero_where(self, condition: int, side: int) -> int | None:
        """Return the maximum of magnitudes that is 0 where a select takes a side; else None."""
        operation, arguments = self._maxima.parts(condition)
        if operation.name != operations.COMPARE:
            return None
        fmt, relation = operation.operands[0], str(operation.attribute).removesuffix("u")
        if _AT_ZERO.get(relation) != side or self._maxima.constant(arguments[1], fmt) != 0:
            return None
        return arguments[0]


def _is_product(operation: Operation) -> bool:
    """Tell whether an operation multiplies two floats, or rounds one, and adds nothing."""
    how = operation.attribute
    if operation.name != operations.FUSED or not isinstance(how, Sum):
        return False
    return (how.products, how.addends) in ((1, 0), (0, 1))


def _divides(operation: Operation) -> bool:
    reciprocal = operation.name == operations.FUNCTION and str(operation.attribute).partition(".")[0] == "rcp"
    return reciprocal or operations.divides(operation) or operation.name == operations.QUOTIENT


def _inflation(operation: Operation) -> float:
    """Return by how much an operation may be greater than its exact result."""
    assert isinstance(operation.result, FloatFormat)
    return 1 + (2 * coarseness(operation.result) if operation.name == operations.FUSED else _APPROXIMATE)
