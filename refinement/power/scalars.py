"""Single-precision numbers in 64-bit registers: a floating-point register holds them as doubles."""

from __future__ import annotations

from ...spec.errors import UnsupportedError
from ...spec.formats import F32, F64
from .. import operations
from ..evaluation import apply
from ..terms import CONSTANT, TermStore

WIDENING = operations.fused(F64, (), (F32,))
_NARROWING = operations.fused(F32, (), (F64,))


def widened(store: TermStore, single: int) -> int:
    """Return a single-precision number as a double."""
    return int(apply(store, WIDENING, single))


def narrowed(store: TermStore, double: int) -> int | None:
    """Return a double as single precision, if it is certainly a number of that; else None."""
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
        raise UnsupportedError(f"{what} of a double that may not be a number in single precision")
    return found
