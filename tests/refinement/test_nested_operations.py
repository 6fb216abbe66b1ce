"""How deeply operations of one name are nested in terms."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.nested_operations import NestedOperations
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32

GREATER = operations.extremum(F32, "max")


@pytest.mark.parametrize("most", [1, 3])
def test_extrema_are_counted_along_the_longest_way(most: int) -> None:
    store = TermStore()
    inputs = store.inputs("x", F32, np.arange(8))
    term, levels = inputs[:1], [inputs[:1]]
    for each in range(1, 6):
        term = store.apply(GREATER, inputs[each : each + 1], term)
        levels.append(term)
    nested = NestedOperations(store, operations.EXTREMUM, most)
    assert nested.are_many(np.concatenate(levels)).tolist() == [level >= most for level in range(6)]
    later = store.apply(GREATER, levels[0], levels[most - 1])
    assert nested.are_many(later).all()
    assert not NestedOperations(store, operations.FUNCTION, 1).are_many(later).any()
