"""Buffers, tiles and sizes of PTO are those of the headers' tables."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator
from functools import partial
from itertools import product
from math import ceil

from ...spec.foreign_layouts.against import Notation, written_layout
from ...spec.pto.catalogue import OPERATIONS
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.fractal import layout_of
from ...spec.pto.legality import address_violations, tile_violations
from ...spec.pto.sizes import operand_extents, size_sources
from ...spec.pto.sizes import sizes as size_of
from ...spec.pto.targets import PROFILES, alias
from ...spec.pto.tile import Location, Order, Tile, box
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .stated import buffers as stated_buffers
from .stated import tables
from .stated.names import operand

SOURCE = "pto-isa headers at 3186c381: pto_tile.hpp, TASSIGN, buffer sizes"


buffers = table_theorem(
    "pto/stated/buffers",
    "tiles fit in the buffers that the headers give each profile, and no larger ones do",
    "∀ profiles, locations: the capacity is the listed one; a tile of exactly so many bytes fits, one with "
    "32 bytes more does not, nor where it begins 32 bytes later; addresses are multiples of 32",
    SOURCE,
    lambda: {profile: partial(_buffers, profile) for profile in tables.PROFILES},
)


def _buffers(profile: str) -> Certificate:
    expected: dict[tuple[str, int, int], frozenset[str]] = {}
    for (of, location), capacity in tables.CAPACITIES.items():
        if of == profile and capacity:
            expected[location, capacity, -1] = frozenset()
            expected[location, capacity + 32, -1] = frozenset({"capacity"})
            expected[location, 32, capacity - 32] = frozenset()
            expected[location, 32, capacity] = frozenset({"address-range"})
            odd = {"address-alignment"} if profile != "CPU" else set()
            expected[location, 32, 16] = frozenset(odd)
        elif of == profile:
            expected[location, 32, -1] = frozenset({"capacity"})

    def specified() -> Iterator[tuple[tuple[str, int, int], frozenset[str]]]:
        for location, size, address in expected:
            rows = size // 32
            tile = Tile(Location(location), ELEMENT_TYPES["i8"], rows, 32, rows, 32)
            if address < 0:
                wrong = tile_violations("t", tile, PROFILES[profile])
            else:
                wrong = address_violations(tile, address, PROFILES[profile])
            yield (location, size, address), frozenset(violation.rule.id for violation in wrong)

    return compared(expected, specified)


tiles = table_theorem(
    "pto/stated/tiles",
    "predefined tiles have the orders of the headers, and elements lie where their formulas say",
    "block sizes by fractal, order and width, the orders and names of each profile's predefined tiles, and "
    "the listed offsets are those of the tables written down from the headers; so are those of what is "
    "written of a tile in the notations of CuTe and of vectors",
    "pto-isa headers at 3186c381: pto_tile.hpp",
    lambda: {
        "blocks": _blocks,
        "aliases": _aliases,
        "offsets": _offsets,
        "whole": _whole,
        "written": _written,
    },
)


_OF_WIDTH = {"4 bytes": "f32", "2 bytes": "bf16", "1 byte": "f8E5M2"}


def _blocks() -> Certificate:
    return answered(
        tables.BLOCKS,
        lambda fractal, inner, width: box(fractal, Order(inner), ELEMENT_TYPES[_OF_WIDTH[width]]),
    )


def _aliases() -> Certificate:
    def specified() -> Iterator[tuple[tuple[str, str], object]]:
        for profile, location in tables.ALIASES:
            tile = alias(PROFILES[profile], Location(location), ELEMENT_TYPES["f16"], (64, 64))
            yield (profile, location), (str(tile.blocks), str(tile.inner), tile.fractal, tile.layout_name)

    return compared(tables.ALIASES, specified)


def _offsets() -> Certificate:
    places = {tuple(row.values())[:-1]: int(row["offset"]) for row in tables.OFFSETS}

    def specified() -> Iterator[tuple[tuple[str, ...], int]]:
        for key in places:
            blocks, inner, fractal, element, *numbers = key
            rows, columns, row, column = map(int, numbers)
            tile = Tile(
                Location.MAT, ELEMENT_TYPES[element], rows, columns, rows, columns,
                Order(blocks), Order(inner), int(fractal),
            )  # fmt: skip
            order = layout_of(tile)
            yield key, int(order.offset(row, column, order.pitch(rows, columns)))

    return compared(places, specified)


_WRITTEN = {"a": "left 32x64xf16 L", "b": "right 64x16xf16 Zn", "d": "acc 32x16xf32 Nz"}


def _written() -> Certificate:
    """Compare where CuTe's strides and the vectors of a product's operands say that elements lie."""
    expected = {}
    for profile, role in (("A2A3", "a"), ("A5", "a"), ("A5", "b")):
        text = _WRITTEN[role]
        spelled = stated_buffers.tile(text, profile)
        offsets = stated_buffers.offsets(spelled, spelled.rows, spelled.columns)
        expected[profile, role] = offsets.tolist()

    def specified(profile: str, role: str) -> object:
        operands = [f"{operand(text, profile)}" for text in _WRITTEN.values()]
        text = "pto.tmatmul ins(%a, %b : {}, {}) outs(%d : {})".format(*operands)
        shape, strides = map(literal_eval, written_layout(text, role, Notation.CUTE, profile).split(":"))
        rows, columns = (_steps(*mode) for mode in zip(shape, strides, strict=True))
        offsets = [[row + column for column in columns] for row in rows]
        vectors = literal_eval(written_layout(text, role, Notation.LINEAR, profile).partition(" = ")[2][:-1])
        for offset, (row, column) in enumerate(_images(vectors)):
            if offsets[row][column] != offset:
                return "its vectors say otherwise"
        return offsets

    return answered(expected, specified)


def _steps(shape: object, stride: object) -> list[int]:
    """Return how far each number of a coordinate is, the first of its digits counting first."""
    extents, steps = (part if isinstance(part, tuple) else (part,) for part in (shape, stride))
    digits = product(*(range(extent) for extent in reversed(extents)))
    return [sum(d * step for d, step in zip(digit, reversed(steps), strict=True)) for digit in digits]


def _images(vectors: list[list[int]]) -> list[tuple[int, int]]:
    found = [(0, 0)]
    for row, column in vectors:
        found += [(r ^ row, c ^ column) for r, c in found]
    return found


def _whole() -> Certificate:
    """Tiles of whole blocks, and of half a block more in rows or columns, where whole ones are demanded."""
    expected: dict[tuple[int, str, str, int, int], frozenset[str]] = {}
    for (fractal, inner, width), (rows, columns) in tables.BLOCKS.items():
        free = {"whole-blocks"} if fractal != 32 else set()
        expected[fractal, inner, width, rows, columns] = frozenset()
        expected[fractal, inner, width, rows, columns + columns // 2] = frozenset({"whole-blocks"})
        expected[fractal, inner, width, 2 * rows + rows // 2, columns] = frozenset(free)

    def specified() -> Iterator[tuple[tuple[int, str, str, int, int], frozenset[str]]]:
        for fractal, inner, width, rows, columns in expected:
            tile = Tile(
                Location.MAT, ELEMENT_TYPES[_OF_WIDTH[width]], rows, columns, rows, columns,
                Order.COL_MAJOR, Order(inner), fractal,
            )  # fmt: skip
            wrong = tile_violations("t", tile, PROFILES["A5"])
            rules = (violation.rule.id for violation in wrong)
            yield (fractal, inner, width, rows, columns), frozenset(rules) - {"buffer-range"}

    return compared(expected, specified)


sizes = table_theorem(
    "pto/stated/sizes",
    "m, k and n of every product come from the operands that the headers read them from",
    "(product, profile) ↦ (source of m, of k, of n) is the table written down from the headers; of each "
    "extent the lowest 16 bits are taken; operands have the rows and columns of the formulas",
    "pto-isa headers at 3186c381: TMatmul.hpp and TGemv.hpp of each profile",
    lambda: {"sources": _sizes, "extents": _extents, "narrowed": _narrowed},
)


def _sizes() -> Certificate:

    return answered(
        tables.SIZES,
        lambda name, profile: tuple(
            "1" if size_source is None else str(size_source)
            for size_source in size_sources(OPERATIONS[name], PROFILES[profile])
        ),
    )


def _extents() -> Certificate:
    expected = {}
    for m, k, n in product((1, 5, 4095), (1, 31, 32, 33, 64, 4095), (1, 9)):
        size = {"1": 1, "m": m, "k": k, "n": n, "k / 32": ceil(k / 32)}
        expected[m, k, n] = {role: (size[r], size[c]) for role, (r, c) in tables.EXTENTS.items()}
    return answered(expected, operand_extents)


def _narrowed() -> Certificate:
    extents = (1, 4095, 4096, 32768, 65535, 65536, 65537, 131071)

    def taken(name: str, extent: int) -> int:
        found = size_of(OPERATIONS[name], PROFILES["A5"], {"a": (extent, extent), "b": (extent, extent)})
        return int(found.m) if found.m == found.k == found.n else -1

    return answered(
        {(name, extent): extent % 65536 for name in ("tmatmul", "tmatmul.mx") for extent in extents}, taken
    )


THEOREMS = (buffers, tiles, sizes)
