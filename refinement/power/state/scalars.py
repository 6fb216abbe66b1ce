"""Single-precision numbers in floating-point registers, which hold them as doubles."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.formats import F32, F64
from ...terms import operations
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.store import CONSTANT, TermStore

WIDENING = operations.fused(F64, (), (F32,))
_NARROWING = operations.fused(F32, (), (F64,))


def widened(store: TermStore, single: int) -> int:
    """Return a single-precision number as a double."""
    return int(apply(store, WIDENING, single))


_KNOWN: WeakKeyDictionary[TermStore, dict[int, int | None]] = WeakKeyDictionary()
"""What doubles are in single precision, once each: choices share what they choose from."""


def narrowed(store: TermStore, double: int) -> int | None:
    """Return a double as single precision, if it is certainly a number of that; else None."""
    known = _KNOWN.setdefault(store, {})
    if double not in known:
        known[double] = _narrowed(store, double)
    return known[double]


def _narrowed(store: TermStore, double: int) -> int | None:
    operation = store.operation(double)
    arguments = store.arguments(double)
    if operation == WIDENING:
        return int(arguments[0])
    if operation.name == CONSTANT:
        single = int(apply(store, _NARROWING, double))
        return single if widened(store, single) == double else None
    if operation == operations.negate(F64):
        inner = narrowed(store, int(arguments[0]))
        return None if inner is None else int(apply(store, operations.negate(F32), inner))
    if operation == operations.select(F64.bits):
        one, other = (narrowed(store, int(argument)) for argument in arguments[1:3])
        if one is None or other is None:
            return None
        return int(apply(store, operations.select(F32.bits), int(arguments[0]), one, other))
    return None


def single(store: TermStore, double: int, what: str) -> int:
    """Return a double as single precision.

    Raises
    ------
    UnsupportedError
        If it may be no number of that; `what` says what needs it.
    """
    found = narrowed(store, double)
    if found is None:
        raise UnsupportedError(f"{what} of a double that may have no single-precision value")
    return found


def compared(store: TermStore, relation: str, left: int, right: int) -> Ids:
    """Return the comparison (1,) of two doubles, as single precision where both are certainly of that."""
    fmt, terms = F64, [left, right]
    narrow = [narrowed(store, term) for term in terms]
    if None not in narrow:
        fmt, terms = F32, [each for each in narrow if each is not None]
    given = [np.array([term], dtype=np.int32) for term in terms]
    return np.asarray(apply(store, operations.compare(fmt, relation), *given))
