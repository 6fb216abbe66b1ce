"""``ldmatrix`` from a tile in shared memory, simulated row by row and byte by byte.

Sources: PTX ISA 9.1 section 9.7.14.5.15: lane 8m + r supplies the address of row r of matrix m; without
.trans lane l holds elements 2(l mod 4) and 2(l mod 4) + 1 of row l / 4, with .trans these rows of column
l / 4. A tile is a function of (row, column) to an offset of 16-bit elements; 32 banks have 4 bytes each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ...stated.foreign_layouts import Tree, cute, index, size, swizzled
from .foreign_layouts import F16, TRAITS, Load, mma

_ROW, _BYTES, _LANES, _ALL_BANKS = 8, 2, 32, 128
_EXTENTS = {"a": (16, 16), "b": (8, 16)}
"""Lines and elements of the tile that an operand is: A by rows, B by columns."""

Place = tuple[int, int]
"""Line and element of a tile."""


@cache
def _offset(load: Load, place: Place) -> int:
    shape, stride = cute(load.tile)
    assert not isinstance(shape, int) and not isinstance(stride, int)
    plain = sum(index(at, part, step) for at, part, step in zip(place, shape, stride, strict=True))
    return swizzled(*load.swizzle, plain)


def _of_tile(load: Load) -> tuple[int, int]:
    shape: Tree = cute(load.tile)[0]
    assert not isinstance(shape, int)
    lines, elements = map(size, shape)
    return lines, elements


@cache
def _wanted(load: Load) -> dict[tuple[int, int], Place]:
    """Return the element, as a place of the tile, that every (lane, number) of the fragment is."""
    (lanes, numbers), (of_lane, of_number) = cute(TRAITS[mma("m16n8k16", F16)][load.operand])  # type: ignore[misc]
    lines = _EXTENTS[load.operand][0]
    return {
        (lane, number): divmod(
            index(lane, lanes, of_lane) + index(number, numbers, of_number), lines
        )[::-1]
        for lane in range(size(lanes))
        for number in range(size(numbers))
    }  # fmt: skip


def _read_from(load: Load) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the row, of all matrices, and its element that every (lane, number) is read from."""
    found = {}
    for lane in range(_LANES):
        for number in range(2 * len(load.registers)):
            matrix, pair = load.registers[number // 2], 2 * (lane % 4) + number % 2
            row, element = (pair, lane // 4) if load.transposed else (lane // 4, pair)
            found[lane, number] = _ROW * matrix + row, element
    return found


def _origins(load: Load) -> Iterator[Place]:
    lines, elements = _EXTENTS[load.operand]
    of_tile = _of_tile(load)
    return ((x, y) for x in range(0, of_tile[0], lines) for y in range(0, of_tile[1], elements))


def _addresses(load: Load, origin: Place) -> dict[int, int] | None:
    """Return the offset that each row must begin at for a fragment to arrive; None if there is none."""
    found: dict[int, int] = {}
    wanted = _wanted(load)
    for held, (row, element) in _read_from(load).items():
        line, at = wanted[held]
        start = _offset(load, (origin[0] + line, origin[1] + at)) - element
        if found.setdefault(row, start) != start or start * _BYTES % 16:
            return None
    return found


def _given(load: Load) -> dict[int, int]:
    shape, stride = cute(load.lanes)
    plain = (index(lane, shape, stride) for lane in range(_LANES))
    return {
        lane: swizzled(*load.swizzle, offset) if load.lanes_swizzled else offset
        for lane, offset in enumerate(plain)
    }


def delivered(load: Load) -> bool:
    """Return whether the fragment arrives: every one in the tile, or some where it is a part of the load."""
    if not load.lanes:
        found = [_addresses(load, origin) is not None for origin in _origins(load)]
        return any(found) if "[" in load.load else all(found)
    lines, elements = _of_tile(load)
    there = {_offset(load, (x, y)): (x, y) for x in range(lines) for y in range(elements)}
    given = _given(load)
    if any(offset * _BYTES % 16 for offset in given.values()):
        return False
    wanted = _wanted(load)
    return all(
        there.get(given[row] + element) == wanted[held] for held, (row, element) in _read_from(load).items()
    )


def conflicts(load: Load) -> int:
    """Return how many rows of one matrix lie in the same banks, at worst."""
    if load.lanes:
        fragments = [_given(load)]
    else:
        fragments = [found for each in _origins(load) if (found := _addresses(load, each)) is not None]
    worst = 1
    for starts in fragments:
        for matrix in {row // _ROW for row in starts}:
            rows = {starts[row] * _BYTES for row in starts if row // _ROW == matrix}
            banks = [start % _ALL_BANKS for start in rows]
            worst = max(worst, *(banks.count(bank) for bank in banks))
    return worst
