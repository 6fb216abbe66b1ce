"""Floating point on Python's integers: exact numbers, rounded once.

Written from IEEE 754 and the formats' definitions (PTX ISA 9.1 sections 5.2.2 and 5.2.3), and shares no code
with the package. A finite number is ``±m * 2**e``, so that sums and products are exact and rounding is one
shift.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import NamedTuple


class _ComputedNans:
    """Which NaN computations give: the first quiet one, or the one of all ones, sign and all."""

    all_ones = False


_COMPUTED = _ComputedNans()


def choose_computed_nans(*, all_ones: bool) -> None:
    """Say which NaN computations give from now on."""
    _COMPUTED.all_ones = all_ones


class Format(NamedTuple):
    """A binary floating-point format.

    Attributes
    ----------
    exponent, fraction : int
        Bits of the exponent and of the fraction.
    infinite : bool
        Whether the greatest exponent stands for infinities and NaNs, as in IEEE 754.
    nans : bool
        Whether there is a NaN.
    padding : int
        Bits below the fraction that are zero.
    """

    exponent: int
    fraction: int
    infinite: bool = True
    nans: bool = True
    padding: int = 0

    @property
    def bits(self) -> int:
        """Bits of an encoding."""
        return 1 + self.exponent + self.fraction + self.padding

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << (self.bits - 1)

    @property
    def least(self) -> int:
        """Exponent of the least normal number."""
        return 2 - (1 << (self.exponent - 1))

    @property
    def infinity(self) -> int:
        """Encoding of +infinity, or of what would be it."""
        return ((1 << self.exponent) - 1) << (self.fraction + self.padding)

    @property
    def largest(self) -> int:
        """Encoding of the largest finite number."""
        if self.infinite:
            return self.infinity - (1 << self.padding)
        return self.sign - (2 if self.nans else 1)

    @property
    def nan(self) -> int:
        """Encoding of the NaN that computations give; which, PTX leaves open."""
        if _COMPUTED.all_ones:
            return (2 * self.sign - 1) >> self.padding << self.padding
        return self.infinity | 1 << (self.fraction - 1 + self.padding) if self.infinite else self.sign - 1

    @property
    def one(self) -> int:
        """Encoding of 1."""
        return ((1 << (self.exponent - 1)) - 1) << (self.fraction + self.padding)


F16, BF16, F32, F64 = Format(5, 10), Format(8, 7), Format(8, 23), Format(11, 52)
FORMATS = {
    "f16": F16,
    "bf16": BF16,
    "f32": F32,
    "f64": F64,
    "tf32": Format(8, 10, padding=13),
    "e4m3": Format(4, 3, infinite=False),
    "e5m2": Format(5, 2),
    "e3m2": Format(3, 2, infinite=False, nans=False),
    "e2m3": Format(2, 3, infinite=False, nans=False),
    "e2m1": Format(2, 1, infinite=False, nans=False),
}


class Number(NamedTuple):
    """A finite number ``±m * 2**e``, and whether less than a bit of m is missing from the magnitude."""

    negative: bool
    m: int
    e: int
    inexact: bool = False


NAN, INFINITY, MINUS_INFINITY = "nan", "inf", "-inf"
Real = Number | str
"""A number, an infinity or a NaN."""


def decoded(bits: int, fmt: Format) -> Real:
    """Return what an encoding stands for."""
    negative, magnitude = bool(bits & fmt.sign), (bits & (fmt.sign - 1)) >> fmt.padding
    biased, fraction = magnitude >> fmt.fraction, magnitude & ((1 << fmt.fraction) - 1)
    if fmt.infinite and biased == (1 << fmt.exponent) - 1:
        return NAN if fraction else MINUS_INFINITY if negative else INFINITY
    if fmt.nans and not fmt.infinite and magnitude == (1 << (fmt.exponent + fmt.fraction)) - 1:
        return NAN
    if biased:
        return Number(negative, fraction | 1 << fmt.fraction, biased - 1 + fmt.least - fmt.fraction)
    return Number(negative, fraction, fmt.least - fmt.fraction)


def _infinity(negative: bool, fmt: Format) -> int:
    return fmt.infinity | (fmt.sign if negative else 0)


def encoded(real: Real, fmt: Format, rounding: str = "rn", *, finite: bool = False) -> int:
    """Return the encoding of a number rounded once.

    Parameters
    ----------
    real : Real
        The number.
    fmt : Format
        To which.
    rounding : str
        ``rn``, ``rz``, ``rm``, ``rp``, or ``rna``: to nearest, ties away from zero.
    finite : bool
        Whether what is beyond the largest number becomes it (``.satfinite``), also a NaN where there is none.
    """
    if isinstance(real, str):
        if real == NAN:
            return fmt.nan if fmt.nans else fmt.largest
        sign = fmt.sign if real == MINUS_INFINITY else 0
        return sign | (fmt.largest if finite else fmt.infinity)
    sign = fmt.sign if real.negative else 0
    if not real.m and not real.inexact:
        return sign
    m, e = (real.m << 2 | real.inexact, real.e - 2) if real.inexact else (real.m, real.e)
    leading = max(e + m.bit_length() - 1, fmt.least)
    shift = leading - fmt.fraction - e
    if shift <= 0:
        q = m << -shift
    else:
        q, rest, half = m >> shift, m & ((1 << shift) - 1), 1 << (shift - 1)
        up = {
            "rn": rest > half or (rest == half and q & 1 == 1),
            "rna": rest >= half,
            "rz": False,
            "rm": rest > 0 and real.negative,
            "rp": rest > 0 and not real.negative,
        }[rounding]
        q += up
    magnitude = ((leading - fmt.least) << fmt.fraction) + q
    if magnitude << fmt.padding > fmt.largest:
        kept = rounding in ("rz", "rp" if real.negative else "rm")
        return sign | (fmt.largest if finite or (kept and fmt.infinite) else fmt.infinity)
    return sign | magnitude << fmt.padding


def negated(real: Real) -> Real:
    """Change the sign."""
    if isinstance(real, Number):
        return real._replace(negative=not real.negative)
    return {NAN: NAN, INFINITY: MINUS_INFINITY, MINUS_INFINITY: INFINITY}[real]


def is_negative(real: Real) -> bool:
    """Tell the sign."""
    return real.negative if isinstance(real, Number) else real == MINUS_INFINITY


def product(a: Real, b: Real) -> Real:
    """Multiply exactly."""
    if NAN in (a, b):
        return NAN
    negative = is_negative(a) != is_negative(b)
    if isinstance(a, str) or isinstance(b, str):
        if any(isinstance(each, Number) and not each.m for each in (a, b)):
            return NAN
        return MINUS_INFINITY if negative else INFINITY
    return Number(negative, a.m * b.m, a.e + b.e)


def total(a: Real, b: Real, rounding: str = "rn") -> Real:
    """Add exactly; a zero sum of numbers that are not both -0 is -0 only when rounding down."""
    if NAN in (a, b) or (isinstance(a, str) and isinstance(b, str) and a != b):
        return NAN
    if isinstance(a, str):
        return a
    if isinstance(b, str):
        return b
    e = min(a.e, b.e)
    x, y = ((-n.m if n.negative else n.m) << (n.e - e) for n in (a, b))
    if x + y == 0:
        same = a.negative == b.negative and not a.m and not b.m
        return Number(a.negative if same else rounding == "rm", 0, e)
    return Number(x + y < 0, abs(x + y), e)


def quotient(a: Real, b: Real) -> Real:
    """Divide, with enough bits for one rounding."""
    if NAN in (a, b) or (isinstance(a, str) and isinstance(b, str)):
        return NAN
    negative = is_negative(a) != is_negative(b)
    if isinstance(a, str):
        return MINUS_INFINITY if negative else INFINITY
    if isinstance(b, str):
        return Number(negative, 0, 0)
    if not b.m:
        return NAN if not a.m else MINUS_INFINITY if negative else INFINITY
    shift = 128 + b.m.bit_length()
    q, rest = divmod(a.m << shift, b.m)
    return Number(negative, q, a.e - b.e - shift, rest > 0)


def root(a: Real) -> Real:
    """Take the square root, with enough bits for one rounding."""
    if isinstance(a, str):
        return INFINITY if a == INFINITY else NAN
    if not a.m:
        return a
    if a.negative:
        return NAN
    m, e = (a.m << 1, a.e - 1) if a.e & 1 else (a.m, a.e)
    q = math.isqrt(m << 256)
    return Number(False, q, e // 2 - 128, q * q != m << 256)


def fraction(real: Number) -> Fraction:
    """Return a finite number as a fraction."""
    value = Fraction(real.m) * Fraction(2) ** real.e
    return -value if real.negative else value


def to_integer(real: Number, rounding: str) -> int:
    """Round to an integer: ``rni``, ``rzi``, ``rmi`` or ``rpi``."""
    value = fraction(real)
    match rounding:
        case "rni":
            return round(value)
        case "rzi":
            return math.trunc(value)
        case "rmi":
            return math.floor(value)
    return math.ceil(value)


def of_integer(value: int) -> Number:
    """Return an integer."""
    return Number(value < 0, abs(value), 0)


def flushed(bits: int, fmt: Format) -> int:
    """Return a zero of the same sign for a subnormal number."""
    return bits & fmt.sign if not bits & fmt.infinity else bits


def is_nan(bits: int, fmt: Format) -> bool:
    """Tell whether an encoding is a NaN's."""
    return decoded(bits, fmt) == NAN


# -- single precision through the processor's doubles, where that is exact or rounds rightly
_SINGLE, _DOUBLE, _WORD = struct.Struct("<f"), struct.Struct("<d"), struct.Struct("<I")


def as_float(bits: int) -> float:
    """Return a single-precision number."""
    number: float = _SINGLE.unpack(_WORD.pack(bits))[0]
    return number


def fast_fma(a: int, b: int, c: int) -> int | None:
    """Return ``a * b + c`` in single precision to nearest; None where the slow way must be taken.

    The product of two singles is exact in double precision. So may the sum be: then it is rounded once, here.
    """
    product = as_float(a) * as_float(b)
    addend = as_float(c)
    found = product + addend
    if not -1e38 < found < 1e38 or found == 0.0:
        return None
    back = found - product
    if (product - (found - back)) + (addend - back) != 0.0:
        return None
    packed: int = _WORD.unpack(_SINGLE.pack(found))[0]
    return packed
