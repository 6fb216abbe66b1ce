"""What the checker takes operations for, over the reals: which of them only round, and what literals mean."""

from __future__ import annotations

from fractions import Fraction

from ...spec.formats import FloatFormat, Format, IntegerFormat
from .. import operations
from ..terms import Operation

NARROW = 8
"""A conversion to so few bits is a function with steps; to more, it is the identity, but for rounding."""

_BEHIND_THE_POINT = 3


def rounds(operation: Operation) -> bool:
    """Tell whether a sum or a conversion to a float is the exact one, but for rounding.

    It is not where the result has at most 8 bits, nor where it is clamped to a narrower range.
    """
    result = operation.result
    if not isinstance(result, FloatFormat) or result.bits <= NARROW:
        return False
    if operation.name != operations.CONVERT:
        return True
    assert isinstance(operation.attribute, tuple)
    source, saturates = operation.operands[0], bool(operation.attribute[1])
    return not saturates or (
        isinstance(source, FloatFormat) and source.maximum_exponent <= result.maximum_exponent
    )


def is_exact(number: Fraction, fmt: FloatFormat) -> bool:
    """Tell whether a literal stands for the very number that it is.

    One that is no integer, and whose digits fill more than half of its format, may stand for a number next to
    it that the format lacks, such as 1/3 or log2(e): that is known up to half a unit in its last place only.
    """
    digits = number.numerator.bit_length()  # of a dyadic fraction in lowest terms, the numerator is odd
    return number.denominator == 1 or digits <= fmt.precision // 2 or fmt.bits <= NARROW


def number_of(word: int, fmt: Format) -> Fraction | None:
    """Return the number that a word is in a format; None of an infinity or a NaN."""
    if isinstance(fmt, FloatFormat):
        return fmt.exact(word)
    assert isinstance(fmt, IntegerFormat)
    return Fraction(word - (1 << fmt.bits) if fmt.signed and word >> fmt.bits - 1 else word)


def is_great(number: Fraction | None, result: Format) -> bool:
    """Tell whether a constant rounds a sum to whole numbers, or nearly so: `(x + 1.5 * 2^23) - 1.5 * 2^23`.

    It leaves at most a third of the format's digits behind the point.
    """
    if number is None or not isinstance(result, FloatFormat):
        return False
    return abs(number) >= 1 << result.precision - 1 - result.precision // _BEHIND_THE_POINT


def stem(operation: Operation) -> str:
    """Return a function's name without how it is approximated: ``ex2`` of ``ex2.approx.ftz``."""
    return str(operation.attribute).partition(".")[0]
