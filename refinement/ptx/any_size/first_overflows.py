"""First sizes at which an index polynomial overflows though no access is seen to go wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

from ...contract.size_domains import ResidueClass, SizeDomain
from ...sizes.block_positions import Position
from ...sizes.integer_forms import Symbols
from ...sizes.symbolic_integers import Doubt

_MOST_TURNS = 64
"""Turns behind the last that is shown in which an overflow is looked for; bounds are off by few."""


def _value(symbols: Symbols, doubt: Doubt, point: Mapping[str, int]) -> int:
    terms = zip(symbols.monomials, doubt.row, strict=True)
    return sum(number * prod(point[symbol] for symbol in names) for names, number in terms if number)


def in_turns(
    symbols: Symbols,
    doubt: Doubt,
    numbers: ResidueClass,
    first: int,
    distance: int,
    whole: bool,
    known: Mapping[str, int],
) -> Iterator[tuple[dict[str, int], int]]:
    """Yield sizes at which an integer of a turn, or before the first, does not fit, and what it is.

    Parameters
    ----------
    symbols, doubt : Symbols, Doubt
        The integer, in the size's number n and the turn u.
    numbers : ResidueClass
        The numbers of the size for which it is not shown.
    first, distance : int
        Of the induction: a turn u is there for sizes from ``distance * (u + 1) + first`` on.
    whole : bool
        Whether all that the last turn goes over is there, whatever the number.
    known : mapping of str to int
        The other sizes.
    """
    used = {
        name for names, times in zip(symbols.monomials, doubt.row, strict=True) if times for name in names
    }
    if not used <= {"n", "u"}:  # it depends on the block, or on what is left for the last turn
        return
    for number in range(numbers.from_(numbers.domain.least), numbers.last + 1, numbers.modulus):
        count = (number - numbers.residue) // numbers.modulus
        last = (number - first) // distance - (1 if whole else 2)
        values = [_value(symbols, doubt, {"n": count, "u": turn}) for turn in {0, last} if 0 <= turn <= last]
        if max(values, default=0) > doubt.limit:
            yield {**known, numbers.domain.name: number}, max(values)
            return
        if number > numbers.domain.least + _MOST_TURNS * distance:
            return


def in_blocks(
    symbols: Symbols,
    doubt: Doubt,
    positions: tuple[Position, ...],
    numbers: ResidueClass,
    beyond: Mapping[str, SizeDomain],
) -> tuple[dict[str, int], int] | None:
    """Return sizes at which an integer of some block does not fit, and what it is; None if that is not known.

    Parameters
    ----------
    symbols, doubt : Symbols, Doubt
        The integer.
    positions : tuple of Position
        Where the blocks are.
    numbers : ResidueClass
        What the size may be that is gone through by induction.
    beyond : mapping of str to SizeDomain
        The numbers of each size behind the last that is shown, or the last, where all are.
    """
    used = {
        name for names, number in zip(symbols.monomials, doubt.row, strict=True) if number for name in names
    }
    if "u" in used:
        return None
    sizes, cases = {}, []
    for position in positions:
        own = used & set(position.group.symbols)
        if own and position.rest is not None:
            return None  # it may be the integer of a row that is not there
        domain = beyond[position.domain.name]
        size = domain.least if own else position.domain.least
        points = list(_points(position, size))
        if own and not (points and all(own <= point.keys() for point in points)):
            return None
        sizes[position.domain.name] = size
        cases.append(points or [{}])
    name = numbers.domain.name
    if "n" in used:
        behind = beyond[name]
        number = next((k for k in range(behind.least, behind.most + 1, behind.step)
                       if k % numbers.modulus == numbers.residue), None)  # fmt: skip
        if number is None:
            return None
        sizes[name] = number
        cases.append([{"n": (number - numbers.residue) // numbers.modulus}])
    elif name in beyond:
        sizes[name] = numbers.domain.least
    joined = ({key: number for part in case for key, number in part.items()} for case in product(*cases))
    most = max(_value(symbols, doubt, {**dict.fromkeys(used, 0), **point}) for point in joined)
    return (sizes, most) if most > doubt.limit else None


def _points(position: Position, size: int) -> Iterator[dict[str, int]]:
    """Yield what the symbols of a position are at a size, of its first and its last block."""
    symbols, tile = position.group.symbols, position.tile
    if position.width != {(): 1} or position.place:
        return  # in groups
    rests = [symbol for symbol in symbols if symbol.startswith("rest of ")]
    count = (size - 1) // tile if rests else size // tile
    if not rests and size % tile:
        return
    step = position.size.get((rests[0],), 1) if rests else 1
    if rests and (size - count * tile) % step:
        return
    left = {rests[0]: (size - count * tile) // step - 1} if rests else {}
    named = [symbol for symbol in symbols if symbol not in rests]
    if len(named) == 1:
        yield {named[0]: count, **left}
    elif count >= 1:
        for block in {0, count - 1}:
            yield {named[0]: count, named[1]: block, **left}
