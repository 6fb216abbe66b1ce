"""Numbers at a point: words, and real numbers as balls of Arb (python-flint), between the two encodings."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...spec.float_encoding import encode
from ...spec.formats import F64, FloatFormat
from ...spec.rounding import Rounding
from .meaning import is_exact


class Lost(Exception):  # noqa: N818 - no error: a value that is not known at this point
    """A term has no value that is known.

    Parameters
    ----------
    reason : str
        Why.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Field(NamedTuple):
    """Which bits of an element a concatenation takes; if it repeats, one bit as often as it is wide."""

    low: int
    width: int
    constant: bool
    repeats: bool


class Literal(int):
    """The word of a constant."""


class Real(NamedTuple):
    """A number that was computed in a floating-point format, its rounding dropped."""

    number: Any
    format: FloatFormat


Value = Literal | int | Real | Lost
"""What a term is: a word, a real number, or not known."""

STEP = "the ball of a number reaches over a step"
BITS = "bits of rounded numbers"


def word_of(number: Any, fmt: FloatFormat) -> int:
    """Return the encoding of a number that a format has.

    Raises
    ------
    Lost
        If it may be another one.
    """
    if not number.is_exact() or not number.is_finite():
        raise Lost(BITS)
    near = float(number)
    word = encoded(np.array([near]), fmt, Rounding.NEAREST_EVEN)[0]
    if arb(near) != number or fmt.exact(word) != Fraction(near):
        raise Lost(BITS)
    return word


def encoded(numbers: NDArray[np.float64], fmt: FloatFormat, rounding: Rounding) -> list[int]:
    """Return the encodings of floats (n,), rounded."""
    words = numbers.view(np.uint64) if fmt == F64 else encode(numbers, fmt, rounding)
    return [int(each) for each in words]


def ends(number: Any) -> NDArray[np.float64]:
    """Return two floats (2,) between which a number is."""
    if not number.is_finite():
        raise Lost(STEP)
    if number.is_exact() and arb(float(number)) == number:
        return np.array([float(number)] * 2)
    lower, upper = float(number.lower()), float(number.upper())
    return np.array([np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)])


def decoded(word: int, fmt: FloatFormat, *, literal: bool = False) -> Any:
    """Return the number of an encoding; a literal that may stand for another one is a ball."""
    exact = fmt.exact(word)
    if exact is None:
        if fmt.infinity is not None and word >> fmt.padding_bits & ~fmt.sign_mask == fmt.infinity:
            return arb("-inf") if word & fmt.sign_mask else arb("inf")
        return arb("nan")
    number = arb(exact.numerator) / exact.denominator
    if literal and not is_exact(exact, fmt):
        return arb(number, abs(float(exact)) * 2.0**-fmt.precision)
    return number
