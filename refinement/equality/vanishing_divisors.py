"""What terms divide by, or take a logarithm of, that is 0 for all inputs, such as ``x - x``.

It is 0 at the random point of the checker's field, functions and comparisons taken for numbers of their own.
"""

from __future__ import annotations

import numpy as np

from ..checker.evaluated import residues
from ..normal_forms.elementary_forms import POLES, stem
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, Operation, TermStore
from ..terms.traversal import by_operation, distinct, within


def vanishing_divisors(store: TermStore, terms: Ids) -> Ids:
    """Return the divisors, and arguments of functions with poles, that are 0 for all inputs, no constants."""
    found = [np.empty(0, dtype=np.int32)]
    if any(_divisor(operation) is not None for operation in store.operations):
        at_a_point, _ = residues(store)
        for operation, members in by_operation(store, within(store, terms)):
            if (place := _divisor(operation)) is not None:
                arguments = distinct(store.arguments(members)[:, place])
                arguments = arguments[~store.are(CONSTANT, arguments)]
                found.append(arguments[at_a_point.of(arguments, operation.operands[place]) == 0])
    return np.concatenate(found)


def _divisor(operation: Operation) -> int | None:
    """Return which argument of an operation must not be 0; None if any may be."""
    if operation.name == operations.QUOTIENT:
        return 1
    return 0 if operation.name == operations.FUNCTION and stem(operation) in POLES else None
