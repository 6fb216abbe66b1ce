"""Rules of `error_bounds`: the error of one operation's results, from those of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F16, F32, FloatFormat
from ..analysis.rounding_errors import (
    Column,
    Reals,
    coarseness,
    compounded,
    flushed,
    is_exact,
    least,
    rounded_sum,
    times,
    unit_of,
)
from ..terms import operations
from ..terms.interning import Ids
from ..terms.operations import Accumulation, Sum
from ..terms.slices import Field
from ..terms.store import CONCATENATION, Operation
from ..terms.traversal import gathered
from ..terms.widened_words import NONE, narrower
from .error_table import ErrorTable
from .function_errors import of_conversion, of_function

Rule = Callable[[ErrorTable, Operation, Ids], tuple[Any, Any]]
"""Errors and sizes of the terms of an operation."""


def _fused(bounds: ErrorTable, operation: Operation, terms: Ids) -> tuple[Any, Any]:
    fmt, how = operation.result, operation.attribute
    assert isinstance(fmt, FloatFormat) and isinstance(how, Sum)
    given = [bounds.argument(terms, index, each) for index, each in enumerate(operation.operands)]
    for (_, off, _), coarse, each in zip(
        given, bounds.coarse.cancelled(operation, terms).T, bounds.store.arguments(terms).T, strict=False
    ):
        off[coarse] = np.where(bounds.steady[each[coarse]], 0.0, np.inf)
    if how.flush:
        limits = [
            least(operand, flush=True) for operand in operation.operands if isinstance(operand, FloatFormat)
        ]
        given = [flushed(*each, limit) for each, limit in zip(given, limits, strict=True)]
    parts = [times(given[2 * i], given[2 * i + 1]) for i in range(how.products)]
    parts += [(each, unit_of(each[0])) for each in given[2 * how.products :]]
    errors = np.sum([part[1] for part, _ in parts], axis=0)
    bounds.steady[terms] = errors == 0
    sizes = np.sum([part[2] for part, _ in parts], axis=0)
    magnitude = np.sum([np.abs(part[0]) for part, _ in parts], axis=0)
    unit = np.min([exponent for _, exponent in parts], axis=0)
    values = bounds.reals(terms, fmt)
    own = rounded_sum(fmt, coarseness(fmt, how.rounding), values, magnitude, unit)
    if how.flush:
        limit = least(fmt, flush=True)
        own = np.where((np.abs(values) < limit) & (magnitude != 0), own + limit, own)
    return errors + own, sizes


def _dot(bounds: ErrorTable, operation: Operation, terms: Ids) -> tuple[Any, Any]:
    if not isinstance(operation.result, FloatFormat):
        return of_bits(bounds, operation, terms)
    x, y, c, *scales = map(bounds.read, gathered(bounds.store, operation, terms), operation.operands)
    if scales:
        length = x[0].shape[-1]
        x, y = (times(each, _spread(scale, length))[0] for each, scale in zip((x, y), scales, strict=True))
    return _accumulated(operation, times(x, y), c)


def _spread(column: Column, length: int) -> Column:
    values, errors, sizes = (np.repeat(each, length // each.shape[-1], axis=-1) for each in column)
    return values, errors, sizes


def _accumulated(
    operation: Operation, products: tuple[Column, NDArray[np.int64]], addend: Column
) -> tuple[Reals, Reals]:
    """Return the errors of a matrix unit, which adds up in an order of its own."""
    fmt, how = operation.result, operation.attribute
    assert isinstance(fmt, FloatFormat) and isinstance(how, Accumulation)
    (values, errors, sizes), units = products
    inexact = errors.sum(-1) + addend[1]
    magnitude = np.abs(values).sum(-1) + np.abs(addend[0])
    unit = np.minimum(units.min(-1), unit_of(addend[0]))
    count = 2 * (how.length + 1)
    growth = compounded(fmt, count)
    own = growth * (magnitude + inexact) + count * least(fmt) * (1 + growth)
    exact = is_exact(fmt, magnitude, unit) | (magnitude == 0)
    return inexact + np.where(exact, 0.0, own), sizes.sum(-1) + addend[2]


def absorbed(bounds: ErrorTable, operation: Operation, terms: Ids) -> NDArray[np.bool_]:
    """Tell which sums (n,) are an infinite addend, as a mask is: what is finite makes no difference."""
    how = operation.attribute
    if operation.name != operations.FUSED or not isinstance(how, Sum):
        return np.zeros(len(terms), dtype=bool)
    given = [bounds.argument(terms, index, each) for index, each in enumerate(operation.operands)]
    values, errors = (np.stack([each[part] for each in given]) for part in (0, 1))
    infinite = np.isinf(values)
    masks = infinite & (errors == 0)
    masks[: 2 * how.products] = False
    others = np.isfinite(values) & np.isfinite(errors)
    found: NDArray[np.bool_] = (
        masks.any(0) & (masks | others).all(0) & np.isinf(bounds.reals(terms, operation.result))
    )
    return found


# -- the others


def of_bits(bounds: ErrorTable, operation: Operation, terms: Ids) -> tuple[Any, Any]:
    """Return the errors of what is exact where its arguments are, and else unknown."""
    inexact = np.zeros(len(terms), dtype=bool)
    for arguments in gathered(bounds.store, operation, terms):
        whole = bounds.steady[arguments] & bounds.coarse.are(arguments)
        inexact |= ((bounds.known_errors[arguments] != 0) & ~whole).reshape(len(terms), -1).any(-1)
    return np.where(inexact, np.inf, 0.0), np.abs(bounds.reals(terms, operation.result))


def _concatenation(bounds: ErrorTable, operation: Operation, terms: Ids) -> tuple[Any, Any]:
    """Let floats keep their errors that have another sign, which is known, or zeros put behind them."""
    errors, sizes = of_bits(bounds, operation, terms)
    fields = operation.attribute
    assert isinstance(fields, tuple)
    width = operation.result.bits
    for fmt in (F16, F32):
        numbers = narrower(bounds.store, operation, terms, fmt)
        wide = (numbers != NONE) & (errors != 0)
        bounds.known_kinds[terms[wide]] = bounds.kind(fmt)
        errors[wide], sizes[wide] = bounds.known_errors[numbers[wide]], bounds.known_sizes[numbers[wide]]
    if len(fields) != 2 or fields[0] != Field(0, width - 1):
        return errors, sizes
    parts = bounds.store.elements(bounds.store.arguments(terms)[:, 0])
    body, sign = parts[:, 0], parts[:, 1]
    kept = (bounds.known_errors[sign] == 0) & (bounds.store.widths(body) == width)
    bounds.known_kinds[terms] = np.where(kept, bounds.known_kinds[body], bounds.known_kinds[terms])
    return np.where(kept, bounds.known_errors[body], errors), np.where(kept, bounds.known_sizes[body], sizes)


def _same(bounds: ErrorTable, operation: Operation, terms: Ids) -> tuple[Any, Any]:
    _, errors, sizes = bounds.argument(terms, 0, operation.operands[0])
    bounds.steady[terms] = bounds.steady[bounds.store.arguments(terms)[:, 0]]
    if isinstance(operation.result, FloatFormat):
        return errors, sizes
    return of_bits(bounds, operation, terms)


def _compare(bounds: ErrorTable, operation: Operation, terms: Ids) -> tuple[Any, Any]:
    (x, ex, _), (y, ey, _) = (bounds.argument(terms, i, fmt) for i, fmt in enumerate(operation.operands))
    exact = (ex == 0) & (ey == 0)
    return np.where(exact | (np.abs(x - y) > ex + ey), 0.0, 1.0), np.zeros(len(terms))


def _select(bounds: ErrorTable, operation: Operation, terms: Ids) -> tuple[Any, Any]:
    """Let a choice that may turn be off by what its sides are apart."""
    condition, then, otherwise = bounds.store.arguments(terms).T
    errors, sizes, kinds = bounds.known_errors, bounds.known_sizes, bounds.known_kinds
    taken = bounds.words(condition).astype(bool)
    chosen, other = np.where(taken, then, otherwise), np.where(taken, otherwise, then)
    sure = errors[condition] == 0
    kinds[terms] = np.where(bounds.is_float(chosen) | sure, kinds[chosen], kinds[other])
    apart = np.full(len(terms), np.inf)
    for kind in np.unique(kinds[terms]):
        rows = (kinds[terms] == kind) & ~sure
        if isinstance(fmt := bounds.formats[kind], FloatFormat):
            apart[rows] = np.abs(bounds.reals(chosen[rows], fmt) - bounds.reals(other[rows], fmt))
    apart += np.maximum(errors[chosen], errors[other])
    either = np.maximum(sizes[chosen], sizes[other])
    return np.where(sure, errors[chosen], apart), np.where(sure, sizes[chosen], either)


def _extremum(bounds: ErrorTable, operation: Operation, terms: Ids) -> tuple[Any, Any]:
    assert isinstance(operation.attribute, tuple)
    given = [bounds.argument(terms, index, fmt) for index, fmt in enumerate(operation.operands)]
    _, _, flush = operation.attribute
    if flush and isinstance(operation.result, FloatFormat):
        given = [flushed(*each, least(operation.result, flush=True)) for each in given]
    (_, ex, sx), (_, ey, sy) = given
    return np.maximum(ex, ey), np.maximum(sx, sy)


def _function(bounds: ErrorTable, operation: Operation, terms: Ids) -> tuple[Any, Any]:
    return of_function(bounds, operation, terms) or of_bits(bounds, operation, terms)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        operations.FUSED: _fused,
        operations.DOT: _dot,
        operations.SCALED_DOT: _dot,
        operations.NEGATE: _same,
        operations.COMPARE: _compare,
        operations.SELECT: _select,
        operations.EXTREMUM: _extremum,
        operations.CONVERT: of_conversion,
        operations.FUNCTION: _function,
        operations.QUOTIENT: _function,
        CONCATENATION: _concatenation,
    }
)
"""By the operation's name; of the others, see `of_bits`."""
