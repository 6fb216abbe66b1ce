"""Inputs in which elements are related: sorted, counted, all equal, or 1 in one place of each row.

Elements that are drawn one by one hardly ever meet conditions on many of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..terms.input_ends import Ends

Reals = NDArray[np.float64]


def structured(numbers: Reals, shape: Sequence[int], ends: Ends) -> Iterator[Reals]:
    """Yield arrays (n,) between the ends of an input, always of the same structures.

    Parameters
    ----------
    numbers : array (n,)
        What the elements are, by linear index.
    shape : sequence of int
        Of the input.
    ends : Ends
        Where its elements lie.
    """
    count = len(numbers)
    finite = np.clip(np.nan_to_num(numbers), ends.low, ends.high)
    places = np.arange(count, dtype=np.float64)
    width = shape[-1] if len(shape) else 1
    row, column = np.divmod(places, width)
    ascending = np.sort(finite)
    for some in (
        ascending,
        ascending[::-1],
        places,
        places[::-1],
        np.full(count, finite[0] if count else 0),
        np.zeros(count),
        np.ones(count),
        np.where(column == row % width, 1.0, 0.0),
    ):
        yield np.clip(some, ends.low, ends.high)
