"""Layouts written as an order of digits: what is a lane's bit in the source is a row's in the target.

``rearranged("A", (lane, i), (row, column), "quad thread half run -> half quad thread run", quad=8, …)`` says
of (lane, i) as one number, and of (row, column) as one, which digits they have, the most significant first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .layout import Axis, Digit, Layout, unit
from .layout_terms import is_power, log2


def rearranged(
    name: str, source: Sequence[Axis], target: Sequence[Axis], order: str, **extents: int
) -> Layout:
    """Return the layout that writes the digits of the source in another order.

    Parameters
    ----------
    name : str
        What is laid out where.
    source, target : sequence of Axis
        The coordinates; the digits fill them as those of one number, the last coordinate's least
        significant.
    order : str
        Names of digits, the most significant first: those of the source, ``->``, those of the target;
        ``"quad lane run -> quad lane run"`` leaves all as it is.
    **extents : int
        Values of every digit. Where all are powers of two a digit may lie across coordinates.

    Raises
    ------
    ValueError
        If the digits do not fill the coordinates.
    """
    before, _, after = order.partition("->")
    binary = all(map(is_power, extents.values()))
    came, went = (
        dict(_placed(axes, names.split(), extents, binary))
        for axes, names in ((source, before), (target, after))
    )
    if came.keys() != went.keys():
        raise ValueError(f"{order!r} names different digits before and after")
    digits = tuple(
        Digit(axis, weight, 2 if binary else extents[key[0]], unit(*went[key], len(target)))
        for key, (axis, weight) in sorted(came.items(), key=lambda item: item[1])
    )
    return Layout(name, tuple(source), tuple(target), digits, carries=not binary)


def _placed(
    axes: Sequence[Axis], names: Sequence[str], extents: dict[str, int], binary: bool
) -> Iterator[tuple[tuple[str, int], tuple[int, int]]]:
    """Yield (digit, its bit) with the (axis, weight) where it is, the least significant first."""
    place, weight = len(axes) - 1, 1
    for digit in reversed(names):
        for bit in range(log2(extents[digit])) if binary else range(extents[digit] > 1):
            while place >= 0 and weight == axes[place].extent:
                place, weight = place - 1, 1
            extent = 2 if binary else extents[digit]
            if place < 0 or axes[place].extent % (weight * extent):
                raise ValueError(f"the digits {' '.join(names)} do not fill {axes}")
            yield (digit, bit), (place, weight)
            weight *= extent
    if any(axis.extent > 1 for axis in axes[:place]) or (place >= 0 and weight != axes[place].extent):
        raise ValueError(f"the digits {' '.join(names)} do not fill {axes}")
