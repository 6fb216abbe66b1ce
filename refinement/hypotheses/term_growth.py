"""Growth of terms by structure alone: degree in the data, and scaling by constants.

What grows no faster than the formula needs no polynomial to be made of it. A degree is counted in inputs that
go as far as f32: a product of eight of f16 is within it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F32, FloatFormat, Format
from ..normal_forms.elementary_forms import stem
from ..terms import operations
from ..terms.inputs import numbers_in
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import CONSTANT, INPUT, VECTOR, Operation, TermStore
from ..terms.traversal import fill, operands

Growth = NDArray[np.float64]
"""Degree, and least and greatest binary logarithm of a factor (n, 3)."""

_NONE = np.zeros(3)


class TermGrowth:
    """Computes how terms grow.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._found = np.zeros((len(store), 3))
        self._known = np.zeros(len(store), dtype=np.int8)

    def of(self, terms: Ids) -> Growth:
        """Return degrees, and least and greatest logarithms of factors (n, 3)."""
        fill(self._store, terms, self._known, 0, self._depends, self._compute)
        found: Growth = self._found[terms]
        return found

    def _depends(self, operation: Operation, terms: Ids) -> list[Ids]:
        return operands(self._store, operation, terms)

    def _compute(self, operation: Operation, terms: Ids, _: NDArray[Any]) -> int:
        self._found[terms] = self._of(operation, terms)
        return 1

    def _of(self, operation: Operation, terms: Ids) -> Any:
        result, arguments = operation.result, self._store.arguments(terms)
        match operation.name:
            case name if name == INPUT and isinstance(result, FloatFormat):
                return [min(1.0, (result.maximum_exponent + 1) / (F32.maximum_exponent + 1)), 0, 0]
            case name if name == VECTOR:
                return _hull(list(self._found[self._store.elements(terms)].transpose(1, 0, 2)))
            case operations.DOT:
                left, right, addend = self._found[arguments[:, :3].T]
                return _hull([left + right, addend])
            case operations.SELECT:
                return _hull(list(self._found[arguments[:, 1:3].T]))
        if not isinstance(result, FloatFormat):
            return _NONE
        given = [self._read(arguments[:, index], fmt) for index, fmt in enumerate(operation.operands)]
        match operation.name:
            case operations.FUSED:
                assert isinstance(operation.attribute, Sum)
                pairs = 2 * operation.attribute.products
                return _hull([given[i] + given[i + 1] for i in range(0, pairs, 2)] + given[pairs:])
            case operations.EXTREMUM | operations.NEGATE | operations.CONVERT:
                return _hull(given)
            case operations.QUOTIENT:
                return given[0] + _inverse(given[1])
            case operations.FUNCTION:
                return _of_function(operation, given)
        return _NONE

    def _read(self, terms: Ids, fmt: Format) -> Growth:
        found: Growth = self._found[terms].copy()
        constants = self._store.are(CONSTANT, terms)
        if constants.any() and isinstance(fmt, FloatFormat):
            numbers = np.abs(
                numbers_in(self._store.constant_values(terms[constants]), fmt).astype(np.float64)
            )
            usual = np.isfinite(numbers) & (numbers > 0)
            found[constants, 1:] = np.log2(np.where(usual, numbers, 1))[:, None]
        return found


def _hull(given: list[Growth]) -> Growth:
    stacked = np.stack(given)
    ends = stacked[..., 0].max(0), stacked[..., 1].min(0), stacked[..., 2].max(0)
    return np.stack(ends, axis=-1)


def _inverse(given: Growth) -> Growth:
    return np.stack([given[:, 0], -given[:, 2], -given[:, 1]], axis=-1)


def _of_function(operation: Operation, given: list[Growth]) -> Any:
    match stem(operation):
        case "div":
            return given[0] + _inverse(given[1])
        case "rcp":
            return _inverse(given[0])
        case "sqrt":
            return given[0] / 2
        case "rsqrt":
            return _inverse(given[0]) / 2
    return _NONE
