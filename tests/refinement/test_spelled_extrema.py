"""Messages say of which numbers one is the greatest, not in which order they are taken."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.examine.diagnosis import Namer
from mmaproof.refinement.normal_forms.readings import Quantifier
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32


@pytest.mark.parametrize(("count", "rest"), [(2, ""), (6, ""), (7, ", …"), (300, ", …")])
@pytest.mark.parametrize("first", [True, False])
def test_numbers_of_one_maximum_are_spelled_in_a_row(count: int, rest: str, first: bool) -> None:
    store = TermStore()
    leaves = store.inputs("x", F32, np.arange(count))
    other = store.inputs("y", F32, np.arange(1))
    greatest = operations.extremum(F32, "max")
    order = range(1, count) if first else range(count - 2, -1, -1)
    found = leaves[:1] if first else leaves[-1:]
    for each in order:
        pair = (found, leaves[each : each + 1]) if first else (leaves[each : each + 1], found)
        found = store.apply(greatest, *pair)
    namer = Namer(Quantifier(store), {"x": (count,), "y": (1,)})
    numbers = ", ".join(f"x[{each}]" for each in range(min(count, 6)))
    assert namer.term(int(found[0])) == f"max({numbers}{rest})"
    least = store.apply(operations.extremum(F32, "min"), found, other)
    assert namer.term(int(least[0])) == f"min(max({numbers}{rest}), y[0])"
