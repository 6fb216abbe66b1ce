"""Inputs of terms as encodings: their values, small ones, random ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode
from ...spec.formats import FloatFormat, Format, IntegerFormat
from .evaluation import integers

Words = NDArray[np.uint64]

Inputs = Mapping[str, NDArray[np.uint64]]
"""The encodings of every input, by linear index; a scalar has one."""

WHOLE_BITS = 8
"""Integers of so many bits, or fewer, take all their values; wider ones small values, and edges."""


def numbers_in(words: NDArray[np.uint64], fmt: Format) -> NDArray[Any]:
    """Return what encodings stand for."""
    if isinstance(fmt, FloatFormat):
        return decode(words.astype(fmt.storage), fmt)
    return integers(words, fmt)


def one_of_two(fmt: Format, value: int) -> int:
    """Return the encoding of 0 or 1; where there is no 0, of 1."""
    if isinstance(fmt, IntegerFormat):
        return value
    assert isinstance(fmt, FloatFormat)
    if not value and fmt.subnormals:
        return 0
    return fmt.bias << (fmt.fraction_bits + fmt.padding_bits)


def small_numbers(fmt: Format) -> NDArray[np.uint64]:
    """Return the encodings of a few small integers."""
    values = (0, 1, 2, 3, -1, -2)
    if isinstance(fmt, IntegerFormat):
        kept = [value for value in values if fmt.minimum <= value <= fmt.maximum]
        return np.array([value & ((1 << fmt.bits) - 1) for value in kept], dtype=np.uint64)
    assert isinstance(fmt, FloatFormat)
    found = [one_of_two(fmt, 0), one_of_two(fmt, 1), (fmt.bias + 1) << (fmt.fraction_bits + fmt.padding_bits)]
    negative = [encoding | fmt.sign_mask for encoding in found[1:]] if fmt.signed else []
    return np.array([*found, *negative], dtype=np.uint64)


def ordinary(fmt: Format, count: int, random: np.random.Generator) -> Words:
    """Return small numbers, whose sums are exact."""
    if isinstance(fmt, IntegerFormat) and fmt.bits <= WHOLE_BITS:
        return random.integers(0, 1 << fmt.bits, count, dtype=np.uint64)
    return random.choice(small_numbers(fmt), count)


def of_all_bits(fmt: Format, count: int, random: np.random.Generator, *, finite: bool) -> Words:
    """Return numbers with random bits: floats from 1/2 to 4 of either sign, where they are to be finite."""
    words: Words = random.integers(0, (1 << fmt.bits) - 1, count, dtype=np.uint64, endpoint=True)
    if isinstance(fmt, IntegerFormat) or not finite:
        if finite and fmt.bits > WHOLE_BITS:
            return words % np.uint64(1 << WHOLE_BITS - 1)
        return words
    assert isinstance(fmt, FloatFormat)
    exponents = random.integers(-1, 2, count).astype(np.int64) + fmt.bias
    scaled = (exponents.astype(np.uint64) << np.uint64(fmt.fraction_bits)) << np.uint64(fmt.padding_bits)
    fraction = words & np.uint64(((1 << fmt.fraction_bits) - 1) << fmt.padding_bits)
    found: Words = scaled | fraction | (words & np.uint64(fmt.sign_mask))
    return found
