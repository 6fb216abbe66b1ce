"""Grids that grow with a size up to a cap: one proof below it, where a block stands for all, and one beyond.

``min((n + 255) // 256, 1024)`` blocks have all elements in one turn while n is small, and go over them in
steps of a grid that is known where it is not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ....spec.errors import UnsupportedError
from ...contract.contract import Contract
from ...contract.size_domains import SizeDomain
from ...findings.result import Equality
from ...formula.index_arithmetic import Expression
from ...formula.tree import Binary, Extremum, Name, Node, Number, walk
from .grid_tiles import sizes_of
from .size_proofs import BlockProof, SizeProof


class Part(NamedTuple):
    """A part of a size's domain, and the contract with the grid that it has there."""

    contract: Contract
    domain: SizeDomain


def parts(contract: Contract, domain: SizeDomain) -> tuple[Part, Part] | None:
    """Return what lies below a cap of the grid, and what beyond; None where the grid has none.

    Other sizes of the contract have to be numbers.
    """
    quantified, grid = contract.quantified, contract.launch.grid
    assert quantified is not None
    growing = [axis for axis, extent in enumerate(grid) if domain.name in sizes_of(extent, contract)]
    if len(growing) != 1 or len(quantified.domains) != 1 or any(quantified.derived):
        return None
    extent = grid[growing[0]]
    if not isinstance(extent.node, Extremum) or extent.node.which != "min":
        return None
    sides = [Expression(extent.source, side) for side in (extent.node.left, extent.node.right)]
    caps = [side for side in sides if not sizes_of(side, contract)]
    tiles = [side for side in sides if _grows(side.node, domain.name)]
    if len(caps) != 1 or len(tiles) != 1:
        return None
    cap = caps[0].value({})
    numbers = range(domain.least, domain.most + 1, domain.step)
    below = bisect_right(numbers, cap, key=lambda number: tiles[0].value({domain.name: number}))
    if not 0 < below < len(numbers):
        return None

    def part(extent: Expression, domain: SizeDomain) -> Part:
        extents = tuple(extent if axis == growing[0] else each for axis, each in enumerate(grid))
        launch = replace(contract.launch, grid=extents)
        return Part(
            replace(contract, launch=launch, quantified=replace(quantified, domains=(domain,))), domain
        )

    ends = replace(domain, most=numbers[below - 1]), replace(domain, least=numbers[below])
    return part(tiles[0], ends[0]), part(caps[0], ends[1])


def _grows(node: Node, size: str) -> bool:
    """Tell whether an expression in a size never falls as it grows: of sums, products and quotients."""
    if not any(isinstance(each, Name) for each in walk(node)):
        return False
    return all(
        (isinstance(each, Name) and each.name == size)
        or (isinstance(each, Number) and each.value >= 0)
        or (isinstance(each, Binary) and each.operator in ("+", "*"))
        or (isinstance(each, Binary) and each.operator == "//" and isinstance(each.right, Number))
        for each in walk(node)
    )


def prove_parts(
    below: Callable[[], BlockProof], domain: SizeDomain, beyond: Callable[[], SizeProof]
) -> SizeProof:
    """Prove a kernel right below a cap, by one block for all, and beyond it.

    Raises
    ------
    UnsupportedError
        If one of them is not shown, or not up to the cap.
    """
    one = below()
    if [each.most for each in one.domains] != [domain.most]:
        raise UnsupportedError(f"not shown up to the cap of the grid: {one.limit}")
    other = beyond()
    return replace(
        other,
        domain=replace(other.domain, least=domain.least),
        first=domain.least if other.first <= other.domain.least else other.first,
        equality=Equality.VALUE if one.equality is Equality.VALUE else other.equality,
        obligations=[*one.obligations, *other.obligations],
        roundings=None,
        checked=one.checked + other.checked,
        assumptions=tuple(dict.fromkeys([*one.assumptions, *other.assumptions])),
    )
