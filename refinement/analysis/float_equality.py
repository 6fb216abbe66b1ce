"""Float equality: where ``==`` of floats agrees with ``==`` of the real numbers they stand for.

A rounding turns ``x < y`` only where the two are next to each other; ``x == y`` it turns for nearly all
that are equal. So an equality is one of real numbers only if neither side is rounded, or if one is 0 and the
other cannot become 0 by roundings, of which none underflows.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..terms import operations
from ..terms.domains import Domain
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import CONSTANT, INPUT, NORMAL_FORM, Operation
from ..terms.widened_words import NONE, narrower
from .quantisation import widens
from .rounding_depth import paths

_EXACT, _KEEPS_ZERO, _NOT_NEGATIVE = 1, 2, 4
"""Flags of a term: nothing was rounded; it is computed as 0 only where it is 0; it is 0 or greater."""

_ALL = _EXACT | _KEEPS_ZERO | _NOT_NEGATIVE
_EXPONENTIALS = ("ex2", "exp")
_ODD = ("tanh", "erf")
_ROOT, _RECIPROCALS = "sqrt", ("rcp", "rsqrt")


class ComputedEquality(Domain):
    """Decides which equalities of floats agree with equality of the real numbers.

    Parameters
    ----------
    store : TermStore
        Of the numbers.
    """

    dtype, join = np.int8, np.bitwise_and

    def is_of_reals(self, left: int, right: int) -> bool:
        """Tell whether two floats are computed equal just where they are equal over the reals."""
        one, other = self.values(np.array([left, right], dtype=np.int32)).tolist()
        if one & other & _EXACT:
            return True
        return bool(
            (one & _KEEPS_ZERO and self.is_zero(right)) or (other & _KEEPS_ZERO and self.is_zero(left))
        )

    def extremum_of(self, left: int, right: int) -> str | None:
        """Return which extreme number the first is, if it is one of those of which the second is that one."""
        operation = self.store.operation(right)
        if operation.name != operations.EXTREMUM:
            return None
        pending, seen = [right], set[int]()
        while pending:
            term = pending.pop()
            if term == left:
                assert isinstance(operation.attribute, tuple)
                return str(operation.attribute[0])
            if term not in seen and self.store.operation(term) == operation:
                pending += self.store.arguments(np.array([term]))[0, :2].tolist()
            seen.add(term)
        return None

    def key(self, term: int, fmt: Format) -> Hashable:
        """Return what is the same only for sides of comparisons that are the same bits, if rounded."""
        while (number := self._narrower(term, fmt)) is not None:
            term = number
        return term

    def is_exact(self, term: int) -> bool:
        """Tell whether nothing is rounded of what a term is made of."""
        return bool(self.are_exact(np.array([term], dtype=np.int32))[0])

    def are_exact(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell of which terms (n,) nothing is rounded that they are made of."""
        return np.asarray(self.values(terms) & _EXACT != 0)

    def _narrower(self, term: int, fmt: Format) -> int | None:
        """Return the number of a narrower format that a number was widened from, if it was."""
        operation, terms = self.store.operation(term), np.array([term], dtype=np.int32)
        if widens(operation):
            return int(self.store.arguments(terms)[0, 0])
        (found,) = narrower(self.store, operation, terms, fmt).tolist()
        return None if found == NONE else found

    def is_zero(self, term: int) -> bool:
        """Tell whether a term is the constant 0, of either sign."""
        terms = np.array([term], dtype=np.int32)
        if not self.store.are(CONSTANT, terms)[0]:
            return False
        width = self.store.operation(term).result.bits
        return not int(self.store.constant_values(terms)[0]) & ((1 << (width - 1)) - 1)

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return the flags of terms of one operation."""
        whole = isinstance(operation.result, FloatFormat) and operation.attribute in operations.INTEGRAL
        rounds = not whole and any(count for path in paths(operation) for _, count in path.roundings)
        together = super().applied(operation, terms, given)
        found = np.zeros_like(together) if rounds else together & _EXACT
        found |= (together & _EXACT) * _KEEPS_ZERO if found.any() else 0
        match operation.name:
            case operations.SELECT:
                return given[1] & given[2]
            case operations.FUSED:
                assert isinstance(operation.attribute, Sum)
                return found | self._sum(operation.attribute, terms, given)
            case operations.CONVERT if isinstance(operation.result, FloatFormat):
                return found | given[0] & (_KEEPS_ZERO | _NOT_NEGATIVE)
            case operations.DOT:
                return found | _same_sign(together)
            case operations.NEGATE if isinstance(operation.result, FloatFormat):
                return found | given[0] & _KEEPS_ZERO
            case operations.EXTREMUM:
                return found | self._extremum(operation, terms, given)
            case operations.QUOTIENT:
                return found | _function("div", given)
            case operations.FUNCTION if isinstance(operation.result, FloatFormat):
                return found | _function(str(operation.attribute).partition(".")[0], given)
        return found

    def leaf(self, operation: Operation, terms: Ids) -> Any:
        """Return the flags of leaves."""
        if operation.name == NORMAL_FORM:
            return 0
        if operation.name == CONSTANT:
            words = self.store.constant_values(terms)
            positive = words >> np.uint64(operation.result.bits - 1) == 0
            return np.where(positive, _ALL, _ALL & ~_NOT_NEGATIVE)
        fmt = operation.result
        unsigned = operation.name == INPUT and isinstance(fmt, FloatFormat | IntegerFormat) and not fmt.signed
        return _ALL if unsigned else _ALL & ~_NOT_NEGATIVE

    def _sum(self, how: Sum, terms: Ids, given: list[Any]) -> Any:
        """Return the flags of sums of products and addends that are rounded once."""
        arguments, pairs = self.store.arguments(terms), range(0, 2 * how.products, 2)
        exact = np.bitwise_and.reduce(given, axis=0) & _EXACT
        summands = []
        for first in pairs:
            square = arguments[:, first] == arguments[:, first + 1]
            both = given[first] & given[first + 1]
            summands.append(np.where(square, both | _NOT_NEGATIVE, both))
        summands += given[2 * how.products :]
        together = np.bitwise_and.reduce(summands, axis=0)
        found = together & (_KEEPS_ZERO | _NOT_NEGATIVE) if len(summands) == 1 else _same_sign(together)
        return found | exact * _KEEPS_ZERO

    def _extremum(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        assert isinstance(operation.attribute, tuple)
        arguments = self.store.arguments(terms)[:, :2]
        found = _same_sign(given[0] & given[1])
        if operation.attribute[0] != "max":
            return found
        found |= (given[0] | given[1]) & _NOT_NEGATIVE
        for place, sides in enumerate(arguments.tolist()):
            for one, other in (sides, sides[::-1]):  # the absolute value
                if self.store.operation(one).name == operations.NEGATE and (
                    self.store.arguments(np.array([one]))[0, 0] == other
                ):
                    found[place] |= _NOT_NEGATIVE | given[0][place] & _KEEPS_ZERO
        return found


def _same_sign(flags: Any) -> Any:
    """Return the flags of sums of numbers of which none is negative: 0 only where all are."""
    return np.where(flags & _NOT_NEGATIVE, flags & (_KEEPS_ZERO | _NOT_NEGATIVE), 0).astype(np.int8)


def _function(name: str, given: list[Any]) -> Any:
    """Return the flags of functions of floats by those of their arguments."""
    if name in _EXPONENTIALS:
        return _KEEPS_ZERO | _NOT_NEGATIVE
    if name in _RECIPROCALS:
        return _KEEPS_ZERO | given[0] & _NOT_NEGATIVE
    if name == _ROOT:
        return _NOT_NEGATIVE | given[0] & _KEEPS_ZERO
    if name in _ODD:
        return given[0] & (_KEEPS_ZERO | _NOT_NEGATIVE)
    if name == "div":
        return given[0] & _KEEPS_ZERO | given[0] & given[1] & _NOT_NEGATIVE
    return 0
