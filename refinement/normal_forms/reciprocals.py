"""Exact values of constants, and their reciprocals, exact and rounded."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat
from ..terms import operations
from ..terms.evaluation import evaluate


def plain(number: Fraction | None) -> int | Fraction:
    """Return a number, an integer where it is one."""
    assert number is not None
    return number.numerator if number.denominator == 1 else number


def rounded_reciprocals(divisors: NDArray[np.uint64], fmt: FloatFormat) -> NDArray[Any]:
    """Return the numbers (n,) that reciprocals of constants are rounded to."""
    distinct, inverse = np.unique(divisors, return_inverse=True)
    reciprocals = evaluate(operations.function("rcp", fmt, fmt), [distinct])
    numbers = [plain(fmt.exact(int(reciprocal))) for reciprocal in reciprocals]
    return np.array(numbers, dtype=object)[inverse]


def exact_reciprocals(
    divisors: NDArray[np.uint64], constant: NDArray[np.bool_], fmt: FloatFormat
) -> NDArray[Any] | None:
    """Return the reciprocals (n,) of the divisors that are constants, else 1; None if one has none."""
    numbers = [fmt.exact(int(divisor)) for divisor in divisors[constant]]
    if not all(numbers):  # 0, or no number
        return None
    found = np.ones(len(divisors), dtype=object)
    found[constant] = [plain(1 / number) for number in numbers if number]
    return found


def quotient_roundings(divisors: Sequence[Fraction | None]) -> NDArray[np.float64]:
    """Return what part of the unit roundoff correctly rounded quotients (n,) of floats are off, at most.

    In units of its last place a quotient by m·2^k, m odd, is a multiple of 1/m, so never half a unit off its
    rounding, but (1 - 1/m)/2 at most. By 0, or what is no number, nothing better than 1 is known.
    """
    odd = [
        abs(divisor.numerator) // (divisor.numerator & -divisor.numerator) if divisor else 0
        for divisor in divisors
    ]
    return np.array([1 - 1 / each if each else 1.0 for each in odd])
