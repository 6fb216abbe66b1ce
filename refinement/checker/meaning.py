"""The meaning of operations over the reals, for the checker: which only round, values of literals.

Trusted for what the verdict supposes: where it calls equal what is so but for roundings, these are they.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...spec.formats import FloatFormat, Format
from ..terms import operations
from ..terms.evaluation import integers
from ..terms.store import Operation

NARROW = 8
"""A conversion to so few bits is a function with steps; to more, it is the identity, but for rounding."""


def rounds(operation: Operation) -> bool:
    """Tell whether a sum or a conversion to a float is the exact one, but for rounding.

    It is not where the result has at most 8 bits, nor where it is clamped to a narrower range.
    """
    result, source, how = operation.result, operation.operands[0], operation.attribute
    if not isinstance(result, FloatFormat) or result.bits <= NARROW:
        return False
    if operation.name != operations.CONVERT or not isinstance(how, tuple) or not how[1]:
        return True
    return isinstance(source, FloatFormat) and source.maximum_exponent <= result.maximum_exponent


def is_exact(number: Fraction, fmt: FloatFormat) -> bool:
    """Tell whether a literal stands for the very number that it is.

    One that is no integer, and whose digits fill more than half of its format, may stand for a number next to
    it that the format lacks, such as 1/3 or log2(e): that is known up to half a unit in its last place only.
    """
    digits = number.numerator.bit_length()  # of a dyadic fraction in lowest terms, the numerator is odd
    return number.denominator == 1 or digits <= fmt.precision // 2 or fmt.bits <= NARROW


def number_of(word: int, fmt: Format) -> Fraction | None:
    """Return the number that a word is in a format; None of an infinity or a NaN."""
    return (
        fmt.exact(word)
        if isinstance(fmt, FloatFormat)
        else Fraction(int(integers(np.array(word, dtype=np.uint64), fmt)))
    )


def is_great(number: Fraction | None, result: Format) -> bool:
    """Tell whether a constant rounds a sum to whole numbers, or nearly so: `(x + 1.5 * 2^23) - 1.5 * 2^23`.

    It leaves at most a third of the format's digits behind the point.
    """
    if number is None or not isinstance(result, FloatFormat):
        return False
    return abs(number) >= 1 << result.precision - 1 - result.precision // 3


def stem(operation: Operation) -> str:
    """Return a function's name without how it is approximated: ``ex2`` of ``ex2.approx.ftz``."""
    return str(operation.attribute).partition(".")[0]
