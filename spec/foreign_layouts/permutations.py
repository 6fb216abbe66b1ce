"""By which permutation a bijection differs from the specified one, where it is a simple one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra import Array
from .distribution import Distribution

_CYCLES = 8
"""Cycles that are written out."""


def permutation_between(claimed: Array, expected: Distribution) -> str | None:
    """Say what must be permuted to turn the specified map into the claimed one.

    Parameters
    ----------
    claimed : array (owners, numbers, axes)
        Elements that are held; a bijection.
    expected : Distribution
        The specified map.

    Returns
    -------
    str or None
        Cycles of registers, of elements of an owner, of owners, or of one coordinate; None if nothing
        as simple will do.
    """
    return _of_holders(claimed, expected) or _of_coordinates(claimed, expected)


def _of_holders(claimed: Array, expected: Distribution) -> str | None:
    owners, numbers = expected.domain
    if owners * numbers != expected.size:
        return None
    place = np.empty(expected.size, dtype=np.int64)
    place[expected.flat(expected.coordinates).ravel()] = np.arange(owners * numbers)
    owner, number = np.divmod(place[expected.flat(claimed)], numbers)
    if (owner != owner[:, :1]).any() or (number != number[:1]).any():
        return None
    found = []
    owner_name, number_name = expected.holders
    if (owner[:, 0] != np.arange(owners)).any():
        found.append(f"{owner_name}s {cycles(owner[:, 0].tolist())}")
    if (number[0] != np.arange(numbers)).any():
        found.append(_of_numbers(number[0], number_name, expected.per_register))
    return " and ".join(found) or None


def _of_numbers(image: Array, name: str, per_register: int) -> str:
    """Name whole registers where they are permuted as such."""
    register, position = np.divmod(image.reshape(-1, per_register), per_register)
    whole = (register == register[:, :1]).all() and (position == np.arange(per_register)).all()
    if per_register > 1 and whole:
        return f"registers {cycles(register[:, 0].tolist())}"
    return f"{name}s {cycles(image.tolist())} of every owner"


def _of_coordinates(claimed: Array, expected: Distribution) -> str | None:
    wanted = expected.coordinates.reshape(-1, len(expected.axes))
    given = claimed.reshape(wanted.shape)
    extents = [axis.extent for axis in expected.axes]
    if len(extents) == 1:  # every bijection permutes one coordinate
        return None
    exchanged = [*range(len(extents) - 2), len(extents) - 1, len(extents) - 2]
    if np.array_equal(given, wanted[:, exchanged]):
        return f"{expected.axes[-2].name}s and {expected.axes[-1].name}s are exchanged"
    found = []
    for place, axis in enumerate(expected.axes):
        image = np.zeros(axis.extent, dtype=np.int64)
        image[wanted[:, place]] = given[:, place]
        if not np.array_equal(image[wanted[:, place]], given[:, place]):
            return None
        if not np.array_equal(image, np.arange(axis.extent)):
            found.append(f"{axis.name}s {cycles(image.tolist())}")
    return " and ".join(found) or None


def cycles(image: Sequence[int]) -> str:
    """Write a permutation of 0, 1, … in cycles, without those of length 1.

    >>> cycles([0, 2, 1, 3])
    '(1 2)'
    """
    left, written = set(range(len(image))), []
    while left:
        start = min(left)
        cycle = [start]
        left.remove(start)
        while (following := image[cycle[-1]]) in left:
            cycle.append(following)
            left.remove(following)
        if len(cycle) > 1:
            written.append(f"({' '.join(map(str, cycle))})")
    more = f" and {len(written) - _CYCLES} more cycles" if len(written) > _CYCLES else ""
    return "".join(written[:_CYCLES]) + more
