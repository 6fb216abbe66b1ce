"""How far a turn of the main loop moves along a size, by the elements that are loaded in it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ...contract.parameters import ArrayParameter
from .symbolic_launch import SymbolicLaunch


def distances(launch: SymbolicLaunch, first: int, second: int) -> set[Fraction]:
    """Return how far along the size loads in one turn of the main loop are from those in another."""
    found = set()
    axes = list(_axes(launch))
    for (name, before), (other, after) in zip(launch.visited[first], launch.visited[second], strict=False):
        (moved,) = after - before
        for array, monomial, step in axes:
            if name == other == array and set(np.flatnonzero(moved)) == {monomial}:
                elements = Fraction(8 * int(moved[monomial]), launch.arrays[name].element_bits)
                found.add(elements / step)
    return found


def _axes(launch: SymbolicLaunch) -> Iterator[tuple[str, int, Fraction]]:
    """Yield arrays and axes of theirs along the size: the monomial of the stride, and how many of it."""
    symbols, size = launch.store.symbols, launch.numbers.domain.name
    for parameter in launch.contract.parameters:
        if not isinstance(parameter, ArrayParameter) or parameter.name not in launch.arrays:
            continue
        strides = launch.arrays[parameter.name].strides
        for stride, extent in zip(strides, parameter.shape, strict=True):
            along = launch.polynomials.of(extent).get((size,), Fraction(0))
            (monomials,) = np.nonzero(stride)
            if not along or len(monomials) != 1:
                continue
            if not {"n", "u"} & set(symbols.monomials[monomials[0]]):
                yield parameter.name, int(monomials[0]), along * int(stride[monomials[0]])
