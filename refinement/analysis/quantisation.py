"""Quantising conversions, as distinct from those that only round or change nothing.

Over the reals a rounding is the identity, up to the bound of its error. A conversion to a narrow format
has no such bound that says anything: it quantises; and one that clamps is another function altogether.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..terms import operations
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import Operation
from ..terms.traversal import by_operation
from .integer_intervals import Magnitudes

NARROW = 8
"""Bits of the widest format a conversion to which is a function of its own."""

_CONVERSIONS = (operations.CONVERT, operations.FUSED)


def quantises(operation: Operation) -> bool:
    """Tell whether a conversion to a float is more than a rounding: to a narrow format, or clamping.

    What clamps only infinities does no more than the rounding.
    """
    result = operation.result
    if operation.name not in _CONVERSIONS or not isinstance(result, FloatFormat):
        return False
    if result.bits <= NARROW or operation.name == operations.FUSED:
        return result.bits <= NARROW
    (source,) = operation.operands
    assert isinstance(operation.attribute, tuple)
    _, saturates, _ = operation.attribute
    reaches = isinstance(source, FloatFormat) and source.maximum_exponent <= result.maximum_exponent
    return bool(saturates) and not reaches


def widens(operation: Operation) -> bool:
    """Tell whether an operation is a conversion to a float that has every number of what is converted."""
    result = operation.result
    if operation.name not in _CONVERSIONS or not isinstance(result, FloatFormat):
        return False
    if len(operation.operands) != 1 or (isinstance(operation.attribute, Sum) and operation.attribute.flush):
        return False
    (source,) = operation.operands
    if isinstance(source, FloatFormat):
        return result.contains(source)
    assert isinstance(source, IntegerFormat)
    return bool(_has_all(result, np.array([[source.minimum, source.maximum]], dtype=np.float64)).all())


def _has_all(fmt: FloatFormat, intervals: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which ranges (n, 2) of integers a format has without a gap."""
    most = 2.0 ** min(fmt.precision, fmt.maximum_exponent)
    least = -most if fmt.signed else 0.0
    found: NDArray[np.bool_] = (intervals[:, 0] >= least) & (intervals[:, 1] <= most)
    return found & fmt.subnormals  # without them there is no 0


def unchanged(magnitudes: Magnitudes, terms: Ids, read: Format, result: FloatFormat) -> NDArray[np.bool_]:
    """Tell which terms (n,), read in a format, are surely numbers of another one: converting changes nothing.

    Those are integers of a small range, and what was in the other format, or a part of it, before.
    """
    if isinstance(read, IntegerFormat):
        return _has_all(result, magnitudes.intervals(terms, read))
    store = magnitudes.store
    found = np.zeros(len(terms), dtype=bool)
    for operation, members in by_operation(store, np.unique(terms)):
        chosen = np.isin(terms, members)
        if isinstance(operation.result, FloatFormat) and result.contains(operation.result):
            found[chosen] = True
        elif widens(operation):
            arguments = store.arguments(terms[chosen])[:, 0]
            found[chosen] = unchanged(magnitudes, arguments, operation.operands[0], result)
    return found
