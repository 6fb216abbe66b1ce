"""Bounds of inputs by ``[requires]``, on the grids of their formats."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode, encode
from ...spec.formats import F32, F64, FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..terms.evaluation import integers
from ..terms.input_ends import Ends, Reals

_EXACT = 2.0**53
"""Integers up to here are numbers of f64."""


@dataclass
class InputBounds:
    """Bounds of the inputs of a contract, by name."""

    ends: dict[str, Ends] = field(default_factory=dict)

    def of(self, name: str, fmt: Format, count: int) -> Ends:
        """Return the ends of an input of which nothing need be known."""
        if name not in self.ends:
            low, high = limits(fmt)
            number = np.full(count, isinstance(fmt, IntegerFormat))
            self.ends[name] = Ends(
                fmt, np.full(count, low), np.full(count, high), number, *np.zeros((2, count), dtype=bool)
            )
        return self.ends[name]


def limits(fmt: Format) -> tuple[float, float]:
    """Return the ends of a format, infinities included."""
    if isinstance(fmt, IntegerFormat):
        return _outward(fmt.minimum, -np.inf), _outward(fmt.maximum, np.inf)
    assert isinstance(fmt, FloatFormat)
    high = float(np.inf if fmt.infinity is not None else fmt.exact(fmt.largest << fmt.padding_bits) or 0)
    if fmt.signed:
        return -high, high
    return float(fmt.exact(0) or 0), high


def numbers_of(words: NDArray[np.uint64], fmt: Format) -> Reals:
    """Return what encodings (n,) stand for, integers beyond 2**53 rounded."""
    if isinstance(fmt, FloatFormat):
        return decode(words.astype(fmt.storage), fmt)
    return np.asarray(integers(words, fmt)).astype(np.float64)


def words_of(values: Reals, fmt: Format) -> NDArray[np.uint64]:
    """Return the encodings of numbers (n,), rounded to nearest within the ends of a format."""
    low, high = limits(fmt)
    if isinstance(fmt, FloatFormat):
        return encode(np.clip(values, low, high), fmt, Rounding.NEAREST_EVEN).astype(np.uint64)
    assert isinstance(fmt, IntegerFormat)
    near = np.rint(np.clip(values, low, high))
    if np.abs(near).max(initial=0) < _EXACT:
        return near.astype(np.int64).astype(np.uint64) & np.uint64((1 << fmt.bits) - 1)
    whole = [min(max(int(each), fmt.minimum), fmt.maximum) for each in near]
    return np.array([each & ((1 << fmt.bits) - 1) for each in whole], dtype=np.uint64)


def _outward(number: int, end: float) -> float:
    found = float(number)
    inside = found > number if end < 0 else found < number
    return float(np.nextafter(found, end)) if inside else found


def from_below(values: Reals, fmt: Format, *, strict: bool) -> Reals:
    """Return the least number of a format that is not below values, or above them; infinite if none is."""
    if isinstance(fmt, IntegerFormat):
        found = np.ceil(values)
        return np.where(strict & (found == values) & (np.abs(values) < _EXACT), found + 1, found)
    assert isinstance(fmt, FloatFormat)
    if fmt == F64:
        return np.nextafter(values, np.inf) if strict else values
    if fmt == F32:
        return _next_single(values, strict=strict)
    numbers = _numbers(fmt)
    places = np.searchsorted(numbers, values, side="right" if strict else "left")
    return np.append(numbers, np.inf)[places]


def from_above(values: Reals, fmt: Format, *, strict: bool) -> Reals:
    """Return the greatest number of a format that is not above values, or below them; infinite if none is."""
    if isinstance(fmt, IntegerFormat) or fmt in (F32, F64):
        return -from_below(-values, fmt, strict=strict)
    assert isinstance(fmt, FloatFormat)
    numbers = _numbers(fmt)
    places = np.searchsorted(numbers, values, side="left" if strict else "right")
    return np.append(-np.inf, numbers)[places]


def _next_single(values: Reals, *, strict: bool) -> Reals:
    with np.errstate(over="ignore", under="ignore"):
        near = values.astype(np.float32)
        short = (near < values) | (strict & (near == values))
        return np.where(short, np.nextafter(near, np.float32(np.inf)), near).astype(np.float64)


@cache
def _numbers(fmt: FloatFormat) -> Reals:
    """Return all numbers of a format of fewer than 32 bits, in order."""
    words = np.arange(1 << (fmt.bits - fmt.padding_bits), dtype=np.uint64) << np.uint64(fmt.padding_bits)
    values = decode(words.astype(fmt.storage), fmt)
    return np.unique(values[~np.isnan(values)])
