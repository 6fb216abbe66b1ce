"""Sizes of a domain at which the grid of a launch has no blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import InputError
from ..formula.index_arithmetic import Expression, IndexArithmetic
from ..formula.tree import Name, walk
from .size_domains import QuantifiedSizes, SizeDomain

_NUMBERS = (1, 1 << 16, 1 << 8, 1 << 5)
"""Numbers of each size that are tried, by how many sizes an extent depends on; of more sizes none is."""


def without_blocks(grid: Sequence[Expression], quantified: QuantifiedSizes) -> dict[str, int] | None:
    """Return the smallest sizes found at which an extent of a grid is below 1; None if there are none.

    Parameters
    ----------
    grid : sequence of Expression
        The extents.
    quantified : QuantifiedSizes
        The sizes.
    """
    found = [each for extent in grid if (each := _empty(extent, quantified)) is not None]
    return min(found, key=lambda sizes: sum(sizes.values()), default=None)


def _empty(extent: Expression, quantified: QuantifiedSizes) -> dict[str, int] | None:
    found = extents_of(extent, quantified)
    if found is None:
        return None
    own, extents = found
    return smallest(own, extents < 1, quantified)


def extents_of(
    extent: Expression, quantified: QuantifiedSizes
) -> tuple[Mapping[str, NDArray[np.int64]], NDArray[np.int64]] | None:
    """Return what an extent of a grid is at the first numbers of the sizes that it depends on.

    Returns
    -------
    mapping of str to array (n,)
        The numbers of each of these sizes.
    array (n,)
        The extent.
    """
    domains = domains_of(extent, quantified)
    if len(domains) >= len(_NUMBERS):
        return None
    own = first_numbers(domains)
    try:
        return own, extents_at(extent, quantified, own)
    except InputError:  # told where the sizes are taken one by one
        return None


def domains_of(extent: Expression, quantified: QuantifiedSizes) -> list[SizeDomain]:
    """Return the sizes on which an extent of a grid depends."""
    used = _sizes_of(extent, quantified)
    return [domain for domain in quantified.domains if domain.name in used]


def first_numbers(domains: Sequence[SizeDomain]) -> dict[str, NDArray[np.int64]]:
    """Return the first numbers of at most three sizes, and few behind, each with each of the others."""
    axes = np.meshgrid(*(_first_of(domain, _NUMBERS[len(domains)]) for domain in domains), indexing="ij")
    return {each.name: axis.reshape(-1) for each, axis in zip(domains, axes, strict=True)}


def extents_at(
    extent: Expression, quantified: QuantifiedSizes, numbers: Mapping[str, NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Return what an extent of a grid is at some numbers (n,) of sizes, the others being least.

    Raises
    ------
    InputError
        If it is nothing there.
    """
    used = _sizes_of(extent, quantified)
    names: dict[str, Any] = {domain.name: domain.least for domain in quantified.domains} | dict(numbers)
    for name, expression in quantified.derived.items():
        if name in used:
            names[name] = IndexArithmetic(expression.source, names).numbers(expression.node)
    count = max((len(number) for number in numbers.values()), default=1)
    return np.broadcast_to(IndexArithmetic(extent.source, names).numbers(extent.node), (count,))


def smallest(
    numbers: Mapping[str, NDArray[np.int64]], there: NDArray[np.bool_], quantified: QuantifiedSizes
) -> dict[str, int] | None:
    """Return the smallest sizes, by their sum, of some (n,) at which something is so; others are least."""
    found = np.flatnonzero(there)
    if not len(found):
        return None
    total = sum((number[found] for number in numbers.values()), start=np.zeros(len(found), dtype=np.int64))
    place = int(found[np.argmin(total)])
    own = {name: int(each[place]) for name, each in numbers.items()}
    return {domain.name: own.get(domain.name, domain.least) for domain in quantified.domains}


def _first_of(domain: SizeDomain, count: int) -> Any:
    """Return the first numbers of a domain, some behind them, each twice as far, and its last."""
    numbers = domain.least + domain.step * np.arange(min(count, domain.count), dtype=np.int64)
    more = [1 << power for power in range(domain.most.bit_length()) if 1 << power in domain]
    return np.union1d(numbers, [*more, domain.most])


def _sizes_of(expression: Expression, quantified: QuantifiedSizes) -> set[str]:
    """Return the sizes on which an expression depends, by way of others too."""
    derived: Mapping[str, Expression] = quantified.derived
    found: set[str] = set()
    pending = [expression]
    while pending:
        names = {node.name for node in walk(pending.pop().node) if isinstance(node, Name)} - found
        found |= names
        pending += [derived[name] for name in names if name in derived]
    return found
