"""Nesting depth of operations of one name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .interning import Ids
from .store import VECTOR, Operation, TermStore
from .traversal import fill, operands

_UNKNOWN = -1


class NestedOperations:
    """Counts the nesting of operations of one name from terms to inputs.

    Parameters
    ----------
    store : TermStore
        The terms.
    name : str
        Of the operations.
    most : int
        Not more than so many are counted.
    """

    def __init__(self, store: TermStore, name: str, most: int) -> None:
        self._store, self._name, self._most = store, name, most
        self._levels = np.empty(0, dtype=np.int8)

    def are_many(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell on which terms' (n,) ways there are as many as are counted."""
        missing = max(0, len(self._store) - len(self._levels))
        self._levels = np.concatenate([self._levels, np.full(missing, _UNKNOWN, dtype=np.int8)])
        fill(self._store, terms, self._levels, _UNKNOWN, self._depends, self._compute)
        found: NDArray[np.bool_] = self._levels[terms] == self._most
        return found

    def _depends(self, operation: Operation, members: Ids) -> list[Ids]:
        return operands(self._store, operation, members)

    def _compute(self, operation: Operation, members: Ids, known: NDArray[Any]) -> Any:
        if operation.name == VECTOR:
            return known[self._store.elements(members)].max(axis=-1)
        given = self._depends(operation, members)
        below = np.max([known[each] for each in given], axis=0) if given else 0
        return np.minimum(below + 1, self._most) if operation.name == self._name else below
