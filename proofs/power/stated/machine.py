"""What Power's instructions do to all registers of a machine, computed with numpy from the ISA's prose.

Sources: Power ISA 3.1 sections 7.2.1.3 (accumulators) and 7.6.1.12 (updates), section 1.6 (prefixes);
Moreira et al. sections II-A and II-B; GNU binutils for which bits are reserved.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Machine = tuple[Bytes, Bytes]
"""VSR[0..63] (64, 16), and accumulators of their own (8, 4, 16)."""

TYPES = {
    "xvi8ger4pp": (">i1", ">u1", ">i4", 4, 1),
    "xvi16ger2pp": (">i2", ">i2", ">i4", 2, 1),
    "xvf16ger2pp": (">f2", ">f2", ">f4", 2, 1),
    "xvf32gerpp": (">f4", ">f4", ">f4", 1, 1),
    "xvf64gerpp": (">f8", ">f8", ">f8", 1, 2),
    "xvf32ger": (">f4", ">f4", ">f4", 1, 1),
    "xvf64ger": (">f8", ">f8", ">f8", 1, 2),
}
"""Element types of X, Y and the accumulator as they stand in a register, rank, and VSRs of X."""


def machine() -> Machine:
    """Return registers that hold small numbers in every type."""
    vsr = np.zeros((64, 16), dtype=np.uint8)
    acc = np.zeros((8, 4, 16), dtype=np.uint8)
    numbers = (np.arange(64 * 4) * 37 % 11 - 5).reshape(64, 4)
    for number in range(64):
        vsr[number] = _row(">f4", numbers[number])
    for number in range(8):
        for row in range(4):
            acc[number, row] = _row(">f4", numbers[4 * number + row] + 1)
    return vsr, acc


def _row(kind: str, numbers: NDArray[np.int64]) -> Bytes:
    return np.frombuffer(numbers.astype(kind).tobytes(), dtype=np.uint8)


def update(name: str, at: int, x: int, y: int, masks: tuple[int, ...] = ()) -> tuple[Machine, Machine]:
    """Return the machine before and after an update; masks are of rows, columns and products, if any."""
    x_kind, y_kind, kind, rank, registers = TYPES[name]
    vsr, acc = machine()
    columns = 16 // np.dtype(kind).itemsize
    left = (np.arange(4 * rank) * 6 % 11 - 5.5).reshape(4, rank)
    left = np.trunc(left).astype(int) + np.sign(left).astype(int)  # no zero: a product of one would be -0
    right = 1 + (np.arange(columns * rank) * 7 % 11).reshape(columns, rank)
    old = (np.arange(4 * columns) * 3 % 13 - 6).reshape(4, columns)
    vsr[x : x + registers] = _row(x_kind, left.ravel()).reshape(registers, 16)
    vsr[y] = _row(y_kind, right.ravel())
    for row in range(4):
        acc[at, row] = _row(kind, old[row])
    live = np.ones((4, columns, rank), dtype=int)
    for axis, mask in enumerate(masks):
        size = live.shape[axis]
        bits = np.array([mask >> (size - 1 - place) & 1 for place in range(size)])
        live = live * bits.reshape([-1 if other == axis else 1 for other in range(3)])
    total = (left[:, None, :] * right[None, :, :] * live).sum(axis=-1)
    enabled = live.any(axis=-1) if len(masks) < 3 else live_elements(masks, (4, columns))
    kept = old if name.endswith("pp") else np.zeros_like(old)
    after = np.where(enabled, total + kept, 0)
    done = acc.copy()
    for row in range(4):
        done[at, row] = _row(kind, after[row])
    return (vsr, acc), (vsr, done)


def live_elements(masks: tuple[int, ...], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return which elements rows and columns enable; a disabled one becomes zero."""
    rows, columns = (
        np.array([mask >> (size - 1 - place) & 1 for place in range(size)], dtype=bool)
        for mask, size in zip(masks, shape, strict=False)
    )
    return np.asarray(rows[:, None] & columns[None, :])


UPDATES = (
    ("xvi8ger4pp a5,vs34,vs63", ("xvi8ger4pp", 5, 34, 63)),
    ("xvi16ger2pp a0,vs62,vs4", ("xvi16ger2pp", 0, 62, 4)),
    ("xvf16ger2pp a7,vs0,vs27", ("xvf16ger2pp", 7, 0, 27)),
    ("xvf32gerpp a2,vs33,vs40", ("xvf32gerpp", 2, 33, 40)),
    ("xvf32ger a2,vs33,vs40", ("xvf32ger", 2, 33, 40)),
    ("xvf64gerpp a3,vs44,vs9", ("xvf64gerpp", 3, 44, 9)),
    ("xvf64ger a3,vs0,vs63", ("xvf64ger", 3, 0, 63)),
    ("pmxvi8ger4pp a1,vs32,vs33,9,6,11", ("xvi8ger4pp", 1, 32, 33, (9, 6, 11))),
    ("pmxvf32gerpp a1,vs32,vs33,7,14", ("xvf32gerpp", 1, 32, 33, (7, 14))),
    ("pmxvf64gerpp a1,vs32,vs34,13,1", ("xvf64gerpp", 1, 32, 34, (13, 1))),
)
"""Texts, and what they are: update, accumulator, X, Y, masks."""

MASKS = {
    "xvi4ger8": (15, 15, 255), "xvi8ger4": (15, 15, 15), "xvi16ger2": (15, 15, 3), "xvbf16ger2": (15, 15, 3),
    "xvf16ger2": (15, 15, 3), "xvf32ger": (15, 15, 1), "xvf64ger": (15, 3, 1),
}  # fmt: skip
"""All ones: of four rows, of the columns and of the products."""

CODE = "0790a799 ee82591e 7c010162 0790a799 ee82591e"
"""Prefixed instructions, one with another word behind it, and what they are."""

CODE_LENGTHS = (8, 4, 8)

CITED: Mapping[str, tuple[str, ...]] = {
    "mask-range": ("f64-ymsk-width",),
    "odd-pair": ("odd-pair",),
    "vsr-overlap": ("vsr-overlap", "aliasing"),
}
"""The contradictions of documents that rules cite; the others cite none."""

WIDTHS = (4, 8, 16, 32, 64)
"""Bits of an element; a register's elements begin at multiples, counted from its most significant bit."""
