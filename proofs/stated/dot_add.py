"""A fused dot-add in exact fractions: terms are cut off below the largest exponent, summed, and rounded once.

Source: MMA-Sim, arXiv 2511.10909, sections on truncated sums; what zeros do is an open point of the models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import floor
from typing import NamedTuple

from .encodings import shape

ZERO = -126
"""The exponent of a zero."""


class Model(NamedTuple):
    """What tells one unit from another.

    Attributes
    ----------
    fraction : int
        Bits that terms keep below the largest exponent.
    direction : str
        Of the last rounding.
    kept : int or None
        Fraction bits of the result, if fewer than it has.
    group : int
        Products summed before they are scaled and cut off.
    zeros_count : bool
        Whether a zero term takes part in the largest exponent.
    signed : bool
        Whether nothing left of negative terms is -0.
    """

    fraction: int
    direction: str
    kept: int | None = None
    group: int = 1
    zeros_count: bool = False
    signed: bool = False


class Number(NamedTuple):
    """A number with its sign, and its exponent; that of a zero is -126."""

    value: Fraction
    negative: bool
    exponent: int


def number(name: str, code: int) -> Number:
    """Return the number of an encoding."""
    of = shape(name)
    magnitude = (code >> of.padding) & ((1 << of.exponent + of.fraction) - 1)
    field, fraction = divmod(magnitude, 1 << of.fraction)
    exponent = (max(field, 1) if of.fraction else field) - of.bias
    whole = fraction + (1 << of.fraction if field or not of.fraction else 0)
    value = whole * Fraction(2) ** (exponent - of.fraction)
    negative = bool(code & of.sign)
    return Number(-value if negative else value, negative, exponent if value else ZERO)


def dot_add(
    model: Model,
    result: str,
    factors: Sequence[tuple[Number, Number]],
    addend: Number,
    scales: Sequence[tuple[Number, Number]],
) -> int:
    """Return the encoding of C + sum of products, each group of them with its pair of scale factors."""
    terms: list[tuple[Fraction, bool, int | None]] = []
    for place in range(0, len(factors), model.group):
        some = factors[place : place + model.group]
        value = sum((x.value * y.value for x, y in some), Fraction(0))
        exponent = 0 if model.group > 1 else some[0][0].exponent + some[0][1].exponent
        minus = value < 0 if model.group > 1 else some[0][0].negative != some[0][1].negative
        if scales:
            left, right = scales[place // model.group]
            value *= left.value * right.value
            exponent += left.exponent + right.exponent
        counts = value != 0 or model.zeros_count
        terms.append((value, minus, exponent if counts else None))
    terms.append((addend.value, addend.negative, addend.exponent))
    largest = max(exponent for _, _, exponent in terms if exponent is not None)
    unit = Fraction(2) ** (largest - model.fraction)
    total = sum((_toward_zero(value / unit) * unit for value, _, _ in terms), Fraction(0))
    return _rounded(model, result, total, model.signed and all(minus for _, minus, _ in terms))


def _toward_zero(number: Fraction) -> int:
    return int(number)


def _rounded(model: Model, result: str, total: Fraction, negative_zero: bool) -> int:
    of = shape(result)
    if total == 0:
        return of.sign if negative_zero else 0
    exponent = abs(total).numerator.bit_length() - abs(total).denominator.bit_length()
    if Fraction(2) ** exponent > abs(total):
        exponent -= 1
    exponent = max(exponent, 1 - of.bias)
    kept = of.fraction if model.kept is None else model.kept
    place = Fraction(2) ** (exponent - kept)
    below = floor(total / place)
    rest = total / place - below
    up = {
        "nearest-even": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2 == 1),
        "toward-zero": total < 0 and rest > 0,
        "upward": rest > 0,
        "downward": False,
    }[model.direction]
    value = abs((below + up) * place)
    sign = of.sign if total < 0 else 0
    units = value / Fraction(2) ** (exponent - of.fraction)
    encoding = int(units) + (exponent + of.bias - 1 << of.fraction)
    infinity = (1 << of.exponent) - 1 << of.fraction
    return sign | min(encoding, infinity)


def draws(name: str, count: int, seed: int, near: int) -> Iterator[int]:
    """Yield encodings of numbers, some of them zeros and subnormal, most near an exponent."""
    of, state = shape(name), seed * 2654435761 + 12345
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        bits = state >> 20
        fraction = bits % (1 << of.fraction)
        field = min(max(near + (bits >> 12) % 9 - 4, 0), (of.largest >> of.fraction) - 1)
        magnitude = {0: 0, 1: fraction}.get((bits >> 24) % 12, (field << of.fraction) + fraction)
        yield min(magnitude, of.largest) << of.padding | (of.sign if (bits >> 33) % 2 else 0)
