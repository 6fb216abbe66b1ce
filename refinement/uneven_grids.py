"""Sizes of a domain at which a grid has other numbers of blocks than its extents at the sizes listed suggest.

A grid that has one block for each tile grows evenly: the extent is a size by the tile, rounded up, and of two
sizes a product. Where it stops to do so a kernel is verified one by one: it may leave out tiles, or have more
blocks than its arrays have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import InputError
from .empty_grids import extents_at, extents_of, smallest
from .index_arithmetic import Expression
from .size_domains import LARGEST, QuantifiedSizes


def uneven(
    grid: Sequence[Expression], quantified: QuantifiedSizes, seen: Sequence[Mapping[str, int]]
) -> list[dict[str, int]]:
    """Return the smallest sizes at which each extent of a grid does not grow as at those seen.

    Parameters
    ----------
    grid : sequence of Expression
        The extents.
    quantified : QuantifiedSizes
        The sizes.
    seen : sequence of mapping
        Sets of sizes at which the grid is right.
    """
    found = [each for extent in grid for each in _uneven(extent, quantified, seen)]
    return [each for place, each in enumerate(found) if each not in found[:place] and each not in seen]


def _uneven(
    extent: Expression, quantified: QuantifiedSizes, seen: Sequence[Mapping[str, int]]
) -> Iterator[dict[str, int]]:
    if (met := extents_of(extent, quantified)) is None:
        return
    numbers, _ = met
    some = {name: np.array([each[name] for each in seen], dtype=np.int64) for name in numbers}
    least = {each.name: each.least for each in quantified.domains}

    def along(name: str, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the extent with one of the sizes, the others being least."""
        others = {other: np.full(len(at), least[other]) for other in numbers if other != name}
        return extents_at(extent, quantified, {**others, name: at})

    try:
        for name in numbers:
            own = np.unique(some[name])
            blocks = along(name, own)
            if (blocks < 1).any():
                return
            grows = len(own) == 1 or (blocks != blocks[0]).any()
            tile = int((-(-own // blocks)).max()) if grows else own[-1] + LARGEST
            beside = blocks + -own // tile
            each = np.unique(numbers[name])
            more = along(name, each) + -each // tile
            if place := smallest({name: each}, (more < beside.min()) | (more > beside.max()), quantified):
                yield place
        if len(numbers) == 2:
            one, other = numbers

            def mixed(at: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
                whole, corner = extents_at(extent, quantified, at), along(one, np.array([least[one]]))
                return whole * corner - along(one, at[one]) * along(other, at[other])

            odd = mixed(numbers) != 0
            if not mixed(some).any() and (place := smallest(numbers, odd, quantified)):
                yield place
    except InputError:  # told where the sizes are taken one by one
        return
