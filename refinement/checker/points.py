"""Evaluation points of the checker: drawn from formats, and next to constants of comparisons.

Trusted for nothing but that the points are many: whatever is drawn, equal terms are equal there.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, TermStore
from ..terms.traversal import by_operation, gathered
from .meaning import NARROW, number_of
from .numbers import Name, encoded

CONDITIONS = (operations.COMPARE, operations.EXTREMUM)
"""Operations whose outcomes cut inputs into cells."""

MOST_MINED = 48
"""Numbers taken from a term at most: enough for its thresholds, few enough to meet each."""

_NOWHERE: Mapping[Name, int] = MappingProxyType({})

_SIGNIFICANT = 4
"""Significant bits of floats drawn: sums and products of them stay exact."""


class Point:
    """Random values of inputs, drawn on demand.

    Parameters
    ----------
    store : TermStore
        Whose ranges of integers are respected.
    seed : int
        The same seed and name always give the same number.
    mined : sequence of Fraction
        Numbers to draw from, or next to.
    moved : mapping of Name to int
        Words of some inputs, taken as far as their ranges allow.
    words : mapping of Name to int
        The words of some inputs as they are.
    small : bool
        Whether floats are 2^-6 of what they are otherwise, beside finite numbers that stand for infinities.
    """

    def __init__(
        self,
        store: TermStore,
        seed: int,
        mined: Sequence[Fraction] = (),
        moved: Mapping[Name, int] = _NOWHERE,
        words: Mapping[Name, int] = _NOWHERE,
        *,
        small: bool = False,
    ) -> None:
        self._store, self._seed, self._mined = store, seed, mined
        self._moved, self._small = moved, small
        self.words = dict(words)

    def draw(self, name: Name, term: int) -> int:
        """Return the word of an input."""
        if name not in self.words:
            array, fmt, index = name
            source = random.Random(f"{self._seed} {name}")
            word = self._moved[name] if name in self._moved else self._drawn(fmt, source)
            if (ends := self._store.ends.get(array)) is not None:
                least, greatest = float(ends.low[index]), float(ends.high[index])
                word = _within(word, fmt, least, greatest, source)
            if term in self._store.bounded:
                least, greatest = self._store.bounded[term]
                word = source.randint(least, min(greatest, least + (1 << 16))) & (1 << fmt.bits) - 1
            self.words[name] = word
        return self.words[name]

    def _drawn(self, fmt: Any, source: random.Random) -> int:
        if self._mined and source.random() < 0.6:
            number = source.choice(self._mined)
            if source.random() < 0.4:
                number += source.choice((source.choice(self._mined), Fraction(1, 4), Fraction(-1, 8)))
            return nearest(-number if source.random() < 0.2 else number, fmt)
        if isinstance(fmt, FloatFormat):
            return _float(fmt, source, 8 if self._small and fmt.bits > NARROW else 2)
        if fmt.bits <= 8 or source.random() < 0.1:
            return source.getrandbits(fmt.bits)
        return int(source.randint(-99 if fmt.signed else 0, 99) & (1 << fmt.bits) - 1)


def _float(fmt: FloatFormat, source: random.Random, below: int) -> int:
    """Return a number with few digits, of four binades from 2^-below on, as far as the format has such."""
    digits = min(_SIGNIFICANT - 1, fmt.fraction_bits)
    magnitude = Fraction((1 << digits) + source.getrandbits(digits), 1 << digits) * Fraction(2) ** (
        source.randint(0, 3) - below
    )
    return nearest(-magnitude if fmt.signed and source.random() < 0.5 else magnitude, fmt)


@lru_cache(1 << 12)  # few numbers are drawn, and each often
def nearest(number: Fraction, fmt: Any) -> int:
    """Return the word of the number of a format that is next to a number."""
    if isinstance(fmt, IntegerFormat):
        return min(max(round(number), fmt.minimum), fmt.maximum) & (1 << fmt.bits) - 1
    largest = fmt.exact(fmt.largest << fmt.padding_bits) or Fraction(0)
    clamped = min(max(number, -largest if fmt.signed else Fraction(0)), largest)
    return encoded(np.array([float(clamped)]), fmt, Rounding.NEAREST_EVEN)[0]


def _within(word: int, fmt: Format, least: float, greatest: float, source: random.Random) -> int:
    """Return a word, or another one between two numbers if it is not."""
    number = number_of(word, fmt)
    if number is not None and least <= number <= greatest and number:
        return word
    low, high = max(least, greatest - 4, -(2.0**30)), min(greatest, least + 4, 2.0**30)
    middle = 0.0 if low > high else low + (high - low) * source.randint(1, 15) / 16
    return nearest(Fraction(middle), fmt)


def around(numbers: Sequence[Fraction]) -> list[Fraction]:
    """Return numbers, their opposites, what lies next to them, and powers of two of all sizes."""
    near = [
        number + side * (abs(number) + far) / 256
        for number in numbers
        for far in ((1, 0) if 0 < 256 * abs(number) < 1 else (1,))
        for side in (0, 1, -1)
    ]
    near += [Fraction(2) ** exponent for exponent in range(-14, 15, 2)]
    return [sign * each for each in near for sign in (1, -1)]


def mined(store: TermStore, terms: Ids) -> list[Fraction]:
    """Return the numbers that terms compare with, or add, those of comparisons first."""
    found: dict[Fraction, None] = {}
    ranked = (*CONDITIONS, operations.FUSED, operations.RING)
    groups = [each for each in by_operation(store, terms.astype(np.int32)) if each[0].name in ranked]
    for operation, members in sorted(groups, key=lambda each: ranked.index(each[0].name)):
        for column, fmt in zip(gathered(store, operation, members), operation.operands, strict=True):
            words = store.constant_values(column[store.are(CONSTANT, column)])
            numbers = [number_of(word, fmt) for word in np.unique(words)[:MOST_MINED].tolist()]
            found.update((number, None) for number in numbers if number is not None and abs(number) < 1 << 40)
    return list(found)[:MOST_MINED]
