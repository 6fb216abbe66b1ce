"""Bits of choices as choices of bits: the low word of ``p ? x : y`` in 64 bits is a choice of low words.

Compilers for Power choose between registers of 64 bits, and compare or store the low half of what is chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..terms import operations
from ..terms.bit_slices import extract
from ..terms.domains import Rewriting
from ..terms.interning import Ids
from ..terms.operations import select
from ..terms.slices import Field, fields
from ..terms.store import CONCATENATION, Operation, TermStore
from ..terms.traversal import operands


class SlicedChoices(Rewriting):
    """Replaces single slices of choices by choices of slices.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self._made: dict[tuple[int, Field], int] = {}

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        found = super().applied(operation, terms, given)
        if takes_a_slice(operation):
            (field,), words = fields(operation), self.store.elements(given[0])[:, 0]
            some = np.flatnonzero(self.store.are(operations.SELECT, words))
            distinct, which = np.unique(words[some], return_inverse=True)
            sliced = [self._sliced(word, field) for word in distinct.tolist()]
            found[some] = np.array(sliced, dtype=np.int32)[which]
        return found

    def _sliced(self, word: int, field: Field) -> int:
        """Return bits of a word, of which the choices are made before they are taken."""
        pending = [word]
        while pending:
            each = pending[-1]
            if (each, field) in self._made:
                pending.pop()
                continue
            one = np.array([each], dtype=np.int32)
            operation = self.store.operation(each)
            if operation.name != operations.SELECT:
                self._made[each, field] = int(extract(self.store, one, field.low, field.width)[0])
                continue
            condition, *sides = (int(side[0]) for side in operands(self.store, operation, one))
            left = [side for side in sides if (side, field) not in self._made]
            pending += left
            if not left:
                bits = np.array([[self._made[side, field]] for side in sides], dtype=np.int32)
                chosen = self.store.apply(select(field.width), np.array([condition], dtype=np.int32), *bits)
                self._made[each, field] = int(chosen[0])
        return self._made[word, field]


def takes_a_slice(operation: Operation) -> bool:
    """Tell whether an operation takes bits of one word."""
    if operation.name != CONCATENATION or len(own := fields(operation)) != 1:
        return False
    return not own[0].constant and not own[0].repeats


def slices_choices(store: TermStore) -> bool:
    """Tell whether a store may have slices of choices."""
    chosen = any(each.name == operations.SELECT and each.result.bits > 1 for each in store.operations)
    return chosen and any(map(takes_a_slice, store.operations))
