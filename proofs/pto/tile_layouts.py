"""The tiles of the profiles' aliases: extents, the headers' own offsets, notations, and four bits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ...spec.algebra import Algebra
from ...spec.formats import U64
from ...spec.layout import Layout
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.fractal import FractalLayout, buffer_layout, layout_of
from ...spec.pto.placement import physical
from ...spec.pto.targets import A2A3, A5, CPU, Profile, alias
from ...spec.pto.tile import Location, Order
from ..families.notations import notations
from ..obligation import (
    Case,
    Certificate,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    holds,
    theorem,
)
from .layouts import MOVERS_FOUR_BIT_COLUMNS, SOURCE, below, layouts, name_of, number, size, word

TILES = (
    (A2A3, Location.LEFT, "f16", (32, 48)),
    (A5, Location.LEFT, "f16", (32, 48)),
    (A5, Location.LEFT, "i8", (48, 96)),
    (CPU, Location.LEFT, "f32", (48, 24)),
    (A5, Location.LEFT, "f16", (1, 256)),
    (A5, Location.RIGHT, "bf16", (32, 48)),
    (A5, Location.RIGHT, "i8", (64, 48)),
    (A5, Location.RIGHT, "f32", (24, 48)),
    (A5, Location.ACC, "f32", (32, 48)),
    (A5, Location.SCALE_LEFT, "f8E8M0FNU", (32, 6)),
    (A5, Location.SCALE_RIGHT, "f8E8M0FNU", (6, 48)),
    (A5, Location.MAT, "f16", (48, 80)),
    (A5, Location.BIAS, "f32", (1, 96)),
    (A5, Location.VEC, "f16", (3, 48)),
)
"""Tiles whose extents are no powers of two."""


@theorem(
    "pto/layout/alias",
    "the layouts of the profiles' aliases, on concrete extents",
    "(r, c) ↦ offset is a bijection onto the buffer, the executable inverse is its inverse, "
    "and it is the formula of all extents",
    SOURCE,
)
def aliases() -> Iterator[Case]:
    """Yield the tiles of `TILES`."""
    for profile, location, element, (rows, columns) in TILES:
        tile = alias(profile, location, ELEMENT_TYPES[element], (rows, columns))
        layout = buffer_layout(tile)
        yield Case(
            f"{profile}/{location}/{element}/{rows}x{columns}",
            partial(enumerated_layout, layout, layout_of(tile)),
            method=Method.CERTIFICATE,
            statement=layout.formula,
        )


def enumerated_layout(layout: Layout, order: FractalLayout) -> Certificate:
    """Return the claim that a buffer's layout is a bijection and what the formula of all extents gives.

    Solvers need no inverse, counting is enough.
    """
    rows, columns = (axis.extent for axis in layout.source)
    pitch = order.pitch(rows, columns)

    def defect() -> str | None:
        row, column = np.indices((rows, columns))
        if not np.array_equal(order.offset(row, column, pitch), *layout.forward(row, column)):
            return f"{layout.name} is not the formula of all extents"
        return layout.defect()

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one, other = ([word(alg, v[f"{name}_{n}"]) for name in ("row", "column")] for n in (1, 2))
        inside = below(alg, one[0], number(alg, rows)) & below(alg, one[1], number(alg, columns))
        (offset,), (again,) = layout.forward(*one), layout.forward(*other)
        of_extent = order.offset(one[0], one[1], number(alg, pitch))
        yield Equation(offset, of_extent, U64, inside, "the formula of all extents")
        yield holds(alg, below(alg, offset, number(alg, rows * columns)), "inside the buffer", inside)
        both = inside & below(alg, other[0], number(alg, rows)) & below(alg, other[1], number(alg, columns))
        for left, right in zip(one, other, strict=True):
            yield Equation(left, right, U64, both & alg.same(offset, again), "one element in a slot")

    variables = tuple(size(f"{name}_{n}") for n in (1, 2) for name in ("row", "column"))
    return Certificate(defect, layout.points, Property(variables, claim, abstract=False))


VECTORS = (
    (A5, Location.LEFT, "f16", (32, 48), (17, 20), 788),
    (A2A3, Location.LEFT, "f16", (32, 48), (17, 20), 1044),
    (A5, Location.RIGHT, "f16", (32, 48), (17, 20), 1089),
    (A5, Location.RIGHT, "i8", (64, 32), (33, 20), 1665),
    (A5, Location.RIGHT, "f32", (24, 48), (9, 20), 545),
    (A5, Location.ACC, "f32", (32, 48), (17, 20), 788),
    (A5, Location.SCALE_LEFT, "f8E8M0FNU", (32, 4), (17, 3), 99),
    (A5, Location.SCALE_RIGHT, "f8E8M0FNU", (4, 32), (3, 17), 99),
)
"""Offsets that the headers compute: profile, location, element, extent, (row, column), offset."""


@theorem(
    "pto/layout/vector",
    "offsets that the headers compute",
    "offset(r, c) = the header's",
    "GetTileElementOffset, executed by the CPU simulator",
)
def vectors() -> Iterator[Case]:
    """Yield the test vectors."""
    for entry in VECTORS:
        profile, location, element, (rows, columns), at, offset = entry
        yield Case(
            f"{profile}/{location}/{element}/{rows}x{columns}",
            partial(_vector, entry),
            statement=f"offset({at[0]}, {at[1]}) = {offset}",
        )


def _vector(entry: tuple[Profile, Location, str, tuple[int, int], tuple[int, int], int]) -> Property:
    profile, location, element, extent, (row, column), expected = entry
    placement = physical(alias(profile, location, ELEMENT_TYPES[element], extent))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        offset = placement.offset(number(alg, row), number(alg, column))
        yield Equation(offset, number(alg, expected), U64, label="offset")

    return Property((), claim, abstract=False)


@theorem(
    "pto/layout/one-row",
    "tiles of one row: Nz is linear, Zz leaves the buffer, GetTileOffset is not injective (pinned)",
    "offset(0, c) = c for every c < columns",
    "pto-isa headers at 3186c381; TileData with Rows == 1",
)
def one_row() -> Iterator[Case]:
    """Yield the Nz formula and the spec's reading, proved; the Zz formula and the second helper, refuted."""
    for layout in layouts():
        if layout.inner is Order.ROW_MAJOR:
            linear = not layout.by_rows
            yield Case(
                name_of(layout),
                partial(_one_row, layout),
                Status.PROVED if linear else Status.REFUTED,
                statement="" if linear else "offset(0, c) < columns for every c < columns",
            )
    for profile in (A2A3, A5):
        taken = layout_of(alias(profile, Location.LEFT, ELEMENT_TYPES["f16"], (1, 256)))
        yield Case(f"left/{profile}", partial(_one_row, taken))
    yield Case(
        "GetTileOffset",
        _second_helper,
        Status.REFUTED,
        statement="c ↦ c mod IC, what GetTileOffset gives for one row of Nz, is injective",
    )


def _one_row(layout: FractalLayout) -> Property:
    leaves = layout.by_rows and layout.box != (1, 1)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        column, columns = word(alg, v["column"]), word(alg, v["columns"])
        pitch = layout.pitch(number(alg, 1), columns)
        offset, inside = layout.offset(number(alg, 0), column, pitch), below(alg, column, columns)
        if leaves:
            yield holds(alg, below(alg, offset, columns), "inside the buffer", inside)
        else:
            yield Equation(offset, column, U64, inside, "offset")

    columns = 4 * layout.box[1]
    pinned = {"column": columns - 1, "columns": columns} if leaves else None
    return Property((size("column"), size("columns")), claim, pinned=pinned, abstract=False)


def _second_helper() -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one, other = word(alg, v["one"]), word(alg, v["other"])
        yield Equation(one, other, U64, alg.same(one & 15, other & 15), "one column in a slot")

    return Property((size("one"), size("other")), claim, pinned={"one": 0, "other": 16}, abstract=False)


four_bit = Theorem(
    "pto/layout/four-bit",
    "4-bit elements: the headers' fractal and the A5 movers' are not the same (pinned)",
    "C0 = 32 elements, which the headers take, and C0 = 64, which fill 32 bytes, give one offset; each is a "
    "bijection (pto/layout/any-extent), which is the hardware's is not known",
    "pto-isa headers at 3186c381; A5 TMov and TExtract",
    lambda: (
        Case(str(location), partial(_four_bit, location), Status.REFUTED)
        for location in (Location.LEFT, Location.RIGHT)
    ),
)


def _four_bit(location: Location) -> Property:
    headers = layout_of(alias(A5, location, ELEMENT_TYPES["f4E2M1x2"], (128, 128)))
    columns = (16, MOVERS_FOUR_BIT_COLUMNS)
    left = location is Location.LEFT
    movers = FractalLayout(headers.blocks, headers.inner, columns if left else columns[::-1])

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        row, column, extent = (word(alg, v[name]) for name in ("row", "column", "extent"))
        one, other = (each.offset(row, column, each.pitch(extent, extent)) for each in (headers, movers))
        yield Equation(one, other, U64, label="offset")

    variables = tuple(map(size, ("row", "column", "extent")))
    at = {"row": 0, "column": 32} if left else {"row": 32, "column": 0}
    return Property(variables, claim, pinned={**at, "extent": 128}, abstract=False)


THEOREMS = (
    aliases,
    vectors,
    one_row,
    four_bit,
    notations("pto"),
)
