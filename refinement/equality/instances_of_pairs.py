"""Pairs of terms of which one is compared for all that are instances of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format
from ..normal_forms.forms import NormalForms
from ..normal_forms.polynomials import ExpansionError
from ..terms import operations
from ..terms.instances import TermInstances
from ..terms.interning import Ids
from ..terms.store import TermStore

_FEW = 64
"""Pairs that are compared one by one, which takes no longer than to tell which are instances."""

_CLASSES = 16
"""Shapes of which one is compared first: kernels have a few, for elements at edges and within."""

_CHOOSING = (operations.EXTREMUM, operations.SELECT)
"""Operations whose normal forms are made term by term; sums and products are those of all terms at once."""


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


def without_instances(
    forms: NormalForms, left: Ids, right: Ids, members: NDArray[np.intp], fmt: Format
) -> NDArray[np.intp]:
    """Return which of some members of terms (n,) are no instances of a few that have equal normal forms.

    Where nothing chooses, none is looked at: normal forms of all are made at once then.
    """
    store = forms.store
    if len(members) <= _FEW or not any(operation.name in _CHOOSING for operation in store.operations):
        return members
    instances = TermInstances(store)
    pairs = np.stack([left, right], axis=1)[members]
    shapes = instances.shapes(pairs.reshape(-1)).reshape(-1, 2)
    _, classes, counts = np.unique(shapes, axis=0, return_inverse=True, return_counts=True)
    classes, apart = classes.reshape(-1), np.ones(len(members), dtype=bool)
    for which in np.argsort(-counts, kind="stable")[:_CLASSES]:
        some = np.flatnonzero(classes == which)
        one, other = pairs[some[:1]].T
        try:
            differ = len(forms.difference(one, other, fmt).owners)
        except ExpansionError:
            break
        if not differ:
            apart[some[instances.of(pairs[some[0]], pairs[some])]] = False
    found: NDArray[np.intp] = members[apart]
    return found
