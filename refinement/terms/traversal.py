"""Traversal of terms in groups by operation: arguments, leaves, and all that terms are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from . import operations
from .interning import Ids
from .store import CONCATENATION, LEAVES, NORMAL_FORM, VECTOR, Operation, TermStore


def by_operation(store: TermStore, terms: Ids) -> Iterator[tuple[Operation, Ids]]:
    """Yield terms grouped by their operation."""
    numbers = store.operation_numbers(terms)
    for number in np.flatnonzero(np.bincount(numbers.reshape(-1))):
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


def alike_within(store: TermStore, terms: Ids, is_known: Callable[[int], bool]) -> list[Ids]:
    """Return terms of the operation of terms (n,) that are within these, the innermost first, unless known.

    What is made of each before those that it is an argument of nests no calls, however deep terms nest. Only
    the first two arguments are looked at.
    """
    found: list[Ids] = []
    while len(terms):
        inner = np.unique(store.arguments(terms)[:, :2])
        alike = store.operation_numbers(inner) == store.operation_numbers(terms[:1])
        terms = np.array([each for each in inner[alike].tolist() if not is_known(each)], dtype=np.int32)
        found.append(terms)
    return found[-2::-1]  # the last is empty


def cone(store: TermStore, terms: Ids, most: int) -> Ids | None:
    """Return terms and all that they are made of, in increasing order; None if there are more than `most`.

    A store numbers terms as they are made, and arguments are made first: each is behind its arguments.
    """
    seen = np.zeros(len(store), dtype=bool)
    levels, pending, count = list[Ids](), distinct(np.asarray(terms, dtype=np.int32).reshape(-1)), 0
    while len(pending):
        seen[pending] = True
        levels.append(pending)
        if (count := count + len(pending)) > most:
            return None
        groups = (operands(store, *each) for each in by_operation(store, pending))
        needed = np.concatenate([pending[:0], *(each for own in groups for each in own)])
        pending = distinct(needed[~seen[needed]])
    return np.sort(np.concatenate([pending, *levels]))


def within(store: TermStore, terms: Ids) -> Ids:
    """Return terms and all that they are made of, vectors too, in increasing order."""
    found = cone(store, terms, len(store))
    assert found is not None
    return found


def leaves_of(store: TermStore, terms: Ids) -> Ids:
    """Return the inputs, constants and undefined terms that terms depend on, in increasing order."""
    every = within(store, terms)
    return every[np.logical_or.reduce([store.are(name, every) for name in LEAVES])]


def distinct(terms: Ids) -> Ids:
    """Return distinct terms in increasing order; `numpy.unique` hashes, which takes far longer here."""
    ordered = np.sort(terms)
    found: Ids = ordered[np.diff(ordered, prepend=-1) != 0]
    return found
