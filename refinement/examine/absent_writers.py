"""Blames unwritten output elements on the thread or block that the pattern of writes predicts.

Blocks are tiled over an output: along each axis a block's coordinates go up by one step every so many
elements. Within a tile the warp is what it is in other tiles, an affine function over F2 of the bits of the
place, or tiled as blocks are. A pattern holds if everything written follows it; where none holds, nothing is
told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from ..contract.arguments import Array
from ..contract.contract import Instance
from ..findings.described_elements import WARP, spelled
from ..machine.array_memory import first_lanes
from ..machine.front_end import LAUNCHED, Outcome

Numbers = NDArray[np.int64]
Places = Sequence[NDArray[np.intp]]
"""Along each axis the coordinates (n,) of elements."""

_MOST_TRIED = 64
"""Tiles that are tried along an axis."""

_MOST_BITS = 56
"""Bits of a place and of a warp's number that are eliminated together."""


@dataclass(frozen=True)
class _Tiling:
    """A number that goes up every so many places along each axis.

    Attributes
    ----------
    start : int
        At the origin.
    tiles, steps : tuple of int
        How many places there are from one to the next, 0 where it stays the same, and by how much it goes up.
    """

    start: int
    tiles: tuple[int, ...]
    steps: tuple[int, ...]

    def at(self, places: Places) -> Numbers:
        """Return the number at places."""
        found = np.full(len(places[0]), self.start, dtype=np.int64)
        for place, tile, step in zip(places, self.tiles, self.steps, strict=True):
            found += step * (place // tile) if tile else 0
        return found


def should_write(
    shape: tuple[int, ...],
    writers: Numbers,
    missing: NDArray[np.intp],
    grid: tuple[int, int, int],
    block_threads: int,
) -> str:
    """Say which blocks, and which warps of them, should have written elements.

    Parameters
    ----------
    shape : tuple of int
        Of the output.
    writers : array (elements,)
        Who stores each element, by the thread's number in the grid; -1 if nobody does.
    missing : array (n,)
        The elements, by linear index.
    grid : (int, int, int)
        Extents along x, y and z.
    block_threads : int
        Numbers of threads that each block has.

    Returns
    -------
    str
        ``by the pattern of those that are, warp 3 of each block should write them``; empty where those that
        are written follow no pattern, or tell nothing.
    """
    known = writers >= 0
    if not known.any() or not len(missing) or not shape:
        return ""
    blocks = _blocks(writers // block_threads, grid)
    found = [_tiling(block.reshape(shape), known.reshape(shape)) for block in blocks]
    tilings = [each for each in found if each is not None]
    lacking = np.unravel_index(missing, shape)
    written = np.unravel_index(np.flatnonzero(known), shape)
    if len(tilings) < len(blocks) or not _is_within(tilings, lacking, written):
        return _idle(writers, block_threads)
    expected = np.stack([tiling.at(lacking) for tiling in tilings])
    if (expected < 0).any():
        return ""
    outside = (expected >= np.array(grid)[:, None]).any(axis=0)
    them = "it" if len(missing) == 1 else "them"
    if outside.any():
        who = f"{_named(expected[:, outside], grid)}, outside the grid {_extents(grid)},"
        return _told(who, them if outside.all() else "some of them")
    own = _named(expected, grid)
    warps = _warps(shape, tilings, writers, missing, block_threads)
    if warps is None and (idle := _idle(writers, block_threads)):
        return idle
    if warps is not None:
        those = np.unique(warps)
        if len(those) < len(np.union1d(those, writers[known] % block_threads // WARP)):
            return _told(f"{spelled(those.tolist())} of {own}", them)
    return _told(own, them) if own != _EACH and prod(grid) > 1 else ""


def _told(who: str, what: str) -> str:
    return f"by the pattern of the written elements, {who} should write {what}"


_EACH = "each block"


def _blocks(numbers: Numbers, grid: tuple[int, int, int]) -> tuple[Numbers, Numbers, Numbers]:
    x, y, _ = grid
    return numbers % x, numbers // x % y, numbers // (x * y)


def _named(blocks: Numbers, grid: tuple[int, int, int]) -> str:
    """Spell coordinates (3, n) of blocks as messages do; more than one by the first and how many."""
    each = np.unique(blocks, axis=1)
    if each.shape[1] == prod(grid) > 1 and (each < np.array(grid)[:, None]).all():
        return _EACH
    first = each[:, np.lexsort(each)[0]].tolist()
    name = f"block ({', '.join(map(str, first))})" if any(first[1:]) else f"block {first[0]}"
    return name if each.shape[1] == 1 else f"{name} and {each.shape[1] - 1} more"


def _extents(grid: tuple[int, int, int]) -> str:
    return f"of {grid[0]}" if grid[1:] == (1, 1) else f"({', '.join(map(str, grid))})"


def _is_within(tilings: Sequence[_Tiling], lacking: Places, written: Places) -> bool:
    """Tell whether places follow: along an axis without tiles only those between what is written do."""
    return all(
        any(tiling.tiles[axis] for tiling in tilings)
        or (lacking[axis].min() >= written[axis].min() and lacking[axis].max() <= written[axis].max())
        for axis in range(len(written))
    )


def _idle(writers: Numbers, block_threads: int) -> str:
    """Name the only warp of a block that writes nothing, if there is one: no pattern shows what it should."""
    if block_threads <= WARP or block_threads % WARP:
        return ""
    used = np.unique(writers[writers >= 0] % block_threads // WARP)
    unused = np.setdiff1d(np.arange(block_threads // WARP), used)
    return f"warp {unused[0]} of each block is the only warp that writes nothing" if len(unused) == 1 else ""


def _tiling(numbers: Numbers, known: NDArray[np.bool_]) -> _Tiling | None:
    """Return how a number is tiled over an array, of which some elements are known; None if it is not."""
    tiles, steps = [], []
    for axis in range(numbers.ndim):
        found = _along(np.moveaxis(numbers, axis, -1), np.moveaxis(known, axis, -1))
        if found is None:
            return None
        tiles.append(found[0])
        steps.append(found[1])
    places = np.nonzero(known)
    starts = numbers[places] - _Tiling(0, tuple(tiles), tuple(steps)).at(places)
    return _Tiling(int(starts[0]), tuple(tiles), tuple(steps)) if (starts == starts[0]).all() else None


def _along(numbers: Numbers, known: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Return tile and step along the last axis, zeros if nothing changes; None if there are none."""
    extent = numbers.shape[-1]
    there = np.flatnonzero(known)
    pairs = there[:-1] // extent == there[1:] // extent
    one, two = there[:-1][pairs], there[1:][pairs]
    changes = numbers.reshape(-1)[two] - numbers.reshape(-1)[one]
    if not changes.any():
        return 0, 0
    step = int(changes[np.argmin(np.where(changes != 0, np.abs(changes), np.iinfo(np.int64).max))])
    times = changes // step
    if (times * step != changes).any() or (times < 0).any():
        return None
    each = np.unique(np.stack([one % extent, two % extent, times]), axis=1)
    for tile in _candidates(*each[:, each[2] > 0]):
        if (each[1] // tile - each[0] // tile == each[2]).all():
            return tile, step
    return None


def _candidates(before: Numbers, behind: Numbers, times: Numbers) -> list[int]:
    """Return tiles that a number may have that goes up so many times between places, the likeliest first.

    Between neighbours it goes up where a tile begins. Where nothing but gaps lie around the beginnings, the
    tile is taken that most powers of two divide.
    """
    if (exact := behind[behind == before + 1]).size:
        whole = gcd(*exact.tolist())
        return [whole // part for part in range(1, min(whole, _MOST_TRIED) + 1) if whole % part == 0]
    first = int(np.argmin(behind))
    end, count = int(behind[first]), int(times[first])
    tiles = range(max(end // (count + 1), int(before[first])) + 1, end // count + 1)
    return sorted(tiles, key=lambda tile: (-(tile & -tile), -tile))[:_MOST_TRIED]


def _warps(
    shape: tuple[int, ...],
    tilings: Sequence[_Tiling],
    writers: Numbers,
    missing: NDArray[np.intp],
    block_threads: int,
) -> Numbers | None:
    """Return the warps of blocks that elements are of; None where no pattern tells."""
    if block_threads <= WARP or block_threads % WARP:
        return None
    tile = tuple(
        min(gcd(*(tiling.tiles[axis] for tiling in tilings)) or extent, extent)
        for axis, extent in enumerate(shape)
    )
    written = np.flatnonzero(writers >= 0)
    within = _linear(tile, np.unravel_index(written, shape))
    wanted = _linear(tile, np.unravel_index(missing, shape))
    warps = writers[written] % block_threads // WARP
    table = np.full(prod(tile), -1, dtype=np.int64)
    table[within] = warps
    if (table[within] != warps).any():  # another warp in another tile
        return None
    if (table[wanted] >= 0).all():
        return table[wanted]
    places, lacking = (np.unravel_index(each, tile) for each in (np.unique(within), wanted))
    known = (table >= 0).reshape(tile)
    over_bits = _over_bits(tile, places, table[np.unique(within)], lacking)
    tiled = _tiling(table.reshape(tile), known)
    by_tiles = tiled.at(lacking) if tiled is not None and _is_within([tiled], lacking, places) else None
    found = [
        each
        for each in (over_bits, by_tiles)
        if each is not None and ((each >= 0) & (each < block_threads // WARP)).all()
    ]
    return found[0] if found and (found[0] == found[-1]).all() else None


def _linear(tile: tuple[int, ...], places: Places) -> Numbers:
    """Return places in their tiles, by linear index."""
    own = [place % extent for place, extent in zip(places, tile, strict=True)]
    return np.asarray(np.ravel_multi_index(own, tile), dtype=np.int64)


def _over_bits(tile: tuple[int, ...], places: Places, warps: Numbers, lacking: Places) -> Numbers | None:
    """Return warps at places by the affine function over F2 that gives those known; None if there is none."""
    low = max(int(warps.max()).bit_length(), 1)
    if low + 1 + sum(extent.bit_length() for extent in tile) > _MOST_BITS:
        return None

    def rows(where: Places, numbers: Numbers | int) -> Numbers:
        packed, at = np.zeros(len(where[0]), dtype=np.int64) + numbers, low + 1
        packed |= 1 << low
        for place, extent in zip(where, tile, strict=True):
            packed |= place.astype(np.int64) << at
            at += extent.bit_length()
        return packed

    given, asked = rows(places, warps), rows(lacking, 0)
    while len(left := given[given >> low != 0]):
        pivot = int(left[0])
        bit = pivot.bit_length() - 1
        given = np.where(given >> bit & 1, given ^ pivot, given)
        asked = np.where(asked >> bit & 1, asked ^ pivot, asked)
    if given.any() or (asked >> low).any():
        return None
    return asked


def absent_writers(instance: Instance, outcome: Outcome, output: Array, members: NDArray[np.intp]) -> str:
    """Say which blocks and warps should have written elements, where those that are written tell.

    Parameters
    ----------
    instance, outcome : Instance, Outcome
        What was run.
    output : Array
        The output.
    members : array (n,)
        Its elements that nobody writes, by linear index.
    """
    final, lanes = outcome.arrays[output.name], first_lanes(output)
    writers = np.where(final.lines[lanes] != 0, final.writers[lanes], -1)
    if not instance.launches:
        return should_write(output.shape, writers, members, instance.grid, outcome.block_threads)
    for number, (name, one) in enumerate(outcome.several):
        own = np.where(writers // LAUNCHED == number, writers % LAUNCHED, -1)
        told = should_write(output.shape, own, members, instance.launches[number].grid, one.block_threads)
        if told:
            return f"in {name}, {told}"
    taken = zip(outcome.several, instance.launches, strict=False)
    names = [name for (name, _), launch in taken if output.name in launch.passed]
    if (writers >= 0).any() or not names:
        return ""
    return f"none of it is written, though {' and '.join(names)} {'takes' if len(names) == 1 else 'take'} it"
