"""Numbers at which what is written out with selections goes another way.

A function that a library writes out is tried on many numbers. That a few of them, or one, are dealt with
apart (``x == 0 ? 1 : f(x)``, a bound of a range that is off) shows only at these: where the sides of a
comparison meet, as a function of the one number that all depends on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_SIGN = 1 << 31

_PARTS = 16
"""Into how many parts an interval is divided at a time."""

_MOST_INTERVALS = 512
"""Intervals in which comparisons are followed, evenly chosen among more."""


def turning_points(sides: Callable[[Floats], NDArray[np.int8]], numbers: Floats) -> Floats:
    """Return the numbers about which comparisons change their outcome, and both zeros.

    Parameters
    ----------
    sides : callable
        From numbers (n,) to which side is greater in each comparison, as (comparisons, n): -1, 0 or 1, or
        anything else where one of the sides is no number.
    numbers : array of float32
        Between neighbours of these it is looked for one change of each comparison.

    Returns
    -------
    array of float32
        Of each change the last number before and the first behind it, and the neighbours of both.
    """
    places = np.unique(_places(numbers))
    if len(places) < 2:
        return numbers
    first, last = int(places[0]), int(places[-1])
    found = [np.array([0] if first <= 0 <= last else [], dtype=np.int64)]
    before = sides(_floats(places))
    rows, starts = np.nonzero(before[:, 1:] != before[:, :-1])
    some = np.unique(np.linspace(0, len(rows) - 1, _MOST_INTERVALS).astype(np.intp)) if len(rows) else rows
    rows, low, high = rows[some], places[starts[some]], places[starts[some] + 1]
    while (wide := high - low > 1).any():
        parts = low[wide, None] + (high - low)[wide, None] * np.arange(_PARTS + 1) // _PARTS
        outcomes = sides(_floats(parts.reshape(-1)))
        outcomes = outcomes.reshape(len(outcomes), *parts.shape)[rows[wide], np.arange(len(parts))]
        change = (outcomes != outcomes[:, :1]).argmax(axis=1)
        low[wide], high[wide] = (
            np.take_along_axis(parts, each[:, None], axis=1)[:, 0] for each in (change - 1, change)
        )
    found += [low - 1, low, high, high + 1]
    near = np.unique(np.concatenate(found))
    points = _floats(near[(near >= first) & (near <= last)])
    return np.append(points, np.float32(-0.0)) if first <= 0 <= last else points


def _places(numbers: Floats) -> NDArray[np.int64]:
    """Return the numbers of floats in the order of their values, 0 for zeros."""
    words = numbers.view(np.uint32).astype(np.int64)
    return np.where(words < _SIGN, words, _SIGN - words)


def _floats(places: NDArray[np.int64]) -> Floats:
    return np.where(places >= 0, places, _SIGN - places).astype(np.uint32).view(np.float32)
