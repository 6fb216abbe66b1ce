"""Sources of NaN and infinity: constants, selects of them, and divisors that are 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import BF16, F16, F32, F64, FloatFormat
from ..normal_forms.forms import NormalForms
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, LEAVES, NORMAL_FORM, UNDEFINED, VECTOR, Operation
from ..terms.traversal import fill, operands

_FORMATS: dict[int, tuple[FloatFormat, ...]] = {16: (F16, BF16), 32: (F32,), 64: (F64,)}
"""What chosen constants may be read in, by their width."""

_POLES = ("rcp", "rsqrt", "lg2", "log")
"""Functions that have no finite value at 0."""

_UNKNOWN = 0
_PLAIN, _ZERO, _SPECIAL, _FLOAT = 1, 2, 4, 8
"""Flags of a term: it is looked at; it may be 0 by a choice; it may be infinite or NaN; floats are in it."""


def special_sources(forms: NormalForms, terms: Ids) -> NDArray[np.bool_]:
    """Tell of each term of the store whether some terms depend on it, and it is to be looked at.

    None are if none of the terms depends on a constant that is no finite number, on what is undefined, on a
    function of a constant, or on a number that divides and that a choice makes 0. Without floats none are:
    the words of chosen integers may look like NaNs.
    """
    store = forms.store
    table = np.full(len(store), _UNKNOWN, dtype=np.int8)

    def infinite(given: Ids, formats: tuple[FloatFormat, ...]) -> NDArray[np.bool_]:
        found = np.zeros(len(given), dtype=bool)
        constants = store.are(CONSTANT, given)
        if constants.any():
            for fmt in formats:
                found |= constants & forms.quantifier.classes.constant(given, fmt)
        return found

    def compute(operation: Operation, members: Ids, known: NDArray[Any]) -> Any:
        if operation.name == UNDEFINED:
            return _PLAIN | _SPECIAL
        if operation.name in LEAVES or operation.name == NORMAL_FORM:
            return _PLAIN | _floats(operation)
        if operation.name == VECTOR:
            elements = store.elements(members)
            wide = _FORMATS.get(int(store.widths(elements.reshape(-1)[:1])[0]), ())
            special = infinite(elements.reshape(-1), wide).reshape(elements.shape)
            return np.bitwise_or.reduce(known[elements] | special * np.int8(_SPECIAL), axis=-1)
        given = operands(store, operation, members)
        found = np.bitwise_or.reduce([known[each] for each in given], axis=0)
        found |= np.int8(_PLAIN | _floats(operation))
        for column, each in enumerate(given):
            found |= (infinite(each, _read(operation, column)) * _SPECIAL).astype(np.int8)
            if operation.name in (operations.SELECT, operations.EXTREMUM) and column >= len(given) - 2:
                found |= (_zeros(each) * _ZERO).astype(np.int8)
        if _has_pole(operation):
            found |= ((known[given[-1]] & _ZERO != 0) * _SPECIAL).astype(np.int8)
        if operation.name == operations.FUNCTION:
            constant = np.logical_or.reduce([store.are(CONSTANT, each) for each in given])
            found |= (constant * _SPECIAL).astype(np.int8)
        return found

    def _zeros(given: Ids) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = store.are(CONSTANT, given) & (store.constant_values(given) == 0)
        return found

    fill(store, terms, table, _UNKNOWN, lambda each, members: operands(store, each, members), compute)
    flags = np.bitwise_or.reduce(table[terms])
    if not (flags & _SPECIAL and flags & _FLOAT):
        return np.zeros(len(store), dtype=bool)
    looked: NDArray[np.bool_] = table & (_SPECIAL | _ZERO) != 0
    return looked


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
