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
from ..terms.domains import Domain
from ..terms.inputs import numbers_in
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import CONSTANT, INPUT, Operation
from ..terms.traversal import gathered

Growth = NDArray[np.float64]
"""Degree, and least and greatest binary logarithm of a factor (n, 3)."""

_NONE = np.zeros(3)


class TermGrowth(Domain):
    """Computes how terms grow.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    """

    dtype = np.dtype((np.float64, 3))

    def of(self, terms: Ids) -> Growth:
        """Return degrees, and least and greatest logarithms of factors (n, 3)."""
        return self.values(terms)

    def leaf(self, operation: Operation, terms: Ids) -> Any:
        """Return the growth of leaves: inputs that are floats have a degree."""
        fmt = operation.result
        if operation.name != INPUT or not isinstance(fmt, FloatFormat):
            return _NONE
        return [min(1.0, (fmt.maximum_exponent + 1) / (F32.maximum_exponent + 1)), 0, 0]

    def vector(self, elements: Growth) -> Any:
        """Return the growth of vectors (n,) of elements (n, K)."""
        return _hull(list(elements.transpose(1, 0, 2)))

    def applied(self, operation: Operation, terms: Ids, given: list[Growth]) -> Any:
        """Return the growth of terms of one operation."""
        match operation.name:
            case operations.DOT | operations.SCALED_DOT:
                columns = gathered(self.store, operation, terms, expanded=False)
                left, right, addend, *scales = (self.table()[column] for column in columns)
                return _hull([sum(scales, start=left + right), addend])
            case operations.SELECT:
                return _hull(given[1:])
        if not isinstance(operation.result, FloatFormat):
            return _NONE
        arguments = gathered(self.store, operation, terms)
        given = [self._read(each, fmt) for each, fmt in zip(arguments, operation.operands, strict=True)]
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
        found: Growth = self.table()[terms]
        constants = self.store.are(CONSTANT, terms)
        if constants.any() and isinstance(fmt, FloatFormat):
            numbers = np.abs(numbers_in(self.store.constant_values(terms[constants]), fmt).astype(np.float64))
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
