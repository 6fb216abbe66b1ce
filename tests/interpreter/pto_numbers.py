"""What vector instructions of PTO compute of encodings: numpy's own floats and integers, no terms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mmaproof.spec.formats import BF16, F16, F32, FloatFormat, Format, IntegerFormat

from .pto_tiles import BrokenError, Words

Numbers = NDArray[np.float64] | NDArray[np.int64]


def decoded(words: Words, fmt: Format) -> Numbers:
    """Return the numbers that encodings stand for."""
    if fmt == F32:
        return words.astype(np.uint32).view(np.float32).astype(np.float64)
    if fmt == F16:
        return words.astype(np.uint16).view(np.float16).astype(np.float64)
    if fmt == BF16:
        return (words << np.uint64(16)).astype(np.uint32).view(np.float32).astype(np.float64)
    if isinstance(fmt, IntegerFormat):
        numbers = words.astype(np.int64)
        high = fmt.signed & (numbers >> (fmt.bits - 1))
        return numbers - (high << fmt.bits)
    raise BrokenError(f"numbers of {fmt}")


def encoded(numbers: Numbers, fmt: Format) -> Words:
    """Return encodings, rounded to nearest even; integers modulo their range."""
    if isinstance(fmt, IntegerFormat):
        return (numbers.astype(np.int64) & ((1 << fmt.bits) - 1)).astype(np.uint64)
    reals = numbers.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if fmt == F32:
            return reals.astype(np.float32).view(np.uint32).astype(np.uint64)
        if fmt == F16:
            return reals.astype(np.float16).view(np.uint16).astype(np.uint64)
    if fmt == BF16:
        bits = np.ascontiguousarray(reals).view(np.uint64)
        cut = np.uint64(45)
        half = (np.uint64(1) << np.uint64(44)) - np.uint64(1) + ((bits >> cut) & np.uint64(1))
        kept = ((bits + half) >> cut) << cut
        return kept.view(np.float64).astype(np.float32).view(np.uint32).astype(np.uint64) >> np.uint64(16)
    raise BrokenError(f"numbers of {fmt}")


BINARY: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "max": np.maximum,
    "min": np.minimum,
}

UNARY: dict[str, Callable[[Numbers], Numbers]] = {
    "neg": lambda a: -a,
    "abs": np.abs,
    "relu": lambda a: np.maximum(a, 0),
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "recip": lambda a: 1 / a,
}

_ROUNDED: dict[str, Callable[[Numbers], Numbers]] = {
    "RINT": np.rint,
    "NONE": np.rint,
    "FLOOR": np.floor,
    "CEIL": np.ceil,
    "TRUNC": np.trunc,
    "ROUND": lambda a: np.trunc(a + np.copysign(0.5, a)),
}


def converted(words: Words, source: Format, target: Format, mode: str) -> Words:
    """Return elements in another format; of floats, rounded to nearest even only."""
    numbers = decoded(words, source)
    if isinstance(target, FloatFormat):
        if isinstance(source, FloatFormat) and target.bits < source.bits and mode not in ("RINT", "NONE"):
            raise BrokenError(f"a conversion to {target} by {mode}")
        return encoded(numbers, target)
    if isinstance(source, FloatFormat):
        numbers = np.clip(_ROUNDED[mode](numbers), target.minimum, target.maximum)  # type: ignore[union-attr]
    return encoded(numbers, target)


def summed(words: Words, fmt: Format, axis: int) -> Words:
    """Return sums along an axis, in its order."""
    numbers = np.moveaxis(decoded(words, fmt), axis, 0)
    total = numbers[0]
    for number in numbers[1:]:
        total = decoded(encoded(total + number, fmt), fmt)
    return encoded(total, fmt)
