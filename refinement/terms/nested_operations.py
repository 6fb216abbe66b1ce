"""Nesting depth of operations of one name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .domains import Domain
from .interning import Ids
from .store import Operation, TermStore


class NestedOperations(Domain):
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

    dtype, join = np.int8, np.maximum

    def __init__(self, store: TermStore, name: str, most: int) -> None:
        super().__init__(store)
        self._name, self._most = name, most

    def are_many(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell on which terms' (n,) ways there are as many as are counted."""
        found: NDArray[np.bool_] = self.values(terms) == self._most
        return found

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return how many there are on the ways to terms."""
        below = super().applied(operation, terms, given)
        return np.minimum(below + 1, self._most) if operation.name == self._name else below
