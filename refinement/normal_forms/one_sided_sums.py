"""Choices between sums with a common addend: ``where(c, s + x, s)`` is ``s + where(c, x, 0)``.

So a loop that adds up what meets a condition is a sum of choices, and not choices nested in each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..analysis.integer_intervals import Magnitudes
from ..analysis.magic_constants import CoarseSums
from ..analysis.quantisation import quantises
from ..terms import operations
from ..terms.choices import chosen
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import Operation, TermStore, is_raw
from ..terms.traversal import by_operation

NONE = -1


class CommonAddends(NamedTuple):
    """Terms (n,) whose sums some choices (n,) are, read in the same format; `NONE` of others."""

    common: Ids
    chosen: Ids


def common_addends(
    store: TermStore, magnitudes: Magnitudes, coarse: CoarseSums, choices: Ids, fmt: Format
) -> CommonAddends:
    """Return what both sides of choices (n,) add to something, and the choices between that."""
    width = store.operation(int(choices[0])).result.bits
    zero = int(store.constants(0, width))
    arguments = store.arguments(choices)
    conditions, sides = arguments[:, 0], arguments[:, 1:3]
    found = CommonAddends(*(np.full(len(choices), NONE, dtype=np.int32) for _ in range(2)))
    if width != fmt.bits:
        return found
    parts = [_parted(store, magnitudes, coarse, side, fmt) for side in sides.T]
    for left in (0, 1, NONE):  # of which addend of the first side the second is, or has
        for right in (0, 1, NONE):
            if left == right == NONE:
                continue
            addends = [sides[:, k] if at == NONE else parts[k][at] for k, at in enumerate((left, right))]
            rests = [zero if at == NONE else parts[k][1 - at] for k, at in enumerate((left, right))]
            members = (addends[0] == addends[1]) & (addends[0] >= 0) & (found.common == NONE)
            if members.any():
                found.common[members] = addends[0][members]
                some = (np.broadcast_to(rest, len(choices))[members] for rest in rests)
                found.chosen[members] = chosen(store, conditions[members], *some)
    return found


def _parted(
    store: TermStore, magnitudes: Magnitudes, coarse: CoarseSums, terms: Ids, fmt: Format
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the two addends of terms (n,) that are sums in a format; `NONE` of others."""
    first, second = (np.full(len(terms), NONE, dtype=np.int32) for _ in range(2))
    for operation, members in by_operation(store, np.unique(terms)):
        how = operation.attribute
        if not _adds(operation, fmt) or not isinstance(how, Sum):
            continue
        arguments = store.arguments(members)[:, : len(operation.operands)]
        if isinstance(fmt, FloatFormat) and (coarse.kept(operation, members) != arguments).any():
            continue  # what is lost to a great addend is no part of the sum
        if (how.products, how.addends) == (0, 2):
            left, right = arguments[:, 0], arguments[:, 1]
        elif (how.products, how.addends) == (1, 1) and isinstance(fmt, FloatFormat):
            product = operations.fused(fmt, ((fmt, fmt),))
            left, right = store.apply(product, arguments[:, 0], arguments[:, 1]), arguments[:, 2]
        else:
            continue
        if isinstance(fmt, IntegerFormat) and not is_raw(fmt) and not magnitudes.fit(members, fmt):
            continue  # the sum may wrap
        places = np.searchsorted(members, terms)
        alike = np.isin(terms, members)
        first[alike], second[alike] = left[places[alike]], right[places[alike]]
    return first, second


def _adds(operation: Operation, fmt: Format) -> bool:
    if isinstance(fmt, FloatFormat):
        alike = all(operand == fmt for operand in (operation.result, *operation.operands))
        return operation.name == operations.FUSED and alike and not quantises(operation)
    return operation.name == operations.RING and operation.result.bits == fmt.bits
