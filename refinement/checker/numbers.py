"""Values of the checker: words, and real numbers as balls of Arb (python-flint), with conversions.

Trusted for radii: too small a ball objects to what is right, too great a one to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...spec.float_encoding import encode
from ...spec.formats import F64, FloatFormat, Format
from ...spec.rounding import Rounding
from .meaning import is_exact


class Lost(Exception):  # noqa: N818 - no error: a value that is not known at this point
    """A term without a known value, and the reason."""


Name = tuple[str, Format, int]
"""An input: the array, its format, the index."""


class Literal(int):
    """The word of a constant."""


class Real(NamedTuple):
    """A real number computed in a floating-point format, its rounding dropped."""

    number: Any
    format: Any
    great: Rounding | None = None
    """If it is a sum with a great constant, how that rounds it: its bits are those of the rounded sum."""


Value = Literal | int | Real | Lost
"""What a term is: a word, a real number, or not known."""

STEP = "the enclosure of a value contains a step"
BITS = "bits of rounded numbers"
NEAR = "as near as a function and its written-out approximation"


def word_of(number: Any, fmt: FloatFormat) -> int:
    """Return the encoding of a number that a format has.

    Raises
    ------
    Lost
        If it may be another one.
    """
    if number.is_finite():
        word = encoded(np.array([float(number)]), fmt, Rounding.NEAREST_EVEN)[0]
        if number == decoded(word, fmt):
            return word
    raise Lost(BITS)


def encoded(numbers: NDArray[np.float64], fmt: FloatFormat, rounding: Rounding) -> list[int]:
    """Return the encodings of floats (n,), rounded."""
    return [int(each) for each in (numbers.view(np.uint64) if fmt == F64 else encode(numbers, fmt, rounding))]


def ends(number: Any) -> NDArray[np.float64]:
    """Return two floats (2,) between which a number is."""
    if not number.is_finite():
        raise Lost(STEP)
    if number.is_exact() and arb(float(number)) == number:
        return np.array([float(number)] * 2)
    return np.nextafter([float(number.lower()), float(number.upper())], [-np.inf, np.inf])


def one_step(function: Callable[[NDArray[np.float64]], Any], number: Any) -> int:
    """Return what a monotonic function with steps is, if it is the same for all of a ball.

    Raises
    ------
    Lost
        If it is not.
    """
    low, high = function(ends(number))
    if low != high:
        raise Lost(STEP)
    return int(low)


@lru_cache(1 << 12)  # few numbers are drawn, and each is read often
def decoded(word: int, fmt: FloatFormat, *, literal: bool = False) -> Any:
    """Return the number of an encoding; a literal that may stand for another one is a ball."""
    exact = fmt.exact(word)
    if exact is None:
        infinite = word >> fmt.padding_bits & ~fmt.sign_mask == fmt.infinity
        return arb(("-inf" if word & fmt.sign_mask else "inf") if infinite else "nan")
    number = arb(exact.numerator) / exact.denominator
    if literal and not is_exact(exact, fmt):
        return arb(number, abs(float(exact)) * 2.0**-fmt.precision)
    return number
