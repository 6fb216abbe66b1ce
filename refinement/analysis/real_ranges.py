"""Intervals of floating-point terms, from the formats of inputs and the integers among them.

Of inputs of 16 bits and more, and of scale factors, nothing is known: that no rounding of them overflows
is a hypothesis. Narrow formats, integers and constants are bounded, and what is made of them may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from types import MappingProxyType
from typing import Any

import numpy as np

from ...spec.float_encoding import decode
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..terms import operations
from ..terms.domains import Domain, Reading
from ..terms.interning import Ids
from ..terms.operations import Accumulation, Sum
from ..terms.store import CONSTANT, INPUT, VECTOR, Operation, TermStore
from ..terms.traversal import gathered
from .dominated_differences import DominatedDifferences
from .dominated_quotients import DominatedQuotients
from .integer_intervals import Intervals, Magnitudes
from .intervals import Interval
from .quantisation import NARROW, quantises
from .rounding_errors import coarseness, least

_EXPONENT = 64
"""Narrow formats that go further hold scale factors, of which nothing is known."""

_ODD = ("tanh", "erf")
"""Functions whose values lie between -1 and 1, and have the signs of their arguments."""

_UNIT = ("sin", "cos")
"""Functions whose values lie between -1 and 1."""


class RealRanges(Domain):
    """Intervals of the floating-point terms of a store, roundings included, computed on demand.

    Parameters
    ----------
    store : TermStore
        The terms.
    magnitudes : Magnitudes
        Of its integers.
    quotients : bool
        Whether quotients by a greatest magnitude are bounded, where no divisor is 0. Who decides comparisons
        by ranges drops what is compared, and with it that hypothesis: it must not ask for these.
    """

    dtype, unknown = np.dtype((np.float64, (2, 2))), np.nan

    def __init__(self, store: TermStore, magnitudes: Magnitudes, *, quotients: bool = False) -> None:
        super().__init__(store)
        self._magnitudes = magnitudes
        self._dominated = DominatedQuotients(store) if quotients else None
        self._differences = DominatedDifferences(store, self._read)

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
        found = np.array(np.broadcast_to(self._of(operation, terms).rows, (len(terms), 2)))
        found[np.isnan(found).any(-1)] = _UNKNOWN
        if quantises(operation):  # which clamps
            found = np.clip(found, *limits(operation.result))
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
                values = decode(distinct.astype(fmt.storage), fmt)[inverse]
                found[members] = np.where(np.isnan(values)[:, None], _UNKNOWN, values[:, None])
            elif operation.name == operations.SELECT:
                then, otherwise = (self._read(self.store.arguments(some)[:, side], fmt) for side in (1, 2))
                found[members] = then.union(otherwise).rows
            elif operation.result == fmt:
                found[members] = self.table()[some, 1]
        return found

    def _read(self, terms: Ids, fmt: Format) -> Interval:
        return Interval.of_rows(self.read(terms, fmt))

    def _of(self, operation: Operation, terms: Ids) -> Interval:
        """Return the ranges of the exact results of an operation that gives floats."""
        result = operation.result
        assert isinstance(result, FloatFormat)
        match operation.name:
            case name if name == INPUT:
                return self._of_inputs(operation, terms)
            case operations.DOT:
                return self._accumulated(operation, terms)
            case operations.FUNCTION if str(operation.attribute).partition(".")[0] in _UNIT:
                return Interval(-1.0, 1.0)
            case operations.FUNCTION if str(operation.attribute).partition(".")[0] in _ODD:
                argument = self._read(self.store.arguments(terms)[:, 0], operation.operands[0])
                return Interval(np.where(argument.low < 0, -1.0, 0.0), np.where(argument.high > 0, 1.0, 0.0))
        if operation.name not in _RULES:
            return _ANY
        given = map(self._read, gathered(self.store, operation, terms), operation.operands)
        if operations.flushes(operation):
            given = map(_flushed, given, operation.operands)
        found = _RULES[operation.name](operation, list(given))
        found = Interval(found.low, np.fmin(found.high, self._differences.greatest(operation, terms)))
        if self._dominated is None:
            return found
        greatest = self._dominated.greatest(operation, terms)
        return Interval(np.fmax(found.low, -greatest), np.fmin(found.high, greatest))

    def _of_inputs(self, operation: Operation, terms: Ids) -> Interval:
        assert isinstance(operation.result, FloatFormat)
        if (ends := self.store.ends.get(str(operation.attribute))) is not None:
            places = self.store.arguments(terms)[:, 0]
            return Interval(ends.low[places], ends.high[places])
        return limits(operation.result) if is_bounded(operation) else _ANY

    def _accumulated(self, operation: Operation, terms: Ids) -> Interval:
        """Return the ranges of all partial sums of an accumulation."""
        assert isinstance(operation.attribute, Accumulation)
        x, y, addend = gathered(self.store, operation, terms, expanded=False)
        left, right = (self._vectors(*each) for each in zip((x, y), operation.operands, strict=False))
        low, high = (end * operation.attribute.length for end in left * right)
        either = Interval(np.minimum(low, 0), np.maximum(high, 0))
        return either + self._read(addend, operation.operands[2])

    def _vectors(self, vectors: Ids, fmt: Format) -> Interval:
        """Return the range (n,) of all elements of each vector."""
        distinct, inverse = np.unique(vectors, return_inverse=True)
        first, *others = (self._read(column, fmt) for column in self.store.elements(distinct).T)
        return Interval(*(end[inverse] for end in first.union(*others)))


_ANY = Interval(-np.inf, np.inf)
_UNKNOWN = np.array([-np.inf, np.inf])


def limits(fmt: FloatFormat) -> Interval:
    """Return the finite numbers of a format."""
    largest = float(fmt.exact(fmt.largest << fmt.padding_bits) or 0)
    return Interval(-largest if fmt.signed else 0.0, largest)


def is_bounded(operation: Operation) -> bool:
    """Tell whether an operation gives floats whose range is known, whatever it is done to."""
    result = operation.result
    if not isinstance(result, FloatFormat):
        return False
    if operation.name == INPUT:
        return result.bits <= NARROW and result.maximum_exponent < _EXPONENT
    from_integer = operation.name == operations.CONVERT and isinstance(operation.operands[0], IntegerFormat)
    return from_integer or quantises(operation)


def normal_from(fmt: FloatFormat) -> float:
    """Return from where on numbers are rounded to normal numbers of a format."""
    return float(2.0**fmt.minimum_exponent * (1 - 2.0 ** -(fmt.fraction_bits + 1)))


def overflow_from(fmt: FloatFormat) -> float:
    """Return the magnitude from which rounding to nearest overflows."""
    return float(limits(fmt).high + 2.0 ** (fmt.maximum_exponent - fmt.fraction_bits - 1))


def _fused(operation: Operation, given: Sequence[Interval]) -> Interval:
    assert isinstance(operation.attribute, Sum)
    pairs = 2 * operation.attribute.products
    products = [given[i] * given[i + 1] for i in range(0, pairs, 2)]
    return reduce(add, [*products, *given[pairs:]])


def _extremum(operation: Operation, given: Sequence[Interval]) -> Interval:
    assert isinstance(operation.attribute, tuple)
    return given[0].extremum(operation.attribute[0], given[1])


def _function(operation: Operation, given: Sequence[Interval]) -> Interval:
    if operation.attribute in operations.INTEGRAL:
        return given[0] + Interval(-1, 1)
    name = str(operation.attribute).partition(".")[0]
    if operations.divides(operation):
        return _approximated(operation, given[0] * _inverse(given[1]))
    if name not in _MONOTONE:
        return _ANY
    found = _approximated(operation, _MONOTONE[name](given[0]))
    none = (name == "ex2") & (given[0].high == -np.inf)  # 2^-∞ is 0
    return Interval(*(np.where(none, 0, end) for end in found))


def _quotient(operation: Operation, given: Sequence[Interval]) -> Interval:
    """Return ranges of quotients; where subnormal numbers are flushed, any number may be 0, or divided by."""
    exact = given[0] * _inverse(given[1])
    if operation.attribute == "div":
        return exact
    return _approximated(operation, Interval(np.minimum(exact.low, 0), np.maximum(exact.high, 0)))


def _approximated(operation: Operation, exact: Interval) -> Interval:
    """Return ranges of approximations; unknown where they leave the normal numbers of the format."""
    fmt = operation.result
    assert isinstance(fmt, FloatFormat)
    sizes = np.abs(exact.low), np.abs(exact.high)
    unknown = ~np.all([size <= 2.0**fmt.maximum_exponent for size in sizes], axis=0)
    small = 2.0**fmt.minimum_exponent  # what is less may be flushed to 0
    low, high = (_APPROXIMATE * size + small for size in sizes)
    apart = (exact.low > 2 * small) & (exact.high > 2 * small)
    low = np.where(apart, exact.low * (1 - _APPROXIMATE), exact.low - low)
    return Interval(low, np.where(apart, exact.high * (1 + _APPROXIMATE), exact.high + high)).unless(unknown)


def _inverse(given: Interval) -> Interval:
    apart = given.is_of_one_sign
    return Interval(*(1 / np.where(apart, end, 1) for end in given[::-1])).unless(~apart)


def _root(given: Interval) -> Interval:
    return Interval(*(np.sqrt(np.maximum(end, 0)) for end in given)).unless(~(given.low >= 0))


def _logarithm(given: Interval) -> Interval:
    return Interval(*(np.log2(np.where(end > 0, end, 1)) for end in given)).unless(~(given.low > 0))


_APPROXIMATE = 2.0**-10
"""More than any approximation is off, relative to its result."""

_MONOTONE: MappingProxyType[str, Callable[[Interval], Interval]] = MappingProxyType(
    {
        "ex2": lambda given: Interval(*map(np.exp2, given)),
        "lg2": _logarithm,
        "sqrt": _root,
        "rcp": _inverse,
        "rsqrt": lambda given: _inverse(_root(given)),
    }
)
"""Functions that are monotone where they are defined, of ranges."""


_RULES: MappingProxyType[str, Callable[[Operation, Sequence[Interval]], Interval]] = MappingProxyType(
    {
        operations.FUSED: _fused,
        operations.NEGATE: lambda _, given: -given[0],
        operations.CONVERT: lambda _, given: given[0],
        operations.EXTREMUM: _extremum,
        operations.FUNCTION: _function,
        operations.QUOTIENT: _quotient,
    }
)


def _inflated(operation: Operation, exact: Intervals) -> Intervals:
    """Return ranges of what exact results are rounded to."""
    if operation.name not in (operations.FUSED, operations.CONVERT, operations.DOT, operations.QUOTIENT):
        return exact
    fmt, how = operation.result, operation.attribute
    assert isinstance(fmt, FloatFormat)
    count = how.length + 1 if isinstance(how, Accumulation) else 1
    growth = (1 + 2 * coarseness(fmt)) ** count - 1
    margin = growth * np.abs(exact) + np.where(exact == 0, 0, count * least(fmt))
    found: Intervals = exact + np.where(np.isfinite(exact), margin, 0) * np.array([-1, 1])
    if operations.flushes(operation):
        found = _flushed(Interval.of_rows(found), fmt).rows
    largest = limits(fmt).high
    beyond = np.abs(found if count > 1 else exact) > largest  # which may be rounded to an infinity
    within = np.clip(found, -largest, largest)
    return np.where(beyond, np.copysign(np.inf, found), within)


def _flushed(given: Interval, fmt: Format) -> Interval:
    """Return ranges of numbers in the place of those that are subnormal 0."""
    if not isinstance(fmt, FloatFormat):
        return given
    small = 2.0**fmt.minimum_exponent
    some = (given.low < small) & (given.high > -small)
    return Interval(
        np.where(some, np.minimum(given.low, 0), given.low),
        np.where(some, np.maximum(given.high, 0), given.high),
    )
