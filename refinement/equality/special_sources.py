"""Sources of NaN and infinity: constants, selects of them, and divisors that are 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import BF16, F16, F32, F64, FloatFormat, Format
from ..normal_forms.forms import NormalForms
from ..terms import operations
from ..terms.domains import Domain, Reading
from ..terms.interning import Ids
from ..terms.store import CONSTANT, NORMAL_FORM, UNDEFINED, VECTOR, Operation
from ..terms.traversal import operands

_FORMATS: dict[int, tuple[FloatFormat, ...]] = {16: (F16, BF16), 32: (F32,), 64: (F64,)}
"""What chosen constants may be read in, by their width."""

_POLES = ("rcp", "rsqrt", "lg2", "log")
"""Functions that have no finite value at 0."""

_PLAIN, _ZERO, _SPECIAL, _FLOAT = 1, 2, 4, 8
"""Flags of a term: it is looked at; it may be 0 by a choice; it may be infinite or NaN; floats are in it."""


def special_sources(forms: NormalForms, terms: Ids) -> NDArray[np.bool_]:
    """Tell of each term of the store whether some terms depend on it, and it is to be looked at.

    None are if none of the terms depends on a constant that is no finite number, on what is undefined, on a
    function of a constant, or on a number that divides and that a choice makes 0. Without floats none are:
    the words of chosen integers may look like NaNs.
    """
    flags = _Flags(forms)
    found = np.bitwise_or.reduce(flags.values(terms))
    if not (found & _SPECIAL and found & _FLOAT):
        return np.zeros(len(forms.store), dtype=bool)
    looked: NDArray[np.bool_] = flags.table()[: len(forms.store)] & (_SPECIAL | _ZERO) != 0
    return looked


class ChosenIntegers(Domain):
    """Whether terms are integers that are computed, or chosen beside such: constants there are integers."""

    dtype, unknown = bool, False

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[Reading]:
        """Return what is chosen from."""
        if operation.name != operations.SELECT:
            return []
        return [(each, read) for each in self.store.arguments(terms)[:, 1:3].T]

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        """Return which terms of one operation are such integers."""
        if operation.name != operations.SELECT:
            return operation.name in (operations.RING, operations.EXTEND)
        return self.table(read)[self.store.arguments(terms)[:, 1:3]].any(axis=1)


class _Flags(Domain):
    """Flags of terms."""

    dtype = np.int8

    def __init__(self, forms: NormalForms) -> None:
        super().__init__(forms.store)
        self._classes = forms.quantifier.classes

    def leaf(self, operation: Operation, terms: Ids) -> int:
        return _PLAIN | (_SPECIAL if operation.name == UNDEFINED else _floats(operation))

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        found = super().transfer(operation, terms, read)
        if operation.name == VECTOR:
            elements = self.store.elements(terms)
            wide = _FORMATS.get(int(self.store.widths(elements.reshape(-1)[:1])[0]), ())
            special = self._infinite(elements.reshape(-1), wide).reshape(elements.shape)
            found |= (special.any(axis=1) * _SPECIAL).astype(np.int8)
        return found

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        arguments = operands(self.store, operation, terms)
        found = super().applied(operation, terms, given) | np.int8(_PLAIN | _floats(operation))
        for column, each in enumerate(arguments):
            found |= (self._infinite(each, _read(operation, column)) * _SPECIAL).astype(np.int8)
            if operation.name in (operations.SELECT, operations.EXTREMUM) and column >= len(given) - 2:
                zero = self.store.are(CONSTANT, each) & (self.store.constant_values(each) == 0)
                found |= (zero * _ZERO).astype(np.int8)
        if _has_pole(operation):
            found |= ((given[-1] & _ZERO != 0) * _SPECIAL).astype(np.int8)
        if operation.name == operations.FUNCTION:
            constant = np.logical_or.reduce([self.store.are(CONSTANT, argument) for argument in arguments])
            found |= (constant * _SPECIAL).astype(np.int8)
        return found

    def _infinite(self, given: Ids, formats: tuple[FloatFormat, ...]) -> NDArray[np.bool_]:
        found = np.zeros(len(given), dtype=bool)
        constants = self.store.are(CONSTANT, given)
        if constants.any():
            for fmt in formats:
                found |= constants & self._classes.constant(given, fmt)
        return found


def _floats(operation: Operation) -> int:
    """Return the flag of floats where an operation gives or takes some, or a normal form may."""
    formats = (operation.result, *operation.operands)
    return _FLOAT if operation.name == NORMAL_FORM or any(isinstance(f, FloatFormat) for f in formats) else 0


def _read(operation: Operation, column: int) -> tuple[FloatFormat, ...]:
    """Return the formats in which an operation may read an operand."""
    if operation.name == operations.SELECT:
        return _FORMATS.get(operation.result.bits, ()) if column else ()
    if column < len(operation.operands) and isinstance(fmt := operation.operands[column], FloatFormat):
        return () if operation.name in (operations.DOT, operations.SCALED_DOT) and column < 2 else (fmt,)
    return ()


def _has_pole(operation: Operation) -> bool:
    if operations.divides(operation) or operation.name == operations.QUOTIENT:
        return True
    return operation.name == operations.FUNCTION and str(operation.attribute).partition(".")[0] in _POLES
