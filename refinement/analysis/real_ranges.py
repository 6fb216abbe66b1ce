"""Intervals of floating-point terms, from the formats of inputs and the integers among them.

Of inputs of 16 bits and more, and of scale factors, nothing is known: that no rounding of them overflows
is a hypothesis. Narrow formats, integers and constants are bounded, and what is made of them may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..terms import operations
from ..terms.domains import Domain, Reading
from ..terms.interning import Ids
from ..terms.operations import Accumulation, Sum
from ..terms.store import CONSTANT, INPUT, VECTOR, Operation, TermStore
from .integer_intervals import Intervals, Magnitudes, times
from .quantisation import NARROW, quantises
from .rounding_errors import coarseness, least

_EXPONENT = 64
"""Narrow formats that go further hold scale factors, of which nothing is known."""

_UNIT = ("tanh", "erf", "sin", "cos")
"""Functions whose values lie between -1 and 1."""


class RealRanges(Domain):
    """Intervals of the floating-point terms of a store, roundings included, computed on demand."""

    dtype, unknown = np.dtype((np.float64, (2, 2))), np.nan

    def __init__(self, store: TermStore, magnitudes: Magnitudes) -> None:
        super().__init__(store)
        self._magnitudes = magnitudes

    @property
    def exact(self) -> Intervals:
        """The ranges by term, before the last rounding."""
        return self.table()[:, 0]

    def fill(self, terms: Ids, read: Format | None = None) -> None:
        """Compute the ranges of terms, and of all that they are made of."""
        with np.errstate(all="ignore"):
            super().fill(terms, read)

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[Reading]:
        """Return the arguments of what gives floats, or chooses them."""
        among = isinstance(operation.result, FloatFormat) or operation.name in (operations.SELECT, VECTOR)
        return super().depends(operation, terms, read) if among else []

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        """Return the ranges of terms of one operation, before and after the last rounding."""
        if not isinstance(operation.result, FloatFormat):
            return _UNKNOWN
        found = np.array(np.broadcast_to(self._of(operation, terms), (len(terms), 2)))
        found[np.isnan(found).any(-1)] = _UNKNOWN
        if quantises(operation):  # which clamps
            found = np.clip(found, *_limits(operation.result))
        return np.stack([found, _inflated(operation, found)], axis=1)

    def read(self, terms: Ids, fmt: Format) -> Intervals:
        """Return the ranges (n, 2) of terms (n,) read in a format, all that they are made of being known."""
        if isinstance(fmt, IntegerFormat):
            return self._magnitudes.intervals(terms, fmt)
        assert isinstance(fmt, FloatFormat)
        found: Intervals = np.tile(_UNKNOWN, (len(terms), 1))
        numbers = self.store.operation_numbers(terms)
        for number in np.unique(numbers):
            operation, members = self.store.operations[number], np.flatnonzero(numbers == number)
            some = terms[members]
            if operation.name == CONSTANT:
                words = self.store.constant_values(some)
                distinct, inverse = np.unique(words, return_inverse=True)
                exact = [fmt.exact(int(word)) for word in distinct]
                values = np.array([np.nan if each is None else float(each) for each in exact])[inverse]
                found[members] = np.where(np.isnan(values)[:, None], _UNKNOWN, values[:, None])
            elif operation.name == operations.SELECT:
                sides = [self.read(self.store.arguments(some)[:, column], fmt) for column in (1, 2)]
                found[members] = _hull(*sides)
            elif operation.result == fmt:
                found[members] = self.table()[some, 1]
        return found

    def _arguments(self, operation: Operation, terms: Ids) -> list[Intervals]:
        arguments = self.store.arguments(terms)
        return [self.read(arguments[:, index], fmt) for index, fmt in enumerate(operation.operands)]

    def _of(self, operation: Operation, terms: Ids) -> Any:
        """Return the ranges of the exact results of an operation that gives floats."""
        result = operation.result
        assert isinstance(result, FloatFormat)
        match operation.name:
            case name if name == INPUT:
                return self._of_inputs(operation, terms)
            case operations.DOT:
                return self._accumulated(operation, terms)
            case operations.FUNCTION if str(operation.attribute).partition(".")[0] in _UNIT:
                return np.array([-1.0, 1.0])
        if operation.name not in _RULES:
            return _UNKNOWN
        return _RULES[operation.name](operation, self._arguments(operation, terms))

    def _of_inputs(self, operation: Operation, terms: Ids) -> Any:
        assert isinstance(operation.result, FloatFormat)
        if (ends := self.store.ends.get(str(operation.attribute))) is not None:
            places = self.store.arguments(terms)[:, 0]
            return np.stack([ends.low[places], ends.high[places]], axis=-1)
        return _limits(operation.result) if is_bounded(operation) else _UNKNOWN

    def _accumulated(self, operation: Operation, terms: Ids) -> Intervals:
        """Return the ranges of all partial sums of an accumulation."""
        assert isinstance(operation.attribute, Accumulation)
        arguments = self.store.arguments(terms)
        x, y = (self._vectors(arguments[:, column], operation.operands[column]) for column in (0, 1))
        addend = self.read(arguments[:, 2], operation.operands[2])
        either = times(x, y) * operation.attribute.length
        return np.stack([np.minimum(either[:, 0], 0), np.maximum(either[:, 1], 0)], axis=-1) + addend

    def _vectors(self, vectors: Ids, fmt: Format) -> Intervals:
        """Return the range (n, 2) of all elements of each vector."""
        distinct, inverse = np.unique(vectors, return_inverse=True)
        elements = self.store.elements(distinct)
        parts = [self.read(elements[:, column], fmt) for column in range(elements.shape[1])]
        return _hull(*parts)[inverse]


_UNKNOWN = np.array([-np.inf, np.inf])


def _limits(fmt: FloatFormat) -> NDArray[np.float64]:
    largest = float(fmt.exact(fmt.largest << fmt.padding_bits) or 0)
    return np.array([-largest if fmt.signed else 0.0, largest])


def is_bounded(operation: Operation) -> bool:
    """Tell whether an operation gives floats whose range is known, whatever it is done to."""
    result = operation.result
    if not isinstance(result, FloatFormat):
        return False
    if operation.name == INPUT:
        return result.bits <= NARROW and result.maximum_exponent < _EXPONENT
    from_integer = operation.name == operations.CONVERT and isinstance(operation.operands[0], IntegerFormat)
    return from_integer or quantises(operation)


def overflow_from(fmt: FloatFormat) -> float:
    """Return the magnitude from which rounding to nearest overflows."""
    largest = float(fmt.exact(fmt.largest << fmt.padding_bits) or 0)
    return largest + float(2.0 ** (fmt.maximum_exponent - fmt.fraction_bits - 1))


def _hull(*intervals: Intervals) -> Intervals:
    low = np.min([each[:, 0] for each in intervals], axis=0)
    return np.stack([low, np.max([each[:, 1] for each in intervals], axis=0)], axis=-1)


def _fused(operation: Operation, given: Sequence[Intervals]) -> Any:
    assert isinstance(operation.attribute, Sum)
    pairs = 2 * operation.attribute.products
    products = [times(given[i], given[i + 1]) for i in range(0, pairs, 2)]
    return np.sum([*products, *given[pairs:]], axis=0)


def _negated(_: Operation, given: Sequence[Intervals]) -> Any:
    return -given[0][:, ::-1]


def _extremum(operation: Operation, given: Sequence[Intervals]) -> Any:
    assert isinstance(operation.attribute, tuple)
    return (np.maximum if operation.attribute[0] == "max" else np.minimum)(*given)


def _function(operation: Operation, given: Sequence[Intervals]) -> Any:
    if operation.attribute in operations.INTEGRAL:
        return given[0] + np.array([-1, 1])
    name = str(operation.attribute).partition(".")[0]
    if operations.divides(operation):
        return _widened(operation, times(given[0], _inverse(given[1])))
    if name not in _MONOTONE:
        return _UNKNOWN
    return _widened(operation, _MONOTONE[name](given[0]))


def _widened(operation: Operation, exact: Intervals) -> Intervals:
    """Return ranges of approximations; unknown where they leave the normal numbers of the format."""
    fmt = operation.result
    assert isinstance(fmt, FloatFormat)
    ends = np.abs(exact)
    known = (ends <= 2.0**fmt.maximum_exponent).all(-1, keepdims=True)
    small = 2.0**fmt.minimum_exponent  # what is less may be flushed to 0
    wide = exact + (_APPROXIMATE * ends + small) * np.array([-1, 1])
    apart = (exact > 2 * small).all(-1, keepdims=True)
    wide = np.where(apart, exact * (1 + _APPROXIMATE * np.array([-1, 1])), wide)
    found: Intervals = np.where(known, wide, _UNKNOWN)
    return found


def _inverse(given: Intervals) -> Intervals:
    apart = ((given[:, 0] > 0) | (given[:, 1] < 0))[:, None]
    found: Intervals = np.where(apart, 1 / np.where(apart, given, 1)[:, ::-1], _UNKNOWN)
    return found


def _root(given: Intervals) -> Intervals:
    found: Intervals = np.where((given[:, :1] >= 0), np.sqrt(np.maximum(given, 0)), _UNKNOWN)
    return found


def _logarithm(given: Intervals) -> Intervals:
    found: Intervals = np.where((given[:, :1] > 0), np.log2(np.where(given > 0, given, 1)), _UNKNOWN)
    return found


_APPROXIMATE = 2.0**-10
"""More than any approximation is off, relative to its result."""

_MONOTONE: MappingProxyType[str, Callable[[Intervals], Intervals]] = MappingProxyType(
    {
        "ex2": np.exp2,
        "lg2": _logarithm,
        "sqrt": _root,
        "rcp": _inverse,
        "rsqrt": lambda given: _inverse(_root(given)),
    }
)
"""Functions that are monotone where they are defined, of ranges."""


_RULES: MappingProxyType[str, Callable[[Operation, Sequence[Intervals]], Any]] = MappingProxyType(
    {
        operations.FUSED: _fused,
        operations.NEGATE: _negated,
        operations.CONVERT: lambda _, given: given[0],
        operations.EXTREMUM: _extremum,
        operations.FUNCTION: _function,
    }
)


def _inflated(operation: Operation, exact: Intervals) -> Intervals:
    """Return ranges of what exact results are rounded to."""
    if operation.name not in (operations.FUSED, operations.CONVERT, operations.DOT):
        return exact
    fmt, how = operation.result, operation.attribute
    assert isinstance(fmt, FloatFormat)
    count = how.length + 1 if isinstance(how, Accumulation) else 1
    growth = (1 + 2 * coarseness(fmt)) ** count - 1
    margin = growth * np.abs(exact) + np.where(exact == 0, 0, count * least(fmt))
    found: Intervals = exact + np.where(np.isfinite(exact), margin, 0) * np.array([-1, 1])
    return found
