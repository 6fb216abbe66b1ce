"""Integers that are clamped and packed, or cut: the bits above those that ranges leave them are zeros.

What is clamped to ``0 … 15`` has four bits: in ``low | high << 4`` no bit is set by both. The sign of what is
not negative, which ``x / 8`` and ``x % 8`` add to it, is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...spec.formats import IntegerFormat
from ..analysis.integer_intervals import Magnitudes
from ..terms import operations
from ..terms.bit_slices import bitwise, extract, rejoined, zero_extend
from ..terms.domains import Rewriting
from ..terms.interning import Ids
from ..terms.slices import fields
from ..terms.store import CONCATENATION, CONSTANT, Operation, is_raw
from ..terms.traversal import by_operation

_PACKED = (CONCATENATION, operations.NEGATE)
"""To what an integer is added that has no bits in common with it, or from what it is subtracted."""

_SIGNS = (15, 31, 63)
"""The highest bits of words of 16, 32 and 64."""

_EXACT = 2.0**53
"""Integers from here on are known from outside alone."""


class BoundedWords(Rewriting):
    """Replaces integers of which bits are taken or put together by their low bits with zeros above.

    Parameters
    ----------
    magnitudes : Magnitudes
        Ranges of integers.
    """

    def __init__(self, magnitudes: Magnitudes) -> None:
        super().__init__(magnitudes.store)
        self._magnitudes = magnitudes

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        if operation.name == operations.BITWISE and packs(operation):
            assert isinstance(operation.attribute, int)
            a, b, c = map(self._low_bits, given)
            return bitwise(self.store, operation.attribute, a, b, c)
        if operation.name == CONCATENATION:
            return rejoined(self.store, operation, self._cut(operation, given[0]))
        if operation.name == operations.RING and any(
            self.store.are(name, each).any() for each in given for name in _PACKED
        ):
            given = [self._low_bits(each) for each in given]
        return super().applied(operation, terms, given)

    def _cut(self, operation: Operation, vectors: Ids) -> Ids:
        """Return vectors with the low bits of those words of which bits are taken."""
        columns = list(self.store.elements(vectors).T)
        for place, field in enumerate(fields(operation)):
            if not field.constant:
                columns[place] = self._low_bits(columns[place])
        return self.store.vectors(np.stack(columns, axis=-1))

    def _low_bits(self, words: Ids) -> Ids:
        """Return words (n,) with zeros for the bits that they never have."""
        found = words.copy()
        for made, members in by_operation(self.store, np.unique(words)):
            fmt = made.result
            if not isinstance(fmt, IntegerFormat) or fmt.bits == 1 or made.name in (CONSTANT, CONCATENATION):
                continue
            low, high = self._magnitudes.intervals(
                members, operations.signed(fmt.bits) if is_raw(fmt) else fmt
            ).T
            known = (low >= 0) & (high < min(_EXACT, 2.0**fmt.bits))
            lengths = np.frexp(np.where(known, high, 0.0))[1].clip(1)
            for length in np.unique(lengths[known]).tolist():
                some = members[known & (lengths == length)]
                made_words = zero_extend(self.store, extract(self.store, some, 0, length), fmt.bits)
                places = np.flatnonzero(np.isin(words, some))
                found[places] = made_words[np.searchsorted(some, words[places])]
        return found


def packs(operation: Operation) -> bool:
    """Tell whether an operation puts words together bit by bit, or cuts the sign of an integer off."""
    if operation.name == CONCATENATION:
        return any(field.repeats or field.low in _SIGNS for field in fields(operation))
    return operation.name == operations.BITWISE and operation.result.bits > 1
