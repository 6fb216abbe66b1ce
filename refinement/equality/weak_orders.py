"""Weak orders: the ways in which numbers may lie to each other and to constants, ties included.

What depends on numbers through comparisons, extrema and selects alone is determined by their weak order, as
the theory of order has no other facts: one representative of each decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from enum import Enum
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import default_nan
from ...spec.formats import F32, FloatFormat, Format, IntegerFormat

Words = NDArray[np.uint64]
Levels = NDArray[np.int16]


class Among(Enum):
    """Among what floats numbers are."""

    ALL = "all floats, infinities and NaNs"
    FINITE = "all that are finite"
    REALS = (
        "real numbers: others lie between two neighbours, and beyond the greatest of formats that are small"
    )


def representatives(
    fmt: Format, numbers: int, constants: Sequence[int], most: int, among: Among
) -> Words | None:
    """Return numbers of a format in every order in which they may be; None of more orders than `most`.

    None too if real numbers have orders that no floats have.

    Parameters
    ----------
    fmt : Format
        Of floats, or of integers that are ordered.
    numbers : int
        How many.
    constants : sequence of int
        Encodings of the numbers with which they are compared, no NaN among them.
    most : int
        Orders at most.
    among : Among
        Which floats they are.

    Returns
    -------
    array (orders, numbers)
        Encodings. Each order relation, of two numbers or of a number and a constant, is as in one order that
        the format allows, and all orders that it allows are there.
    """
    fixed = sorted({ordinal(fmt, constant) for constant in constants})
    if among is not Among.ALL or not isinstance(fmt, FloatFormat):
        return _ordered(fmt, numbers, fixed, most, among)
    tables: list[Words] = []
    total = 0
    for count in range(numbers + 1):
        words = _ordered(fmt, count, fixed, most, among)
        if words is None:
            return None
        total += len(words) * comb(numbers, count)
        if total > most:
            return None
        for some in combinations(range(numbers), count):
            table = np.full((len(words), numbers), default_nan(fmt), dtype=np.uint64)
            table[:, some] = words
            tables.append(table)
    return np.concatenate(tables)


def ordinal(fmt: Format, word: int) -> int:
    """Return the place of a number among those of its format; it is 0 of both zeros of floats."""
    if isinstance(fmt, IntegerFormat):
        return word - (1 << fmt.bits) if fmt.signed and word >> (fmt.bits - 1) else word
    assert isinstance(fmt, FloatFormat)
    magnitude = (word & ~fmt.sign_mask) >> fmt.padding_bits
    return -magnitude if word & fmt.sign_mask else magnitude


def _encoding(fmt: Format, place: int) -> int:
    """Return the number at a place, 0 with no sign."""
    if isinstance(fmt, IntegerFormat):
        return place & ((1 << fmt.bits) - 1)
    assert isinstance(fmt, FloatFormat)
    return abs(place) << fmt.padding_bits | (fmt.sign_mask if place < 0 else 0)


def _ends(fmt: Format, fixed: Sequence[int], among: Among) -> tuple[int, int]:
    """Return the least and the greatest place; an infinity stands for what is beyond the greatest float."""
    if isinstance(fmt, IntegerFormat):
        return fmt.minimum, fmt.maximum
    assert isinstance(fmt, FloatFormat)
    greatest = ordinal(fmt, fmt.largest)
    small = fmt.maximum_exponent < F32.maximum_exponent  # that f32 overflows is a hypothesis elsewhere
    beyond = among is Among.REALS and small and not {greatest, -greatest}.isdisjoint(fixed)
    if (among is Among.ALL or beyond) and fmt.infinity is not None:
        greatest = fmt.infinity
    return (-greatest if fmt.signed else 0), greatest


def _ordered(fmt: Format, numbers: int, fixed: Sequence[int], most: int, among: Among) -> Words | None:
    """Return encodings (orders, numbers), none of them NaN; `fixed` are the places of constants."""
    ends = _ends(fmt, fixed, among)
    fixed = [each for each in fixed if ends[0] <= each <= ends[1]]
    levels = _levels(numbers, len(fixed), most, tuple(end in fixed for end in ends))
    if levels is None:
        return None
    last = levels.max(axis=1, initial=-1)
    keys = np.concatenate([levels[:, : len(fixed)], last[:, None]], axis=1)
    found = []
    patterns, members = np.unique(keys, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns.tolist()):
        places = _places(pattern[:-1], pattern[-1], fixed, ends)
        if places is None and among is Among.REALS:
            return None
        if places is None:
            continue
        words = np.array([_encoding(fmt, place) for place in places], dtype=np.uint64)
        found.append(words[levels[members.reshape(-1) == number, len(fixed) :]])
    return np.concatenate(found) if found else np.empty((0, numbers), dtype=np.uint64)


def _places(
    constants: Sequence[int], last: int, fixed: Sequence[int], ends: tuple[int, int]
) -> list[int] | None:
    """Return the place of each level, those of constants being known; None where there are too few."""
    levels, bounds = [-1, *constants, last + 1], [ends[0] - 1, *fixed, ends[1] + 1]
    found: list[int] = []
    for index, level in enumerate(levels[:-1]):
        low, high = bounds[index], bounds[index + 1]
        count = levels[index + 1] - level - 1
        if count >= high - low:
            return None
        if index:
            found.append(bounds[index])
        found += [low + 1 + (high - low - 1) * at // count for at in range(count)]
    return found


def _levels(numbers: int, constants: int, most: int, ends: tuple[bool, ...]) -> Levels | None:
    """Return the levels (orders, constants and numbers) on which these may lie, counted from the least.

    `ends` tells whether the least constant is the least number that there is, and the greatest the greatest.
    """
    if _number_of_orders(numbers, constants, most, ends) > most:
        return None
    tables: dict[int, list[Levels]] = {constants: [np.arange(constants, dtype=np.int16)[None]]}
    for _ in range(numbers):
        grown: dict[int, list[Levels]] = defaultdict(list)
        for count, some in tables.items():
            table = np.concatenate(some)
            for level in range(count):  # a level that is there
                grown[count].append(_with(table, level))
            for level in range(ends[0], count + 1 - ends[1]):  # a new one below it
                grown[count + 1].append(_with(table + (table >= level), level))
        tables = grown
    found = [each for some in tables.values() for each in some]
    return np.concatenate(found)


def _number_of_orders(numbers: int, constants: int, most: int, ends: tuple[bool, ...]) -> int:
    """Return how many rows `_levels` has, without making them; some number beyond `most` where it is more."""
    by_levels = {constants: 1}
    for _ in range(numbers):
        grown: dict[int, int] = defaultdict(int)
        for count, orders in by_levels.items():
            grown[count] += orders * count
            grown[count + 1] += orders * max(0, count + 1 - sum(ends))
        by_levels = grown
        if sum(by_levels.values()) > most:  # it does not become less but where there is no order at all
            break
    return sum(by_levels.values())


def _with(table: Levels, level: int) -> Levels:
    return np.concatenate([table, np.full((len(table), 1), level, dtype=np.int16)], axis=1)
