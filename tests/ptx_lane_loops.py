"""A warp's registers read lane by lane, in plain Python: an implementation independent of the layouts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.unsignedinteger]
"""Registers (32 lanes, r)."""


def per_register(bits: int) -> int:
    """Return the elements of one register."""
    return max(1, 32 // bits)


def field(registers: Words, lane: int, i: int, bits: int) -> int:
    """Return element i of a lane."""
    e = per_register(bits)
    return int(registers[lane, i // e]) >> bits * (i % e) & ((1 << bits) - 1)


def places(operand: str, m: int, columns: int, bits: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (lane, i, row, column) of every element.

    Parameters
    ----------
    operand : str
        ``a``, ``b``, or ``c`` for an accumulator.
    m : int
        Rows of A.
    columns : int
        Columns of A as it is stored, rows of B; without meaning for C.
    bits : int
        Container of an element.
    """
    e, halves = per_register(bits), m // 8
    counts = {"a": m * columns // 32, "b": columns * 8 // 32, "c": m * 8 // 32}
    for lane in range(32):
        g, t = divmod(lane, 4)
        for i in range(counts[operand]):
            register, j = divmod(i, e)
            match operand:
                case "a":
                    yield lane, i, g + 8 * (register % halves), e * t + j + 4 * e * (register // halves)
                case "b":
                    yield lane, i, e * t + j + 4 * e * register, g
                case _:
                    yield lane, i, g + 8 * (i >> 1), 2 * t + (i & 1)


def quad_pair_places(operand: str, kind: str) -> Iterator[tuple[int, int, tuple[int, int, int]]]:
    """Yield (lane, i, (computation, row, column)) of the f16 ``m8n8k4``; the kind is a layout or a type."""
    for lane in range(32):
        h, m, q = 4 * (lane >= 16), lane % 4, lane % 16 // 4
        for i in range(4 if operand in "ab" else 8):
            place = {
                "a row": (m + h, i),
                "a col": (i + h, m),
                "b row": (m, i + h),
                "b col": (i, m + h),
                "c f16": (m + h, i),
                "c f32": ((lane & 1) + (i & 2) + h, (i & 4) + (lane & 2) + (i & 1)),
            }[f"{operand} {kind}"]
            yield lane, i, (q, *place)
