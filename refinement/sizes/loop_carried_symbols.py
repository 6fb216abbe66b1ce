"""Loop-carried symbols that a term depends on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, Format
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import INPUT, Operation, TermStore
from ..terms.traversal import fill, operands
from .invariant_inference import HELD

_UNKNOWN, _NONE, _FIRST_OF_SEVERAL = -2, -1, -3


def held_by(store: TermStore, terms: Ids) -> Ids:
    """Return the held inputs (n, count) that each of some terms (n,) depends on.

    Raises
    ------
    UnsupportedError
        If one depends on none, or two depend on different numbers of them, or on the same.
    """
    table = np.full(len(store), _UNKNOWN, dtype=np.int32)
    several: dict[int, frozenset[int]] = {}
    numbered: dict[frozenset[int], int] = {}

    def depends(operation: Operation, members: Ids) -> list[Ids]:
        return operands(store, operation, members)

    def united(one: int, other: int) -> int:
        """Return the number of what two terms depend on; numbers of several are below those of one."""
        union = several.get(one, frozenset((one,))) | several.get(other, frozenset((other,)))
        number = numbered.setdefault(union, _FIRST_OF_SEVERAL - len(numbered))
        several[number] = union
        return number

    def found(operation: Operation, members: Ids, known: NDArray[Any]) -> Ids:
        if operation.name == INPUT and operation.attribute == HELD:
            return members
        result = np.full(len(members), _NONE, dtype=np.int32)
        for column in operands(store, operation, members):
            for part in known[column].reshape(len(members), -1).T:
                clash = np.flatnonzero((result != part) & (part != _NONE) & (result != _NONE))
                both = [
                    united(*pair) for pair in zip(result[clash].tolist(), part[clash].tolist(), strict=True)
                ]
                result = np.where(result == _NONE, part, result).astype(np.int32)
                result[clash] = both
        return result

    fill(store, terms, table, _UNKNOWN, depends, found)
    sets = [sorted(several.get(each, () if each == _NONE else (each,))) for each in table[terms].tolist()]
    counts = {len(each) for each in sets}
    whole = np.array(sets, dtype=np.int32) if len(counts) == 1 else np.empty((0, 0), dtype=np.int32)
    if not whole.size or len(np.unique(whole)) != whole.size:
        raise UnsupportedError("what the loop has added up for an output element is not held by it alone")
    return whole


def sums_of(store: TermStore, terms: Ids, fmt: Format) -> Ids:
    """Return the sums (n,) of terms (n, count), over the real numbers or the ring."""
    how = (
        operations.fused(fmt, (), (fmt, fmt))
        if isinstance(fmt, FloatFormat)
        else operations.ring(fmt.bits, 0, 2)
    )
    total = terms[:, 0]
    for column in terms.T[1:]:
        total = np.asarray(store.apply(how, total, column), dtype=np.int32)
    return total


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
        raise UnsupportedError("the loop-carried values that are stored are held in memory, not in registers")
    found: Ids = values[order][places]
    return found
