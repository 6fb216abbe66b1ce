"""Floats of PTX as numpy holds them: decoded for arithmetic, encoded behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .state import State, WORDS

Numbers = Any


@dataclass(frozen=True)
class FloatKind:
    """A type of floats.

    Attributes
    ----------
    name : str
        ``f32``; ``f16x2`` is two of ``f16``.
    bits : int
        Of one number.
    lanes : int
        Numbers in a register.
    decode, encode : callable
        From words to numbers that numpy computes with, and back; numbers are rounded to nearest.
    """

    name: str
    bits: int
    lanes: int
    decode: Callable[[Numbers], Numbers]
    encode: Callable[[Numbers], Numbers]

    @property
    def register_bits(self) -> int:
        """Bits of a register of it."""
        return self.bits * self.lanes

    def numbers(self, words: Numbers) -> Numbers:
        """Return the numbers (n,) or (n, lanes) that words are."""
        if self.lanes == 1:
            return self.decode(words)
        return self.decode(np.ascontiguousarray(np.atleast_1d(words)).view(WORDS[self.bits]).reshape(-1, 2))

    def words(self, numbers: Numbers) -> Numbers:
        """Return the words of numbers."""
        encoded = self.encode(numbers)
        if self.lanes == 1:
            return encoded
        return np.ascontiguousarray(encoded).view(WORDS[self.register_bits]).reshape(-1)


def bfloat_words(numbers: Numbers) -> Numbers:
    """Return the nearest bfloat16 of f32 numbers, ties to even."""
    single = np.asarray(numbers, dtype=np.float32)
    words = single.view(np.uint32)
    rounded = (words + np.uint32(0x7FFF) + (words >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(single), np.uint16(0x7FFF), rounded.astype(np.uint16))


def bfloat_numbers(words: Numbers) -> Numbers:
    """Return the f32 numbers of bfloat16 words."""
    return (np.asarray(words).astype(np.uint32) << np.uint32(16)).view(np.float32)


def _single_words(numbers: Numbers) -> Numbers:
    return np.asarray(numbers, dtype=np.float32).view(np.uint32)


def _half_words(numbers: Numbers) -> Numbers:
    return np.asarray(numbers).astype(np.float16).view(np.uint16)


_ONE: dict[str, tuple[int, Callable[[Numbers], Numbers], Callable[[Numbers], Numbers]]] = {
    "f64": (
        64,
        lambda words: np.asarray(words).view(np.float64),
        lambda numbers: np.asarray(numbers, dtype=np.float64).view(np.uint64),
    ),
    "f32": (32, lambda words: np.asarray(words).view(np.float32), _single_words),
    "tf32": (32, lambda words: np.asarray(words).view(np.float32), _single_words),
    "f16": (16, lambda words: np.asarray(words).view(np.float16).astype(np.float32), _half_words),
    "bf16": (16, bfloat_numbers, bfloat_words),
}

KINDS: dict[str, FloatKind] = {
    f"{name}{'x2' if lanes == 2 else ''}": FloatKind(name, bits, lanes, decode, encode)
    for name, (bits, decode, encode) in _ONE.items()
    for lanes in (1, 2)
    if bits * lanes <= 64
}
"""Types of floats by name."""


def rounded(state: State, exact: Numbers, fmt: FloatKind, mode: str) -> Numbers:
    """Return exact numbers, or such of f64, rounded to f32 in a direction; others as they are.

    Where a run draws its roundings, inexact results go to one of both neighbours.
    """
    if fmt.name != "f32" or np.asarray(exact).dtype != np.float64:
        return exact
    nearest = np.asarray(exact).astype(np.float32)
    if mode in ("rn", "") and state.random is None:
        return nearest
    wide = nearest.astype(np.float64)
    match mode:
        case "rm":
            return np.where(wide > exact, np.nextafter(nearest, np.float32(-np.inf)), nearest)
        case "rp":
            return np.where(wide < exact, np.nextafter(nearest, np.float32(np.inf)), nearest)
        case "rz":
            away = np.abs(wide) > np.abs(exact)
            return np.where(away, np.nextafter(nearest, np.float32(0)), nearest)
    assert state.random is not None
    other = np.nextafter(nearest, np.where(wide > exact, -np.inf, np.inf).astype(np.float32))
    taken = (state.random.random(nearest.shape) < 0.5) & (wide != exact) & np.isfinite(other)  # noqa: PLR2004
    return np.where(taken, other, nearest)
