"""Words that threads store to one place at once, equal as real numbers.

In a reduction over the lanes of a warp every lane takes the others in an order of its own, and all store
what they come to.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ...spec.float_encoding import is_nan
from ...spec.formats import F32, F64, FloatFormat
from ..analysis.rounding_depth import roundings
from ..equality.arg_extrema import ArgExtrema
from ..equality.equivalence import compare
from ..normal_forms.forms import NormalForms
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, VECTOR, TermStore
from ..terms.traversal import by_operation, within

_REALS: Mapping[int, FloatFormat] = MappingProxyType({32: F32, 64: F64})
"""Formats of numbers that are summed."""

_CHOOSING = frozenset(
    {operations.SELECT, operations.COMPARE, operations.BITWISE, operations.EXTREMUM, VECTOR, INPUT}
)
"""What makes no NaN of numbers."""


def are_same_numbers(store: TermStore, one: Ids, other: Ids) -> bool:
    """Tell whether words (n,) are shown to be the same real numbers as others, no more often rounded."""
    fmt = _REALS.get(int(store.widths(one[:1])[0]))
    if fmt is None:
        return False
    first, second = np.unique(np.stack([one, other]), axis=1)
    forms = NormalForms(store)
    # A NaN among what threads choose by makes them store different words.
    forms.splits_orders = _choose_among_numbers(store, np.unique(np.stack([first, second])))
    if forms.splits_orders and not len(ArgExtrema(forms).unequal(first, second, fmt)):
        return True
    equal = compare(forms, first, second, fmt).equal.all()
    return bool(equal) and roundings(store, second).growth <= roundings(store, first).growth


def _choose_among_numbers(store: TermStore, terms: Ids) -> bool:
    """Tell whether terms (n,) are only chosen among inputs that are known to be no NaNs, and constants."""
    every = within(store, terms)
    for operation, members in by_operation(store, every):
        if operation.name == INPUT and isinstance(operation.result, FloatFormat):
            ends = store.ends.get(str(operation.attribute))
            if ends is None or not ends.number[store.arguments(members)[:, 0]].all():
                return False
        elif operation.name == CONSTANT:
            words = store.constant_values(members)
            own = [fmt for fmt in _REALS.values() if fmt.bits == operation.result.bits]
            if any(is_nan(words.astype(fmt.storage), fmt).any() for fmt in own):
                return False
        elif operation.name not in _CHOOSING:
            return False
    return True
