"""Products of numbers of narrower formats, which end before their products overflow.

``f64(x) * c`` overflows for no f32 number x where c is as ordinary; what x is rounded from may.
"""

from __future__ import annotations

import numpy as np

from ...spec.formats import FloatFormat, Format
from ..analysis.quantisation import widens
from ..analysis.real_ranges import limits, overflow_from
from ..terms.inputs import numbers_in
from ..terms.operations import Sum
from ..terms.store import CONSTANT, TermStore


def fits_as_widened(store: TermStore, term: int) -> bool:
    """Tell whether a rounded sum of products is within its format for all finite numbers that are widened."""
    operation = store.operation(term)
    how, fmt = operation.attribute, operation.result
    if not isinstance(how, Sum) or not isinstance(fmt, FloatFormat):
        return False
    arguments = store.arguments(term)[: len(operation.operands)].tolist()
    sizes = [_greatest(store, *each) for each in zip(arguments, operation.operands, strict=True)]
    products = 2 * how.products
    total = sum(sizes[products:]) + sum(sizes[i] * sizes[i + 1] for i in range(0, products, 2))
    return total < overflow_from(fmt)


def _greatest(store: TermStore, term: int, fmt: Format) -> float:
    """Return the greatest magnitude of a term read in a format, of what it is widened from."""
    operation = store.operation(term)
    if operation.name == CONSTANT:
        return float(np.abs(numbers_in(store.constant_values(np.array([term])), fmt))[0])
    source = operation.operands[0] if operation.result == fmt and widens(operation) else fmt
    return float(limits(source).high) if isinstance(source, FloatFormat) else np.inf
