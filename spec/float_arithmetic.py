"""Correctly rounded floating-point arithmetic on numpy arrays of encodings.

numpy has no fused multiply-add and rounds to nearest only. Every format but f64 is carried exactly
in float64, where the product of two encodings is exact; a sum is *rounded to odd* (the inexact
result's last bit is set), after which one rounding to at most 51 bits is the rounding of the exact
value, in any direction (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums",
IEEE Trans. Computers 57(4), 2008). For f64 the same sum is carried as an unevaluated pair and
rounded as an integer with a sticky bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .algebra import Operand, Product
from .errors import UnsupportedError
from .formats import E4M3, F16, F32, F64, Bits, FloatFormat, Special, numpy_type
from .rounding import Rounding

Reals = NDArray[np.float64]
Integers = NDArray[Any]

_NEGLIGIBLE = -220
"""Binary exponent below which an addend of a sum near 1 can only make the result inexact."""


def decode(bits: Bits, fmt: FloatFormat) -> Reals:
    """Return the values of encodings, exactly, as float64 (NaN for every NaN)."""
    if fmt.bits <= 8:
        return _values(fmt)[bits]
    if fmt.exponent_bits == F64.exponent_bits:
        return (bits.astype(np.uint64) << np.uint64(F64.fraction_bits - fmt.fraction_bits)).view(np.float64)
    if fmt == F16:
        return np.ascontiguousarray(bits).view(np.float16).astype(np.float64)
    if fmt.exponent_bits != F32.exponent_bits:
        raise UnsupportedError(f"decoding {fmt} is not supported")
    single = bits.astype(np.uint32) << np.uint32(F32.bits - fmt.bits)
    if fmt.padding_bits:
        single &= np.uint32(-1 << fmt.padding_bits & 0xFFFFFFFF)
    return single.view(np.float32).astype(np.float64)


@cache
def _values(fmt: FloatFormat) -> Reals:
    """Tabulate the values of a format of at most 8 bits, unused high bits ignored."""
    encodings = np.arange(1 << fmt.bits, dtype=np.uint8)
    source = fmt
    if not fmt.signed and fmt.magnitude_bits < fmt.bits:  # ue4m3 is e4m3 without its sign
        encodings &= (1 << fmt.magnitude_bits) - 1
        source = E4M3
    return encodings.view(numpy_type(source)).astype(np.float64)


def encode(value: Reals, fmt: FloatFormat, rounding: Rounding) -> Bits:
    """Round float64 values to `fmt`; a set last bit stands for a discarded remainder.

    The last bit is a sticky bit: a value that is not exact must have been rounded to odd. Exact
    float64 values are encoded exactly as they are for f64 only when they came without remainder.
    """
    if fmt == F32:
        return _encode_single(value, rounding)
    fraction, exponent = np.frexp(value)
    significand = np.abs(np.ldexp(fraction, 53))
    finite = np.isfinite(value)
    integral = np.where(finite, significand, 0).astype(np.uint64)
    bits = round_significand(np.signbit(value), integral, exponent.astype(np.int64) - 53, fmt, rounding)
    return bits if finite.all() else np.where(finite, bits, _encode_special(value, fmt))


def _encode_single(value: Reals, rounding: Rounding) -> Bits:
    nearest = value.astype(np.float32)
    bits = nearest.view(np.uint32)
    if rounding is not Rounding.NEAREST_EVEN:
        magnitude, rounded = np.abs(value), np.abs(nearest).astype(np.float64)
        away = _rounds_away(np.signbit(value), rounding)
        bits = bits + (away & (rounded < magnitude)) - (~away & (rounded > magnitude)).astype(np.uint32)
    invalid = np.isnan(nearest)
    if invalid.any():
        bits = np.where(invalid, np.uint32(_default_nan(F32)), bits)
    return bits


def _rounds_away(negative: NDArray[np.bool_], rounding: Rounding) -> NDArray[np.bool_]:
    """Tell where a directed rounding increases the magnitude."""
    match rounding:
        case Rounding.UPWARD:
            return ~negative
        case Rounding.DOWNWARD:
            return negative
        case _:
            return np.zeros_like(negative)


def _default_nan(fmt: FloatFormat) -> int:
    if fmt.default_nan is None:
        return fmt.largest << fmt.padding_bits
    return fmt.default_nan << fmt.padding_bits


def _encode_special(value: Reals, fmt: FloatFormat) -> Bits:
    """Encode infinities and NaNs (a format without them takes its NaN, else its largest number)."""
    sign = np.where(np.signbit(value) & ~np.isnan(value), np.uint64(fmt.sign_mask), np.uint64(0))
    infinity = _default_nan(fmt) if fmt.infinity is None else fmt.infinity << fmt.padding_bits
    magnitude = np.where(np.isnan(value), np.uint64(_default_nan(fmt)), np.uint64(infinity))
    return (sign | magnitude).astype(fmt.storage)


def round_significand(
    negative: NDArray[np.bool_],
    significand: Integers,
    exponent: Integers,
    fmt: FloatFormat,
    rounding: Rounding,
) -> Bits:
    """Encode ``(-1)**negative * significand * 2**exponent`` in `fmt`.

    Parameters
    ----------
    negative : bool array
        Signs; they also decide directed roundings and are kept by zeros.
    significand : uint64 array
        Magnitudes; the last bit is sticky (set when anything below was discarded), so a magnitude
        that is not exact must have at least two bits more than the format's precision.
    exponent : int64 array
        Exponents of the significands' last bits.
    fmt, rounding
        Target.

    Returns
    -------
    array
        Encodings. Overflow gives infinity or the largest finite number by IEEE 754 section 7.4; a
        format without infinities gives its NaN, one without NaNs its largest number.
    """
    length = _bit_length(significand)
    shift = np.maximum(length - fmt.precision, fmt.quantum - exponent)
    right = np.clip(shift, 0, 63).astype(np.uint64)
    kept = significand >> right
    remainder = significand - (kept << right)
    half = np.where(right > 0, np.uint64(1) << (np.maximum(right, 1) - np.uint64(1)), np.uint64(0))
    if rounding is Rounding.NEAREST_EVEN:
        odd = (kept & np.uint64(1)).astype(bool)
        increase = (right > 0) & ((remainder > half) | ((remainder == half) & odd))
    else:
        increase = (remainder > 0) & _rounds_away(negative, rounding)
    kept = (kept + increase) << np.clip(-shift, 0, 63).astype(np.uint64)

    binade = exponent + shift - fmt.quantum
    implicit = 0 if fmt.subnormals else 1 << fmt.fraction_bits
    magnitude = np.maximum(kept.astype(np.int64) + (binade << fmt.fraction_bits) - implicit, 0)
    magnitude = np.where(significand == 0, 0, magnitude)
    overflow = (binade > fmt.maximum_exponent - fmt.minimum_exponent + 1) | (magnitude > fmt.largest)
    if overflow.any():
        beyond = _default_nan(fmt) >> fmt.padding_bits if fmt.infinity is None else fmt.infinity
        to_infinity = _rounds_away(negative, rounding) | (rounding is Rounding.NEAREST_EVEN)
        magnitude = np.where(overflow, np.where(to_infinity, beyond, fmt.largest), magnitude)
    sign = negative.astype(np.uint64) * np.uint64(fmt.sign_mask)
    return ((magnitude.astype(np.uint64) << np.uint64(fmt.padding_bits)) | sign).astype(fmt.storage)


def _bit_length(value: Integers) -> Integers:
    """Return bit lengths of uint64 values below 2**63."""
    high = value >> np.uint64(32)
    low = value & np.uint64(0xFFFFFFFF)
    _, of_high = np.frexp(high.astype(np.float64))
    _, of_low = np.frexp(low.astype(np.float64))
    return np.where(high > 0, of_high + 32, of_low).astype(np.int64)


def fused(
    result: FloatFormat, rounding: Rounding, products: Sequence[Product], addends: Sequence[Operand]
) -> Bits:
    """Round the exact sum of one or two terms once; see `Algebra.fused`.

    Raises
    ------
    UnsupportedError
        For more than two terms, or when terms with f64 operands are to be rounded to another format.
    """
    if not 1 <= len(products) + len(addends) <= 2:
        raise UnsupportedError(f"a fused sum takes one or two terms, not {len(products) + len(addends)}")
    operands = [*addends, *(factor for product in products for factor in product)]
    with np.errstate(all="ignore"):
        if result == F64:
            return _fused_wide(rounding, products, addends)
        if any(operand.format == F64 for operand in operands):
            raise UnsupportedError(f"rounding f64 terms to {result} is not supported")
        terms = [decode(*x) * decode(*y) for x, y in products] + [decode(*a) for a in addends]
        total = terms[0] if len(terms) == 1 else sum_to_odd(terms[0], terms[1])
        if len(terms) == 2 and rounding is Rounding.DOWNWARD:
            total = np.where((total == 0) & ~_both_positive(*terms), -0.0, total)
        return encode(total, result, rounding)


def _both_positive(left: Reals, right: Reals) -> NDArray[np.bool_]:
    return ~(np.signbit(left) | np.signbit(right))


def two_sum(left: Reals, right: Reals) -> tuple[Reals, Reals]:
    """Return the rounded sum and its exact error (Knuth)."""
    total = left + right
    virtual = total - left
    return total, (left - (total - virtual)) + (right - virtual)


def sum_to_odd(left: Reals, right: Reals) -> Reals:
    """Return the sum rounded to odd: an inexact result has its last bit set."""
    total, error = two_sum(left, right)
    return _to_odd(total, error)


def _to_odd(total: Reals, error: Reals) -> Reals:
    step = (error > 0).view(np.int8) - (error < 0).view(np.int8)
    if not step.any():
        return total
    bits = np.ascontiguousarray(total).view(np.int64)
    step = np.where(total > 0, step, -step)
    step[(bits & 1).astype(bool)] = 0
    odd: Reals = (bits + step).view(np.float64)
    return odd


def _two_product(left: Reals, right: Reals) -> tuple[Reals, Reals]:
    """Return the rounded product and its exact error (Dekker); magnitudes near 1."""
    splitter = 134217729.0  # 2**27 + 1
    product = left * right
    scaled = splitter * left
    left_high = scaled - (scaled - left)
    left_low = left - left_high
    scaled = splitter * right
    right_high = scaled - (scaled - right)
    right_low = right - right_high
    error = left_low * right_low - (
        ((product - left_high * right_high) - left_low * right_high) - left_high * right_low
    )
    return product, error


def _fused_wide(rounding: Rounding, products: Sequence[Product], addends: Sequence[Operand]) -> Bits:
    """Fused sum of one or two terms in f64."""
    if len(products) > 1:
        raise UnsupportedError("a fused sum of two f64 products is not supported")
    if products:
        x, y = (decode(*factor) for factor in products[0])
    else:
        x = decode(*addends[0])
        y = np.ones((), dtype=np.float64)
        addends = addends[1:]
    a = decode(*addends[0]) if addends else None
    x, y = np.broadcast_arrays(x, y)

    (mx, ex), (my, ey) = np.frexp(x), np.frexp(y)
    high, low = _two_product(mx, my)
    product_negative = np.signbit(x) ^ np.signbit(y)
    exponent = (ex + ey).astype(np.int64)
    negative_zero = product_negative
    if a is None:
        finite = np.isfinite(x) & np.isfinite(y)
        special = x * y
        total, error = high, low
    else:
        finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(a)
        special = np.where(np.isfinite(x) & np.isfinite(y), a, x * y + a)
        ma, ea = np.frexp(a)
        of_product = np.where(high == 0, np.iinfo(np.int32).min, exponent)
        of_addend = np.where(a == 0, np.iinfo(np.int32).min, ea)
        exponent = np.maximum(of_product, of_addend)
        scale = np.maximum(of_product - exponent, _NEGLIGIBLE)
        high, low = np.ldexp(high, scale), np.ldexp(low, scale)
        addend = np.ldexp(ma, np.maximum(of_addend - exponent, _NEGLIGIBLE))
        top, tail = two_sum(addend, low)
        total, middle = two_sum(high, top)
        total, error = two_sum(total, sum_to_odd(tail, middle))
        same_sign = product_negative == np.signbit(a)
        negative_zero = np.where(same_sign, product_negative, rounding is Rounding.DOWNWARD)

    fraction, binade = np.frexp(np.where(finite, total, 0))
    ulp_eighths = np.ldexp(np.where(finite, error, 0), 56 - binade)
    ulp_eighths = np.where(np.signbit(total), -ulp_eighths, ulp_eighths)
    whole = np.floor(ulp_eighths)
    significand = (np.abs(np.ldexp(fraction, 53)).astype(np.int64) << 3) + whole.astype(np.int64)
    significand |= whole != ulp_eighths
    negative = np.where(total == 0, negative_zero, np.signbit(total))
    bits = round_significand(
        negative, significand.astype(np.uint64), exponent + binade - 56, F64, rounding
    )
    return bits if finite.all() else np.where(finite, bits, _encode_special(special, F64))


def is_nan(bits: Bits, fmt: FloatFormat) -> NDArray[np.bool_]:
    """Tell which encodings are NaNs."""
    magnitude = (bits >> fmt.storage.type(fmt.padding_bits)) & fmt.storage.type((1 << fmt.magnitude_bits) - 1)
    match fmt.special:
        case Special.IEEE:
            return np.asarray(magnitude > fmt.infinity)
        case Special.ONE_NAN:
            return np.asarray(magnitude == fmt.default_nan)
        case Special.FINITE:
            return np.zeros(np.shape(bits), dtype=bool)


def widen_nan(bits: Bits, fmt: FloatFormat, result: FloatFormat) -> Bits:
    """Return NaN encodings of `fmt` as quiet NaNs of `result`, payload left-aligned, sign kept."""
    wide = bits.astype(np.uint64)
    sign = ((wide & np.uint64(fmt.sign_mask)) != 0).astype(np.uint64) * np.uint64(result.sign_mask)
    payload = (wide >> np.uint64(fmt.padding_bits)) & np.uint64((1 << fmt.fraction_bits) - 1)
    gain = result.fraction_bits - fmt.fraction_bits
    payload = payload << np.uint64(gain) if gain >= 0 else payload >> np.uint64(-gain)
    quiet = np.uint64(_default_nan(result)) | (payload << np.uint64(result.padding_bits))
    return (sign | quiet).astype(result.storage)
