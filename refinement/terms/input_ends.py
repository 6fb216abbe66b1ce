"""Known bounds of inputs, element by element."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format

Reals = NDArray[np.float64]


class Ends(NamedTuple):
    """Least and greatest value (elements,) of an input; bounded inputs are no NaN.

    Integers beyond 2**53 have the next number of f64 that is further out.
    """

    format: Format
    low: Reals
    high: Reals
    number: NDArray[np.bool_]
    """Which elements are known to be no NaN."""
    nonzero: NDArray[np.bool_]
    """Which elements are known not to be 0."""
    only: NDArray[np.bool_]
    """Which elements are known to be one of both ends."""
