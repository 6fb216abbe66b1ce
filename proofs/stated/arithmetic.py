"""Rounding as IEEE 754 defines it, in exact fractions, from the widths of the formats alone.

Source: IEEE 754-2019, sections 3.3 (values), 4.3 (directions), 7.4 (overflow).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from .formats import WIDTHS

DIRECTIONS = ("nearest-even", "toward-zero", "upward", "downward")
"""In the order of FPSCR.RN."""


def widths(name: str) -> tuple[int, int, int]:
    """Return the bits of exponent and fraction of a format, and its bias."""
    row = WIDTHS[name]
    return int(row["exponent"]), int(row["fraction"]), int(row["bias"])


def value(name: str, encoding: int) -> Fraction | None:
    """Return the number of an encoding; None of an infinity or NaN."""
    exponent_bits, fraction_bits, bias = widths(name)
    fraction, exponent = encoding % 2**fraction_bits, encoding // 2**fraction_bits % 2**exponent_bits
    if exponent == 2**exponent_bits - 1:
        return None
    magnitude: Fraction
    if exponent == 0:
        magnitude = fraction * Fraction(2) ** (1 - bias - fraction_bits)
    else:
        magnitude = (2**fraction_bits + fraction) * Fraction(2) ** (exponent - bias - fraction_bits)
    return -magnitude if encoding >> exponent_bits + fraction_bits else magnitude


def rounded(name: str, number: Fraction, direction: str) -> int:
    """Return the encoding that a number, not 0, is rounded to."""
    exponent_bits, fraction_bits, bias = widths(name)
    negative, magnitude = number < 0, abs(number)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    units = magnitude / Fraction(2) ** (exponent - fraction_bits)
    whole, rest = divmod(units.numerator, units.denominator)
    half = Fraction(rest, units.denominator)
    away = {
        "nearest-even": half > Fraction(1, 2) or (half == Fraction(1, 2) and whole % 2 == 1),
        "toward-zero": False,
        "upward": rest > 0 and not negative,
        "downward": rest > 0 and negative,
    }
    whole += away[direction]
    subnormal = whole < 2**fraction_bits
    found: int = whole if subnormal else (exponent + bias) * 2**fraction_bits + whole - 2**fraction_bits
    infinity = (2**exponent_bits - 1) * 2**fraction_bits
    if found >= infinity:
        kept = {"nearest-even": False, "toward-zero": True, "upward": negative, "downward": not negative}
        found = infinity - kept[direction]
    sign: int = negative << exponent_bits + fraction_bits
    return found + sign


SPECIAL = {
    "0": (0, 1), "-0": (0, -1), "1": (1, 1), "-1": (1, -1), "inf": (2, 1), "-inf": (2, -1), "nan": (3, 1),
}  # fmt: skip
"""Zeros, numbers, infinities and a NaN: which of them, and the sign."""


def of_special(factors: tuple[str, str], addend: str | None, direction: str) -> str | None:
    """Return what x·y + z, or x·y without an addend, is; None where it is a number to be rounded.

    Source: IEEE 754-2019, sections 6.1 to 6.3 and 7.2.
    """
    (x, sign), (y, other) = SPECIAL[factors[0]], SPECIAL[factors[1]]
    sign *= other
    kind = 3 if 3 in (x, y) or {x, y} == {0, 2} else max(x, y) if 2 in (x, y) else min(x, y)
    if addend is not None:
        z, of_addend = SPECIAL[addend]
        if 3 in (kind, z) or (kind == z == 2 and sign != of_addend):
            return "nan"
        if kind == z == 0 and sign != of_addend:
            return "-0" if direction == "downward" else "0"
        if z == 2 or kind == 0:
            kind, sign = z, of_addend
        elif kind == z == 1 and sign != of_addend:
            return "-0" if direction == "downward" else "0"
        if kind == 1 and z == 1:
            return None
    names = {each: name for name, each in SPECIAL.items()}
    return "nan" if kind == 3 else names[kind, sign]


def _one(name: str) -> int:
    _, fraction, bias = widths(name)
    return bias << fraction


def _greatest(name: str) -> int:
    exponent, fraction, _ = widths(name)
    return ((1 << exponent) - 1 << fraction) - 1


def triples(x: str, y: str, result: str, count: int) -> Iterator[tuple[int, int, int]]:
    """Yield encodings of finite factors and addends: ends, any, and sums that cancel or are subnormal."""
    state = 88172645463325252

    def drawn(name: str) -> int:
        nonlocal state
        bits = sum(widths(name)[:2]) + 1
        while True:
            for shift in (13, -7, 17):
                state ^= (state << shift if shift > 0 else state >> -shift) & (1 << 64) - 1
            if value(name, state % (1 << bits)) is not None:
                return state % (1 << bits)

    ends = [(0, 1 << widths(name)[1], _one(name), _greatest(name)) for name in (x, y, result)]
    yield from itertools.product(*(end[1:] for end in ends[:2]), ends[2])
    for place in range(count):
        left, right, addend = drawn(x), drawn(y), drawn(result)
        product = (value(x, left) or Fraction(0)) * (value(y, right) or Fraction(0))
        if place % 2 and product:
            close = rounded(result, -product, "toward-zero")
            addend = close ^ (place // 2 % 4)
            if value(result, addend) is None:
                addend = close
        elif place % 4 == 2:
            addend %= 2 ** widths(result)[1]
        yield left, right, addend
