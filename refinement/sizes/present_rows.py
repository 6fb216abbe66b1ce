"""Terms of elements that are there: bits on what is left of sizes, with what is known of each element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..terms import bit_slices, operations
from ..terms.domains import Rewriting
from ..terms.interning import Ids
from ..terms.store import INPUT, Operation
from .symbolic_integers import SymbolicIntegers
from .tail_predicates import name_of


def of_present(store: SymbolicIntegers, terms: Ids, rows: Mapping[str, NDArray[np.int64]]) -> Ids:
    """Return terms (n,) where of each size more rows are left than some numbers (n,).

    Bits that say so are 1 there.
    """
    columns = np.stack(list(rows.values()), axis=1)
    distinct, which = np.unique(columns, axis=0, return_inverse=True)
    found = terms.copy()
    for number, own in enumerate(distinct.tolist()):
        members = np.flatnonzero(which.reshape(-1) == number)
        present = _Present(store, dict(zip(map(name_of, rows), own, strict=True)))
        found[members] = present.values(terms[members])
    return found


class _Present(Rewriting):
    """Terms with what is known of how much is left, by the input that tells it."""

    def __init__(self, store: SymbolicIntegers, known: Mapping[str, int]) -> None:
        super().__init__(store)
        self._numbers = known

    def leaf(self, operation: Operation, terms: Ids) -> Ids:
        if operation.name != INPUT or operation.attribute not in self._numbers:
            return terms
        numbers = self.store.arguments(terms)[:, 0]
        ones = self.store.constants(np.ones(len(terms), dtype=np.uint64), 1)
        return np.where(numbers <= self._numbers[str(operation.attribute)], ones, terms).astype(np.int32)

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        if operation.name != operations.BITWISE:
            return super().applied(operation, terms, given)
        assert isinstance(operation.attribute, int)
        return bit_slices.bitwise(self.store, operation.attribute, *given)
