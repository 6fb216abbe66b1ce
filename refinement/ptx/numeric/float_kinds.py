"""Floats of PTX as numpy holds them: decoded for arithmetic, encoded behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .state import WORDS, State

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
        """Return the words of numbers, rounded to nearest."""
        return _joined(self.encode(numbers), self)


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


def encoded(state: State, exact: Numbers, kind: FloatKind, mode: str) -> Numbers:
    """Return the words of exact numbers, or such in double precision, rounded to a type in a direction.

    A run that draws its roundings notes that finite numbers have become none.
    """
    if state.random is not None and not state.overflowed:
        state.overflowed = overflows(exact, kind)
    return rounded_words(exact, kind, mode, state.random)


def overflows(exact: Numbers, kind: FloatKind) -> bool:
    """Tell whether some finite number is none in a type."""
    exact, one = np.asarray(exact), KINDS[kind.name] if kind.lanes > 1 else kind
    return bool((np.isfinite(exact) & ~np.isfinite(one.decode(one.encode(exact)))).any())


def rounded_words(exact: Numbers, kind: FloatKind, mode: str, random: np.random.Generator | None) -> Numbers:
    """Return the words of exact numbers, or such in double precision, rounded to a type.

    Parameters
    ----------
    exact : array
        The numbers.
    kind : FloatKind
        The type.
    mode : str
        The direction, as PTX calls it; empty for the nearest.
    random : Generator, optional
        Of a run that draws its roundings: what is inexact goes to one of both neighbours.
    """
    exact = np.asarray(exact)
    one = KINDS[kind.name] if kind.lanes > 1 else kind
    words = one.encode(exact)
    if (mode in ("rn", "") and random is None) or kind.bits == 64 or exact.dtype != np.float64:
        return _joined(words, kind)
    held = one.decode(words).astype(np.float64)
    above = held > exact
    match mode:
        case "rm":
            moved, up = above, False
        case "rp":
            moved, up = held < exact, True
        case "rz":
            moved, up = np.abs(held) > np.abs(exact), exact < 0
        case _:
            assert random is not None
            moved = (random.random(exact.shape) < 0.5) & (held != exact) & np.isfinite(held)
            up = ~above
    return _joined(np.where(moved, _neighbour(words, held, up), words), kind)


def _neighbour(words: Numbers, held: Numbers, up: Numbers) -> Numbers:
    """Return the next float above or below: the next word where that is away from zero."""
    one, sign = words.dtype.type(1), words.dtype.type(1) << words.dtype.type(8 * words.dtype.itemsize - 1)
    negative = words & sign != 0
    outwards = negative != up
    stepped = np.where(outwards, words + one, words - one)
    smallest = np.where(up, one, one | sign).astype(words.dtype)
    return np.where(held == 0, smallest, stepped)


def _joined(words: Numbers, kind: FloatKind) -> Numbers:
    if kind.lanes == 1:
        return words
    return np.ascontiguousarray(words).view(WORDS[kind.register_bits]).reshape(-1)
