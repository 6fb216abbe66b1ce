"""Where PTO's headers put elements in buffers, pads, views of memory, and drawn extents.

Sources: pto-isa headers at 3186c381: TINSERT, pto_tile.hpp, GlobalTensor, cpu/TLoad.hpp.

Sources: pto-isa headers at 3186c381 (pto_tile.hpp: orders, blocks; GlobalTensor: views); IEEE 754; OCP 8-bit
Floating Point 1.0 and Microscaling Formats 1.0.

Source: docs/command-line.md, ``mmaproof run`` (numbers without a shape, ``--seed``); PTO IR manual (valid).
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from .names import SpelledTile, operand

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


Numbers = NDArray[np.int64]
Buffer = NDArray[np.generic]

BYTES = {
    "i8": 1,
    "ui8": 1,
    "f8E4M3FN": 1,
    "f8E5M2": 1,
    "f8E8M0FNU": 1,
    "f16": 2,
    "bf16": 2,
    "f32": 4,
    "i32": 4,
}

_E4M3 = {0: 0, 1: 0x38, 2: 0x40, 3: 0x44}
_E5M2 = {0: 0, 1: 0x3C, 2: 0x40, 3: 0x42}


def tile(text: str, profile: str) -> SpelledTile:
    """Return the tile that a text spells."""
    found = operand(text, profile)
    assert isinstance(found, SpelledTile), text
    return found


def block(spelled: SpelledTile) -> tuple[int, int]:
    """Return rows and columns of a block."""
    if spelled.inner == "none_box":
        return 1, 1
    long, short = {512: (16, 32 // BYTES[spelled.element]), 1024: (16, 16), 32: (16, 2)}[spelled.fractal]
    return (long, short) if spelled.inner == "row_major" else (short, long)


def offsets(spelled: SpelledTile, rows: int, columns: int) -> Numbers:
    """Return where elements lie; `rows` and `columns` say how far apart blocks are."""
    high, wide = block(spelled)
    r, c = np.indices((rows, columns))
    if spelled.rows == 1 and spelled.inner == "row_major":
        return np.asarray(r * columns + c)
    across, down = columns // wide, rows // high
    which = r // high * across + c // wide if spelled.blocks == "row_major" else c // wide * down + r // high
    by_columns = spelled.inner == "col_major"
    within = c % wide * high + r % high if by_columns else r % high * wide + c % wide
    return np.asarray(which * high * wide + within)


def up(extent: int, unit: int) -> int:
    """Return the least multiple that is no less."""
    return -(-extent // unit) * unit


def buffer(
    spelled: SpelledTile, matrix: Buffer, before: Buffer | int = 0, *, apart: tuple[int, int] | None = None
) -> Buffer:
    """Return the buffer of a tile with a matrix in its corner, over what was there before.

    Blocks are as far apart as a tile of extent `apart` has them, by default the tile's own.
    """
    found = np.zeros(spelled.rows * spelled.columns, dtype=matrix.dtype)
    found[:] = before
    rows, columns = matrix.shape
    found[offsets(spelled, *(apart or (spelled.rows, spelled.columns)))[:rows, :columns]] = matrix
    return found


def encoded(element: str, numbers: Numbers) -> Buffer:
    """Return encodings of small whole numbers; of a scale factor the exponent is given."""
    if element in ("i8", "ui8"):
        return numbers.astype(np.int8).view(np.uint8)
    if element == "i32":
        return numbers.astype(np.int32).view(np.uint32)
    if element == "f32":
        return numbers.astype(np.float32).view(np.uint32)
    if element == "f16":
        return numbers.astype(np.float16).view(np.uint16)
    if element == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if element == "f8E8M0FNU":
        return (127 + numbers).astype(np.uint8)
    table = _E4M3 if element == "f8E4M3FN" else _E5M2
    codes = np.array([table[abs(n)] | (0x80 if n < 0 else 0) for n in range(-3, 4)], dtype=np.uint8)
    return codes[numbers + 3]


def small_numbers(rows: int, columns: int, start: int) -> Numbers:
    """Return numbers from -3 to 3 that no exchange of rows or columns keeps."""
    r, c = np.indices((rows, columns))
    return np.asarray((5 * r * r + 3 * r * c + c * c + 2 * c + start) % 7 - 3)


_PRODUCTS: tuple[tuple[str, dict[str, str], tuple[int, int]], ...] = (
    # operation, operands, extent of the result
    ("tmatmul", {"a": "left 32x64xf16 L valid=?x?", "b": "right 64x48xf16 Zn valid=?x?",
                 "d": "acc 32x48xf32 Nz valid=?x?"}, (32, 48)),
    ("tmatmul", {"a": "left 32x64xf16 L valid=20x?", "b": "right 64x48xf16 Zn valid=?x40",
                 "d": "acc 32x48xf32 Nz valid=20x40"}, (20, 40)),
    ("tmatmul", {"a": "left 32x64xf16 L valid=?x50", "b": "right 64x48xf16 Zn valid=50x?",
                 "d": "acc 32x48xf32 Nz valid=?x?"}, (32, 48)),
    ("tmatmul", {"a": "left 32x64xi8 L", "b": "right 64x96xi8 Zn", "d": "acc 32x96xi32 Nz"}, (32, 96)),
)  # fmt: skip

_MOVES: tuple[tuple[str, str, str, tuple[int, int]], ...] = (
    # operation, source, target, extent of the result
    ("tload", "view ?x?xf16", "mat 32x64xf16 Nz valid=?x?", (32, 64)),
    ("tload", "view ?x?xf16", "mat 32x64xf16 Nz valid=?x40", (32, 40)),
    ("tload", "view ?x?xf16", "mat 32x64xf16 Nz valid=20x?", (20, 64)),
    ("tmov", "mat 32x64xf16 Nz valid=?x?", "left 32x64xf16 L valid=?x?", (32, 64)),
    ("tmov", "mat 32x64xf16 Nz valid=20x40", "left 32x64xf16 L valid=20x40", (20, 40)),
    ("tstore", "acc 32x48xf32 Nz valid=?x?", "view ?x?xf32", (32, 48)),
    ("tstore", "acc 32x48xf32 Nz valid=?x40", "view ?x?xf32", (32, 40)),
)


def extents(profile: str) -> dict[str, tuple[int, int]]:
    """Return the extents of results by statement."""
    found: dict[str, tuple[int, int]] = {}
    for operation, operands, extent in _PRODUCTS:
        types = {role: str(operand(text, profile)) for role, text in operands.items()}
        text = f"pto.{operation} ins(%a, %b : {types['a']}, {types['b']}) outs(%d : {types['d']})"
        found[text] = extent
    for operation, source, target, extent in _MOVES:
        come, go = operand(source, profile), operand(target, profile)
        found[f"pto.{operation} ins(%s : {come}) outs(%t : {go})"] = extent
    return found


OPEN_PRODUCT = (
    "left 32x64xf16 L valid=?x?", "right 64x48xf16 Zn valid=?x?", "acc 32x48xf32 Nz valid=?x?",
)  # fmt: skip
"""A, B and D of a product whose extents are known at run time."""

OPEN_EXTENTS = (
    # rows and columns of A, rows and columns of B
    (20, 50, 50, 40), (32, 64, 64, 48), (1, 1, 1, 1), (7, 33, 34, 48), (32, 20, 64, 3), (20, 50, 49, 40),
    (16, 16, 1, 16), (3, 64, 63, 48), (0, 64, 64, 48), (32, 0, 0, 48), (32, 0, 5, 48), (32, 64, 64, 0),
    (0, 0, 0, 0),
)  # fmt: skip
"""Extents that are given: of a product over the columns of A."""

OPEN_SCALED = (
    # operands of tmatmul.mx, their extents by m, k and n, what the type says
    ("a", "mk", "left 16x64xf8E4M3FN L valid=?x?"),
    ("scale_a", "ms", "scale_left 16x2xf8E8M0FNU Zz valid=?x?"),
    ("b", "kn", "right 64x32xf8E5M2 Zn valid=?x?"),
    ("scale_b", "sn", "scale_right 2x32xf8E8M0FNU Nn valid=?x?"),
    ("d", "mn", "acc 16x32xf32 Nz valid=?x?"),
)  # fmt: skip
"""A product of scaled factors whose extents are known at run time; s are the factors along k."""

SCALED_EXTENTS = ((16, 64, 32), (3, 64, 5), (0, 64, 32), (16, 0, 32), (16, 64, 0))
"""m, k and n of it."""
