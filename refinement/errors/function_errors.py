"""Rules of `error_bounds` for conversions and functions of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ...spec.float_encoding import decode, encode
from ...spec.formats import FloatFormat, IntegerFormat
from ...spec.rounding import Rounding
from ..analysis.approximations import documented_error
from ..analysis.rounding_errors import Column, Reals, coarseness, flushed, least
from ..terms import operations
from ..terms.evaluation import FUNCTIONS, WHOLE, error_function
from ..terms.interning import Ids
from ..terms.store import Operation
from .error_table import ErrorTable


def of_conversion(bounds: ErrorTable, operation: Operation, terms: Ids) -> tuple[Any, Any]:
    """Return the errors and sizes of conversions to or from an integer, and of those that clamp."""
    source, target = operation.operands[0], operation.result
    values, errors, sizes = bounds.argument(terms, 0, source)
    results = bounds.reals(terms, target)
    assert isinstance(operation.attribute, tuple)
    rounding = operation.attribute[0]
    if isinstance(target, IntegerFormat) or target.bits <= 8:
        return _stepped(operation, values, errors, results), np.abs(results)
    assert isinstance(target, FloatFormat)
    own = np.where(values == results, 0.0, coarseness(target, rounding) * np.abs(results) + least(target))
    clamped = np.abs(results) < np.abs(values) - own
    return errors + np.where(clamped, 0.0, own), np.where(clamped, np.abs(results), sizes)


def _stepped(operation: Operation, values: Reals, errors: Reals, results: Reals) -> Reals:
    """Return how far off a function with steps is where its argument may be off."""
    if isinstance(operation.operands[0], IntegerFormat):
        return np.where(errors == 0, 0.0, np.inf)
    ends = [_converted(operation, values + side * errors) for side in (-1, 1)]
    spread = np.max([np.abs(end - results) for end in ends], axis=0)
    return np.where(errors == 0, 0.0, spread)


def _converted(operation: Operation, values: Reals) -> Reals:
    """Return numbers clamped and rounded as a conversion does."""
    target = operation.result
    rounding = operation.attribute[0] or Rounding.NEAREST_EVEN  # type: ignore[index]
    if isinstance(target, FloatFormat):
        largest = float(decode(np.array(target.largest << target.padding_bits, target.storage), target))
        least = -largest if target.signed else float(decode(np.zeros((), target.storage), target))
        return np.asarray(decode(encode(np.clip(values, least, largest), target, rounding), target))
    assert isinstance(target, IntegerFormat)
    whole = FUNCTIONS[WHOLE[rounding]](values)
    return np.asarray(np.clip(whole, target.minimum, target.maximum), dtype=np.float64)


def of_function(bounds: ErrorTable, operation: Operation, terms: Ids) -> tuple[Any, Any] | None:
    """Return the errors of a function of numbers: how far it goes where they may be, and its own."""
    name, fmt = str(operation.attribute), operation.result
    stem = name.partition(".")[0]
    if stem not in _FUNCTIONS or not isinstance(fmt, FloatFormat):
        return None
    given = [bounds.argument(terms, index, each) for index, each in enumerate(operation.operands)]
    results = bounds.reals(terms, fmt)
    if name.endswith(".ftz"):
        given = [flushed(*column, least(fmt, flush=True)) for column in given]
    passed = _FUNCTIONS[stem](given)
    if stem in operations.INTEGRAL:
        return passed, np.abs(results)
    if "." in name and stem != name:
        own = documented_error(name, fmt, results, given[-1][0])
    else:
        own = coarseness(fmt) * np.abs(results)
    return passed + own + least(fmt, flush=name.endswith(".ftz")), np.abs(results)


def _monotone(function: Callable[[Any], Any], low: float = -np.inf) -> Callable[[list[Column]], Reals]:
    """Return the spread of a function that is monotone, and defined, above a number."""

    def spread(given: list[Column]) -> Reals:
        values, errors, _ = given[0]
        middle = function(values)
        ends = [np.abs(function(values + side * errors) - middle) for side in (-1, 1)]
        return np.where(errors == 0, 0.0, np.where(values - errors > low, np.maximum(*ends), np.inf))

    return spread


def _reciprocal(given: list[Column]) -> Reals:
    values, errors, _ = given[0]
    spread = errors / (np.abs(values) * (np.abs(values) - errors))
    return np.where(errors == 0, 0.0, np.where(np.abs(values) > errors, spread, np.inf))


def _quotient(given: list[Column]) -> Reals:
    (x, ex, _), (y, ey, _) = given
    spread = (ex + np.abs(x / y) * ey) / (np.abs(y) - ey)
    return np.where((ex == 0) & (ey == 0), 0.0, np.where(np.abs(y) > ey, spread, np.inf))


_FUNCTIONS: Mapping[str, Callable[[list[Column]], Reals]] = MappingProxyType(
    {
        "ex2": _monotone(np.exp2),
        "lg2": _monotone(np.log2, 0.0),
        "sqrt": _monotone(np.sqrt, 0.0),
        "rsqrt": _monotone(lambda x: 1 / np.sqrt(x), 0.0),
        "tanh": _monotone(np.tanh),
        "erf": _monotone(error_function),
        "sin": lambda given: given[0][1],
        "cos": lambda given: given[0][1],
        "rcp": _reciprocal,
        "div": _quotient,
        **{name: _monotone(FUNCTIONS[name]) for name in operations.INTEGRAL},
    }
)
"""How far off a function's results are where its arguments are off."""
