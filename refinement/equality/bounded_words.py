"""Clamped integers that are packed: the bits above those that ranges leave them are zeros.

What is clamped to ``0 … 15`` has four bits: in ``low | high << 4`` no bit is set by both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.integer_intervals import Magnitudes
from ..terms import operations
from ..terms.bit_slices import bitwise, by_group, extract, zero_extend
from ..terms.domains import Rewriting
from ..terms.interning import Ids
from ..terms.slices import Slice, cut, fields, join
from ..terms.store import CONCATENATION, Operation
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
            return self._joined(operation, given[0])
        found = np.array(super().applied(operation, terms, given))
        if not is_clamp(operation):
            return found
        for made, members in by_operation(self.store, np.unique(found)):
            if not is_clamp(made):
                continue
            width = made.result.bits
            low, high = self._magnitudes.intervals(members, operations.signed(width)).T
            known = (low >= 0) & (high < min(_EXACT, 2.0 ** (width - 1)))
            lengths = np.frexp(np.where(known, high, 0.0))[1].clip(1)
            for length in np.unique(lengths[known]).tolist():
                some = members[known & (lengths == length)]
                words = zero_extend(self.store, extract(self.store, some, 0, length), width)
                places = np.flatnonzero(np.isin(found, some))
                found[places] = words[np.searchsorted(some, found[places])]
        return found

    def _joined(self, operation: Operation, vectors: Ids) -> Ids:
        """Return the words (n,) of a concatenation, of what its parts are made of."""
        columns, own = list(self.store.elements(vectors).T), fields(operation)

        def made(sliced: list[list[Slice]], members: NDArray[np.intp]) -> Ids:
            pieces: list[Slice] = []
            for column, parts, field in zip(columns, sliced, own, strict=True):
                whole = field.constant or field.repeats
                pieces += (
                    [Slice(column[members], field)] if whole else cut(parts, field.low, field.width)
                )
            return join(self.store, pieces)

        return by_group(self.store, columns, made)


def packs(operation: Operation) -> bool:
    """Tell whether an operation puts words together bit by bit."""
    return operation.name == operations.BITWISE and operation.result.bits > 1


def is_clamp(operation: Operation) -> bool:
    """Tell whether an operation may clamp integers."""
    return operation.name in _CLAMPING and operation.result.bits > 1
