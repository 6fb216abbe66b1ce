"""Positions of the block that stands for all: together they are every block of every grid, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

import numpy as np
import pytest
import z3

from mmaproof.refinement.contract.size_domains import SizeDomain
from mmaproof.refinement.sizes.block_positions import BlockOrder, Form, positions
from mmaproof.refinement.sizes.integer_forms import Group

LARGEST = 26


def domain(name: str, step: int) -> SizeDomain:
    return SizeDomain(name, "", step, step, LARGEST // step * step)


def at(form: Form, values: Mapping[str, int]) -> int:
    return sum(factor * prod(values[name] for name in names) for names, factor in form.items())


def points(group: Group) -> Iterator[dict[str, int]]:
    """Yield the integers in the convex hull of a group's corners."""
    corners = np.array(group.corners)
    weights = [z3.Real(f"w{number}") for number in range(len(corners))]
    solver = z3.Solver()
    solver.add(z3.Sum(weights) == 1, *(weight >= 0 for weight in weights))
    ranges = [
        range(int(a), int(b) + 1) for a, b in zip(corners.min(axis=0), corners.max(axis=0), strict=True)
    ]
    for point in product(*ranges):
        hull = [
            z3.Sum([w * int(c) for w, c in zip(weights, column, strict=True)]) == number
            for column, number in zip(corners.T, point, strict=True)
        ]
        if solver.check(*hull) == z3.sat:
            yield dict(zip(group.symbols, point, strict=True))


@pytest.mark.parametrize(
    ("tile", "step", "group"),
    [
        (1, 1, 1),
        (4, 4, 1),
        (4, 12, 1),
        (4, 2, 1),
        (4, 3, 1),
        (4, 6, 1),
        (4, 4, 2),
        (2, 2, 3),
        (4, 2, 2),
        (2, 1, 3),
        (3, 1, 2),
    ],
)
def test_positions_are_every_tile_of_every_size_once(tile: int, step: int, group: int) -> None:
    met: Counter[tuple[int, int]] = Counter()
    for position in positions(domain("M", step), tile, group, 100):
        for values in points(position.group):
            size, count, block = (
                at(form, values) for form in (position.size, position.count, position.block)
            )
            assert (
                at(position.first, values) + at(position.place, values) == block < count == -(-size // tile)
            )
            assert (size - tile * block) >= tile or position.rest is not None
            if position.rest is not None:
                assert at(position.rest.form, values) == size - tile * block <= tile
            met[size, block] += 1
    for size in range(step, LARGEST // step * step + 1, step):
        assert all(met[size, block] == 1 for block in range(-(-size // tile)))


@pytest.mark.parametrize("group", [1, 2, 3])
def test_each_number_of_a_block_is_met_once(group: int) -> None:
    order = BlockOrder({"M": 4, "N": 6}, {}, "M", "N", group)
    met: dict[tuple[int, int], Counter[int]] = {}
    for position in order.positions([domain("M", 4), domain("N", 6)], {"M": 100, "N": 100}):
        for parts in product(*(list(points(each)) for each in position.groups)):
            values = {name: number for part in parts for name, number in part.items()}
            sizes = tuple(at(position.sizes[name], values) for name in "MN")
            assert at(position.extents[0], values) == sizes[0] // 4 * (sizes[1] // 6)
            met.setdefault(sizes, Counter())[at(position.indices[0], values)] += 1
    for m, n in product(range(4, LARGEST, 4), range(6, LARGEST, 6)):
        assert met[m, n] == Counter(range(m // 4 * (n // 6)))
