"""Positions of blocks split at the ends of a size: so many tiles before the block, or behind it.

What symbols leave open of a comparison with an index of the formula (``i > 0``, ``i < N - 1``) is often
decided apart for the first or the last tiles. A position is told by the tiles p before its block and the
tiles q behind it; each is one number, or all numbers from one on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..contract.size_domains import SizeDomain
from .block_positions import BlockOrder, BlockPosition, Form, Position, sum_of
from .integer_forms import Group, Rows, Symbols
from .tail_predicates import Rest
from .tile_ends import Ends, Side

_BEFORE, _BEHIND = "tiles before", "tiles behind"
"""What symbols of split positions are called."""


def sides(position: Position, row: Rows, symbols: Symbols) -> Iterator[bool]:
    """Yield on which sides of a block the tiles change a polynomial (monomials,): True for before it."""
    weights: dict[str, dict[tuple[str, ...], int]] = {}
    for names, coefficient in zip(symbols.monomials, row.tolist(), strict=True):
        for symbol in position.group.symbols:
            if symbol in names and coefficient:
                others = tuple(name for name in names if name != symbol)
                weights.setdefault(symbol, {})[others] = coefficient
    tiles = [symbol for symbol in position.group.symbols if not symbol.startswith("rest")]
    if any(symbol.startswith((_BEFORE, _BEHIND)) for symbol in tiles):
        for is_before, name in ((True, _BEFORE), (False, _BEHIND)):
            if any(symbol.startswith(name) and symbol in weights for symbol in tiles):
                yield is_before
        return
    counted = weights.get(tiles[0], {}) if tiles else {}
    own = weights.get(tiles[1], {}) if len(tiles) > 1 else {}
    total = {others: counted.get(others, 0) + own.get(others, 0) for others in {**counted, **own}}
    if any(total.values()):
        yield True
    if any(counted.values()) and len(tiles) > 1:
        yield False


def position_at(domain: SizeDomain, tile: int, ends: Ends) -> Position:
    """Return the position of a block with some tiles around it."""
    name, step = domain.name, ends.step
    p, q, r = (f"{each} of {name}" for each in (_BEFORE, _BEHIND, "rest"))
    free = [
        (symbol, side.least)
        for symbol, side in ((p, ends.before), (q, ends.behind))
        if side is not None and not side.exact
    ]
    block = _form(p, ends.before)
    count = block if ends.behind is None else sum_of(sum_of(block, _form(q, ends.behind)), {(): 1})
    fixed = ends.before.least + (ends.behind.least + 1 if ends.behind is not None else 0)
    room = float(ends.most - fixed)
    corners = [tuple(float(least) for _, least in free)]
    corners += [
        tuple(least + (room if number == other else 0.0) for other, (_, least) in enumerate(free))
        for number in range(len(free))
    ]
    symbols = [symbol for symbol, _ in free]
    size: Form = {names: tile * each for names, each in count.items()}
    rest = None
    if step != tile or ends.behind is None:
        rest = Rest(name, r, step)
        symbols.append(r)
        few = ends.behind is None and ends.before.exact  # the size is below a tile more than these
        least = max(0, (domain.least - tile * ends.before.least) // step - 1) if few else 0
        corners = [(*corner, each) for corner in corners for each in (float(least), tile / step - 1.0)]
        size = sum_of(size, rest.form)
        count = sum_of(count, {(): 1})
    is_next = rest is not None and ends.behind is not None and ends.behind.exact
    group = Group(tuple(symbols), tuple(dict.fromkeys(corners)))
    named, own = f"the tile of {name} with {ends.name}", rest if ends.behind is None else None
    return Position(
        domain,
        tile,
        named,
        group,
        size,
        count,
        block,
        block,
        {(): 1},
        {},
        own,
        rest if is_next else None,
        ends,
    )


def _form(symbol: str, side: Side) -> Form:
    if side.exact:
        return {(): side.least} if side.least else {}
    return {(symbol,): 1}


def split(position: BlockPosition, order: BlockOrder, size: str, *, before: bool) -> list[BlockPosition]:
    """Return two positions that are one together, split by the tiles on a side of a size's block."""
    own = next(each for each in position.positions if each.domain.name == size)
    halves = own.ends.halves(before=before) if own.ends is not None else []
    parts = [
        position_at(own.domain, own.tile, each)
        for each in halves
        if (largest := each.largest(own.tile)) is None or largest >= own.domain.least
    ]
    return [
        order.numbered(tuple(part if each is own else each for each in position.positions)) for part in parts
    ]


def resized(
    position: BlockPosition, order: BlockOrder, domains: Sequence[SizeDomain]
) -> BlockPosition | None:
    """Return a split position for parts of the domains; None where no size has such a one."""
    by_name = {domain.name: domain for domain in domains}
    found = []
    for each in position.positions:
        assert each.ends is not None
        domain = by_name[each.domain.name]
        ends = replace(each.ends, most=min(each.ends.most, domain.most // each.tile))
        if not ends.is_possible:
            return None
        found.append(position_at(domain, each.tile, ends))
    return order.numbered(tuple(found))
