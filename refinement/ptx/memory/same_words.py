"""Words that threads store to one place at once, and whether they may differ."""

from __future__ import annotations

import numpy as np

from ...conditions.feasible_conditions import holds_for_some
from ...terms import operations
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.store import TermStore, bits

_TRIED = 4


def differ_for_some(store: TermStore, one: Ids, other: Ids) -> bool:
    """Tell whether some of a few words (n,) is another than it should be on inputs that are tried."""
    first, second = np.unique(np.stack([one, other]), axis=1)
    width = int(store.widths(one[:1])[0])
    unlike = apply(store, operations.compare(bits(width), "ne"), first[:_TRIED], second[:_TRIED])
    return any(holds_for_some(store, int(each)) for each in unlike)
