"""Where terms are evaluated: inputs drawn from their formats, and next to numbers that terms compare with."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from .. import operations
from ..terms import CONSTANT, INPUT, Operation, TermStore
from ..traversal import by_operation
from .arguments import gathered
from .meaning import number_of
from .numbers import encoded

CONDITIONS = (operations.COMPARE, operations.EXTREMUM)
"""Operations whose outcomes cut inputs into cells."""

Name = tuple[str, Format, int]
"""An input: the array, its format, the index."""

MOST_MINED = 48
"""Numbers taken from a term at most: enough for its thresholds, few enough to meet each."""

_SIGNIFICANT = 4
"""Significant bits of floats drawn: sums and products of them stay exact."""


class Point:
    """Numbers for inputs, drawn as they are asked for.

    Parameters
    ----------
    store : TermStore
        Whose ranges of integers are respected.
    seed : int
        The same seed and name always give the same number.
    mined : sequence of Fraction
        Numbers to draw from, or next to.
    fixed : mapping of Name to int
        The words of some inputs.
    """

    def __init__(
        self,
        store: TermStore,
        seed: int,
        mined: Sequence[Fraction] = (),
        fixed: Mapping[Name, int] | None = None,
    ) -> None:
        self._store, self._seed, self._mined = store, seed, mined
        self._fixed = fixed or {}
        self.words: dict[Name, int] = {}

    def draw(self, operation: Operation, index: int, term: int) -> int:
        """Return the word of an input."""
        fmt = operation.result
        name = name_of(operation, index)
        if name not in self.words:
            source = random.Random(f"{self._seed} {name}")
            word = self._fixed[name] if name in self._fixed else self._drawn(fmt, source)
            if operation.name == INPUT and (ends := self._store.ends.get(name[0])) is not None:
                least, greatest = float(ends.low[index]), float(ends.high[index])
                word = _within(word, fmt, least, greatest, source)
            if term in self._store.bounded:
                least, greatest = self._store.bounded[term]
                word = source.randint(least, min(greatest, least + (1 << 16))) & (1 << fmt.bits) - 1
            self.words[name] = word
        return self.words[name]

    def _drawn(self, fmt: Format, source: random.Random) -> int:
        if self._mined and source.random() < 0.6:
            number = source.choice(self._mined)
            if source.random() < 0.4:
                number += source.choice((source.choice(self._mined), Fraction(1, 4), Fraction(-1, 8)))
            return nearest(-number if source.random() < 0.2 else number, fmt)
        if isinstance(fmt, FloatFormat):
            return _float(fmt, source)
        if fmt.bits <= 8 or source.random() < 0.1:
            return source.getrandbits(fmt.bits)
        assert isinstance(fmt, IntegerFormat)
        return source.randint(-99 if fmt.signed else 0, 99) & (1 << fmt.bits) - 1


def name_of(operation: Operation, index: int) -> Name:
    """Return the name of an input, or of a term that nobody has defined."""
    array = str(operation.attribute) if operation.name == INPUT else "undefined"
    return array, operation.result, index


def _float(fmt: FloatFormat, source: random.Random) -> int:
    """Return a number with few digits, from 1/4 to 4 of either sign as far as the format has such."""
    exponent = min(max(fmt.bias + source.randint(-2, 1), 0), (fmt.largest >> fmt.fraction_bits))
    digits = max(fmt.fraction_bits - _SIGNIFICANT + 1, 0)
    fraction = source.getrandbits(fmt.fraction_bits) >> digits << digits if fmt.fraction_bits else 0
    magnitude = min(exponent << fmt.fraction_bits | fraction, fmt.largest)
    sign = fmt.sign_mask if source.random() < 0.5 else 0
    word = magnitude << fmt.padding_bits | (sign if magnitude else 0)
    return word


def nearest(number: Fraction, fmt: Format) -> int:
    """Return the word of the number of a format that is next to a number."""
    if isinstance(fmt, IntegerFormat):
        return min(max(round(number), fmt.minimum), fmt.maximum) & (1 << fmt.bits) - 1
    assert isinstance(fmt, FloatFormat)
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
    near = [each + side * (abs(each) + 1) / 256 for each in numbers for side in (0, 1, -1)]
    powers = [Fraction(2) ** exponent for exponent in range(-14, 15, 2)]
    return [sign * each for each in (*near, *powers) for sign in (1, -1)]


def mined(store: TermStore, terms: NDArray[np.int64]) -> list[Fraction]:
    """Return the numbers that terms compare with, or add, those of comparisons first."""
    found: dict[Fraction, None] = {}
    ranked = (*CONDITIONS, operations.FUSED, operations.RING)
    groups = list(by_operation(store, terms.astype(np.int32)))
    for name in ranked:
        for operation, members in groups:
            if operation.name == name:
                for column, fmt in zip(gathered(store, operation, members), operation.operands, strict=True):
                    constants = column[store.are(CONSTANT, column)]
                    for word in np.unique(store.constant_values(constants))[:MOST_MINED].tolist():
                        number = number_of(word, fmt)
                        if number is not None and abs(number) < 1 << 40:
                            found.setdefault(number)
    return list(found)[:MOST_MINED]
