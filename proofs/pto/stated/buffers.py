"""Insertions, pads, views of memory and orders of elements in PTO's buffers, from the headers.

Sources: pto-isa headers at 3186c381: TINSERT, pto_tile.hpp, GlobalTensor, cpu/TLoad.hpp.
"""

from __future__ import annotations

from itertools import product

from .buffer_orders import Buffer, Numbers, buffer, encoded, offsets, small_numbers, tile

# -- insertions
INSERTED = ("mat 32x32xf16 Nz", "mat 64x64xf16 Nz")
COMPACT = ("mat 64x64xf16 Nz compact=1", "mat 64x96xf16 Nz compact=1")
COMPACT_EXTENTS = ((20, 24), (40, 40))
"""Tiles whose blocks are as far apart as their valid rows, rounded up to blocks, say."""


def insertion_buffers() -> tuple[Buffer, Buffer]:
    """Return the target before, and the source."""
    target, source = tile(INSERTED[1], "A5"), tile(INSERTED[0], "A5")
    before = buffer(target, encoded("f16", small_numbers(64, 64, 2)))
    return before, buffer(source, encoded("f16", small_numbers(32, 32, 5)))


def inserted(row: int, column: int) -> Buffer:
    """Return the target afterwards."""
    matrix = small_numbers(64, 64, 2)
    matrix[row : row + 32, column : column + 32] = small_numbers(32, 32, 5)
    return buffer(tile(INSERTED[1], "A5"), encoded("f16", matrix))


def compact_buffers(row: int, column: int) -> tuple[Buffer, Buffer, Buffer]:
    """Return the compact target before, the source, and the target afterwards."""
    source, target = (tile(text, "A5") for text in COMPACT)
    matrix, moved = small_numbers(48, 48, 2), small_numbers(20, 24, 5)
    before = buffer(target, encoded("f16", matrix), apart=(48, 48))
    matrix[row : row + 20, column : column + 24] = moved
    after = buffer(target, encoded("f16", matrix), apart=(48, 48))
    return before, buffer(source, encoded("f16", moved), apart=(32, 32)), after


# -- pads
PADS = {
    (element, pad): encoding
    for element, greatest, least in (
        ("f16", 0x7C00, 0xFC00), ("bf16", 0x7F80, 0xFF80), ("f32", 0x7F800000, 0xFF800000),
        ("f8E5M2", 0x7C, 0xFC), ("f8E4M3FN", 0x7E, 0xFE), ("i8", 0x7F, 0x80), ("ui8", 0xFF, 0),
        ("i32", 0x7FFFFFFF, 0x80000000), ("i16", 0x7FFF, 0x8000),
    )
    for pad, encoding in (("NULL", 0), ("ZERO", 0), ("MAX", greatest), ("MIN", least))
}  # fmt: skip
"""The encoding of a pad: the greatest and the least are infinities where there are any."""

# -- views of memory
Five = tuple[int, int, int, int, int]

STRIDES: Five = (10000, 1500, 300, 17, 2)
"""No two sums of them are the same for the shapes below."""

_SHAPES: tuple[Five, ...] = (
    (2, 3, 2, 4, 5),
    (1, 1, 1, 6, 7),
    (1, 3, 1, 2, 4),
    (2, 1, 3, 3, 1),
    (1, 1, 2, 1, 3),
)

VIEWS = tuple(product(("ND", "DN", "NZ"), _SHAPES))

_FOLDED = {"ND": ((3, 2, 1, 0), (4,)), "DN": ((3,), (4, 2, 1, 0)), "NZ": ((3, 2), (4, 1, 0))}
"""The dimensions that rows and columns run over, the fastest first."""


def view_offsets(order: str, shape: Five) -> list[list[int]]:
    """Return the offset of every row and column: all digits are counted, the fastest first."""
    places = []
    for axes in _FOLDED[order]:
        counted = product(*(range(shape[axis]) for axis in reversed(axes)))
        places.append(
            [sum(d * STRIDES[a] for d, a in zip(digits, reversed(axes), strict=True)) for digits in counted]
        )
    rows, columns = places
    return [[row + column for column in columns] for row in rows]


VIEW_EXTENTS: dict[tuple[int, ...], list[tuple[int, int]]] = {
    (64, 128): [(64, 128)],
    (2, 3, 4): [(6, 4), (3, 8), (6, 4)],
    (2, 3, 4, 5, 6): [(120, 6), (5, 144), (20, 36)],
    (7,): [],
    (1, 2, 3, 4, 5, 6): [],
}
"""Rows and columns of a view in each order; of two dimensions it has one."""

# -- orders
LAYOUTS = (
    "left 32x48xf16 Nz", "left 32x48xf16 Zz", "right 32x48xf16 Zn", "right 64x48xi8 Zn", "right 24x48xf32 Zn",
    "acc 32x48xf32 Nz", "scale_left 32x4xf8E8M0FNU Zz", "scale_right 4x32xf8E8M0FNU Nn", "mat 32x48xf32 Nn",
    "vec 6x16xf32 ND", "vec 8x6xf32 DN", "left 1x64xf16 Nz", "left 1x64xf16 Zz",
    "acc 16x16xf32 Nz fractal=512",
)  # fmt: skip

FORMULAS = {
    "left 32x48xf16 Nz": "(c/16)*512 + (r/16)*256 + (r%16)*16 + c%16",
    "left 32x48xf16 Zz": "(r/16)*768 + (c/16)*256 + (r%16)*16 + c%16",
    "right 64x48xi8 Zn": "(r/32)*1536 + (c/16)*512 + (c%16)*32 + r%32",
    "right 24x48xf32 Zn": "(r/8)*384 + (c/16)*128 + (c%16)*8 + r%8",
    "scale_left 32x4xf8E8M0FNU Zz": "(r/16)*64 + (c/2)*32 + (r%16)*2 + c%2",
    "scale_right 4x32xf8E8M0FNU Nn": "(c/16)*64 + (r/2)*32 + (c%16)*2 + r%2",
    "vec 6x16xf32 ND": "r*16 + c",
    "vec 8x6xf32 DN": "c*8 + r",
    "left 1x64xf16 Zz": "r*64 + c",
}
"""The same as formulas, written out for the extents."""


def offsets_of(text: str) -> Numbers:
    """Return where all elements of a tile lie."""
    spelled = tile(text, "A5")
    return offsets(spelled, spelled.rows, spelled.columns)
