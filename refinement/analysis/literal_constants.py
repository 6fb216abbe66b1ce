"""Literals for log2(e), ln(2), log2(10), their multiples by powers of two, and fractions.

By the irrational ones ``exp`` and ``exp10`` are written with powers of two, and ``log`` with logarithms to
base two, in kernels and in contracts. log2(e) times ln(2) is 1, which is not so of the numbers that they are
rounded to. A mean is a product with the float next to 1/24, of which 24 are not quite 1.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from functools import cache
from math import log, log2
from typing import NamedTuple

import numpy as np

from ...spec.formats import BF16, F16, F32, F64, FloatFormat, Format

LOG2_OF_E, LN_OF_2, LOG2_OF_10 = "log2(e)", "ln(2)", "log2(10)"

_VALUES = {LOG2_OF_E: log2(np.e), LN_OF_2: log(2), LOG2_OF_10: log2(10)}
_ROUNDED = {
    F32: {name: Fraction(float(np.float32(value))) for name, value in _VALUES.items()},
    F64: {name: Fraction(value) for name, value in _VALUES.items()},
}


_TOGETHER = Fraction(1, 1 << 48)
"""How far the sum of two floats of f32 may be off, as a part of the number that they stand for."""


class Multiple(NamedTuple):
    """A power of two, perhaps negated, times an irrational number."""

    factor: int | Fraction
    name: str


@cache
def multiple(word: int, fmt: Format) -> Multiple | None:
    """Return what a literal stands for, if it is one of these."""
    if not isinstance(fmt, FloatFormat) or fmt not in _ROUNDED:
        return None
    number = fmt.exact(word)
    if not number:
        return None
    for name, rounded in _ROUNDED[fmt].items():
        ratio = number / rounded
        above, below = abs(ratio.numerator), ratio.denominator
        if not above & (above - 1) and not below & (below - 1):
            return Multiple(ratio.numerator if below == 1 else ratio, name)
    return None


def is_nearly(number: Fraction, name: str) -> bool:
    """Tell whether a number is an irrational one, but for less than two floats of f32 can tell together."""
    value = Fraction(_VALUES[name])
    return abs(number - value) <= value * _TOGETHER


_MOST_IN_FRACTION, _MOST_COUNT = 1 << 6, 1 << 15
"""The greatest denominator of any fraction, apart from powers of two, and of one with the numerator 1."""

_MOST_OF_16_BITS = 5
"""As that of any fraction which a float of 16 bits is next to: so 0.1 is one, which is 8/5 of 1/16."""


@cache
def fraction(number: Fraction, fmt: FloatFormat) -> Fraction:
    """Return the simple fraction that a float of f16, bf16, f32 or f64 is next to; itself if there is none.

    What it is next to differs from it by half a unit in its last place at most.
    """
    coarse = fmt in (F16, BF16)
    if not (coarse or fmt in _ROUNDED) or not number or number.denominator & (number.denominator - 1):
        return number
    scale = Fraction(1)
    while abs(number) * scale < 1:
        scale *= 2
    while abs(number) * scale >= 2:
        scale /= 2
    scaled = number * scale
    near = Fraction(1, 1 << fmt.precision)
    simple = scaled.limit_denominator(_MOST_OF_16_BITS if coarse else _MOST_IN_FRACTION)
    if abs(simple - scaled) <= near:
        return simple / scale
    power = 1 if coarse else _MOST_COUNT
    while power > 1:
        count = round(power / abs(scaled))
        simple = Fraction(power, count) * (1 if scaled > 0 else -1)
        if abs(simple - scaled) <= near:
            return simple / scale
        power //= 2
    return number


_OF_FRACTION = "literals for the simple fractions nearest to them"
_OF_FORMULA = "f64 literals for the formula's literals, which are rounded to f32,"


def stood_for(
    number: Fraction, fmt: FloatFormat, literals: Collection[Fraction]
) -> tuple[Fraction, str | None]:
    """Return what a float stands for, and in words what that is: None if it is the float itself.

    Parameters
    ----------
    number : Fraction
        The float.
    fmt : FloatFormat
        Its format.
    literals : collection of Fraction
        Numbers of f32 to which formulas round literals: those of f64 that round to one stand for it.
    """
    if (simple := fraction(number, fmt)) != number:
        return simple, _OF_FRACTION
    if fmt == F64 and literals:
        with np.errstate(over="ignore"):
            rounded = float(np.float32(float(number)))
        if np.isfinite(rounded) and rounded != number and rounded in literals:
            return fraction(Fraction(rounded), F32), _OF_FORMULA
    return number, None


def literal(name: str, fmt: FloatFormat) -> int:
    """Return the encoding of an irrational number, rounded."""
    value = _VALUES[name]
    return int(np.float32(value).view(np.uint32)) if fmt == F32 else int(np.float64(value).view(np.uint64))


def deviation(exact: Fraction, number: float) -> float:
    """Return by what part a number is off, as a logarithm of the factor, rounded up."""
    if not exact or not np.isfinite(number):
        return 0.0 if exact == number else np.inf
    off = abs(Fraction(number) / exact - 1)
    return float(off) * (1 + 2.0**-10) if off else 0.0
