"""Origins: the scalars, array elements and undefined terms that a term depends on."""

from __future__ import annotations

from collections.abc import Collection
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from ...spec.open_results import PLACEMENT
from ..terms.domains import Domain
from ..terms.interning import Ids
from ..terms.store import INPUT, NORMAL_FORM, UNDEFINED, Operation, TermStore


class Origin(IntFlag):
    """The inputs and undefined terms that a term depends on."""

    SCALAR = 1
    ARRAY = 2
    UNDEFINED = 4


class Origins(Domain):
    """Origins of the terms of a store, memoised.

    Parameters
    ----------
    store : TermStore
        The terms.
    scalars : collection of int
        The inputs that are scalars; the others are elements of arrays.
    """

    dtype = np.uint8

    def __init__(self, store: TermStore, scalars: Collection[int]) -> None:
        super().__init__(store)
        self._scalars = np.array(sorted(scalars), dtype=np.int32)

    def leaf(self, operation: Operation, terms: Ids) -> NDArray[np.uint8] | int:
        """Return the `Origin` of leaves."""
        if operation.name in (INPUT, NORMAL_FORM):
            return np.where(np.isin(terms, self._scalars), Origin.SCALAR, Origin.ARRAY).astype(np.uint8)
        if operation.attribute is PLACEMENT:  # a value that there is, of which all are looked at
            return int(Origin.ARRAY)
        return int(Origin.UNDEFINED if operation.name == UNDEFINED else 0)
