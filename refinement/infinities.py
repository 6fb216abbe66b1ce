"""Terms that are an infinity of a known sign wherever everything else in them is a finite number.

Masks put -∞ in place of a number: its power of two is 0, and it is never the greatest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..spec.formats import FloatFormat, Format
from . import operations
from .finiteness import Finiteness
from .interning import Ids
from .operations import Sum
from .terms import CONSTANT, TermStore

_FINITE = 0


class Infinities:
    """The signs of terms that are infinite.

    Parameters
    ----------
    store : TermStore
        The terms.
    finiteness : Finiteness
        Of the same terms.
    """

    def __init__(self, store: TermStore, finiteness: Finiteness) -> None:
        self._store = store
        self._finiteness = finiteness
        self._known: dict[tuple[int, Format], int | None] = {}

    def signs(self, terms: Ids, fmt: Format) -> NDArray[np.int8]:
        """Return 1 or -1 of terms (n,), read in a format, that are such an infinity, else 0."""
        found = np.zeros(len(terms), dtype=np.int8)
        for member in np.flatnonzero(self._finiteness.never(terms, fmt)):
            found[member] = self._sign(int(terms[member]), fmt) or 0
        return found

    def _sign(self, term: int, fmt: Format) -> int | None:
        """Return the sign of an infinity, 0 of what may be finite, None where nothing is known."""
        if not self._finiteness.never(np.array([term], dtype=np.int32), fmt)[0]:
            return _FINITE
        if (term, fmt) not in self._known:
            self._known[term, fmt] = self._computed(term, fmt)
        return self._known[term, fmt]

    def _computed(self, term: int, fmt: Format) -> int | None:
        operation = self._store.operation(term)
        if operation.name == CONSTANT:
            return self._of_constant(term, fmt)
        if operation.result != fmt:
            return None
        arguments = self._store.arguments(np.array([term]))[0].tolist()
        if operation.name == operations.NEGATE:
            sign = self._sign(arguments[0], operation.operands[0])
            return None if sign is None else -sign
        if operation.name == operations.EXTREMUM:
            pair = {self._sign(each, o) for each, o in zip(arguments, operation.operands, strict=False)}
            return pair.pop() if len(pair) == 1 else None
        if operation.name == operations.FUSED and isinstance(operation.attribute, Sum):
            given = list(zip(arguments, operation.operands, strict=False))
            return self._of_sum(given, operation.attribute.products)
        return None

    def _of_sum(self, given: Sequence[tuple[int, Format]], products: int) -> int | None:
        signs: set[int | None] = {self._sign(*each) for each in given[2 * products :]}
        signs |= {self._of_product(given[2 * i], given[2 * i + 1]) for i in range(products)}
        signs.discard(_FINITE)
        return signs.pop() if len(signs) == 1 else None

    def _of_product(self, left: tuple[int, Format], right: tuple[int, Format]) -> int | None:
        signs = [self._sign(*each) for each in (left, right)]
        if signs == [_FINITE, _FINITE]:
            return _FINITE
        found = 1
        for (term, fmt), sign in zip((left, right), signs, strict=True):
            known = sign or self._sign_of_number(term, fmt)
            if not known:  # data may be 0, or of either sign
                return None
            found *= known
        return found

    def _of_constant(self, term: int, fmt: Format) -> int | None:
        assert isinstance(fmt, FloatFormat)
        word = int(self._store.constant_values(np.array([term]))[0])
        if fmt.infinity is None or word & ~fmt.sign_mask != fmt.infinity:
            return None
        return -1 if word & fmt.sign_mask else 1

    def _sign_of_number(self, term: int, fmt: Format) -> int:
        if not isinstance(fmt, FloatFormat) or not self._store.are(CONSTANT, np.array([term]))[0]:
            return 0
        number = fmt.exact(int(self._store.constant_values(np.array([term]))[0]))
        return 0 if number is None else (number > 0) - (number < 0)
