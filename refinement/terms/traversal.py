"""Bottom-up traversal: a function of every reachable term, computed in groups by operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import operations
from .interning import Ids
from .store import CONCATENATION, LEAVES, NORMAL_FORM, VECTOR, Operation, TermStore

Operands = Callable[[Operation, Ids], list[Ids]]
"""The terms that those of an operation depend on."""

Compute = Callable[[Operation, Ids, NDArray[Any]], Any]
"""The values of terms of one operation, given the table of the values known so far."""


def by_operation(store: TermStore, terms: Ids) -> Iterator[tuple[Operation, Ids]]:
    """Yield terms grouped by their operation."""
    numbers = store.operation_numbers(terms)
    for number in np.unique(numbers):
        yield store.operations[number], terms[numbers == number]


def operands(store: TermStore, operation: Operation, terms: Ids) -> list[Ids]:
    """Return every term, or vector, that terms of one operation have as an argument."""
    if operation.name in LEAVES or operation.name == NORMAL_FORM:
        return []
    if operation.name == VECTOR:
        return [store.elements(terms).reshape(-1)]
    arity = {CONCATENATION: 1, operations.DOT: 3, operations.SCALED_DOT: 3}
    count = arity.get(operation.name, len(operation.operands))
    return list(store.arguments(terms)[:, :count].T)


def leaves_of(store: TermStore, terms: Ids) -> Ids:
    """Return the inputs, constants and undefined terms that terms depend on."""
    seen = np.zeros(len(store), dtype=bool)
    found = [np.empty(0, dtype=np.int32)]
    pending = np.unique(terms)
    while len(pending):
        seen[pending] = True
        needed = [np.empty(0, dtype=np.int32)]
        for operation, members in by_operation(store, pending):
            if operation.name in LEAVES:
                found.append(members)
            needed += operands(store, operation, members)
        pending = np.unique(np.concatenate(needed))
        pending = pending[~seen[pending]]
    return np.concatenate(found)


def within(store: TermStore, terms: Ids) -> Ids:
    """Return terms and all that they are made of, vectors too, in increasing order."""
    seen = np.zeros(len(store), dtype=bool)
    pending = np.unique(terms)
    while len(pending):
        seen[pending] = True
        needed = [
            each
            for operation, members in by_operation(store, pending)
            for each in operands(store, operation, members)
        ]
        pending = np.unique(np.concatenate([np.empty(0, dtype=np.int32), *needed]))
        pending = pending[~seen[pending]]
    return np.flatnonzero(seen).astype(np.int32)


def fill(
    store: TermStore, terms: Ids, table: NDArray[Any], unknown: Any, depends: Operands, compute: Compute
) -> None:
    """Fill in a table of values by term for `terms`, and for whatever they depend on.

    Parameters
    ----------
    store : TermStore
        The terms.
    terms : array
        Where values are wanted.
    table : array (terms of the store, …)
        Values by term; `unknown` where there is none yet.
    unknown : scalar
        No value.
    depends, compute : callable
        What a value depends on, and how it follows.
    """
    pending = [_distinct(np.asarray(terms, dtype=np.int32).reshape(-1))]
    while pending:
        some = pending[-1]
        some = some[table[some] == unknown]
        needed = [
            each for operation, members in by_operation(store, some) for each in depends(operation, members)
        ]
        missing = np.concatenate([np.empty(0, dtype=np.int32), *needed])
        missing = missing[table[missing] == unknown]
        if len(missing):
            pending.append(_distinct(missing))
            continue
        pending.pop()
        for operation, members in by_operation(store, some):
            table[members] = compute(operation, members, table)


def _distinct(terms: Ids) -> Ids:
    """Return distinct terms in increasing order; `numpy.unique` hashes, which takes far longer here."""
    ordered = np.sort(terms)
    distinct: Ids = ordered[np.diff(ordered, prepend=-1) != 0]
    return distinct
