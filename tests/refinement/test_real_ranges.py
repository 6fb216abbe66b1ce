"""Ranges of floating-point terms: signs of functions, and of quotients."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.analysis.integer_intervals import Magnitudes
from mmaproof.refinement.analysis.real_ranges import RealRanges
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32

INFINITY = float("inf")


def ends(name: str, which: str) -> tuple[float, float]:
    """Return the range of a function, or of a quotient by 2, of ``max(x, 0)``, ``min(x, 0)`` or x."""
    store = TermStore()
    x = store.inputs("x", F32, np.array([0]))
    zero, two = (store.constants(np.float32(each).view(np.uint32), 32) for each in (0, 2))
    argument = x if which == "any" else apply(store, operations.extremum(F32, which), x, zero)
    if name.startswith("div"):
        made = apply(store, operations.quotient(name, F32), argument, two)
    else:
        made = store.apply(operations.function(name, F32, F32), argument)
    terms = np.asarray(made, dtype=np.int32).reshape(-1)
    ranges = RealRanges(store, Magnitudes(store))
    ranges.fill(terms)
    low, high = ranges.read(terms, F32)[0].tolist()
    return low, high


@pytest.mark.parametrize("name", ["tanh", "erf", "tanh.approx"])
def test_functions_of_the_signs_of_their_arguments(name: str) -> None:
    assert ends(name, "max") == (0.0, 1.0)
    assert ends(name, "min") == (-1.0, 0.0)
    assert ends(name, "any") == (-1.0, 1.0)


def test_a_quotient_that_is_rounded_once_has_a_sign() -> None:
    assert ends("div", "max") == (0.0, INFINITY)
    assert ends("div", "min") == (-INFINITY, 0.0)
    assert ends("div.rn.ftz", "max") == ends("div", "any") == (-INFINITY, INFINITY)
