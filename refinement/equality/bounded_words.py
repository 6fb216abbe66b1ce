"""Clamped integers that are packed: the bits above those that ranges leave them are zeros.

What is clamped to ``0 … 15`` has four bits: in ``low | high << 4`` no bit is set by both.
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
from ..terms.store import CONCATENATION, Operation, is_raw
from ..terms.traversal import by_operation

_CLAMPING = (operations.EXTREMUM, operations.SELECT)

_EXACT = 2.0**53
"""Integers from here on are known from outside alone."""


class BoundedWords(Rewriting):
    """Replaces clamped integers by their low bits with zeros above.

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
        if packs(operation):
            assert isinstance(operation.attribute, int)
            return bitwise(self.store, operation.attribute, *given)
        if operation.name == CONCATENATION:
            return rejoined(self.store, operation, given[0])
        found = np.array(super().applied(operation, terms, given))
        if not is_clamp(operation):
            return found
        for made, members in by_operation(self.store, np.unique(found)):
            if not is_clamp(made):
                continue
            width = made.result.bits
            fmt = operations.signed(width) if is_raw(made.result) else made.result
            low, high = self._magnitudes.intervals(members, fmt).T
            known = (low >= 0) & (high < min(_EXACT, 2.0**width))
            lengths = np.frexp(np.where(known, high, 0.0))[1].clip(1)
            for length in np.unique(lengths[known]).tolist():
                some = members[known & (lengths == length)]
                words = zero_extend(self.store, extract(self.store, some, 0, length), width)
                places = np.flatnonzero(np.isin(found, some))
                found[places] = words[np.searchsorted(some, found[places])]
        return found


def packs(operation: Operation) -> bool:
    """Tell whether an operation puts words together bit by bit."""
    return operation.name == operations.BITWISE and operation.result.bits > 1


def is_clamp(operation: Operation) -> bool:
    """Tell whether an operation may clamp integers."""
    of_words = isinstance(operation.result, IntegerFormat) and operation.result.bits > 1
    return operation.name in _CLAMPING and of_words
