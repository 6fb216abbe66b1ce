"""Conversions between integers and floats as floats: of chosen integers, and to integers in range."""

from __future__ import annotations

import numpy as np

from ...spec.formats import FloatFormat, IntegerFormat
from ..analysis.integer_intervals import Magnitudes
from ..terms import operations
from ..terms.choices import chosen
from ..terms.evaluation import WHOLE, apply, integers
from ..terms.interning import Ids
from ..terms.store import CONSTANT, Operation, TermStore


def whole_floats(store: TermStore, magnitudes: Magnitudes, operation: Operation, terms: Ids) -> Ids | None:
    """Return floats that stay floats where they are rounded to integers, of which the format has all.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    magnitudes : Magnitudes
        Of its integers, those among them that floats are converted to.
    operation : Operation
        A conversion to integers.
    terms : array (n,)
        Of this operation.

    Returns
    -------
    array (n,), optional
        None where an integer may be clamped, or the conversion flushes subnormal numbers or is of integers.
    """
    (source,), result, conversions = operation.operands, operation.result, magnitudes.conversions
    if conversions is None or not isinstance(source, FloatFormat) or not isinstance(result, IntegerFormat):
        return None
    assert isinstance(operation.attribute, tuple)
    rounding, _, flush = operation.attribute
    least, greatest = conversions.of(operation, terms)
    if flush or rounding not in WHOLE or not ((least >= result.minimum) & (greatest <= result.maximum)).all():
        return None
    numbers = store.arguments(terms)[:, 0]
    inner = store.operation(int(numbers[0]))
    is_whole = inner.name == operations.FUNCTION and inner.attribute in operations.INTEGRAL
    if is_whole and (store.operation_numbers(numbers) == store.number(inner)).all():
        return numbers
    return apply(store, operations.function(WHOLE[rounding], source, source), numbers)


def chosen_floats(store: TermStore, operation: Operation, terms: Ids) -> Ids | None:
    """Return conversions of choices between constant integers as choices between floats; None of others."""
    inner = store.arguments(terms)[:, 0]
    source, result = operation.operands[0], operation.result
    if not isinstance(source, IntegerFormat) or not store.are(operations.SELECT, inner).all():
        return None
    conditions, *sides = store.arguments(inner)[:, :3].T
    if not all(store.are(CONSTANT, side).all() for side in sides):
        return None
    assert isinstance(result, FloatFormat)
    numbers = [integers(store.constant_values(side), source).astype(np.float64) for side in sides]
    if (np.abs(numbers) > 2.0**result.precision).any():  # which a conversion may round
        return None
    return chosen(store, conditions, *(apply(store, operation, side) for side in sides))
