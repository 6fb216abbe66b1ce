"""The numbers are found at which comparisons change their outcome, however few there are between them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mmaproof.refinement.turning_points import turning_points

POSITIVE = np.geomspace(1e-3, 1e3, 40, dtype=np.float32)
NUMBERS = np.concatenate([POSITIVE, -POSITIVE])
FLOATS = st.floats(-900, 900, width=32).filter(lambda number: abs(number) > 2e-3)


def about(*limits: float) -> NDArray[np.float32]:
    """Return the turning points of comparisons of a number with limits."""

    def sides(numbers: NDArray[np.float32]) -> NDArray[np.int8]:
        return np.stack([np.sign(numbers - np.float64(limit)).astype(np.int8) for limit in limits])

    return turning_points(sides, NUMBERS)


@given(FLOATS, FLOATS)
def test_limits_and_their_neighbours_are_found_and_both_zeros(one: float, other: float) -> None:
    found = about(one, other)
    for limit in map(np.float32, (one, other)):
        up, down = (np.nextafter(limit, np.float32(side)) for side in (np.inf, -np.inf))
        assert {float(limit), float(up), float(down)} <= set(found.tolist())
    assert np.signbit(found[found == 0]).tolist() in ([False, True], [True, False])


def test_what_never_changes_has_only_zeros() -> None:
    assert about(1e9).tolist() == [0.0, -0.0]
