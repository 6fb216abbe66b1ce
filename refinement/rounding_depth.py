"""How often a floating-point term has been rounded since the inputs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..spec.formats import FloatFormat
from . import operations
from .interning import Ids
from .operations import Accumulation, Sum
from .terms import VECTOR, Operation, TermStore

_UNKNOWN = -1


def rounding_depth(store: TermStore, terms: Ids) -> int:
    """Return the most roundings that any product of inputs in a term has passed.

    The factors of a product count together. A matrix unit's accumulation of K products counts K + 1,
    whatever its order: a term passes at most K additions after its own product.
    """
    depths = np.full(len(store), _UNKNOWN, dtype=np.int64)
    pending = [np.unique(np.asarray(terms, dtype=np.int32))]
    while pending:
        some = pending[-1]
        operands = [part for part in _operands(store, some) if len(part)]
        missing = np.unique(np.concatenate(operands)) if operands else np.empty(0, dtype=np.int32)
        missing = missing[depths[missing] == _UNKNOWN]
        if len(missing):
            pending.append(missing)
            continue
        pending.pop()
        for operation, members in _groups(store, some):
            depths[members] = _depth(store, operation, members, depths)
    return int(depths[np.asarray(terms)].max(initial=0))


def _groups(store: TermStore, terms: Ids) -> list[tuple[Operation, Ids]]:
    numbers = store.operation_numbers(terms)
    return [(store.operations[number], terms[numbers == number]) for number in np.unique(numbers)]


def _products(operation: Operation) -> list[tuple[int, ...]]:
    """Return the arguments that are multiplied with each other, for each addend of the result."""
    floats = [index for index, fmt in enumerate(operation.operands) if isinstance(fmt, FloatFormat)]
    match operation.name:
        case operations.FUSED:
            assert isinstance(operation.attribute, Sum)
            pairs = 2 * operation.attribute.products
            addends = [(index,) for index in range(pairs, len(operation.operands))]
            return [*((index, index + 1) for index in range(0, pairs, 2)), *addends]
        case operations.DOT if floats:
            return [(0, 1), (2,)]
        case operations.SCALED_DOT:
            return [(0, 1, 2)]
        case operations.FUNCTION | operations.CONVERT | operations.NEGATE | operations.EXTREMUM:
            return [(index,) for index in floats]
        case operations.SELECT:
            return [(1,), (2,)]
    return []


def _operands(store: TermStore, terms: Ids) -> list[Ids]:
    found: list[Ids] = []
    for operation, members in _groups(store, terms):
        if operation.name == VECTOR:
            found.append(np.unique(store.elements(members)))
            continue
        arguments = store.arguments(members)
        found += [np.unique(arguments[:, index]) for product in _products(operation) for index in product]
    return found


def _depth(
    store: TermStore, operation: Operation, terms: Ids, depths: NDArray[np.int64]
) -> NDArray[np.int64] | int:
    if operation.name == VECTOR:
        deepest: NDArray[np.int64] = depths[store.elements(terms)].max(axis=-1)
        return deepest
    arguments = store.arguments(terms)
    sums = [sum(depths[arguments[:, index]] for index in product) for product in _products(operation)]
    return np.max(sums, axis=0) + _own(operation) if sums else 0


def _own(operation: Operation) -> int:
    match operation.name:
        case operations.FUSED | operations.CONVERT | operations.FUNCTION:
            return 1
        case operations.DOT | operations.SCALED_DOT:
            assert isinstance(operation.attribute, Accumulation)
            return operation.attribute.length + 1
    return 0
