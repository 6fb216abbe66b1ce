"""Words that threads store to one place at once, equal as real numbers.

In a reduction over the lanes of a warp every lane takes the others in an order of its own, and all store
what they come to.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ...spec.formats import F32, F64, FloatFormat
from ..analysis.rounding_depth import roundings
from ..equality.equivalence import compare
from ..normal_forms.forms import NormalForms
from ..terms.interning import Ids
from ..terms.store import TermStore

_REALS: Mapping[int, FloatFormat] = MappingProxyType({32: F32, 64: F64})
"""Formats of numbers that are summed."""


def are_same_numbers(store: TermStore, one: Ids, other: Ids) -> bool:
    """Tell whether words (n,) are shown to be the same real numbers as others, no more often rounded."""
    fmt = _REALS.get(int(store.widths(one[:1])[0]))
    if fmt is None:
        return False
    first, second = np.unique(np.stack([one, other]), axis=1)
    forms = NormalForms(store)
    forms.splits_orders = False  # a NaN among what threads choose by makes them store different words
    equal = compare(forms, first, second, fmt).equal.all()
    return bool(equal) and roundings(store, second).growth <= roundings(store, first).growth
