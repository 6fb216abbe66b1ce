"""Integers that floats are converted to are bounded only where no data make these NaN."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.analysis.converted_ranges import magnitudes
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.input_ends import Ends
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32, S16, S32
from mmaproof.spec.rounding import Rounding


@pytest.mark.parametrize(
    ("function", "low", "holds"),
    [
        ("sqrt", -1.0, False),
        ("sqrt", 0.0, True),
        ("lg2", -1.0, False),
        ("ex2", -1.0, True),
        ("sin", -1.0, True),
    ],
)
@pytest.mark.parametrize("keeps_nan", [False, True])
def test_a_maximum_bounds_what_may_be_nan_only_if_it_keeps_none(
    function: str, low: float, holds: bool, keeps_nan: bool
) -> None:
    """``max(sqrt(x), 3)`` is 3 or more for every x, if a NaN gives 3 there and no NaN."""
    store = TermStore()
    never = np.zeros(1, dtype=bool)
    store.ends = {"x": Ends(F32, np.array([low]), np.array([4.0]), ~never, never, never)}
    value = store.apply(operations.function(function, F32, F32), store.inputs("x", F32, np.arange(1)))
    three = store.constants(np.float32(3).view(np.uint32), 32)
    terms = store.apply(operations.extremum(F32, "max", nan=keeps_nan), value, np.array([three]))
    ranges = magnitudes(store).conversions
    assert ranges is not None
    ranges._ranges.fill(terms)
    assert bool(ranges.values(terms, F32)[0]) == (holds or not keeps_nan)


def test_integers_that_are_converted_to_floats_are_numbers_within_their_ranges() -> None:
    """A quantised sum of integers has a zero point: what is added to it behind the conversion is bounded."""
    store = TermStore()
    sums = store.inputs("x", S16, np.arange(1))
    floats = store.apply(operations.convert(F32, S16, Rounding.NEAREST_EVEN), sums)
    again = store.apply(operations.convert(S32, F32, Rounding.NEAREST_EVEN), floats)
    (low, high), *_ = magnitudes(store).intervals(again, S32)
    assert -32769 <= low <= -32768 and 32767 <= high <= 32768  # outward by a step
