"""Pairs of terms of which one is compared for all that are instances of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..terms.instances import TermInstances
from ..terms.interning import Ids
from ..terms.store import TermStore


def unequal_pairs(
    store: TermStore, left: Ids, right: Ids, are_equal: Callable[[Sequence[int]], bool]
) -> NDArray[np.intp]:
    """Return which terms (n,) are not shown equal; after the first that is not, none is looked at.

    What is an instance of terms that are equal is equal.
    """
    instances = TermInstances(store)
    pairs, members = np.stack([left, right], axis=1), np.arange(len(left))
    shapes = instances.shapes(pairs.reshape(-1)).reshape(-1, 2)
    while len(members):
        first, others = pairs[members[0]], members[1:]
        if not are_equal(first.tolist()):
            return members
        alike = others[(shapes[others] == shapes[members[0]]).all(axis=1)]
        same = alike[instances.of(first, pairs[alike])] if len(alike) else alike
        members = np.setdiff1d(others, same)
    return members
