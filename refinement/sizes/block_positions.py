"""Positions of the block that stands for all: block and tile numbers as forms in symbols.

A size with tiles of T makes ``count`` of them. The block that runs is at the tile ``block`` of each size,
from 0 to ``count - 1``; which one it is, the symbols leave open. Where blocks are numbered by one number,
tiles along one size come in groups of G, and the blocks of a group go along its G tiles first:

    number = first · others + other · width + place

with ``first`` a multiple of G, ``width`` the tiles of the group (G, or what is left for the last one),
``place`` below it, and ``other`` one of the ``others`` tiles along the other size. That is a number system
of mixed radix: each number from 0 to ``count · others - 1`` is met once. G = 1 are rows of tiles, one after
the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd

from ..contract.size_domains import SizeDomain
from .integer_forms import Group
from .tail_predicates import Rest
from .tile_ends import Ends, Side

Form = Mapping[tuple[str, ...], int]
"""Coefficients by the symbols that are multiplied."""


@dataclass(frozen=True)
class Position:
    """Some of the tiles along a size, for all numbers of a domain or some.

    Attributes
    ----------
    domain : SizeDomain
        The size, and what it may be.
    tile : int
        What a tile has of it.
    name : str
        Which tiles; empty for all.
    group : Group
        The symbols.
    size, count, block : Form
        The size, its tiles, and the one at which the block is.
    first, width, place : Form
        Where the tiles of a group begin, how many there are, and where in it the block is.
    rest : Rest, optional
        What is left of the size, where the block's tile may be one of which not all rows are there.
    behind : Rest, optional
        What is left of the size behind whole tiles, where the block's tile is a known number of these before.
    ends : Ends, optional
        By the tiles around it, where it is told so; see `split_positions`.
    """

    domain: SizeDomain
    tile: int
    name: str
    group: Group
    size: Form
    count: Form
    block: Form
    first: Form
    width: Form
    place: Form
    rest: Rest | None = None
    behind: Rest | None = None
    ends: Ends | None = None


@dataclass(frozen=True)
class BlockPosition:
    """The position of a block that stands for some of a grid.

    Attributes
    ----------
    positions : tuple of Position
        Along each size.
    indices : mapping of int to Form
        Its index along axes of the grid.
    extents : mapping of int to Form
        The blocks along these.
    """

    positions: tuple[Position, ...]
    indices: Mapping[int, Form]
    extents: Mapping[int, Form]

    @property
    def name(self) -> str:
        """Which blocks; empty for all."""
        return ", ".join(position.name for position in self.positions if position.name)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The symbols."""
        return tuple(position.group for position in self.positions)

    @property
    def sizes(self) -> Mapping[str, Form]:
        """The sizes."""
        return {position.domain.name: position.size for position in self.positions}


@dataclass(frozen=True)
class BlockOrder:
    """The numbering of the blocks of a grid: sizes by axis, or two sizes by one number.

    Attributes
    ----------
    tiles : mapping of str to int
        What a block has of each size.
    axes : mapping of int to str
        The size that an axis of the grid counts the tiles of.
    major, minor : str, optional
        The sizes that the first axis counts together.
    group : int
        How many tiles along the major one make a group.
    """

    tiles: Mapping[str, int]
    axes: Mapping[int, str]
    major: str | None = None
    minor: str | None = None
    group: int = 1

    def positions(self, domains: Sequence[SizeDomain], most_blocks: Mapping[str, int]) -> list[BlockPosition]:
        """Return blocks that together stand for all of a grid, for all numbers of some domains."""
        several = []
        for domain in domains:
            group = self.group if domain.name == self.major else 1
            several.append(list(positions(domain, self.tiles[domain.name], group, most_blocks[domain.name])))
        return [self.numbered(each) for each in product(*several)]

    def numbered(self, chosen: tuple[Position, ...]) -> BlockPosition:
        """Return the position of a block that is at one along each size."""
        of = {position.domain.name: position for position in chosen}
        indices = {axis: of[name].block for axis, name in self.axes.items()}
        extents = {axis: of[name].count for axis, name in self.axes.items()}
        if self.major is not None and self.minor is not None:
            major, minor = of[self.major], of[self.minor]
            within = sum_of(product_of(minor.block, major.width), major.place)
            indices[0] = sum_of(product_of(major.first, minor.count), within)
            extents[0] = product_of(major.count, minor.count)
        return BlockPosition(chosen, indices, extents)


def sum_of(one: Form, other: Form) -> Form:
    """Return the sum of two forms."""
    total = dict(one)
    for names, coefficient in other.items():
        total[names] = total.get(names, 0) + coefficient
    return total


def product_of(one: Form, other: Form) -> Form:
    """Return the product of two forms in different symbols."""
    return {
        (*names, *others): coefficient * factor
        for names, coefficient in one.items()
        for others, factor in other.items()
    }


def positions(domain: SizeDomain, tile: int, group: int, most_blocks: int) -> Iterator[Position]:
    """Yield positions that together are all tiles along a size, for all numbers of its domain.

    All multiples of what the step and a tile have in common are taken for possible, from that on.
    """
    most = min(domain.most // tile, most_blocks)
    step = gcd(domain.step, tile)
    if step == tile and group == 1:
        yield _whole(domain, tile, most)
    elif step == tile:
        if most >= group:
            yield _in_whole_groups(domain, tile, group, most)
        yield _in_last_group(domain, tile, group, most)
    elif group == 1:
        before = min(domain.most // tile, most_blocks - 1)
        if before:
            yield _before_the_last(domain, tile, step, before)
        yield _last(domain, tile, step, before)
    else:
        yield from _parts_in_groups(domain, tile, step, group, min(domain.most // tile + 1, most_blocks))


def _symbols(domain: SizeDomain, *names: str) -> tuple[str, ...]:
    return tuple(f"{name} of {domain.name}" for name in names)


def _times(coefficient: int, symbol: str) -> Form:
    return {(symbol,): coefficient}


def _scaled(form: Form, factor: int) -> Form:
    return {names: factor * coefficient for names, coefficient in form.items()}


def _whole(domain: SizeDomain, tile: int, most: int) -> Position:
    symbols = count, block = _symbols(domain, "tiles", "tile")
    group = Group(symbols, ((1.0, 0.0), (most, 0.0), (most, most - 1.0)))
    tiles, own = _times(1, count), _times(1, block)
    return Position(
        domain,
        tile,
        "",
        group,
        _scaled(tiles, tile),
        tiles,
        own,
        own,
        {(): 1},
        {},
        ends=Ends(Side(), Side(), most, tile),
    )


def _before_the_last(domain: SizeDomain, tile: int, step: int, most: int) -> Position:
    symbols = count, block, rest = _symbols(domain, "whole tiles", "tile", "rest")
    rests = 0.0, tile / step - 1.0
    corners = [(c, b, r) for c, b in ((1.0, 0.0), (most, 0.0), (most, most - 1.0)) for r in rests]
    own = _times(1, block)
    return Position(
        domain, tile, f"before the last tile of {domain.name}", Group(symbols, tuple(corners)),
        _ending(_times(tile, count), Rest(domain.name, rest, step)), sum_of(_times(1, count), {(): 1}),
        own, own, {(): 1}, {}, ends=Ends(Side(), Side(), most, step),
    )  # fmt: skip


def _last(domain: SizeDomain, tile: int, step: int, most: int) -> Position:
    symbols = count, left = _symbols(domain, "whole tiles", "rest")
    corners = [(c, r) for c in (0.0, float(most)) for r in (0.0, tile / step - 1.0)]
    own, rest = _times(1, count), Rest(domain.name, left, step)
    return Position(
        domain, tile, f"the last tile of {domain.name}", Group(symbols, tuple(corners)),
        _ending(_times(tile, count), rest), sum_of(own, {(): 1}), own, own, {(): 1}, {}, rest,
        ends=Ends(Side(), None, most, step),
    )  # fmt: skip


def _ending(before: Form, rest: Rest) -> Form:
    """Return a size of which some lies before its last tile."""
    return sum_of(before, rest.form)


def _parts_in_groups(domain: SizeDomain, tile: int, step: int, size: int, most: int) -> Iterator[Position]:
    """Yield tiles in whole groups and in the last one, each before the last tile and that."""
    symbols = groups, group, beside, place, left = _symbols(
        domain, "groups", "group", "tiles beside groups", "place", "rest"
    )
    rest, rests = Rest(domain.name, left, step), (0.0, tile / step - 1.0)
    last, several = size - 1.0, float(most // size)
    count = sum_of(_times(size, groups), _times(1, beside))
    whole = _ending(sum_of(_scaled(count, tile), {(): -tile}), rest)
    first = _times(size, group)
    block = sum_of(first, _times(1, place))
    named = f"groups of {size} tiles of {domain.name}", f"the last group of tiles of {domain.name}"
    if several:
        # Groups behind the block's, tiles beside groups, and tiles behind it in its group are not all none.
        pairs = ((0.0, 0.0), (several - 1, 0.0), (0.0, several - 1))
        boxes = {(g, e, b, t) for g, e in pairs for b in (0.0, last) for t in (0.0, last)}
        cut = [(g, 0.0, b, t) for g in (0.0, several - 1) for b, t in ((1.0, 0.0), (0.0, 1.0))]
        cut += [(g, 1.0, 0.0, 0.0) for g in (0.0, several - 2)] if several > 1 else []
        corners = [box for box in (*boxes, *cut) if box[1] + box[2] + box[3]]
        inner = [(g + e + 1, g, b, last - t, r) for g, e, b, t in sorted(set(corners)) for r in rests]
        yield Position(
            domain, tile, f"{named[0]} before the last tile", Group(symbols, tuple(inner)), whole, count,
            block, first, {(): size}, _times(1, place),
        )  # fmt: skip
        ends = [(q, r) for q in (1.0, several) for r in rests]
        end = sum_of(_times(size, groups), {(): -1})
        yield Position(
            domain, tile, f"{named[0]}, the last tile", Group((groups, left), tuple(ends)),
            _ending(_scaled(end, tile), rest), _times(size, groups), end,
            sum_of(_times(size, groups), {(): -size}), {(): size}, {(): size - 1}, rest,
        )  # fmt: skip
    first = _times(size, groups)
    if size > 2:
        pairs = ((2.0, 0.0), (last, 0.0), (last, last - 2))
        inner_last = [(q, b, t, r) for q in (0.0, several) for b, t in pairs for r in rests]
        yield Position(
            domain, tile, f"{named[1]} before the last tile",
            Group((groups, beside, place, left), tuple(inner_last)), whole, count,
            sum_of(first, _times(1, place)), first, _times(1, beside), _times(1, place),
        )  # fmt: skip
    at_end = [(q, b, r) for q in (0.0, several) for b in (1.0, last) for r in rests]
    block = sum_of(count, {(): -1})
    yield Position(
        domain, tile, f"{named[1]}, the last tile", Group((groups, beside, left), tuple(at_end)), whole,
        count, block, first, _times(1, beside), sum_of(_times(1, beside), {(): -1}), rest,
    )  # fmt: skip


def _in_whole_groups(domain: SizeDomain, tile: int, size: int, most: int) -> Position:
    symbols = groups, group, rest, place = _symbols(domain, "groups", "group", "tiles beside groups", "place")
    several = most // size
    pairs = ((1.0, 0.0), (several, 0.0), (several, several - 1.0))
    last = size - 1.0
    corners = [(q, g, r, t) for q, g in pairs for r in (0.0, last) for t in (0.0, last)]
    count = sum_of(_times(size, groups), _times(1, rest))
    first = _times(size, group)
    return Position(
        domain, tile, f"groups of {size} tiles of {domain.name}", Group(symbols, tuple(corners)),
        _scaled(count, tile), count, sum_of(first, _times(1, place)), first, {(): size}, _times(1, place),
    )  # fmt: skip


def _in_last_group(domain: SizeDomain, tile: int, size: int, most: int) -> Position:
    symbols = groups, rest, place = _symbols(domain, "groups", "tiles beside groups", "place")
    last = size - 1.0
    pairs = ((1.0, 0.0), (last, 0.0), (last, last - 1.0))
    corners = [(q, r, t) for q in (0.0, float(most // size)) for r, t in pairs]
    count = sum_of(_times(size, groups), _times(1, rest))
    first = _times(size, groups)
    return Position(
        domain, tile, f"the last group of tiles of {domain.name}", Group(symbols, tuple(corners)),
        _scaled(count, tile), count, sum_of(first, _times(1, place)), first, _times(1, rest),
        _times(1, place),
    )  # fmt: skip
