"""Numbers to encodings and back, on numpy arrays: exact decoding, rounding in every direction, NaNs.

Selecting elements by a mask that follows the data costs numpy more than five arithmetic passes, so
the common paths here compute with sign bits and keep `where` for special values.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .errors import UnsupportedError
from .formats import F16, F32, F64, Bits, FloatFormat, Special, numpy_type
from .rounding import Rounding

if TYPE_CHECKING:
    from numpy.typing import NDArray

Reals: TypeAlias = "NDArray[np.float64]"
Truths: TypeAlias = "NDArray[np.bool_]"
Integers: TypeAlias = "NDArray[Any]"

_TABULATED = 17
"""Bits of the encodings whose values fit into a table in a core's cache."""

_F64_FRACTION = (1 << F64.fraction_bits) - 1


def decode(bits: Bits, fmt: FloatFormat) -> Reals:
    """Return the values of encodings, exactly, as float64 (NaN for every NaN).

    Raises
    ------
    UnsupportedError
        If float64 does not hold every value of `fmt`.
    """
    if fmt.bits <= 8:
        return _values(fmt)[bits]
    if fmt.exponent_bits == F64.exponent_bits:
        double = bits.astype(np.uint64, copy=False) << np.uint64(F64.fraction_bits - fmt.fraction_bits)
        return double.view(np.float64)
    if fmt == F16:
        return _widened(bits.astype(np.uint16).view(np.float16))
    if fmt.exponent_bits != F32.exponent_bits:
        return _values(fmt)[bits] if fmt.bits <= _TABULATED else _scaled_significands(bits, fmt)
    single = bits.astype(np.uint32, copy=False) << np.uint32(F32.bits - fmt.bits)
    if fmt.padding_bits:
        single = (single >> np.uint32(fmt.padding_bits)) << np.uint32(fmt.padding_bits)
    return _widened(single.view(np.float32))


def _widened(values: NDArray[Any]) -> Reals:
    with np.errstate(invalid="ignore"):  # casting a signalling NaN
        return values.astype(np.float64)


def _scaled_significands(bits: Bits, fmt: FloatFormat) -> Reals:
    """Decode a format whose fields float64 does not have."""
    if fmt.exponent_bits > F64.exponent_bits or fmt.fraction_bits > F64.fraction_bits:
        raise UnsupportedError(f"float64 does not hold every value of {fmt}")
    magnitude = (bits >> bits.dtype.type(fmt.padding_bits)).astype(np.int64) & ((1 << fmt.magnitude_bits) - 1)
    field, fraction = magnitude >> fmt.fraction_bits, magnitude & ((1 << fmt.fraction_bits) - 1)
    implicit = (field > 0) | (not fmt.subnormals)
    significand = (fraction + (implicit.astype(np.int64) << fmt.fraction_bits)).astype(np.float64)
    values = np.ldexp(significand, np.maximum(field, int(fmt.subnormals)) - fmt.bias - fmt.fraction_bits)
    values = np.where(is_nan(bits, fmt), np.nan, values)
    if fmt.infinity is not None:
        values = np.where(magnitude == fmt.infinity, np.inf, values)
    return np.where(bits & bits.dtype.type(fmt.sign_mask), -values, values)


@cache
def _values(fmt: FloatFormat) -> Reals:
    """Tabulate the values of a format of a few bits; ue4m3's unused high bit is ignored."""
    return _scaled_significands(np.arange(1 << fmt.bits, dtype=fmt.storage), fmt)


def encode(value: Reals, fmt: FloatFormat, rounding: Rounding) -> Bits:
    """Round float64 values to `fmt`, as `round_significand` does.

    For a target other than f64, a value that stands for a number it is not equal to must have been
    rounded to odd, and `fmt` have at most 51 bits of precision: the last bit is then a sticky bit.
    """
    with np.errstate(all="ignore"):
        if fmt in (F16, F32):
            bits = _encode_natively(value, fmt, rounding)
            special = np.isnan(value)
        elif fmt.exponent_bits == F64.exponent_bits:
            bits = _cut_fraction(value, fmt, rounding)
            special = np.isnan(value)
        else:
            wide = np.asarray(value).view(np.uint64)
            field = (wide >> np.uint64(F64.fraction_bits)).astype(np.int64) & 0x7FF
            normal = field > 0
            significand = (wide & _F64_FRACTION) | (normal.astype(np.uint64) << np.uint64(F64.fraction_bits))
            exponent = field - normal - (F64.bias + F64.fraction_bits - 1)
            bits = round_significand(np.signbit(value), significand, exponent, fmt, rounding)
            special = ~np.isfinite(value)
        if special.any():
            bits = np.asarray(bits)  # a single number is a scalar, which takes no assignment
            bits[special] = encode_special(np.asarray(value)[special], fmt)
        return bits


def rounded(value: Reals, fmt: FloatFormat, rounding: Rounding) -> Reals:
    """Return the values of what `encode` returns; a NaN's cut bits must be 0, so that it stays one."""
    with np.errstate(all="ignore"):
        if fmt == F32 and rounding is Rounding.NEAREST_EVEN:
            return value.astype(np.float32).astype(np.float64)
        if fmt.exponent_bits != F64.exponent_bits:
            return decode(encode(value, fmt, rounding), fmt)
        cut = F64.fraction_bits - fmt.fraction_bits
        bits = _rounded_fraction(value, cut, rounding)
        bits &= np.uint64(-1 << cut & (1 << F64.bits) - 1)
        return bits.view(np.float64)


def _encode_natively(value: Reals, fmt: FloatFormat, rounding: Rounding) -> Bits:
    """Let the processor round to nearest, then step to the neighbour where the direction asks for it."""
    nearest = value.astype(numpy_type(fmt))
    bits: Bits = nearest.view(fmt.storage)
    if rounding is Rounding.NEAREST_EVEN:
        return bits
    magnitude, rounded = np.abs(value), np.abs(nearest).astype(np.float64)
    outward = _outward(np.signbit(value), rounding)
    bits += outward & (rounded < magnitude)
    bits -= ~outward & (rounded > magnitude)
    return bits


def _cut_fraction(value: Reals, fmt: FloatFormat, rounding: Rounding) -> Bits:
    """Round to a format that is f64 with a shorter fraction: a carry runs into the exponent as it should."""
    cut = F64.fraction_bits - fmt.fraction_bits
    return (_rounded_fraction(value, cut, rounding) >> np.uint64(cut)).astype(fmt.storage)


def _rounded_fraction(value: Reals, cut: int, rounding: Rounding) -> Integers:
    """Return the encodings in f64, incremented so that cutting their lowest bits off rounds."""
    bits = np.asarray(value).view(np.uint64)
    if not cut:
        return bits.copy()
    if rounding is Rounding.NEAREST_EVEN:
        increment = bits >> np.uint64(cut)
        increment &= 1
        increment += np.uint64((1 << cut - 1) - 1)
    else:
        low: Integers = np.full((), (1 << cut) - 1, dtype=np.uint64)
        increment = low * _outward(np.signbit(value), rounding)
    increment += bits
    return increment


def _outward(negative: Truths, rounding: Rounding) -> Truths:
    """Tell where a directed rounding increases the magnitude."""
    match rounding:
        case Rounding.UPWARD:
            return ~negative
        case Rounding.DOWNWARD:
            return negative
        case _:
            return np.zeros_like(negative)


def _increment(last: Integers, low: Integers, negative: Truths, rounding: Rounding) -> Integers:
    """Return what to add to a magnitude so that cutting the bits `low` off rounds it.

    Parameters
    ----------
    last : uint64 array
        The last bit that stays (0 or 1).
    low : uint64 array
        Ones in the places that are cut off.
    negative, rounding
        Sign and direction.
    """
    if rounding is Rounding.NEAREST_EVEN:
        return (low + last) >> 1  # half a unit, less one where a tie has to stay
    return low * _outward(negative, rounding)


def round_significand(
    negative: Truths, significand: Integers, exponent: Integers, fmt: FloatFormat, rounding: Rounding
) -> Bits:
    """Encode ``(-1)**negative * significand * 2**exponent`` in `fmt`.

    Parameters
    ----------
    negative : bool array
        Signs; they also decide directed roundings and are kept by zeros.
    significand : uint64 array
        Magnitudes below 2**62; the last bit is sticky (set when anything below was discarded), so a
        magnitude that is not exact must have at least two bits more than the format's precision.
    exponent : int64 array
        Exponents of the significands' last bits.
    fmt, rounding
        Target.

    Returns
    -------
    array
        Encodings. Overflow gives infinity or the largest finite number by IEEE 754-2019 section 7.4; a
        format without infinities gives its NaN instead (with the sign, where it has one), one without
        NaNs its largest number. What a format can't approach at all, a negative number without a
        sign bit and zero in ue8m0, is its NaN, as ml_dtypes has it.
    """
    shift = np.maximum(_bit_length(significand) - fmt.precision, fmt.quantum - exponent)
    right = np.minimum(np.maximum(shift, 0), 63).astype(np.uint64)
    kept = significand >> right
    if right.any():
        low = (1 << right) - 1
        kept = (significand + _increment(kept & 1, low, negative, rounding)) >> right
    kept <<= np.maximum(-shift, 0).astype(np.uint64)  # at most the precision, or of 0
    if not fmt.subnormals:
        kept = np.maximum(kept, 1 << fmt.fraction_bits) - (1 << fmt.fraction_bits)

    zero = significand == 0
    binade = np.minimum(exponent + shift - fmt.quantum, fmt.maximum_exponent - fmt.minimum_exponent + 1)
    magnitude = kept + ((binade * ~zero).astype(np.uint64) << np.uint64(fmt.fraction_bits))
    overflow = magnitude > fmt.largest
    if overflow.any():
        beyond = default_nan(fmt) >> fmt.padding_bits if fmt.infinity is None else fmt.infinity
        to_infinity = _outward(negative, rounding) | (rounding is Rounding.NEAREST_EVEN)
        limit = np.where(to_infinity, np.uint64(beyond), np.uint64(fmt.largest))
        magnitude = np.where(overflow, limit, magnitude)
    if fmt.special is Special.FNUZ:
        negative = negative & (magnitude > 0)  # there is no -0
    bits = (magnitude << np.uint64(fmt.padding_bits)) | (negative * np.uint64(fmt.sign_mask))
    if not fmt.signed:
        without_encoding = negative & ~zero if fmt.subnormals else negative | zero
        bits = np.where(without_encoding, np.uint64(default_nan(fmt)), bits)
    encoded: Bits = bits.astype(fmt.storage)
    return encoded


def _bit_length(value: Integers) -> Integers:
    """Return bit lengths of uint64 values below 2**63, of 0 less than any."""
    leading = value & ~(value >> 1)  # a leading one with a zero after it can't round up
    exponent = leading.astype(np.int64).astype(np.float64).view(np.int64) >> F64.fraction_bits
    length: Integers = exponent - (F64.bias - 1)
    return length


def encode_special(value: Reals, fmt: FloatFormat) -> Bits:
    """Encode infinities and NaNs.

    A format without infinities takes its NaN for them, with the sign; one without NaNs its largest
    number, positive for a NaN, as PTX ``cvt.satfinite`` does (ml_dtypes has -0 for a NaN).
    """
    negative = np.signbit(value) & ~np.isnan(value)
    infinity = default_nan(fmt) if fmt.infinity is None else fmt.infinity << fmt.padding_bits
    magnitude = np.where(np.isnan(value), np.uint64(default_nan(fmt)), np.uint64(infinity))
    return (magnitude | negative * np.uint64(fmt.sign_mask)).astype(fmt.storage)


def default_nan(fmt: FloatFormat) -> int:
    """Return the encoding of the default NaN; in a format without NaNs, of the largest number."""
    return (fmt.largest if fmt.default_nan is None else fmt.default_nan) << fmt.padding_bits


def is_nan(bits: Bits, fmt: FloatFormat) -> Truths:
    """Tell which encodings are NaNs."""
    if fmt.special is Special.FINITE:
        return np.zeros(np.shape(bits), dtype=bool)
    if fmt.special is Special.FNUZ:
        return np.asarray(bits == default_nan(fmt))
    magnitude = bits & fmt.storage.type(((1 << fmt.magnitude_bits) - 1) << fmt.padding_bits)
    above = fmt.largest if fmt.infinity is None else fmt.infinity
    return np.asarray(magnitude > fmt.storage.type(above << fmt.padding_bits))


def widen_nan(bits: Bits, fmt: FloatFormat, result: FloatFormat) -> Bits:
    """Return NaN encodings of `fmt` as quiet NaNs of `result`, payload left-aligned, sign kept."""
    wide = bits.astype(np.uint64)
    sign = ((wide & np.uint64(fmt.sign_mask)) != 0) * np.uint64(result.sign_mask)
    payload = (wide >> np.uint64(fmt.padding_bits)) & np.uint64((1 << fmt.fraction_bits) - 1)
    gain = result.fraction_bits - fmt.fraction_bits
    payload = payload << np.uint64(gain) if gain >= 0 else payload >> np.uint64(-gain)
    quiet = np.uint64(default_nan(result)) | (payload << np.uint64(result.padding_bits))
    widened: Bits = (sign | quiet).astype(result.storage)
    return widened
