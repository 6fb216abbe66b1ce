"""Exact products with powers of two: numbers of a narrower format that stay on the grid of a wider one."""

from __future__ import annotations

from math import frexp

import numpy as np

from ...spec.float_encoding import decode
from ...spec.formats import FloatFormat, Format
from ..analysis.quantisation import widens
from ..terms import operations
from ..terms.operations import Sum
from ..terms.store import CONSTANT, TermStore


def is_scaled_exactly(store: TermStore, term: int) -> bool:
    """Tell whether a term is ``x * 2**k`` with x of a format whose multiples of ``2**quantum`` it keeps.

    With q the quantum of x's format and p its precision, ``x * 2**k`` is a multiple of ``2**(q + k)`` of at
    most p significant bits: a format of as many bits, and of a quantum of at most ``q + k``, has it, where it
    does not overflow.
    """
    result, scaling = store.operation(term).result, scaling_of(store, term)
    if scaling is None or not isinstance(result, FloatFormat):
        return False
    source, exponent = scaling
    return source.precision <= result.precision and source.quantum + exponent >= result.quantum


def scaling_of(store: TermStore, term: int) -> tuple[FloatFormat, int] | None:
    """Return the format of x before it was widened, and k, if a term is ``x * 2**k`` or ``x + x``."""
    operation = store.operation(term)
    how, result = operation.attribute, operation.result
    if operation.name != operations.FUSED or not isinstance(result, FloatFormat):
        return None
    if not isinstance(how, Sum) or how.flush:
        return None
    sides = list(zip(store.arguments(np.array([term]))[0, :2].tolist(), operation.operands, strict=False))
    if (how.products, how.addends) == (0, 2) and sides[0] == sides[1]:
        source = _source(store, *sides[0])
        return None if source is None else (source, 1)
    if (how.products, how.addends) != (1, 0):
        return None
    for (number, own), (factor, read) in (sides, sides[::-1]):
        if not isinstance(read, FloatFormat) or not store.are(CONSTANT, np.array([factor]))[0]:
            continue
        words = store.constant_values(np.array([factor])).astype(read.storage)
        fraction, exponent = frexp(float(decode(words, read)[0]))
        source = _source(store, number, own)
        if abs(fraction) == 0.5 and source is not None:
            return source, exponent - 1
    return None


def _source(store: TermStore, term: int, read: Format) -> FloatFormat | None:
    """Return the format that a number, read in a format, had before it was widened."""
    while (operation := store.operation(term)).result == read and widens(operation):
        term, read = int(store.arguments(np.array([term]))[0, 0]), operation.operands[0]
    return read if isinstance(read, FloatFormat) else None
