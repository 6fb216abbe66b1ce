"""How often a floating-point term has been rounded since the inputs, and how coarsely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spec.formats import TF32, FloatFormat
from . import operations
from .interning import Ids
from .operations import Accumulation, Sum
from .terms import VECTOR, Operation, TermStore
from .traversal import fill

_UNKNOWN = -1


@dataclass(frozen=True)
class Roundings:
    """What rounding a term has undergone.

    Attributes
    ----------
    count : int
        The most roundings that any product of inputs in it has passed. The factors of a product count
        together; an accumulation of K products counts K + 1, whatever its order: a term passes at most K
        additions after its own product.
    formats : tuple of FloatFormat
        The formats rounded to, the coarsest first.
    """

    count: int
    formats: tuple[FloatFormat, ...]


def roundings(store: TermStore, terms: Ids) -> Roundings:
    """Return the roundings of terms."""
    depths = np.full(len(store), _UNKNOWN, dtype=np.int64)
    formats: set[FloatFormat] = set()

    def depends(operation: Operation, members: Ids) -> list[Ids]:
        if operation.name == VECTOR:
            return [store.elements(members).reshape(-1)]
        arguments = store.arguments(members)
        return [arguments[:, index] for product in _products(operation) for index in product]

    def depth(operation: Operation, members: Ids, known: NDArray[Any]) -> Any:
        if operation.name == VECTOR:
            return known[store.elements(members)].max(axis=-1)
        own = _own(operation)
        if own:
            formats.update(fmt for fmt in _rounded_to(operation) if isinstance(fmt, FloatFormat))
        arguments = store.arguments(members)
        sums = [known[arguments[:, list(product)]].sum(axis=-1) for product in _products(operation)]
        return np.max(sums, axis=0) + own if sums else 0

    fill(store, terms, depths, _UNKNOWN, depends, depth)
    coarsest = sorted(formats, key=lambda fmt: (fmt.precision, fmt.name))
    return Roundings(int(depths[np.asarray(terms)].max(initial=0)), tuple(coarsest))


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


def _own(operation: Operation) -> int:
    match operation.name:
        case operations.FUSED | operations.CONVERT | operations.FUNCTION:
            return 1
        case operations.DOT | operations.SCALED_DOT:
            assert isinstance(operation.attribute, Accumulation)
            return operation.attribute.length + 1 + sum(fmt == TF32 for fmt in operation.operands)
    return 0


def _rounded_to(operation: Operation) -> tuple[Any, ...]:
    """Return the formats an operation rounds to; a tf32 operand may be rounded when it is read."""
    return (operation.result, *(fmt for fmt in operation.operands if fmt == TF32))
