"""Bits of sums as bits of the narrowest sums that have them.

Bits 1 to 8 of a sum are those of the sum of the low nine bits, whether it is computed in 16 bits or in 32:
``(x + y) >> 1`` of bytes is one word in vectors of halfwords and in integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..terms import operations
from ..terms.bit_slices import low_sums
from ..terms.domains import Rewriting
from ..terms.interning import Ids
from ..terms.slices import Field, Slice, fields, join
from ..terms.store import CONCATENATION, Operation
from ..terms.traversal import by_operation


class NarrowSums(Rewriting):
    """Replaces sums of which the low bits are dropped, and high ones, by narrower sums.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        if not takes_high_bits(operation):
            return super().applied(operation, terms, given)
        parts = zip(self.store.elements(given[0]).T, fields(operation), strict=True)
        return join(self.store, [Slice(self._narrow(words, field), field) for words, field in parts])

    def _narrow(self, words: Ids, field: Field) -> Ids:
        """Return words (n,) of which a field has the same bits."""
        if field.constant or not field.low:
            return words
        found, end = words.copy(), field.top + 1
        for operation, members in by_operation(self.store, np.unique(words)):
            if operation.name != operations.RING or operation.result.bits <= end:
                continue
            narrow = low_sums(self.store, members, end)
            if narrow is not None and {each.name for each, _ in by_operation(self.store, narrow)} == {
                operations.RING
            }:
                some = np.flatnonzero(np.isin(words, members))
                found[some] = narrow[np.searchsorted(members, words[some])]
        return found


def takes_high_bits(operation: Operation) -> bool:
    """Tell whether an operation puts together bits of words without the lowest ones."""
    return operation.name == CONCATENATION and any(
        each.low and not each.constant for each in fields(operation)
    )
