"""Fractal layouts: bijections onto their buffers for every extent that is whole blocks.

A layout is ``major·pitch + rest``. The rest is proved to be a bijection of one line of blocks onto
[0, pitch) for every number of blocks; that lines of a pitch lie one after the other, for every pitch and
any number of lines, is proved once, by induction (`lines`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...spec.algebra import Algebra, Array
from ...spec.formats import U64
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.fractal import FractalLayout
from ...spec.pto.sizes import rounded_up
from ...spec.pto.tile import FRACTAL_BYTES, LAYOUT_NAMES, Order, box
from ..obligation import (
    Case,
    Deduction,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    RingProperty,
    holds,
    theorem,
)
from .indices import SIZE_BITS, at_most, below, box_bits, name_of, number, size, word
from .lines import any_lines

SOURCE = "pto-isa pto_tile.hpp at 3186c381; layouts as in its docs, checked on its CPU simulator"

MOVERS_FOUR_BIT_COLUMNS = 64
"""C0 of 4-bit elements as the A5 movers count it; the headers' box has 32 columns."""


def layouts() -> Iterator[FractalLayout]:
    """Yield ND and DN, and the four orders of blocks of every element width and fractal size."""
    widths = {element.storage_bytes: element for element in ELEMENT_TYPES.values()}
    for blocks, inner in LAYOUT_NAMES:
        if inner is Order.NONE_BOX:
            yield FractalLayout(blocks, inner, (1, 1))
            continue
        boxes = {box(fractal, inner, element) for element in widths.values() for fractal in FRACTAL_BYTES}
        movers = (16, MOVERS_FOUR_BIT_COLUMNS)
        boxes.add(movers if inner is Order.ROW_MAJOR else movers[::-1])
        yield from (FractalLayout(blocks, inner, extent) for extent in sorted(boxes))


def digits(layout: FractalLayout, row: Array, column: Array) -> tuple[Array, Array]:
    """Return the number of a coordinate's line of blocks, and its place on that line."""
    (box_rows, box_columns), (row_bits, column_bits) = layout.box, box_bits(layout)
    i, j = row & (box_rows - 1), column & (box_columns - 1)
    blocks = row >> row_bits, column >> column_bits
    line, block = blocks if layout.by_rows else blocks[::-1]
    within = j * box_rows + i if layout.inner is Order.COL_MAJOR else i * box_columns + j
    return line, block * (box_rows * box_columns) + within


def coordinates(layout: FractalLayout, line: Array, rest: Array) -> tuple[Array, Array]:
    """Return the row and column at a place of a line, the inverse of `digits`.

    With ``line, rest = divmod(offset, pitch)`` it is the inverse of the layout.
    """
    row_bits, column_bits = box_bits(layout)
    block, within = rest >> (row_bits + column_bits), rest & ((1 << (row_bits + column_bits)) - 1)
    if layout.inner is Order.COL_MAJOR:
        i, j = within & (layout.box[0] - 1), within >> row_bits
    else:
        i, j = within >> column_bits, within & (layout.box[1] - 1)
    block_row, block_column = (line, block) if layout.by_rows else (block, line)
    return (block_row << row_bits) + i, (block_column << column_bits) + j


@theorem(
    "pto/layout/line",
    "a line of blocks fills as many elements as the pitch, for every number of blocks",
    "offset(r, c) = line·pitch + rest, of the stated formula; (block, i, j) ↦ rest is a bijection of the n"
    " blocks of a line onto [0, n·IR·IC) with explicit inverse, and pitch = n·IR·IC; for all "
    "coordinates and extents below 2^31",
    SOURCE,
)
def line() -> Iterator[Case]:
    """Yield every layout with every box."""
    for layout in layouts():
        yield Case(name_of(layout), partial(_line, layout))


def _line(layout: FractalLayout) -> Property:
    bits, area = box_bits(layout), layout.box[0] * layout.box[1]
    along = bits[1] if layout.by_rows else bits[0]
    number_of_blocks = SIZE_BITS - along

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        row, column, pitch = (word(alg, v[name]) for name in ("row", "column", "pitch"))
        line, rest = digits(layout, row, column)
        yield Equation(layout.offset(row, column, pitch), line * pitch + rest, U64, label="offset")

        count = word(alg, v["blocks"], number_of_blocks)
        extent, across = count << along, word(alg, v["across"])
        extents = (across, extent) if layout.by_rows else (extent, across)
        yield Equation(layout.pitch(*extents), count * area, U64, label="pitch")
        inside = below(alg, column if layout.by_rows else row, extent)
        yield holds(alg, below(alg, rest, count * area), "the place is on the line", inside)
        for before, after in zip((row, column), coordinates(layout, line, rest), strict=True):
            yield Equation(after, before, U64, label="the coordinate comes back")

        on_line, place = word(alg, v["line"], SIZE_BITS - max(bits)), word(alg, v["place"], 2 * SIZE_BITS)
        known = below(alg, place, count * area)
        at = coordinates(layout, on_line, place)
        for before, after in zip((on_line, place), digits(layout, *at), strict=True):
            yield Equation(after, before, U64, known, "the place comes back")
        reached = at[1] if layout.by_rows else at[0]
        yield holds(alg, below(alg, reached, extent), "the coordinate is inside", known)

    variables = (
        *map(size, ("row", "column", "pitch", "across")),
        size("blocks", number_of_blocks),
        size("line", SIZE_BITS - max(bits)),
        size("place", 2 * SIZE_BITS),
    )
    return Property(variables, claim, abstract=False)


@theorem(
    "pto/layout/size",
    "the lines fill the buffer",
    "rows / IR (Z) or columns / IC (N) lines of a pitch are rows·columns elements, as polynomials",
    SOURCE,
)
def buffer_size() -> Iterator[Case]:
    """Yield every layout with every box."""
    for layout in layouts():
        goal = partial(_size, layout)
        yield Case(name_of(layout), goal, equality=Equality.VALUE, method=Method.STRUCTURAL)


def _size(layout: FractalLayout) -> RingProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        rows, columns = v["block_rows"] * layout.box[0], v["block_columns"] * layout.box[1]
        lines = v["block_rows"] if layout.by_rows else v["block_columns"]
        yield Equation(lines * layout.pitch(rows, columns), rows * columns, label="elements")

    return RingProperty((size("block_rows"), size("block_columns")), claim)


@theorem(
    "pto/layout/any-extent",
    "every fractal layout is a bijection onto its buffer, for every extent that is whole blocks",
    "∀ rows ≡ 0 mod IR, columns ≡ 0 mod IC: (r, c) ↦ offset is a bijection of [0, rows) × [0, columns) onto "
    "[0, rows·columns), its inverse coordinates(offset div pitch, offset mod pitch). No element is padding: "
    "what is outside the valid region, a top left rectangle, has slots of its own",
    SOURCE,
)
def any_extent() -> Iterator[Case]:
    """Yield one deduction per layout and box: from one line, the number of lines, and the induction on it."""
    for layout in layouts():
        name = name_of(layout)
        premises = (
            f"{line.id}/{name}",
            f"{buffer_size.id}/{name}",
            *(variant.id for variant in any_lines.obligations()),
        )
        yield Case(name, partial(Deduction, premises), method=Method.DEDUCTION)


@theorem(
    "pto/layout/compact",
    "a compact tile's elements stay in its buffer",
    "v ≤ x, x ≡ 0 mod g ⇒ v ≤ round(v, g) ≤ x: the layout of the rounded valid extent is a bijection onto "
    "the first round(rows)·round(columns) ≤ rows·columns elements",
    SOURCE,
)
def compact() -> Iterator[Case]:
    """Yield every granule that is a side of a box."""
    for granule in sorted({side for layout in layouts() for side in layout.box}):
        yield Case(str(granule), partial(_compact, granule))


def _compact(granule: int) -> Property:
    shift = granule.bit_length() - 1

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        valid, extent = word(alg, v["valid"]), word(alg, v["blocks"], SIZE_BITS - shift) << shift
        fits, rounded = at_most(alg, valid, extent), rounded_up(valid, granule)
        yield holds(alg, at_most(alg, valid, rounded), "rounding is up")
        yield holds(alg, below(alg, rounded, valid + granule), "to the nearest multiple")
        yield Equation(rounded & (granule - 1), number(alg, 0), U64, label="a multiple")
        yield holds(alg, at_most(alg, rounded, extent), "inside the tile", fits)

    return Property((size("valid"), size("blocks", SIZE_BITS - shift)), claim, abstract=False)


THEOREMS = (line, buffer_size, any_extent, compact)
