"""Integer arithmetic on enclosed 32-bit words: sums, products, bit fields, comparisons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from .affine_numbers import Affine, Truths, moved, plus, scaled, settled
from .float_enclosures import SIGN, WORDS, modulo

Words = NDArray[np.uint64]

May = tuple[Truths, Truths]
"""Whether a bit may be 1, and whether it may be 0."""


def signed_numbers(words: Affine) -> Affine:
    """Return two's complement numbers."""
    minus = words.low >= SIGN
    apart = minus != (words.high >= SIGN)
    found = moved(words, np.where(minus, -WORDS, 0.0))
    return settled(
        found._replace(
            low=np.where(apart, -SIGN, found.low),
            high=np.where(apart, SIGN - 1, found.high),
            off=np.where(apart, np.inf, found.off),
        )
    )


def word_product(one: Affine, other: Affine) -> Affine:
    """Return products of integers of which one is a constant, as far as float64 has them."""
    constant = one.is_constant.all() or other.is_constant.all()
    most = one.high * other.high
    if not constant or (most >= 2.0**53).any():
        raise UnsupportedError("a product of words is not enclosed")
    return scaled(other, one.low) if one.is_constant.all() else scaled(one, other.low)


def word_sum(one: Affine, other: Affine) -> Affine:
    """Return sums of integers that float64 has."""
    return settled(plus(one, other)._replace(low=one.low + other.low, high=one.high + other.high))


def field(words: Affine, low: int, width: int) -> Affine:
    """Return some bits of words."""
    found = modulo(words, 2.0 ** (low + width))
    if not low:
        return found
    found = scaled(found, 2.0**-low)
    ends = np.floor(found.low), np.floor(found.high)
    return settled(found._replace(off=found.off + 1.0, low=ends[0], high=ends[1]))


def possible_bits(words: Affine) -> tuple[Words, Words]:
    """Return which bits may be 1, and which may be 0."""
    low, high = (np.clip(each, 0, WORDS - 1).astype(np.uint64) for each in (words.low, words.high))
    free = low ^ high
    for shift in (1, 2, 4, 8, 16):
        free |= free >> np.uint64(shift)
    return low | free, ~low | free


def compared(relation: str, one: Affine, other: Affine) -> May:
    """Return what comparisons of numbers may give."""
    less, greater = one.low < other.high, one.high > other.low
    same = one.is_constant & other.is_constant & (one.low == other.low)
    equal = (one.low <= other.high) & (other.low <= one.high)
    match relation:
        case "lt":
            return less, one.high >= other.low
        case "le":
            return one.low <= other.high, greater
        case "gt":
            return greater, one.low <= other.high
        case "ge":
            return one.high >= other.low, less
        case "eq":
            return equal, ~same
        case "ne":
            return ~same, equal
    raise UnsupportedError(f"the comparison {relation} is not enclosed")
