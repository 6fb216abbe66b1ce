"""numpy's operators on arrays of terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import e, log, log2, prod
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format
from ..analysis.intervals import Interval
from ..formula.parser import FUNCTIONS
from ..terms import operations
from ..terms.evaluation import apply, error_function
from ..terms.inputs import numbers_in
from ..terms.interning import Ids
from ..terms.operations import Accumulation
from ..terms.store import CONSTANT
from .formula_terms import ORDER
from .term_arithmetic import TermArithmetic, Value, grouped
from .term_arrays import NotModelledError, TermArray

WIDEST = 64
"""Bits of integers."""


def _integer(arrays: Sequence[TermArray], within: Interval, combine: Callable[..., Ids]) -> TermArray:
    """Return integers that hold a range, combined modulo their width."""
    space = arrays[0].space
    fmt = within.narrowest()
    if fmt.bits > WIDEST:
        raise NotModelledError(f"integers from {within.low} to {within.high}, beyond 64 bits")
    make = space.arithmetic(max(array.ndim for array in arrays))
    words = np.broadcast_arrays(*(array.words(fmt.bits) for array in arrays))
    return TermArray(space, Value(np.asarray(combine(make, fmt.bits, *words)), fmt), within)


def _ranges(*arrays: TermArray) -> list[Interval]:
    return [array.within for array in arrays if array.within is not None]


def _both_real(left: TermArray, right: TermArray) -> bool:
    return left.is_real or right.is_real


def _make(*arrays: TermArray) -> TermArithmetic:
    return arrays[0].space.arithmetic(max(array.ndim for array in arrays))


def _add(left: TermArray, right: TermArray) -> TermArray:
    if _both_real(left, right):
        values = [each.as_real().value for each in (left, right)]
        return TermArray(left.space, _make(left, right).fused(left.space.working, addends=values))
    low, high = _ranges(left, right)
    return _integer([left, right], low + high, lambda make, width, *words: make.ring(width, [], words))


def _subtract(left: TermArray, right: TermArray) -> TermArray:
    return _add(left, _negative(right))


def _negative(operand: TermArray) -> TermArray:
    if operand.is_real:
        return TermArray(operand.space, _make(operand).negated(operand.value))
    (within,) = _ranges(operand)
    return _integer([operand], -within, lambda make, width, words: make.negative(words, width))


def _multiply(left: TermArray, right: TermArray) -> TermArray:
    if _both_real(left, right):
        values = [each.as_real().value for each in (left, right)]
        return TermArray(left.space, _make(left, right).product(*values))
    low, high = _ranges(left, right)
    return _integer([left, right], low * high, lambda make, width, *words: make.ring(width, words))


def _divide(left: TermArray, right: TermArray) -> TermArray:
    numbers = _known(right)
    if numbers is None:
        values = [each.as_real().value for each in (left, right)]
        return TermArray(left.space, _make(left, right).quotient(*values))
    if (numbers == 0).any():
        raise NotModelledError("a division by zero")
    return _multiply(left.as_real(), left.lifted(1.0 / numbers))


def _known(array: TermArray) -> NDArray[np.float64] | None:
    """Return the numbers of an array of constants."""
    store, terms = array.space.store, array.value.terms
    if not store.are(CONSTANT, terms).all():
        return None
    words = store.constant_values(terms.reshape(-1))
    return numbers_in(words, array.value.format).astype(np.float64).reshape(terms.shape)


def alike(left: TermArray, right: TermArray) -> tuple[Format, list[Ids], Interval | None]:
    """Return a format for two arrays, their terms in it, and of integers the range of both."""
    if _both_real(left, right):
        pair = _make(left, right).alike(left.as_real().value, right.as_real().value)
        return pair[0].format, [each.terms for each in pair], None
    low, high = _ranges(left, right)
    within = low.union(high)
    fmt = within.narrowest()
    return fmt, [each.words(fmt.bits) for each in (left, right)], within


def _extremum(which: str) -> Callable[[TermArray, TermArray], TermArray]:
    def chosen(left: TermArray, right: TermArray) -> TermArray:
        fmt, words, within = alike(left, right)
        terms = apply(left.space.store, operations.extremum(fmt, which), *np.broadcast_arrays(*words))
        return TermArray(left.space, Value(terms, fmt), within)

    return chosen


def _exponential(operand: TermArray) -> TermArray:
    return _function("exp2")(_multiply(operand, operand.lifted(log2(e))))


def _logarithm(operand: TermArray) -> TermArray:
    return _multiply(_function("log2")(operand), operand.lifted(log(2)))


def _function(name: str) -> Callable[[TermArray], TermArray]:
    def applied(operand: TermArray) -> TermArray:
        return TermArray(operand.space, _make(operand).function(FUNCTIONS[name], operand.as_real().value))

    return applied


UFUNCS: Mapping[str, Callable[..., TermArray]] = MappingProxyType(
    {
        "add": _add, "subtract": _subtract, "negative": _negative, "multiply": _multiply, "divide": _divide,
        "true_divide": _divide, "maximum": _extremum("max"), "minimum": _extremum("min"),
        "fmax": _extremum("max"), "fmin": _extremum("min"),
        "positive": lambda operand: operand, "square": lambda operand: _multiply(operand, operand),
        "reciprocal": _function("rcp"), "exp": _exponential, "log": _logarithm,
        **{name: _function(name) for name in FUNCTIONS if name not in ("rcp", "rsqrt") and hasattr(np, name)},
    }
)  # fmt: skip
"""What each ufunc of numpy does, by its name."""


def special_function(name: str, operand: Any) -> Any:
    """Return a function of formulas that numpy has not, of numbers or of terms: ``erf``."""
    if isinstance(operand, TermArray):
        return _function(name)(operand)
    return {"erf": error_function}[name](np.asarray(operand, dtype=np.float64))


def summed(factors: Sequence[TermArray], axes: Sequence[int]) -> TermArray:
    """Return sums over axes of products of arrays of one rank; the axes stay, of extent 1."""
    space, rank = factors[0].space, factors[0].ndim
    shape = np.broadcast_shapes(*(factor.shape for factor in factors))
    extents = {axis % rank: shape[axis % rank] for axis in axes}
    if not extents:
        return reduce(_multiply, factors)
    if not prod(extents.values()):
        kind = np.float64 if any(factor.is_real for factor in factors) else np.int64
        return space.array(np.zeros([1 if axis in extents else n for axis, n in enumerate(shape)], kind))
    make = space.arithmetic(rank)
    count = prod(extents.values())
    if any(factor.is_real for factor in factors):
        left, right = grouped([factor.as_real().value for factor in factors], extents, make.product)
        how = Accumulation(ORDER, count)
        found = make.dot(space.working, left, right or make.reals(1.0), make.reals(0.0), extents, how)
        return TermArray(space, found)
    within = Interval(count, count)
    for each in _ranges(*factors):
        within = within * each
    fmt = within.narrowest()
    if fmt.bits > WIDEST:
        raise NotModelledError(f"integers from {within.low} to {within.high}, beyond 64 bits")
    word = operations.signed(32 if fmt.bits <= 32 else 64)
    values = [factor.value for factor in factors]
    left, right = grouped(values, extents, lambda x, y: make.integer_product(x, y, word.bits))
    one = Value(make.integers(1, 1), operations.unsigned(1))
    zero = Value(make.integers(0, word.bits), word)
    total = make.dot(word, left, right or one, zero, extents, Accumulation("exact", count))
    return TermArray(space, total, within)
