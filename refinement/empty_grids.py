"""Sizes of a domain at which the grid of a launch has no blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..spec.errors import InputError
from .formula import Name, walk
from .index_arithmetic import Expression, IndexArithmetic
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
    used = _sizes_of(extent, quantified)
    domains = [each for each in quantified.domains if each.name in used]
    if len(domains) >= len(_NUMBERS):
        return None
    some = [_first_of(each, _NUMBERS[len(domains)]) for each in domains]
    axes = np.meshgrid(*some, indexing="ij") if domains else []
    names: dict[str, Any] = {each.name: each.least for each in quantified.domains}
    names |= {each.name: axis.reshape(-1) for each, axis in zip(domains, axes, strict=True)}
    try:
        for name, expression in quantified.derived.items():
            if name in used:
                names[name] = IndexArithmetic(expression.source, names).numbers(expression.node)
        extents = np.atleast_1d(IndexArithmetic(extent.source, names).numbers(extent.node))
    except InputError:  # told where the sizes are taken one by one
        return None
    empty = np.flatnonzero(extents < 1)
    if not len(empty):
        return None
    total = sum((names[each.name][empty] for each in domains), start=np.zeros(len(empty), dtype=np.int64))
    place = int(empty[np.argmin(total)]) if domains else 0
    own = {each.name: int(names[each.name][place]) for each in domains}
    return {each.name: own.get(each.name, each.least) for each in quantified.domains}


def _first_of(domain: SizeDomain, count: int) -> Any:
    """Return the first numbers of a domain, and its last."""
    numbers = domain.least + domain.step * np.arange(min(count, domain.count), dtype=np.int64)
    return np.union1d(numbers, [domain.most])


def _sizes_of(expression: Expression, quantified: QuantifiedSizes) -> set[str]:
    """Return the sizes on which an expression depends, by way of others too."""
    derived: Mapping[str, Expression] = quantified.derived
    found: set[str] = set()
    pending = [expression]
    while pending:
        names = {each.name for each in walk(pending.pop().node) if isinstance(each, Name)} - found
        found |= names
        pending += [derived[name] for name in names if name in derived]
    return found
