"""Which block of a grid writes the first and the last element of an array, where blocks write alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from ...refinement.ptx.numeric.memory import Places

_BASES = 4
"""Along each axis the blocks that are tried as a base: three drawn ones may be among them."""


class Ends:
    """The ends of arrays of which a launch has written something.

    Parameters
    ----------
    marks : list of arrays of bool, of Places, or None
        Of each array which elements are written.
    """

    def __init__(self, marks: list[Any]) -> None:
        self.marks = [each for each in marks if each is not None and each.any()]

    def written(self) -> list[Any]:
        """Return what is written up to now."""
        return [each.copy() for each in self.marks]

    def since(self, before: list[Any]) -> list[Any]:
        """Return which elements of each array are written that were not before."""
        return [
            now.since(old) if isinstance(now, Places) else np.flatnonzero(now & ~old)
            for now, old in zip(self.marks, before, strict=True)
        ]

    def missing(self) -> list[tuple[int, int]]:
        """Return the array and the element of each end that is not written."""
        ends = ((which, place) for which, each in enumerate(self.marks) for place in {0, len(each) - 1})
        return [(which, place) for which, place in ends if not self.marks[which][place]]


def bases(grid: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield blocks that have a neighbour along each axis that has several."""
    x, y, z = (range(min(max(extent - 1, 1), _BASES)) for extent in grid)
    yield from product(x, y, z)


def neighbours(base: tuple[int, int, int], grid: tuple[int, int, int]) -> list[int]:
    """Return the linear number of a block, and of the next one along each axis that has several."""
    steps = 1, grid[0], grid[0] * grid[1]
    first = sum(at * step for at, step in zip(base, steps, strict=True))
    return [first, *(first + step for step, extent in zip(steps, grid, strict=True) if extent > 1)]


def shifted_to(
    place: int, written: Sequence[Any], base: tuple[int, int, int], grid: tuple[int, int, int]
) -> list[int]:
    """Return the blocks that write an element if the blocks of a grid write alike, each shifted.

    Parameters
    ----------
    place : int
        The element.
    written : sequence of arrays (n,) of int
        What a block writes, and its next neighbour along each axis that has several blocks, in order.
    base : tuple of int
        The place of that block in the grid.
    grid : tuple of int
        The grid's extents.
    """
    first, *others = written
    steps = 1, grid[0], grid[0] * grid[1]
    axes = [axis for axis in range(3) if grid[axis] > 1]
    shifts = {}
    for axis, other in zip(axes, others, strict=True):
        moved = other - first if len(other) == len(first) else np.zeros(0)
        if not len(moved) or (moved != moved[0]).any():
            return []
        shifts[axis] = int(moved[0])
    rest = place - first
    numbers = np.full(len(first), sum(at * step for at, step in zip(base, steps, strict=True)))
    for axis in sorted(axes, key=lambda each: -abs(shifts[each])):
        if shifts[axis]:
            least, most = -base[axis], grid[axis] - 1 - base[axis]
            below = rest // shifts[axis]  # the next one is right where other axes go back
            blocks = np.clip([below, below + 1], least, most)
            rest, numbers = rest - blocks * shifts[axis], numbers + blocks * steps[axis]
            rest, numbers = rest.reshape(-1), numbers.reshape(-1)
    return [int(each) for each in np.unique(numbers[rest == 0])]
