"""Floating point by exact rational arithmetic: the reference that every algebra is tested against.

Nothing here shares code with `mmaproof.spec.float_arithmetic`: numbers are `fractions.Fraction`, a
rounding picks one of the two representable neighbours, and speed doesn't matter. The second half
generates encodings and operands at the edges of formats.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmaproof.spec.formats import Bits, FloatFormat, Special
from mmaproof.spec.rounding import Rounding


class Number(NamedTuple):
    """A member of the extended reals with a signed zero, or NaN (`magnitude` None: infinite)."""

    negative: bool
    magnitude: Fraction | None
    nan: bool = False

    @property
    def finite(self) -> bool:
        return self.magnitude is not None

    @property
    def value(self) -> Fraction:
        assert self.magnitude is not None
        return -self.magnitude if self.negative else self.magnitude


NAN = Number(False, None, nan=True)


def decode(encoding: int, fmt: FloatFormat) -> Number:
    """Read an encoding by its fields."""
    negative = bool(fmt.signed and encoding >> (fmt.padding_bits + fmt.magnitude_bits) & 1)
    magnitude = encoding >> fmt.padding_bits & (1 << fmt.magnitude_bits) - 1
    exponent, fraction = magnitude >> fmt.fraction_bits, magnitude & (1 << fmt.fraction_bits) - 1
    if fmt.special is Special.IEEE and exponent == (1 << fmt.exponent_bits) - 1:
        return NAN if fraction else Number(negative, None)
    if fmt.special is Special.ONE_NAN and magnitude == (1 << fmt.magnitude_bits) - 1:
        return NAN
    if fmt.subnormals and exponent == 0:
        return Number(negative, fraction * power_of_two(1 - fmt.bias - fmt.fraction_bits))
    significand = (1 << fmt.fraction_bits) + fraction
    return Number(negative, significand * power_of_two(exponent - fmt.bias - fmt.fraction_bits))


@cache
def power_of_two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def floor_log2(value: Fraction) -> int:
    """Return the exponent of the largest power of two not above a positive number."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if power_of_two(exponent) <= value else exponent - 1


def round_exact(value: Fraction, fmt: FloatFormat, rounding: Rounding, negative: bool | None = None) -> int:
    """Round a rational number to an encoding.

    A format without a sign has its NaN for negative numbers, one without zero its NaN for zero. Where
    IEEE 754 overflows to infinity, a format without infinities takes its NaN, and one without NaNs its
    largest number.

    Parameters
    ----------
    value : Fraction
        The number.
    fmt, rounding
        Target.
    negative : bool, optional
        The sign, where `value` is zero.
    """
    negative = value < 0 if negative is None else negative
    magnitude = abs(value)
    if negative and magnitude and not fmt.signed:
        return nan_encoding(fmt)
    sign = 1 << (fmt.magnitude_bits + fmt.padding_bits) if negative and fmt.signed else 0
    if magnitude == 0:
        return sign if fmt.subnormals else nan_encoding(fmt)
    least = least_normal_exponent(fmt)
    exponent = max(floor_log2(magnitude), least)
    quantum = exponent - fmt.fraction_bits
    numerator = magnitude.numerator << max(-quantum, 0)
    denominator = magnitude.denominator << max(quantum, 0)
    units, rest = divmod(numerator, denominator)  # magnitude = (units + rest / denominator) * 2**quantum
    match rounding:
        case Rounding.NEAREST_EVEN:
            outward, away = True, 2 * rest > denominator or (2 * rest == denominator and units % 2 == 1)
        case Rounding.TOWARD_ZERO:
            outward, away = False, False
        case Rounding.UPWARD | Rounding.DOWNWARD:
            outward = negative == (rounding is Rounding.DOWNWARD)
            away = outward and rest > 0
    units += away
    if not fmt.subnormals:
        units = max(units, 1 << fmt.fraction_bits)
    near_top = exponent + fmt.bias >= (1 << fmt.exponent_bits) - 2
    if near_top and units * power_of_two(quantum) > largest(fmt):
        return sign | (overflow_encoding(fmt) if outward else encode_units(*split(largest(fmt), fmt), fmt))
    return sign | encode_units(units, exponent, fmt)


def encode_units(units: int, exponent: int, fmt: FloatFormat) -> int:
    """Encode ``units * 2**(exponent - fraction_bits)``, a representable number."""
    implicit = 1 << fmt.fraction_bits
    if units == 2 * implicit:
        units, exponent = implicit, exponent + 1
    subnormal = units < implicit
    assert not subnormal or exponent == least_normal_exponent(fmt)
    field = 0 if subnormal else exponent + fmt.bias
    return (field << fmt.fraction_bits | units % implicit) << fmt.padding_bits


def split(magnitude: Fraction, fmt: FloatFormat) -> tuple[int, int]:
    """Return the arguments of `encode_units` for a representable positive number."""
    exponent = max(floor_log2(magnitude), least_normal_exponent(fmt))
    units = magnitude / power_of_two(exponent - fmt.fraction_bits)
    assert units.denominator == 1, f"{magnitude} is not a {fmt}"
    return units.numerator, exponent


def least_normal_exponent(fmt: FloatFormat) -> int:
    return (1 if fmt.subnormals else 0) - fmt.bias


@cache
def largest(fmt: FloatFormat) -> Fraction:
    """Return the largest finite number."""
    top = (1 << fmt.magnitude_bits) - 1
    skipped = {Special.IEEE: 1 << fmt.fraction_bits, Special.ONE_NAN: 1, Special.FINITE: 0}[fmt.special]
    return decode((top - skipped) << fmt.padding_bits, fmt).value


def nan_encoding(fmt: FloatFormat) -> int:
    """Return the default NaN, or what a format without NaNs takes instead: its largest number."""
    top = (1 << fmt.magnitude_bits) - 1
    if fmt.special is Special.IEEE:
        top ^= (1 << (fmt.fraction_bits - 1)) - 1
    return top << fmt.padding_bits


def overflow_encoding(fmt: FloatFormat) -> int:
    """Return infinity's magnitude, or what a format without infinities takes instead."""
    if fmt.special is Special.IEEE:
        return ((1 << fmt.exponent_bits) - 1) << (fmt.fraction_bits + fmt.padding_bits)
    return nan_encoding(fmt)


def encode(number: Number, fmt: FloatFormat, rounding: Rounding) -> int:
    """Round any number to an encoding."""
    if number.nan:
        return nan_encoding(fmt)
    if number.magnitude is None:
        if number.negative and not fmt.signed:
            return nan_encoding(fmt)
        sign = 1 << (fmt.magnitude_bits + fmt.padding_bits) if number.negative else 0
        return sign | overflow_encoding(fmt)
    return round_exact(number.value, fmt, rounding, number.negative)


def multiply(left: Number, right: Number) -> Number:
    """Multiply exactly (IEEE 754-2019 sections 6.1 to 6.3)."""
    if left.nan or right.nan:
        return NAN
    negative = left.negative != right.negative
    if left.magnitude is None or right.magnitude is None:
        return NAN if 0 in (left.magnitude, right.magnitude) else Number(negative, None)
    return Number(negative, left.magnitude * right.magnitude)


def add(terms: Sequence[Number], rounding: Rounding) -> Number:
    """Add exactly; the direction decides the sign of an exact zero (IEEE 754-2019 section 6.3)."""
    infinities = {term.negative for term in terms if not term.finite}
    if any(term.nan for term in terms) or len(infinities) == 2:
        return NAN
    if infinities:
        return Number(infinities.pop(), None)
    total = sum((term.value for term in terms), Fraction(0))
    if total:
        return Number(total < 0, abs(total))
    signs = {term.negative for term in terms}
    return Number(signs.pop() if len(signs) == 1 else rounding is Rounding.DOWNWARD, Fraction(0))


EncodedTerm = tuple[int, FloatFormat]


def fused(
    result: FloatFormat,
    rounding: Rounding,
    products: Sequence[tuple[EncodedTerm, EncodedTerm]] = (),
    addends: Sequence[EncodedTerm] = (),
) -> int:
    """`Algebra.fused` on single encodings, for any number of terms."""
    return encode(add(exact_terms(products, addends), rounding), result, rounding)


def exact_terms(
    products: Sequence[tuple[EncodedTerm, EncodedTerm]], addends: Sequence[EncodedTerm]
) -> list[Number]:
    return [multiply(decode(*x), decode(*y)) for x, y in products] + [decode(*a) for a in addends]


def fused_in_every_direction(
    result: FloatFormat,
    products: Sequence[tuple[EncodedTerm, EncodedTerm]] = (),
    addends: Sequence[EncodedTerm] = (),
) -> list[int]:
    """Return `fused` for each member of `Rounding`, in order."""
    terms = exact_terms(products, addends)
    total = add(terms, Rounding.NEAREST_EVEN)
    if total.magnitude:  # the direction matters to the sum of a zero only
        return [round_exact(total.value, result, rounding) for rounding in Rounding]
    return [encode(add(terms, rounding), result, rounding) for rounding in Rounding]


# -- operands worth trying


def edge_encodings(fmt: FloatFormat) -> list[int]:
    """Return the encodings at a format's edges: zeros, subnormals, one, powers of two, maximum, Inf, NaNs."""
    fraction, bits = fmt.fraction_bits, fmt.magnitude_bits
    normal = 1 << fraction
    one = fmt.bias << fraction
    top = (1 << bits) - 1
    exponent_top = ((1 << fmt.exponent_bits) - 1) << fraction
    half_range = (fmt.bias // 2) << fraction
    magnitudes = {
        0, 1, 2, 3, normal // 2, normal - 1, normal, normal + 1, 2 * normal, 2 * normal - 1,
        one - normal, one - 1, one, one + 1, one + normal // 2, one + normal - 1, one + normal,
        one + fmt.precision * normal, one - fmt.precision * normal,
        half_range - 1, half_range, half_range + 1, one + half_range,
        exponent_top - normal, exponent_top - 2, exponent_top - 1, exponent_top, exponent_top + 1,
        exponent_top + normal // 2, exponent_top + normal // 2 + 1, top - 2, top - 1, top,
    }  # fmt: skip
    inside = sorted(m << fmt.padding_bits for m in magnitudes if 0 <= m <= top)
    return inside + [m | fmt.sign_mask for m in inside if fmt.signed]


def random_encodings(fmt: FloatFormat, rng: np.random.Generator, count: int) -> Bits:
    """Draw encodings: a third any bits, a third near one in magnitude, a third from the edges."""
    occupied = fmt.magnitude_bits + fmt.padding_bits + fmt.signed
    anything = rng.integers(0, (1 << occupied) - 1, count, dtype=np.uint64, endpoint=True)
    offset = rng.integers(-fmt.precision, fmt.precision + 1, count)
    exponent = np.clip(fmt.bias + offset, 0, (1 << fmt.exponent_bits) - 1).astype(np.uint64)
    keep = ~np.uint64(((1 << fmt.exponent_bits) - 1) << (fmt.fraction_bits + fmt.padding_bits))
    moderate = (anything & keep) | exponent << np.uint64(fmt.fraction_bits + fmt.padding_bits)
    edge = rng.choice(np.array(edge_encodings(fmt), dtype=np.uint64), count)
    return np.choose(rng.integers(0, 3, count), [anything, moderate, edge]).astype(fmt.storage)


def fused_operands(
    x: FloatFormat,
    y: FloatFormat,
    a: FloatFormat,
    result: FloatFormat,
    *,
    rng: np.random.Generator,
    count: int,
) -> tuple[Bits, Bits, Bits]:
    """Draw ``x * y + a`` where the product's bits meet the addend's at a chosen distance.

    Fractions are mostly long runs of zeros or of ones, and the exponents place the product from far
    below the addend's last bit to far above it. So ties, near-ties that a second rounding would break,
    sums that cancel, carries over a power of two, results on either side of the overflow and of the
    subnormal threshold of `result` all come often.
    """
    low = max(result.minimum_exponent - 2, a.minimum_exponent - 1)
    high = min(result.maximum_exponent + 1, a.maximum_exponent)
    near_end = rng.integers(0, 4, count)
    of_addend = np.choose(
        rng.integers(0, 3, count), [low + near_end, high - near_end, rng.integers(low, high + 1, count)]
    )
    p = result.precision
    interesting = [0, 1, 2, p - 1, p, p + 1, p + 2, 2 * p, 2 * p + 1, 2 * p + 3, 4 * p]
    target = of_addend - rng.choice([*interesting, *(-d for d in interesting)], count)
    of_x = np.clip(target // 2 + rng.integers(-p, p + 1, count), x.minimum_exponent, x.maximum_exponent)
    of_y = np.clip(target - of_x, y.quantum, y.maximum_exponent)
    return _spiky(x, rng, of_x), _spiky(y, rng, of_y), _spiky(a, rng, of_addend)


def _spiky(fmt: FloatFormat, rng: np.random.Generator, exponent: NDArray[np.int64]) -> Bits:
    """Build encodings of given unbiased exponents whose fractions are mostly runs of equal bits."""
    count, bits = len(exponent), fmt.fraction_bits
    ones, half = (1 << bits) - 1, (1 << bits) >> 1
    runs = np.array([0, 0, 1, 2, 3, ones, ones - 1, half, half - 1, half + 1], dtype=np.int64) & ones
    fraction = np.where(rng.random(count) < 0.75, rng.choice(runs, count), rng.integers(0, ones + 1, count))
    fraction ^= np.where(rng.random(count) < 0.25, 1 << rng.integers(0, bits + 1, count), 0) & ones
    # below the least normal exponent the significand moves into the fraction: a subnormal
    below = np.clip(fmt.minimum_exponent - exponent, 0, bits + 1)
    field = np.clip(exponent + fmt.bias, 0, (1 << fmt.exponent_bits) - 1)
    magnitude = np.where(below > 0, (fraction | (1 << bits)) >> below, (field << bits) | fraction)
    sign = rng.integers(0, 2, count).astype(np.uint64) * np.uint64(fmt.sign_mask)
    return ((magnitude.astype(np.uint64) << np.uint64(fmt.padding_bits)) | sign).astype(fmt.storage)
