"""Where the headers put elements in a buffer, and how they encode whole numbers.

Sources: pto-isa headers at 3186c381 (pto_tile.hpp: orders, blocks; GlobalTensor: views); IEEE 754; OCP 8-bit
Floating Point 1.0 and Microscaling Formats 1.0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .operand_spelling import SpelledTile, operand

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
