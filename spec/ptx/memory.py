"""Bytes in memory and the elements in them: little-endian, parts of a byte from its lowest bit up."""

from __future__ import annotations

from math import lcm

import numpy as np

from ..algebra import Algebra, Array
from ..formats import U8, Format, IntegerFormat


def _group(fmt: Format) -> IntegerFormat:
    """Return the smallest word that whole bytes and whole elements fill."""
    bits = lcm(U8.bits, fmt.bits)
    return IntegerFormat(f"u{bits}", bits, signed=False)


def from_bytes(alg: Algebra, data: Array, fmt: Format) -> Array:
    """Split bytes (…, n) into encodings (…, 8n / fmt.bits), in ascending order of address and bit."""
    word = _group(fmt)
    count = 8 * data.shape[-1] // word.bits
    groups = data.reshape(*data.shape[:-1], count, word.bits // 8)
    words = groups[..., 0] if word.bits == 8 else alg.assemble(groups, U8, range(0, word.bits, 8), word)
    if fmt.bits == word.bits:
        return words
    fields = [alg.extract(words, low, fmt) for low in range(0, word.bits, fmt.bits)]
    return np.stack(fields, axis=-1).reshape(*data.shape[:-1], count * len(fields))


def to_bytes(alg: Algebra, elements: Array, fmt: Format) -> Array:
    """Join encodings (…, n) to bytes (…, n * fmt.bits / 8), the inverse of `from_bytes`."""
    word = _group(fmt)
    count = elements.shape[-1] * fmt.bits // word.bits
    groups = elements.reshape(*elements.shape[:-1], count, word.bits // fmt.bits)
    if fmt.bits == word.bits:
        words = groups[..., 0]
    else:
        words = alg.assemble(groups, fmt, range(0, word.bits, fmt.bits), word)
    if word.bits == 8:
        return words
    data = [alg.extract(words, low, U8) for low in range(0, word.bits, 8)]
    return np.stack(data, axis=-1).reshape(*elements.shape[:-1], count * len(data))
