"""Inputs in which elements are related: sorted, counted, all equal, or 1 in one place of each row.

Elements that are drawn one by one hardly ever meet conditions on many of them, nor all but one of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..terms.input_ends import Ends

Reals = NDArray[np.float64]

_PLACES = 32
"""Arrays that differ in one place of a row; where rows are longer, a fault at others is not seen."""


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
        column,
        (column + 1) % width,
    ):
        yield np.clip(some, ends.low, ends.high)


def nearly_structured(numbers: Reals, shape: Sequence[int], ends: Ends) -> Iterator[Reals]:
    """Yield arrays (n,) whose rows are sorted but for two neighbours, equal but for one, or of two numbers.

    Where that is differs from row to row, and from array to array until each place has been one.
    """
    finite = np.clip(np.nan_to_num(numbers), ends.low, ends.high)
    rows = np.sort(finite.reshape(-1, shape[-1] if len(shape) else 1), axis=1)
    count, width = rows.shape
    every = np.arange(count)
    for first in range(0, min(width, _PLACES * count), max(count, 1)):
        place = (first + every) % width
        exchanged, other = rows.copy(), np.repeat(rows[:, :1], width, axis=1)
        behind = np.minimum(place + 1, width - 1)
        exchanged[every, place], exchanged[every, behind] = rows[every, behind], rows[every, place]
        other[every, place] = rows[:, -1]
        yield exchanged.reshape(-1)
        yield other.reshape(-1)
        yield np.where(np.arange(width) <= place[:, None], rows[:, -1:], rows[:, :1]).reshape(-1)
