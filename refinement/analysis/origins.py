"""Origins: the scalars, array elements and undefined terms that a term depends on."""

from __future__ import annotations

from collections.abc import Collection
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from ...spec.open_results import PLACEMENT
from ..terms.interning import Ids
from ..terms.store import INPUT, LEAVES, NORMAL_FORM, UNDEFINED, VECTOR, Operation, TermStore
from ..terms.traversal import fill, operands


class Origin(IntFlag):
    """The inputs and undefined terms that a term depends on."""

    SCALAR = 1
    ARRAY = 2
    UNDEFINED = 4


_UNKNOWN = 0xFF


class Origins:
    """Origins of the terms of a store, memoised.

    Parameters
    ----------
    store : TermStore
        The terms.
    scalars : collection of int
        The inputs that are scalars; the others are elements of arrays.
    """

    def __init__(self, store: TermStore, scalars: Collection[int]) -> None:
        self._store = store
        self._scalars = np.array(sorted(scalars), dtype=np.int32)
        self._found = np.zeros(0, dtype=np.uint8)

    def of(self, terms: Ids) -> NDArray[np.uint8]:
        """Return the `Origin` of each term."""
        missing = len(self._store) - len(self._found)
        if missing > 0:
            more = np.full(missing + len(self._store), _UNKNOWN, dtype=np.uint8)
            self._found = np.concatenate([self._found, more])
        fill(self._store, terms, self._found, _UNKNOWN, self._depends, self._origin)
        found: NDArray[np.uint8] = self._found[terms]
        return found

    def _depends(self, operation: Operation, terms: Ids) -> list[Ids]:
        return operands(self._store, operation, terms)

    def _origin(self, operation: Operation, terms: Ids, known: NDArray[np.uint8]) -> NDArray[np.uint8] | int:
        if operation.name in (INPUT, NORMAL_FORM):
            return np.where(np.isin(terms, self._scalars), Origin.SCALAR, Origin.ARRAY).astype(np.uint8)
        if operation.name in LEAVES:
            if operation.attribute is PLACEMENT:  # a value that there is, of which all are looked at
                return int(Origin.ARRAY)
            return int(Origin.UNDEFINED if operation.name == UNDEFINED else 0)
        if operation.name == VECTOR:
            among = known[self._store.elements(terms)]
        else:
            among = np.stack([known[each] for each in operands(self._store, operation, terms)], axis=-1)
        found: NDArray[np.uint8] = np.bitwise_or.reduce(among, axis=-1)
        return found
