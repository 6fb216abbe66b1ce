"""Which elements of the matrices of ``wgmma`` the registers of a warp hold, from the manual's figures.

Element i of a thread, low to high, of thread 4 g + t of a warp: of D in row g or g + 8 of the warp's 16, of A
likewise by its register. Source: PTX ISA 9.1 section 9.7.15 (register fragments, sparse matrices).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS = 16
"""Rows of A and of D that a warp has."""

_LANES = np.arange(32)[:, None]


def multiplicand(words: Sequence[Sequence[int]], bits: int) -> NDArray[Any]:
    """Return A (16, k), as stored, of the four registers (32, 4) of a warp."""
    per = 32 // bits
    i = np.arange(4 * per)
    register, j = i // per, i % per
    rows = (_LANES >> 2) + 8 * (register % 2)
    columns = per * (_LANES & 3) + j + 4 * per * (register // 2)
    found = np.zeros((ROWS, 8 * per), dtype=np.uint64)
    found[rows, columns] = _fields(np.array(words, dtype=np.uint64), register, bits * j, bits)
    return found


def accumulator(words: NDArray[Any], bits: int) -> NDArray[Any]:
    """Return D (16, n) of its registers (32, r)."""
    rows, columns, register, low = _places(words.shape[1], bits)
    found = np.zeros((ROWS, int(columns.max()) + 1), dtype=np.uint64)
    found[rows, columns] = _fields(words, register, low, bits)
    return found


def accumulator_words(d: NDArray[Any], bits: int) -> NDArray[Any]:
    """Return the registers (32, r) of D (16, n)."""
    count = d.shape[1] * bits // 64
    rows, columns, register, low = _places(count, bits)
    fields = d.astype(np.uint64)[rows, columns] << low.astype(np.uint64)
    words = [np.bitwise_or.reduce(fields[:, register == each], axis=1) for each in range(count)]
    return np.stack(words, axis=1)


def metadata(words: Sequence[int], bits: int, selector: int) -> NDArray[Any]:
    """Return the nibbles (16, chunks) of a warp's rows; elements of A are of so many bits."""
    row, chunk = np.indices((ROWS, 16 if bits == 8 else 8))
    if bits == 8:
        lane, low = 4 * (row % 8) + 2 * (chunk // 8) + row // 8, 4 * (chunk % 8)
    else:
        lane, low = 4 * (row % 8) + 2 * selector + chunk // 4, 16 * (row // 8) + 4 * (chunk % 4)
    return (np.array(words)[lane] >> low & 15).astype(np.uint8)


def _places(registers: int, bits: int) -> tuple[NDArray[Any], ...]:
    """Return rows and columns (32, n) of D's elements, and the register and the lowest bit (n,) of each."""
    per = 32 // bits
    i = np.arange(registers * per)
    rows, columns = (_LANES >> 2) + 8 * (i >> 1 & 1), 8 * (i >> 2) + 2 * (_LANES & 3) + (i & 1)
    return rows, columns, i // per, bits * (i % per)


def _fields(words: NDArray[Any], register: NDArray[Any], low: NDArray[Any], bits: int) -> NDArray[Any]:
    found: NDArray[Any] = words[:, register] >> low.astype(np.uint64) & np.uint64((1 << bits) - 1)
    return found
