"""How often a floating-point term has been rounded since the inputs, and how coarsely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

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
        together. In an accumulation of K products, whatever its order, a term passes at most K additions
        after the rounding of its own product.
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
        return [arguments[:, index] for path in _paths(operation) for index in path.arguments]

    def depth(operation: Operation, members: Ids, known: NDArray[Any]) -> Any:
        if operation.name == VECTOR:
            return known[store.elements(members)].max(axis=-1)
        paths = _paths(operation)
        if any(path.roundings for path in paths):
            formats.update(fmt for fmt in _rounded_to(operation) if isinstance(fmt, FloatFormat))
        arguments = store.arguments(members)
        found = [known[arguments[:, list(path.arguments)]].sum(axis=-1) + path.roundings for path in paths]
        return np.max(found, axis=0) if found else 0

    fill(store, terms, depths, _UNKNOWN, depends, depth)
    coarsest = sorted(formats, key=lambda fmt: (fmt.precision, fmt.name))
    return Roundings(int(depths[np.asarray(terms)].max(initial=0)), tuple(coarsest))


class Path(NamedTuple):
    """A product of arguments in the result of an operation, and how often the operation rounds it."""

    arguments: tuple[int, ...]
    roundings: int


def _paths(operation: Operation) -> list[Path]:
    floats = [index for index, fmt in enumerate(operation.operands) if isinstance(fmt, FloatFormat)]
    match operation.name:
        case operations.FUSED:
            assert isinstance(operation.attribute, Sum)
            pairs = 2 * operation.attribute.products
            products = [Path((index, index + 1), 1) for index in range(0, pairs, 2)]
            return [*products, *(Path((index,), 1) for index in range(pairs, len(operation.operands)))]
        case operations.DOT | operations.SCALED_DOT if floats:
            assert isinstance(operation.attribute, Accumulation)
            additions = operation.attribute.length
            of_operands = sum(fmt == TF32 for fmt in operation.operands)
            product = Path((0, 1), additions + 1 + of_operands)
            if operation.name == operations.DOT:
                return [product, Path((2,), additions)]
            return [Path((0, 1, 2), product.roundings)]  # the addend is beside the scale factors
        case operations.FUNCTION | operations.CONVERT:
            return [Path((index,), 1) for index in floats] or [Path((), 1)]
        case operations.NEGATE | operations.EXTREMUM:
            return [Path((index,), 0) for index in floats]
        case operations.SELECT:
            return [Path((1,), 0), Path((2,), 0)]
    return []


def _rounded_to(operation: Operation) -> tuple[Any, ...]:
    """Return the formats an operation rounds to; a tf32 operand may be rounded when it is read."""
    return (operation.result, *(fmt for fmt in operation.operands if fmt == TF32))
