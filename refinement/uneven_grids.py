"""Sizes at which a grid has other extents than those at the listed sizes suggest.

A grid that has one block for each tile grows evenly: the extent is a size by the tile, rounded up, and of two
sizes a product. Where it stops to do so a kernel is verified one by one: it may leave out tiles, or have more
blocks than its arrays have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import InputError
from .contract.empty_grids import domains_of, extents_at, first_numbers, smallest
from .contract.size_domains import LARGEST, QuantifiedSizes
from .formula.index_arithmetic import Expression


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
    domains = domains_of(extent, quantified)
    least = {each.name: each.least for each in domains}
    some = {name: np.array([each[name] for each in seen], dtype=np.int64) for name in least}

    def along(name: str, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the extent with one of the sizes, the others being least."""
        others = {other: np.full(len(at), number) for other, number in least.items() if other != name}
        return extents_at(extent, quantified, {**others, name: at})

    def mixed(at: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return how far the extent is from the product of what it is with one of some sizes at a time."""
        count = len(next(iter(at.values())))
        every = {name: at.get(name, np.full(count, number)) for name, number in least.items()}
        corner = along(next(iter(at)), np.array([least[next(iter(at))]]))
        left, right = extents_at(extent, quantified, every), along(*next(iter(at.items())))
        for name, numbers in [*at.items()][1:]:
            left, right = left * corner, right * along(name, numbers)
        return left - right

    try:
        for domain in domains:
            name, own = domain.name, np.unique(some[domain.name])
            blocks = along(name, own)
            if (blocks < 1).any():
                return
            grows = len(own) == 1 or (blocks != blocks[0]).any()
            tile = int((-(-own // blocks)).max()) if grows else own[-1] + LARGEST
            beside = blocks + -own // tile
            numbers = first_numbers([domain])
            more = along(name, numbers[name]) + -numbers[name] // tile
            if place := smallest(numbers, (more < beside.min()) | (more > beside.max()), quantified):
                yield place
        if len(domains) > 1 and not mixed(some).any():
            for pair in combinations(domains, 2):
                numbers = first_numbers(pair)
                if place := smallest(numbers, mixed(numbers) != 0, quantified):
                    yield place
    except InputError:  # told where the sizes are taken one by one
        return
