"""Element-wise operations of vector instructions: arithmetic, functions, conversions.

No document states how the vector unit rounds its functions: they are functions of unknown error.
Source: pto-isa headers and pages at 3186c381 (TAdd, TDiv, TExp, TCvt, TRowSum).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from math import e, log, log2
from types import MappingProxyType

import numpy as np

from ....spec.float_encoding import encode
from ....spec.formats import FloatFormat, Format, IntegerFormat
from ....spec.rounding import Rounding
from ...terms import operations
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.operations import Accumulation
from ...terms.store import TermStore
from ..text.errors import unsupported

Binary = Callable[[TermStore, Format, Ids, Ids], Ids]
Unary = Callable[[TermStore, Format, Ids], Ids]


def _add(store: TermStore, fmt: Format, left: Ids, right: Ids) -> Ids:
    if isinstance(fmt, FloatFormat):
        return apply(store, operations.fused(fmt, addends=(fmt, fmt)), left, right)
    return apply(store, operations.ring(fmt.bits, 0, 2), left, right)


def _subtract(store: TermStore, fmt: Format, left: Ids, right: Ids) -> Ids:
    return _add(store, fmt, left, _negate(store, fmt, right))


def _multiply(store: TermStore, fmt: Format, left: Ids, right: Ids) -> Ids:
    if isinstance(fmt, FloatFormat):
        return apply(store, operations.fused(fmt, ((fmt, fmt),)), left, right)
    return apply(store, operations.ring(fmt.bits, 1, 0), left, right)


def _divide(store: TermStore, fmt: Format, left: Ids, right: Ids) -> Ids:
    return apply(store, operations.function("div", fmt, fmt, fmt), left, right)


def _extremum(which: str) -> Binary:
    def chosen(store: TermStore, fmt: Format, left: Ids, right: Ids) -> Ids:
        return apply(store, operations.extremum(fmt, which), left, right)

    return chosen


def _negate(store: TermStore, fmt: Format, operand: Ids) -> Ids:
    return apply(store, operations.negate(fmt), operand)


def _magnitude(store: TermStore, fmt: Format, operand: Ids) -> Ids:
    return apply(store, operations.extremum(fmt, "max"), operand, _negate(store, fmt, operand))


def clamped_below(store: TermStore, fmt: Format, operand: Ids) -> Ids:
    """Return elements with zeros for those below."""
    return apply(store, operations.extremum(fmt, "max"), operand, store.constants(0, fmt.bits))


def _function(name: str) -> Unary:
    def applied(store: TermStore, fmt: Format, operand: Ids) -> Ids:
        return apply(store, operations.function(name, _real(fmt), fmt), operand)

    return applied


def _exponential(store: TermStore, fmt: Format, operand: Ids) -> Ids:
    scaled = _multiply(store, fmt, operand, constant(store, log2(e), fmt))
    return _function("ex2")(store, fmt, scaled)


def _logarithm(store: TermStore, fmt: Format, operand: Ids) -> Ids:
    return _multiply(store, fmt, _function("lg2")(store, fmt, operand), constant(store, log(2), fmt))


BINARY: Mapping[str, Binary] = MappingProxyType(
    {
        "add": _add,
        "sub": _subtract,
        "mul": _multiply,
        "div": _divide,
        "max": _extremum("max"),
        "min": _extremum("min"),
    }
)
"""Of two elements, by the name behind ``t``."""

UNARY: Mapping[str, Unary] = MappingProxyType(
    {
        "neg": _negate,
        "abs": _magnitude,
        "relu": clamped_below,
        "exp": _exponential,
        "log": _logarithm,
        "sqrt": _function("sqrt"),
        "rsqrt": _function("rsqrt"),
        "recip": _function("rcp"),
    }
)
"""Of one element, by the name behind ``t``."""

_ROUNDINGS: Mapping[str, Rounding | None] = MappingProxyType(
    {
        "NONE": Rounding.NEAREST_EVEN,
        "RINT": Rounding.NEAREST_EVEN,
        "ROUND": None,
        "FLOOR": Rounding.DOWNWARD,
        "CEIL": Rounding.UPWARD,
        "TRUNC": Rounding.TOWARD_ZERO,
    }
)
"""Modes of ``tcvt``; None is to nearest with ties away from zero."""


def converted(store: TermStore, mode: str, source: Format, target: Format, operand: Ids) -> Ids:
    """Return elements of another type, rounded by a mode of ``tcvt``.

    Raises
    ------
    EndedError
        If it is not modelled.
    """
    name = mode.upper().removeprefix("CAST_")
    if name not in _ROUNDINGS:
        raise unsupported(f"a conversion by {mode}; known: {', '.join(_ROUNDINGS)}")
    if source == target:
        return operand
    rounding = _ROUNDINGS[name]
    if isinstance(source, FloatFormat) and isinstance(target, FloatFormat):
        if target.bits > source.bits:
            return apply(store, operations.fused(target, addends=(source,)), operand)
        if rounding is None:
            return apply(store, operations.convert(target, source, None), operand)
        return apply(store, operations.fused(target, addends=(source,), rounding=rounding), operand)
    if isinstance(source, IntegerFormat) and isinstance(target, IntegerFormat):
        if target.bits < source.bits or source.signed is not target.signed:
            raise unsupported(f"a conversion from {source} to {target}")
        return apply(store, operations.extend(target.bits, source.bits), operand)
    if rounding is None and isinstance(target, IntegerFormat):
        raise unsupported(f"a conversion from {source} to {target} by {mode}")
    return apply(store, operations.convert(target, source, rounding or Rounding.NEAREST_EVEN), operand)


def summed(store: TermStore, fmt: Format, rows: Ids) -> Ids:
    """Return the sums (n,) of rows (n, k), of floats in an order that nobody knows."""
    if not isinstance(fmt, FloatFormat):
        return reduce(lambda left, right: _add(store, fmt, left, right), list(rows.T))
    ones = store.vectors(np.full(rows.shape[1], constant(store, 1.0, fmt), dtype=np.int32))
    how = Accumulation("vector sum", rows.shape[1])
    operation = operations.dot(fmt, fmt, fmt, fmt, how)
    return apply(store, operation, store.vectors(rows), ones, store.constants(0, fmt.bits))


def greatest(which: str, store: TermStore, fmt: Format, rows: Ids) -> Ids:
    """Return the greatest, or least, elements (n,) of rows (n, k)."""
    return reduce(lambda left, right: BINARY[which](store, fmt, left, right), list(rows.T))


def constant(store: TermStore, value: float, fmt: Format) -> Ids:
    """Return a number as an element."""
    real = _real(fmt)
    return store.constants(int(encode(np.array(value), real, Rounding.NEAREST_EVEN)), fmt.bits)


def _real(fmt: Format) -> FloatFormat:
    if not isinstance(fmt, FloatFormat):
        raise unsupported(f"a function of {fmt}")
    return fmt
