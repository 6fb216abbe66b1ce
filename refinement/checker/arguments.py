"""The arguments of terms, gathered as arrays: trusted for reading every operand of every operation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONCATENATION, LEAVES, NORMAL_FORM, VECTOR, Operation, TermStore
from ..terms.traversal import by_operation, operands


def gathered(store: TermStore, operation: Operation, terms: Ids, *, expanded: bool = True) -> list[Ids]:
    """Return the operands of terms (n,) of one operation: arrays (n,), or (n, k) where one is a vector.

    A leaf has its number. A concatenation has one operand, its elements; a scaled dot product has five: two
    vectors, the addend and two vectors of scales. Vectors that are not expanded are (n,), too.
    """
    arguments = store.arguments(terms)
    vectors: Callable[[Ids], Ids] = store.elements if expanded else np.asarray
    match operation.name:
        case name if name in LEAVES or name in (VECTOR, NORMAL_FORM):
            return [arguments[:, 0]]
        case name if name == CONCATENATION:
            return [store.elements(arguments[:, 0])]
        case operations.DOT:
            return [*map(vectors, arguments[:, :2].T), arguments[:, 2]]
        case operations.SCALED_DOT:
            rest = store.elements(arguments[:, 2])
            return [*map(vectors, arguments[:, :2].T), rest[:, 0], *map(vectors, rest[:, 1:].T)]
    return list(arguments[:, : len(operation.operands)].T)


def cone(store: TermStore, terms: Ids, most: int) -> NDArray[np.int64] | None:
    """Return all terms that terms depend on, each after its arguments; None if there are more than `most`.

    A store numbers terms as they are made, and arguments are made first: increasing order will do.
    """
    seen = np.zeros(len(store), dtype=bool)
    pending, count = np.unique(terms), 0
    while len(pending):
        seen[pending] = True
        count += len(pending)
        if count > most:
            return None
        groups = (operands(store, *each) for each in by_operation(store, pending))
        some = np.concatenate([pending[:0], *(each.reshape(-1) for own in groups for each in own)])
        pending = np.unique(some[~seen[some]])
    return np.flatnonzero(seen)
