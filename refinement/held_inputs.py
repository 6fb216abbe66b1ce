"""Which of what a loop holds, whatever it is, terms depend on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import UnsupportedError
from .interning import Ids
from .symbolic_states import HELD
from .terms import INPUT, Operation, TermStore
from .traversal import fill, operands

_UNKNOWN, _SEVERAL, _NONE = -3, -2, -1


def held_by(store: TermStore, terms: Ids) -> Ids:
    """Return the one held input that each of some terms depends on.

    Raises
    ------
    UnsupportedError
        If one depends on none, or on several, or two depend on the same.
    """
    table = np.full(len(store), _UNKNOWN, dtype=np.int32)

    def depends(operation: Operation, members: Ids) -> list[Ids]:
        return operands(store, operation, members)

    def found(operation: Operation, members: Ids, known: NDArray[Any]) -> Ids:
        if operation.name == INPUT and operation.attribute == HELD:
            return members
        result = np.full(len(members), _NONE, dtype=np.int32)
        for column in operands(store, operation, members):
            for part in known[column].reshape(len(members), -1).T:
                clash = (result >= 0) & (part >= 0) & (result != part)
                clash |= (part == _SEVERAL) | (result == _SEVERAL)
                result = np.where(clash, _SEVERAL, np.maximum(result, part)).astype(np.int32)
        return result

    fill(store, terms, table, _UNKNOWN, depends, found)
    each: Ids = table[terms]
    if (each < 0).any() or len(np.unique(each)) != len(each):
        raise UnsupportedError("what the loop has added up for an output element is not in one place")
    return each


def looked_up(wanted: Ids, inputs: Ids, values: Ids) -> Ids:
    """Return what stands in the place of held inputs (n,), of all those that have something there.

    Raises
    ------
    UnsupportedError
        If one has nothing.
    """
    order = np.argsort(inputs)
    places = np.minimum(np.searchsorted(inputs[order], wanted), len(inputs) - 1)
    if not len(inputs) or (inputs[order][places] != wanted).any():
        raise UnsupportedError("what is stored was held in memory, not in registers")
    found: Ids = values[order][places]
    return found
