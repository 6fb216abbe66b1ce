"""Inputs at the ends of their formats, where sums of integers and narrow floats are largest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import UE8M0, FloatFormat, Format, IntegerFormat
from ..analysis.quantisation import NARROW

_PATTERNS = (("least", 0), ("greatest", -12), ("mixed", 0), ("mixed", -8), ("any", 0), ("any", -8))
"""Which numbers of bounded formats are taken, and the exponent of those of other formats."""


def extreme_inputs(
    formats: Mapping[str, tuple[Format, tuple[int, ...]]],
) -> Iterator[dict[str, NDArray[np.uint64]]]:
    """Yield the encodings of inputs, by linear index; none where all formats go very far.

    Parameters
    ----------
    formats : mapping of str to format and shape
        What is wanted.
    """
    if not any(_is_bounded(fmt) for fmt, _ in formats.values()):
        return
    for seed, (pattern, exponent) in enumerate(_PATTERNS):
        random = np.random.default_rng(seed)
        yield {
            name: _numbers(fmt, int(np.prod(shape)), random, pattern, exponent)
            for name, (fmt, shape) in formats.items()
        }


def _is_bounded(fmt: Format) -> bool:
    return isinstance(fmt, IntegerFormat) or (fmt.bits <= NARROW and fmt != UE8M0)


def _numbers(
    fmt: Format, count: int, random: np.random.Generator, pattern: str, exponent: int
) -> NDArray[np.uint64]:
    """Return the least or greatest numbers of a format, a mixture of both, or any; else a power of two."""
    if not _is_bounded(fmt):
        assert isinstance(fmt, FloatFormat)
        power = max(fmt.bias + exponent, 1) << (fmt.fraction_bits + fmt.padding_bits)
        return np.full(count, power, dtype=np.uint64)
    if pattern == "any":
        return _any(fmt, count, random)
    if isinstance(fmt, IntegerFormat):
        ends = [fmt.minimum & ((1 << fmt.bits) - 1), fmt.maximum]
    else:
        assert isinstance(fmt, FloatFormat)
        ends = [fmt.largest | fmt.sign_mask, fmt.largest]
    which = {"least": np.zeros(count, int), "greatest": np.ones(count, int)}.get(pattern)
    return np.array(ends, dtype=np.uint64)[random.integers(0, 2, count) if which is None else which]


def _any(fmt: Format, count: int, random: np.random.Generator) -> NDArray[np.uint64]:
    """Return the encodings of integers of all lengths, or of any finite numbers of a float format."""
    words = random.integers(0, 1 << 64, count, dtype=np.uint64)
    if isinstance(fmt, IntegerFormat):
        words = words << np.uint64(64 - fmt.bits)
        shifts = random.integers(64 - fmt.bits, 64, count)
        signed = (words.view(np.int64) >> shifts).view(np.uint64)
        return (signed if fmt.signed else words >> shifts.astype(np.uint64)) & np.uint64((1 << fmt.bits) - 1)
    assert isinstance(fmt, FloatFormat)
    magnitudes = words & np.uint64((1 << fmt.magnitude_bits) - 1)
    signs = words & np.uint64(fmt.sign_mask)
    return np.where(magnitudes > np.uint64(fmt.largest), np.uint64(0), signs | magnitudes)
