"""A tile in shared memory: where its elements are, and which rows of a load lie in the same banks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..algebra import Array
from ..element_table import ElementTable
from ..errors import InputError
from ..fragment import Fragment
from ..ptx.matrix_move_forms import ROW_BYTES
from .comparison import Comparison, Verdict
from .cute import Composed
from .cute_text import parse_composed

ROW_BITS = 8 * ROW_BYTES
"""Bits of a memory row of a matrix."""

BANK_ROWS = 8
"""Rows of 16 bytes that lie in different banks: 8 of them are the 128 bytes of all 32 banks."""

MAX_OFFSET = 1 << 22
"""Elements of 1 bit in more shared memory than there is."""


@dataclass(frozen=True)
class SharedTile:
    """A tile in shared memory.

    Attributes
    ----------
    layout : Composed
        What maps its coordinates to offsets.
    offsets : array (rows, columns)
        Offset of every element, in elements; by the operand's (row, column).
    bits : int
        Width of an element.
    """

    layout: Composed
    offsets: Array
    bits: int

    def coordinates(self, offsets: Array) -> Array:
        """Return the (row, column) of the elements (…, 2) at offsets, -1 where there is none."""
        extent = int(self.offsets.max()) + 1
        where = np.full((extent, 2), -1, dtype=np.int64)
        where[self.offsets] = np.moveaxis(np.indices(self.offsets.shape), 0, -1)
        inside = (offsets >= 0) & (offsets < extent)
        return np.where(inside[..., None], where[np.where(inside, offsets, 0)], -1)


def shared_tile(text: str, fragment: Fragment, by_columns: bool) -> SharedTile:
    """Read the layout of a tile that holds one or more operands.

    Parameters
    ----------
    text : str
        A CuTe layout of two coordinates, perhaps swizzled.
    fragment : Fragment
        The operand: its extents and the width of its elements.
    by_columns : bool
        Whether the layout's coordinates are (column, row).

    Raises
    ------
    InputError
        If it can't be read, or is not of whole operands.
    """
    layout = parse_composed(text)
    if not layout.layout.congruent:
        raise InputError(f"{layout.layout}: shape and stride are not nested alike")
    if isinstance(layout.layout.shape, int) or len(layout.layout.shape) != 2:
        raise InputError(f"{layout.layout} should have two outermost coordinates, those of the tile")
    offsets = layout(layout.layout.grid())
    offsets = offsets.T if by_columns else offsets
    if offsets.min() < 0:
        raise InputError(f"{layout} has the negative offset {int(offsets.min())}")
    if int(offsets.max()) >= MAX_OFFSET:
        raise InputError(f"{layout} reaches offset {int(offsets.max())}; no shared memory is that large")
    if any(have % need for have, need in zip(offsets.shape, fragment.shape, strict=True)):
        raise InputError(
            f"the tile {layout.layout} in shared memory is no multiple of the operand's "
            f"{fragment.shape[::-1] if by_columns else fragment.shape}"
        )
    return SharedTile(layout, offsets, fragment.packing.container)


def clash(shared: SharedTile) -> Comparison | None:
    """Look for two elements at one offset."""
    flat = shared.offsets.ravel()
    counts = np.bincount(flat)
    if counts.max() == 1:
        return None
    offset = int(np.argmax(counts > 1))
    first, second = (
        divmod(int(place), shared.offsets.shape[1]) for place in np.flatnonzero(flat == offset)[:2]
    )
    return Comparison(
        Verdict.COLLISION,
        f"elements {first} and {second} of the tile are both at offset {offset} of shared memory",
    )


def bank_conflicts(addresses: Array) -> int:
    """Return how many different memory rows of one phase lie in the same banks, at worst."""
    worst = 1
    for start in range(0, len(addresses), BANK_ROWS):
        phase = np.unique(addresses[start : start + BANK_ROWS])
        phase = phase[phase >= 0]
        if len(phase):
            worst = max(worst, int(np.bincount(phase // ROW_BITS % BANK_ROWS).max()))
    return worst


def conflict_note(conflicts: int) -> str:
    """Say what `bank_conflicts` found."""
    if conflicts == 1:
        return "no bank conflicts"
    rows = f"{conflicts} of {BANK_ROWS} rows of a matrix"
    return f"{conflicts}-way bank conflicts: {rows} lie in the same banks"


def compare_shared(specified: str, table: ElementTable, text: str) -> Comparison:
    """Compare a layout of (M, K) of A or (N, K) of B in shared memory with the one that a descriptor says.

    Both are maps to offsets in elements, that of the descriptor from its start; where the start lies in a
    swizzling pattern is part of it.

    Raises
    ------
    InputError
        If it is none of two coordinates.
    """
    ours, theirs = parse_composed(specified), parse_composed(text)
    if isinstance(theirs.layout.shape, int) or len(theirs.layout.shape) != 2 or not theirs.layout.congruent:
        raise InputError(
            f"{theirs.layout} should have two outermost coordinates, shape and stride nested alike"
        )
    wanted, given = (each(each.layout.grid()) for each in (ours, theirs))
    if wanted.shape != given.shape:
        had, has = (" x ".join(map(str, grid.shape)) for grid in (given, wanted))
        return Comparison(
            Verdict.WRONG_SIZE, f"it has {had} elements; {table.title} has {has}", expected=specified
        )
    if (differs := wanted != given).any():
        line, k = map(int, np.argwhere(differs)[0])
        collides = len(np.unique(given)) < given.size
        what = f"element ({line}, {k}) is at offset {given[line, k]} in elements, not {wanted[line, k]}"
        verdict = Verdict.COLLISION if collides else Verdict.OTHER_BIJECTION
        return Comparison(verdict, what, expected=specified)
    return Comparison(
        Verdict.EQUAL, f"{table.title}: every element is where the descriptor says", expected=specified
    )
