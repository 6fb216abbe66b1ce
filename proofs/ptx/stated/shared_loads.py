"""``ldmatrix`` from a tile in shared memory, simulated row by row and bit by bit.

Sources: PTX ISA 9.1 section 9.7.14.5.15: lane 8m + r supplies the address of row r of matrix m; without
.trans lane l holds elements 2(l mod 4) and 2(l mod 4) + 1 of row l / 4, with .trans these rows of column
l / 4. They are of 16 bits, two in a register: an operand's elements are what its registers have at their
bits. A tile is a function of (row, column) to an offset of these elements; 32 banks have 4 bytes each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ...stated.foreign_layouts import Tree, cute, index, size, swizzled
from .foreign_layouts import TRAITS, Load

_ROW, _MOVED, _REGISTER, _ALL_BANKS = 8, 16, 32, 8 * 128
"""Rows of a matrix, bits of what is moved and of a register, lanes, and bits of all banks."""

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


def _extents(load: Load) -> Place:
    """Return the lines and elements of the tile that an operand is: A by rows, B by columns."""
    shape = dict(re.findall(r"([mnk])(\d+)", load.instruction.split(".")[3]))
    return int(shape["m" if load.operand == "a" else "n"]), int(shape["k"])


@cache
def _wanted(load: Load) -> dict[tuple[int, int], Place]:
    """Return the element, as a place of the tile, that every (lane, number) of the fragment is."""
    (lanes, numbers), (of_lane, of_number) = cute(TRAITS[load.instruction][load.operand])  # type: ignore[misc]
    lines = _extents(load)[0]
    return {
        (lane, number): divmod(
            index(lane, lanes, of_lane) + index(number, numbers, of_number), lines
        )[::-1]
        for lane in range(size(lanes))
        for number in range(size(numbers))
    }  # fmt: skip


def _read_from(load: Load) -> Iterator[tuple[Place, int, int, int]]:
    """Yield a place of the tile and a bit of its element, and which bit of which row of all is read there."""
    for (lane, number), place in _wanted(load).items():
        for bit in range(0, load.bits, _MOVED):
            register, low = divmod(number * load.bits + bit, _REGISTER)
            matrix, pair = load.registers[register], 2 * (lane % 4) + low // _MOVED
            row, moved = (pair, lane // 4) if load.transposed else (lane // 4, pair)
            yield place, bit, _ROW * matrix + row, moved * _MOVED + low % _MOVED


def _origins(load: Load) -> Iterator[Place]:
    lines, elements = _extents(load)
    of_tile = _of_tile(load)
    return ((x, y) for x in range(0, of_tile[0], lines) for y in range(0, of_tile[1], elements))


def _addresses(load: Load, origin: Place) -> dict[int, int] | None:
    """Return the bit that each row must begin at for a fragment to arrive; None if there is none."""
    found: dict[int, int] = {}
    for (line, at), bit, row, read in _read_from(load):
        start = _offset(load, (origin[0] + line, origin[1] + at)) * load.bits + bit - read
        if found.setdefault(row, start) != start or start % (_ROW * _MOVED):
            return None
    return found


def _given(load: Load) -> dict[int, int]:
    """Return the bit that each lane points to."""
    shape, stride = cute(load.lanes)
    plain = (index(lane, shape, stride) for lane in range(size(shape)))
    return {
        lane: load.bits * (swizzled(*load.swizzle, offset) if load.lanes_swizzled else offset)
        for lane, offset in enumerate(plain)
    }


def delivered(load: Load) -> bool:
    """Return whether the fragment arrives: every one in the tile, or some where it is a part of the load."""
    if not load.lanes:
        found = [_addresses(load, origin) is not None for origin in _origins(load)]
        return any(found) if "[" in load.load else all(found)
    lines, elements = _of_tile(load)
    there = {load.bits * _offset(load, (x, y)): (x, y) for x in range(lines) for y in range(elements)}
    given = _given(load)
    if any(start % (_ROW * _MOVED) for start in given.values()):
        return False
    return all(there.get(given[row] + read - bit) == place for place, bit, row, read in _read_from(load))


def conflicts(load: Load) -> int:
    """Return how many rows of one matrix lie in the same banks, at worst."""
    if load.lanes:
        fragments = [_given(load)]
    else:
        fragments = [found for origin in _origins(load) if (found := _addresses(load, origin)) is not None]
    worst = 1
    for starts in fragments:
        for matrix in {row // _ROW for row in starts}:
            rows = {starts[row] for row in starts if row // _ROW == matrix}
            banks = [start % _ALL_BANKS for start in rows]
            worst = max(worst, *(banks.count(bank) for bank in banks))
    return worst
