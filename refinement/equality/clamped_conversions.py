"""Conversions of floats to integers and to narrow floats with clamps around them, in one form.

``s8(round(x))`` saturates, ``min(max(rint(x), -128), 127)`` clamps before the conversion, by extrema or by
choices, and integers are clamped behind it: all are ``clamp(rint(x), least, greatest)``. A rounding to an
integer is monotone, so that clamps go through it; one clamp after another is a clamp. What saturates needs
no clamp to its own limits. The low bits of a conversion to 64 bits (``lrintf``) are those of one to 32 bits
where ranges show that the integer has no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode, encode
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..analysis.quantisation import quantises
from ..analysis.real_ranges import RealRanges, limits
from ..terms import operations
from ..terms.bit_slices import extract, sign_extend
from ..terms.domains import Rewriting
from ..terms.evaluation import FUNCTIONS, WHOLE
from ..terms.interning import Ids
from ..terms.slices import Slice, fields, join, slices_of
from ..terms.store import CONCATENATION, Operation, TermStore
from .limited_numbers import LimitedNumbers

_WIDE = operations.signed(32)


class _Clamped(NamedTuple):
    """``min(max(function(number), least), greatest)`` of a float."""

    number: int
    fmt: FloatFormat
    function: str
    least: float
    greatest: float

    def within(self, which: str, limit: float) -> _Clamped:
        """Return the number clamped once more: at least, or at most, a limit."""
        clamp = max if which == "max" else min
        return self._replace(least=clamp(self.least, limit), greatest=clamp(self.greatest, limit))


class ClampedConversions(Rewriting):
    """Replaces conversions to integers that 32 bits have by one of an integral number that is clamped.

    The integers are the same for all numbers; a NaN is converted to 0, and clamped to a limit.

    Parameters
    ----------
    store : TermStore
        The terms.
    ranges : RealRanges, optional
        Of the terms: a clamp to limits that a number is within changes nothing.
    """

    def __init__(self, store: TermStore, ranges: RealRanges | None = None) -> None:
        super().__init__(store)
        self._ranges = ranges
        self._limits = LimitedNumbers(store)
        self._clamps: dict[int, _Clamped] = {}

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        found = np.array(super().applied(operation, terms, given))
        if operation.name == operations.CONVERT and isinstance(operation.result, FloatFormat):
            return self._without_idle_clamps(operation, found)
        if operation.name == CONCATENATION:
            return self._of_narrow_conversions(operation, found)
        fmt, converted = operation.result, converts(operation)
        clamps = operation.name == operations.EXTREMUM and isinstance(fmt, IntegerFormat)
        clamped: dict[int, _Clamped] = {}
        if converted or clamps:
            alike = self.store.operation_numbers(found) == self.store.number(operation)
            for place in np.flatnonzero(alike).tolist():
                term = int(found[place])
                what = self._conversion(operation, term) if converted else self._clamp(operation, term)
                if what is not None:
                    clamped[place] = what
        for places, made in self._made(clamped):
            assert isinstance(fmt, IntegerFormat)
            self._clamps.update(zip(made.tolist(), (clamped[each] for each in places.tolist()), strict=True))
            narrow = fmt.bits <= _WIDE.bits
            found[places] = (
                extract(self.store, made, 0, fmt.bits) if narrow else sign_extend(self.store, made, fmt.bits)
            )
        return found

    def _without_idle_clamps(self, operation: Operation, found: Ids) -> Ids:
        """Return conversions that saturate, without clamps to limits that the format does not exceed."""
        assert isinstance(operation.attribute, tuple) and isinstance(operation.result, FloatFormat)
        _, saturates, flush = operation.attribute
        (source,) = operation.operands
        if not saturates or flush or not isinstance(source, FloatFormat):
            return found
        lowest, largest = limits(operation.result)
        for place, term in enumerate(found.tolist()):
            if self.store.operation(term) != operation:
                continue
            number = self._limits.arguments(term)[0]
            while (limit := self._limits.limited(number, source)) is not None and limit.fmt == source:
                if limit.constant > lowest if limit.which == "max" else limit.constant < largest:
                    break
                number = limit.number
            found[place] = self.store.apply(operation, number)
        return found

    def _of_narrow_conversions(self, operation: Operation, found: Ids) -> Ids:
        """Return words (n,) with conversions to 32 bits for those to more of which they take low bits."""
        store, low = self.store, [not each.constant and each.top < _WIDE.bits for each in fields(operation)]
        alike = np.flatnonzero(store.operation_numbers(found) == store.number(operation))
        if not any(low) or not any(
            converts(each) and each.result.bits > _WIDE.bits for each in store.operations
        ):
            return found
        for place in alike.tolist():
            (elements,) = store.elements(store.arguments(found[place : place + 1])[:, 0])
            narrow = [
                self._narrow(term) if is_low else None
                for term, is_low in zip(elements.tolist(), low, strict=True)
            ]
            if not any(narrow):
                continue
            pieces: list[Slice] = []
            for term, made, field in zip(elements, narrow, fields(operation), strict=True):
                word = np.array([term], dtype=np.int32)
                if made is None or field.repeats:
                    pieces.append(Slice(word, field))
                else:
                    pieces += slices_of(store, extract(store, made, field.low, field.width))
            found[place] = join(store, pieces)[0]
        return found

    def _narrow(self, term: int) -> Ids | None:
        """Return a conversion to 32 bits of the same integer as a conversion to more; None of other terms."""
        operation = self.store.operation(term)
        if not _is_wide(operation):
            return None
        (source,) = operation.operands
        assert isinstance(source, FloatFormat) and isinstance(operation.attribute, tuple)
        number, flush = self._limits.arguments(term)[0], operation.attribute[2]
        whole = np.array([number], dtype=np.int32)
        if self._ranges is None or flush:
            return None
        self._ranges.fill(whole)
        low, high = self._ranges.read(whole, source)[0]
        if not (low > -(1 << 31) and high < (1 << 31) - 1) or (not _is_signed(operation.result) and low < 0):
            return None
        narrow = operations.convert(_WIDE, source, operation.attribute[0])
        found = self.store.apply(narrow, whole)
        if (what := self._conversion(narrow, int(found[0]))) is not None:
            for _, made in self._made({0: what}):
                self._clamps[int(made[0])] = what
                return made
        return found

    def _conversion(self, operation: Operation, term: int) -> _Clamped | None:
        """Return what a conversion of a float is."""
        (source,), fmt = operation.operands, operation.result
        assert isinstance(operation.attribute, tuple) and isinstance(fmt, IntegerFormat)
        rounding, _, flush = operation.attribute
        if rounding not in WHOLE or flush or not isinstance(source, FloatFormat):
            return None
        least = -(1 << fmt.bits - 1) if fmt.signed else 0
        greatest = least + (1 << fmt.bits) - 1
        found = self._clamped(self._limits.arguments(term)[0], source, WHOLE[rounding])
        found = found.within("max", least).within("min", greatest)
        fits = found.least >= -(1 << 31) and found.greatest < 1 << 31
        return found if fits else None

    def _clamped(self, term: int, fmt: FloatFormat, function: str) -> _Clamped:
        """Return a float of which integers are made, without the clamps and roundings around it."""
        term, fmt = self._limits.narrow(term, fmt)
        operation = self.store.operation(term)
        alike = operation.operands == (fmt,) == (operation.result,)
        if operation.name == operations.FUNCTION and operation.attribute in operations.INTEGRAL and alike:
            return self._clamped(self._limits.arguments(term)[0], fmt, str(operation.attribute))
        if (limit := self._limits.limited(term, fmt)) is not None:
            whole = float(FUNCTIONS[function](limit.constant))
            return self._clamped(limit.number, limit.fmt, function).within(limit.which, whole)
        return _Clamped(term, fmt, function, -np.inf, np.inf)

    def _clamp(self, operation: Operation, term: int) -> _Clamped | None:
        """Return what an extremum of an integer that was converted and a constant is."""
        fmt = operation.result
        assert isinstance(fmt, IntegerFormat) and isinstance(operation.attribute, tuple)
        one, other = self._limits.arguments(term)[:2]
        for number, limit in ((one, other), (other, one)):
            value = self._limits.constant(limit, fmt)
            if value is not None and number in self._clamps and fmt == _WIDE:
                return self._clamps[number].within(operation.attribute[0], value)
        return None

    def _whole_ranges(self, terms: Ids, fmt: FloatFormat) -> NDArray[np.float64]:
        """Return between which whole numbers numbers are (n, 2) that one function rounds to such."""
        numbers = self.store.arguments(terms)[:, 0]
        if self._ranges is None:
            return np.tile([-np.inf, np.inf], (len(terms), 1))
        self._ranges.fill(numbers)
        function = FUNCTIONS[str(self.store.operation(int(terms[0])).attribute)]
        return np.asarray(function(self._ranges.read(numbers, fmt)))

    def _made(self, clamped: Mapping[int, _Clamped]) -> Iterator[tuple[NDArray[np.intp], Ids]]:
        """Yield places and conversions to 32 bits there; none where a limit is no number of the format."""
        groups: dict[tuple[FloatFormat, str, float, float], list[int]] = {}
        for place, each in clamped.items():
            groups.setdefault((each.fmt, each.function, each.least, each.greatest), []).append(place)
        for (fmt, function, least, greatest), members in groups.items():
            numbers = np.array([clamped[place].number for place in members], dtype=np.int32)
            made = self.store.apply(operations.function(function, fmt, fmt), numbers)
            low, high = self._whole_ranges(made, fmt).T
            limits = (
                ("max", least, -(1 << 31), ~(low >= least)),
                ("min", greatest, (1 << 31) - 1, ~(high <= greatest)),
            )
            known = np.ones(len(made), dtype=bool)
            for which, limit, of_type, needed in limits:
                if limit == of_type or not needed.any():
                    continue
                encoded = encode(np.array([limit], dtype=np.float64), fmt, Rounding.NEAREST_EVEN)
                if decode(encoded, fmt)[0] != limit:
                    known &= ~needed
                    continue
                bound = self.store.constants(int(encoded[0]), fmt.bits)
                made[needed] = self.store.apply(operations.extremum(fmt, which), made[needed], bound)
            converted = self.store.apply(operations.convert(_WIDE, fmt, Rounding.TOWARD_ZERO), made[known])
            yield np.array(members)[known], converted


def _is_signed(fmt: Format) -> bool:
    return isinstance(fmt, IntegerFormat) and fmt.signed


def _is_wide(operation: Operation) -> bool:
    """Tell whether an operation converts floats to integers of more than 32 bits."""
    return converts(operation) and operation.result.bits > _WIDE.bits


def saturates(operation: Operation) -> bool:
    """Tell whether an operation converts floats to narrower floats and saturates."""
    return quantises(operation) and operation.name == operations.CONVERT


def converts(operation: Operation) -> bool:
    """Tell whether an operation converts floats to integers."""
    from_floats = all(isinstance(operand, FloatFormat) for operand in operation.operands)
    return (
        operation.name == operations.CONVERT and isinstance(operation.result, IntegerFormat) and from_floats
    )
