"""Words that hold a narrower float in their high bits, over zeros: the same number, wider.

A bf16 is the upper half of an f32, so that compilers convert it by moving it there.
"""

from __future__ import annotations

import numpy as np

from ...spec.formats import FloatFormat, Format
from .interning import Ids
from .slices import fields
from .store import CONCATENATION, Operation, TermStore

NONE = -1
"""No term."""


def narrower(store: TermStore, operation: Operation, terms: Ids, fmt: Format) -> Ids:
    """Return the floats (n,) that words of one operation, read in a format, are; `NONE` of others.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    operation : Operation
        Of all the terms (n,).
    terms : array (n,)
        Words.
    fmt : Format
        As what the words are read.
    """
    found = np.full(len(terms), NONE, dtype=np.int32)
    if operation.name != CONCATENATION or not isinstance(fmt, FloatFormat):
        return found
    taken = fields(operation)
    if len(taken) != 2 or not taken[0].constant or operation.result.bits != fmt.bits:
        return found
    zeros, parts = store.elements(store.arguments(terms)[:, 0]).T
    whole = (
        (store.constant_values(zeros) == 0) & (store.widths(parts) == taken[1].width) & (taken[1].low == 0)
    )
    numbers = store.operation_numbers(parts)
    for number in np.unique(numbers[whole]):
        if _begins(store.operations[number].result, fmt, taken[0].width):
            members = whole & (numbers == number)
            found[members] = parts[members]
    return found


def _begins(narrow: Format, wide: FloatFormat, behind: int) -> bool:
    """Tell whether every number of a format, with zeros behind it, is the same number of a wider one."""
    return (
        isinstance(narrow, FloatFormat)
        and (narrow.exponent_bits, narrow.bias, narrow.special, narrow.signed, narrow.subnormals)
        == (wide.exponent_bits, wide.bias, wide.special, wide.signed, wide.subnormals)
        and narrow.bits + behind == wide.bits
        and wide.padding_bits <= behind + narrow.padding_bits
    )
