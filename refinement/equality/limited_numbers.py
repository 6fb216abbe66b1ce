"""Floats with a constant as a limit: extrema, and choices by comparison that are such.

``x > 127 ? 127 : x`` is ``min(x, 127)``, and so is the choice if the other side is x that is limited already,
to limits that leave 127 as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...spec.float_encoding import decode
from ...spec.formats import FloatFormat, IntegerFormat
from ..terms import operations
from ..terms.operations import EXTREMES, Sum
from ..terms.store import CONSTANT, TermStore


class Limit(NamedTuple):
    """The lesser (``min``) or greater (``max``) of a number and a constant."""

    which: str
    number: int
    fmt: FloatFormat
    """Of the number: a wider format has the same limited number."""
    constant: float

    def of(self, number: float) -> float:
        """Return a number limited."""
        return (max if self.which == "max" else min)(number, self.constant)


class LimitedNumbers:
    """Reads floats as numbers with a limit.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._known: dict[tuple[int, FloatFormat], Limit | None] = {}

    def arguments(self, term: int) -> list[int]:
        """Return the arguments of a term."""
        found: list[int] = self._store.arguments(np.array([term], dtype=np.int32))[0].tolist()
        return found

    def constant(self, term: int, fmt: FloatFormat | IntegerFormat) -> float | None:
        """Return what a constant is in a format; None of other terms, and of what is no finite number."""
        if self._store.operation(term).name != CONSTANT:
            return None
        word = self._store.constant_values(np.array([term], dtype=np.int32))
        if isinstance(fmt, FloatFormat):
            number = float(decode(word.astype(fmt.storage), fmt)[0])
            return number if np.isfinite(number) else None
        value = int(word[0])
        return float(value - (1 << fmt.bits) * (value >> fmt.bits - 1) if fmt.signed else value)

    def limited(self, term: int, fmt: FloatFormat) -> Limit | None:
        """Return what a float is, if it is a number with a limit."""
        term, fmt = self.narrow(term, fmt)
        if (term, fmt) not in self._known:
            self._known[term, fmt] = self._extremum(term, fmt) or self._chosen(term, fmt)
        return self._known[term, fmt]

    def _extremum(self, term: int, fmt: FloatFormat) -> Limit | None:
        operation = self._store.operation(term)
        if operation.name != operations.EXTREMUM or operation.result != fmt:
            return None
        assert isinstance(operation.attribute, tuple)
        which, _, flush = operation.attribute
        one, other = self.arguments(term)[:2]
        for number, limit in ((one, other), (other, one)):
            value = self.constant(limit, fmt)
            if value is not None and not flush:
                return Limit(which, number, fmt, value)
        return None

    def _chosen(self, term: int, fmt: FloatFormat) -> Limit | None:
        """Return what a number, or a constant that it is compared with, is of which one is chosen."""
        if self._store.operation(term) != operations.select(fmt.bits):
            return None
        condition, then, otherwise = self.arguments(term)
        compared = self._store.operation(condition)
        if compared.name != operations.COMPARE or not isinstance(compared.operands[0], FloatFormat):
            return None
        which = EXTREMES.get(str(compared.attribute).removesuffix("u"))  # of a NaN nothing is said here
        one, other = self.arguments(condition)[:2]
        for number, limit, greater in ((one, other, which == "max"), (other, one, which == "min")):
            constant = self.constant(limit, compared.operands[0])
            if which is None or constant is None:
                continue
            for chosen, rest, is_upper in ((then, otherwise, greater), (otherwise, then, not greater)):
                if self.constant(chosen, fmt) != constant:
                    continue
                if self._keeps(rest, fmt, constant, self.narrow(number, compared.operands[0])):
                    return Limit("min" if is_upper else "max", rest, fmt, constant)
        return None

    def _keeps(self, term: int, fmt: FloatFormat, constant: float, number: tuple[int, FloatFormat]) -> bool:
        """Tell whether a term is a number with limits that leave a constant as it is: it grows with it."""
        limits: list[Limit] = []
        while (place := self.narrow(term, fmt)) != number:
            if (limit := self.limited(*place)) is None:
                return False
            limits.append(limit)
            term, fmt = limit.number, limit.fmt
        value = constant
        for limit in reversed(limits):
            value = limit.of(value)
        return value == constant

    def narrow(self, term: int, fmt: FloatFormat) -> tuple[int, FloatFormat]:
        """Return a float that is widened, as it was before."""
        operation = self._store.operation(term)
        is_float = isinstance(operation.attribute, Sum) and operation.result == fmt
        while is_float and operation.name == operations.FUSED and len(operation.operands) == 1:
            (source,) = operation.operands
            assert isinstance(source, FloatFormat) and isinstance(operation.attribute, Sum)
            if operation.attribute.flush or not _has_all(fmt, source):
                break
            (term, *_), fmt = self.arguments(term), source
            operation = self._store.operation(term)
            is_float = operation.result == fmt
        return term, fmt


def _has_all(wide: FloatFormat, narrow: FloatFormat) -> bool:
    """Tell whether a format has all numbers of another one."""
    return wide.precision >= narrow.precision and wide.exponent_bits > narrow.exponent_bits
