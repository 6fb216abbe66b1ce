"""What terms divide by, or take a logarithm of, that is 0 for all inputs, such as ``x - x``.

It is 0 at a random point of the checker's field, functions and comparisons taken for numbers of their own.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ..checker.residues import ResidueEvaluation
from ..normal_forms.elementary_forms import POLES, stem
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, TermStore
from ..terms.traversal import by_operation, distinct, within

_SEED = 7

_EVALUATIONS: WeakKeyDictionary[TermStore, ResidueEvaluation] = WeakKeyDictionary()


def vanishing_divisors(store: TermStore, terms: Ids) -> Ids:
    """Return the divisors, and arguments of functions with poles, that are 0 for all inputs, no constants."""
    if store not in _EVALUATIONS:
        _EVALUATIONS[store] = ResidueEvaluation(store, _SEED)
    found = [np.empty(0, dtype=np.int32)]
    for operation, members in by_operation(store, within(store, terms)):
        is_function = operation.name == operations.FUNCTION
        is_quotient = operation.name == operations.QUOTIENT
        if is_quotient or (is_function and stem(operation) in POLES):
            place = int(is_quotient)
            arguments = distinct(store.arguments(members)[:, place])
            arguments = arguments[~store.are(CONSTANT, arguments)]
            found.append(arguments[_EVALUATIONS[store].of(arguments, operation.operands[place]) == 0])
    return np.concatenate(found)
