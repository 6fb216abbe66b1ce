"""Fractal layouts: bijections onto their buffers for every extent that is whole blocks.

A layout is ``major·pitch + rest``, and the rest is a bijection of one line of blocks onto [0, pitch) for
every number of blocks. That lines of a pitch lie one after the other, for every pitch and any number of
lines, is proved once (`lines`). All of it is about integers, so no size is too large.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import B1, U64
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.fractal import FractalLayout
from ...spec.pto.placement import Placement
from ...spec.pto.sizes import rounded_up
from ...spec.pto.tile import FRACTAL_BYTES, LAYOUT_NAMES, Order, box
from ..instances import Entailment, Use
from ..obligation import (
    Case,
    Equality,
    Equation,
    Inputs,
    IntegerProperty,
    Method,
    Obligation,
    Property,
    RingProperty,
    Theorem,
    Variable,
    holds,
    immediate,
)

SIZE_BITS = 31
"""Width of extents and coordinates: the product of two fits a signed 64-bit integer."""


@runtime_checkable
class Ordered(Protocol):
    """An algebra of numbers that have an order, which integers have and words have not by themselves."""

    def below(self, left: Array, right: Array) -> Array:
        """Return the condition left < right."""


def size(name: str, bits: int = SIZE_BITS) -> Variable:
    """Return a variable for an extent or a coordinate."""
    return Variable(name, immediate(bits), (1,))


def word(alg: Algebra, bits: Array, width: int = SIZE_BITS) -> Array:
    """Return encodings of `width` bits as 64-bit words, in which offsets are computed; an integer is one."""
    return alg.assemble(bits[..., np.newaxis], immediate(width), (0,), U64)


def number(alg: Algebra, value: int) -> Array:
    """Return a 64-bit word that is known."""
    return alg.constant(value, U64)[np.newaxis]


def below(alg: Algebra, left: Array, right: Array) -> Array:
    """Return the condition left < right of integers, or of words less than 2**63."""
    if isinstance(alg, Ordered):
        return alg.below(left, right)
    return alg.same(alg.extract(left - right, U64.bits - 1, B1), alg.constant(1, B1))


def at_most(alg: Algebra, left: Array, right: Array) -> Array:
    """Return the condition left ≤ right of integers, or of words less than 2**63."""
    return ~below(alg, right, left)


def of_extent(layout: FractalLayout, rows: Any, columns: Any) -> Placement:
    """Return the placement that a physical extent gives; `placement.physical` is this for a tile's."""
    return Placement(layout, layout.pitch(rows, columns))


def box_bits(layout: FractalLayout) -> tuple[int, int]:
    """Return the binary logarithms of a block's rows and columns."""
    rows, columns = layout.box
    return rows.bit_length() - 1, columns.bit_length() - 1


def name_of(layout: FractalLayout) -> str:
    """Return what obligations call a layout: ``Nz-16x8``, ``ND``."""
    return layout.name if layout.box == (1, 1) else f"{layout.name}-{layout.box[0]}x{layout.box[1]}"


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


line = Theorem(
    "pto/layout/line",
    "a line of blocks fills as many elements as the pitch, for every number of blocks",
    "offset(r, c) = line·pitch + rest, of the stated formula; (block, i, j) ↦ rest is a bijection of the n"
    " blocks of a line onto [0, n·IR·IC) with explicit inverse, and pitch = n·IR·IC; for all integers",
    SOURCE,
    lambda: (Case(name_of(layout), partial(_line, layout)) for layout in layouts()),
)


def _line(layout: FractalLayout) -> IntegerProperty:
    along = box_bits(layout)[1] if layout.by_rows else box_bits(layout)[0]
    area = layout.box[0] * layout.box[1]

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        row, column, pitch, count = (v[name] for name in ("row", "column", "pitch", "blocks"))
        line, rest = digits(layout, row, column)
        yield Equation(layout.offset(row, column, pitch), line * pitch + rest, label="offset")

        extent, across = count << along, v["across"]
        extents = (across, extent) if layout.by_rows else (extent, across)
        yield Equation(layout.pitch(*extents), count * area, label="pitch")
        inside = below(alg, column if layout.by_rows else row, extent)
        yield holds(alg, below(alg, rest, count * area), "the place is on the line", inside)
        for before, after in zip((row, column), coordinates(layout, line, rest), strict=True):
            yield Equation(after, before, label="the coordinate comes back")

        on_line, place = v["line"], v["place"]
        known = below(alg, place, count * area)
        at = coordinates(layout, on_line, place)
        for before, after in zip((on_line, place), digits(layout, *at), strict=True):
            yield Equation(after, before, where=known, label="the place comes back")
        reached = at[1] if layout.by_rows else at[0]
        yield holds(alg, below(alg, reached, extent), "the coordinate is inside", known)

    names = ("row", "column", "pitch", "across", "blocks", "line", "place")
    return IntegerProperty(tuple(map(size, names)), claim)


buffer_size = Theorem(
    "pto/layout/size",
    "the lines fill the buffer",
    "rows / IR (Z) or columns / IC (N) lines of a pitch are rows·columns elements, as polynomials",
    SOURCE,
    lambda: (
        Case(name_of(layout), partial(_size, layout), equality=Equality.VALUE, method=Method.STRUCTURAL)
        for layout in layouts()
    ),
)


def _size(layout: FractalLayout) -> RingProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        rows, columns = v["block_rows"] * layout.box[0], v["block_columns"] * layout.box[1]
        lines = v["block_rows"] if layout.by_rows else v["block_columns"]
        yield Equation(lines * layout.pitch(rows, columns), rows * columns, label="elements")

    return RingProperty((size("block_rows"), size("block_columns")), claim)


lines = Theorem(
    "pto/layout/lines",
    "lines of any pitch, one after the other, have each place of their buffer once and no other",
    "0 ≤ rest < pitch ⇒ line and rest are quotient and remainder of line·pitch + rest by the pitch, and "
    "line < n ⇒ line·pitch + rest < n·pitch; x < n·pitch ⇒ x div pitch < n, x mod pitch < pitch, and "
    "(x div pitch)·pitch + x mod pitch = x; for all integers that are not negative",
    SOURCE,
    lambda: iter((Case("any-number", _lines),)),
)


def _lines() -> IntegerProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        line, rest, pitch, count = (v[name] for name in ("line", "rest", "pitch", "lines"))
        inside, at = below(alg, rest, pitch), line * pitch + rest
        yield Equation(at // pitch, line, where=inside, label="the line comes back")
        yield Equation(at % pitch, rest, where=inside, label="the place on it comes back")
        end = count * pitch
        yield holds(alg, below(alg, at, end), "before the end", inside & below(alg, line, count))
        place, zero = v["place"], number(alg, 0)
        known, on_line, place_on_it = below(alg, place, end), place // pitch, place % pitch
        for part, limit in ((on_line, count), (place_on_it, pitch)):
            yield holds(alg, at_most(alg, zero, part) & below(alg, part, limit), "a line and a place", known)
        yield Equation(on_line * pitch + place_on_it, place, where=known, label="the place comes back")

    return IntegerProperty(tuple(map(size, ("line", "rest", "pitch", "lines", "place"))), claim)


any_extent = Theorem(
    "pto/layout/any-extent",
    "every fractal layout is a bijection onto its buffer, for every extent that is whole blocks",
    "∀ rows ≡ 0 mod IR, columns ≡ 0 mod IC: (r, c) ↦ offset is a bijection of [0, rows) × [0, columns) onto "
    "[0, rows·columns), its inverse coordinates(offset div pitch, offset mod pitch). No element is padding: "
    "what is outside the valid region, a top left rectangle, has slots of its own",
    SOURCE,
    lambda: (
        Case(
            name_of(layout),
            partial(_any_extent, layout, of_size, lines.obligation("any-number")),
            method=Method.DEDUCTION,
        )
        for layout, of_size in zip(layouts(), buffer_size.obligations(), strict=True)
    ),
)


def _any_extent(layout: FractalLayout, of_size: Obligation, of_lines: Obligation) -> Entailment:
    box_rows, box_columns = layout.box

    def pitch(v: Inputs) -> Array:
        extent: Array = layout.pitch(v["block_rows"] * box_rows, v["block_columns"] * box_columns)
        return extent

    def back(v: Inputs) -> tuple[Array, Array]:
        return coordinates(layout, v["place"] // pitch(v), v["place"] % pitch(v))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        row, column, place = (v[name] for name in ("row", "column", "place"))
        rows, columns = v["block_rows"] * box_rows, v["block_columns"] * box_columns
        offset = layout.offset(row, column, pitch(v))
        inside = below(alg, row, rows) & below(alg, column, columns)
        yield holds(alg, below(alg, offset, rows * columns), "inside the buffer", inside)
        found = coordinates(layout, offset // pitch(v), offset % pitch(v))
        for before, after in zip((row, column), found, strict=True):
            yield Equation(after, before, where=inside, label="the element comes back")
        known, (row, column) = below(alg, place, rows * columns), back(v)
        yield holds(alg, below(alg, row, rows) & below(alg, column, columns), "an element", known)
        yield Equation(layout.offset(row, column, pitch(v)), place, where=known, label="the place comes back")

    def uses(alg: Algebra, v: Inputs) -> Iterator[Use]:
        yield Use(of_size, {name: v[name] for name in ("block_rows", "block_columns")})
        on_line, rest = digits(layout, v["row"], v["column"])
        count = v["block_rows"] if layout.by_rows else v["block_columns"]
        of_pitch = {"pitch": pitch(v), "lines": count, "place": v["place"]}
        yield Use(of_lines, {"line": on_line, "rest": rest, **of_pitch})

    names = ("row", "column", "block_rows", "block_columns", "place")
    conclusion = IntegerProperty(tuple(map(size, names)), claim)
    return Entailment((of_size.id, of_lines.id), conclusion, uses)


compact = Theorem(
    "pto/layout/compact",
    "a compact tile's elements stay in its buffer",
    "v ≤ x, x ≡ 0 mod g ⇒ v ≤ round(v, g) ≤ x: the layout of the rounded valid extent is a bijection onto "
    "the first round(rows)·round(columns) ≤ rows·columns elements",
    SOURCE,
    lambda: (
        Case(str(granule), partial(_compact, granule))
        for granule in sorted({side for layout in layouts() for side in layout.box})
    ),
)


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


THEOREMS = (
    line,
    buffer_size,
    lines,
    any_extent,
    compact,
)
