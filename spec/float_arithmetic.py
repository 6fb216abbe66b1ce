"""Correctly rounded sums and products on numpy arrays of encodings.

numpy has no fused multiply-add and rounds to nearest only. Every format but f64 is carried exactly
in float64, where the product of two encodings is exact; a sum is *rounded to odd* (the inexact
result's last bit is set), after which one rounding to at most 51 bits is the rounding of the exact
value, in any direction (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums",
IEEE Trans. Computers 57(4), 2008). For f64 the same sum is carried as an unevaluated pair and
rounded as an integer with a sticky bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from .algebra import Operand, Product
from .errors import UnsupportedError
from .float_encoding import Integers, Reals, decode, encode, encode_special, round_significand
from .formats import F64, Bits, FloatFormat
from .rounding import Rounding

_BLOCK = 1 << 13
"""Elements computed at a time: a dozen float64 temporaries of this size stay in a core's cache."""


_NEGLIGIBLE = -220
"""Binary exponent below which an addend of a sum near 1 can only make the result inexact."""

_FAR = (1 << 31) - 1
"""More than any difference of exponents: puts a zero below everything."""


def fused(
    result: FloatFormat, rounding: Rounding, products: Sequence[Product], addends: Sequence[Operand]
) -> Bits:
    """Round the exact sum of one or two terms once; see `Algebra.fused`.

    Raises
    ------
    UnsupportedError
        For more than two terms; for two products in f64; and where a term or a sum of another result
        format could leave float64 (a product with an f64 factor, a sum of two f64).
    """
    if not 1 <= len(products) + len(addends) <= 2:
        raise UnsupportedError(f"a fused sum takes one or two terms, not {len(products) + len(addends)}")
    factor_formats = tuple((x.format, y.format) for x, y in products)
    addend_formats = tuple(addend.format for addend in addends)
    operands = [*(factor for product in products for factor in product), *addends]

    def compute(*bits: Bits) -> Bits:
        values = [decode(part, operand.format) for part, operand in zip(bits, operands, strict=True)]
        factors, rest = values[: 2 * len(products)], values[2 * len(products) :]
        pairs = list(zip(factors[::2], factors[1::2], strict=True))
        if result == F64:
            return _fused_double(rounding, pairs, rest)
        terms = [left * right for left, right in pairs] + rest
        return encode(exact_sum(rounding, terms), result, rounding)

    require_exact_terms(result, factor_formats, addend_formats)
    with np.errstate(all="ignore"):
        return _in_blocks(compute, [np.asarray(operand.bits) for operand in operands], result.storage)


@cache
def require_exact_terms(
    result: FloatFormat,
    products: tuple[tuple[FloatFormat, FloatFormat], ...],
    addends: tuple[FloatFormat, ...],
) -> None:
    """Refuse terms that the float64 arithmetic chosen for `result` would not sum exactly.

    Raises
    ------
    UnsupportedError
        From the formats alone, whatever the values.
    """
    if result == F64:
        if len(products) > 1:
            raise UnsupportedError("a fused sum of two products in f64 is not supported")
        return
    largest = sum(x.largest_number * y.largest_number for x, y in products) + sum(
        addend.largest_number for addend in addends
    )
    exact = (
        largest < Fraction(2) ** (F64.maximum_exponent + 1)
        and all(x.precision + y.precision <= F64.precision for x, y in products)
        and all(x.quantum + y.quantum >= F64.quantum for x, y in products)
    )
    if not exact:
        names = [f"{x} * {y}" for x, y in products] + [str(addend) for addend in addends]
        raise UnsupportedError(f"{' + '.join(names)} rounded to {result} is not supported")


def _in_blocks(compute: Callable[..., Bits], operands: Sequence[Bits], storage: np.dtype[Any]) -> Bits:
    """Apply an elementwise function block by block along the first axis.

    In a block that axis comes last: numpy's inner loops then run along the batch, not along the few
    elements of a row that broadcasting leaves them.
    """
    final = np.broadcast_shapes(*(operand.shape for operand in operands))
    shape = final or (1,)
    aligned = [operand.reshape((1,) * (len(shape) - operand.ndim) + operand.shape) for operand in operands]
    result = np.empty(shape, dtype=storage)
    if result.size <= _BLOCK // 128:  # too few to be worth moving
        result[...] = compute(*aligned)
        return result.reshape(final)
    rows = max(1, _BLOCK // max(1, math.prod(shape[1:])))
    for start in range(0, shape[0], rows):
        block = slice(start, start + rows)
        parts = [operand[block] if len(operand) > 1 else operand for operand in aligned]
        computed = compute(*(np.ascontiguousarray(np.moveaxis(part, 0, -1)) for part in parts))
        result[block] = np.moveaxis(computed, -1, 0)
    return result.reshape(final)


def two_sum(left: Reals, right: Reals) -> tuple[Reals, Reals]:
    """Return the rounded sum and its exact error (Knuth)."""
    total = left + right
    virtual = np.asarray(total - left)  # of two numbers, numpy gives a number, which nothing is written to
    error = np.asarray(total - virtual)
    np.subtract(left, error, out=error)
    np.subtract(right, virtual, out=virtual)
    error += virtual
    return total, error


def sum_to_odd(left: Reals, right: Reals) -> Reals:
    """Return the sum rounded to odd: an inexact result has its last bit set."""
    total, error = two_sum(left, right)
    inexact = ((error < 0) | (error > 0)).astype(np.int64)
    bits = total.view(np.int64)
    opposed = (bits ^ error.view(np.int64)) >> 63
    bits -= opposed & inexact
    bits |= inexact
    return total


def exact_sum(rounding: Rounding, terms: Sequence[Reals]) -> Reals:
    """Return one or two terms, summed as by `sum_to_odd` with the sign that `rounding` gives to a zero."""
    if len(terms) == 1:
        return terms[0]
    left, right = terms
    total = sum_to_odd(left, right)
    if rounding is Rounding.DOWNWARD:
        zero = total == 0
        if zero.any():
            total[zero & (np.signbit(left) | np.signbit(right))] = -0.0
    return total


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


def _fused_double(
    rounding: Rounding, products: Sequence[tuple[Reals, Reals]], addends: Sequence[Reals]
) -> Bits:
    """Fused sum of one or two terms in f64, at most one of them a product."""
    x, y = products[0] if products else (addends[0], np.ones(1))
    a = addends[-1] if len(products) + len(addends) == 2 else None

    (mx, ex), (my, ey) = np.frexp(x), np.frexp(y)
    total, error = _two_product(mx, my)
    exponent = (ex + ey).astype(np.int64)
    negative = np.signbit(x) ^ np.signbit(y)
    special = x * y
    finite = np.isfinite(x) & np.isfinite(y)
    if a is not None:
        ma, ea = np.frexp(a)
        of_product = exponent - (total == 0) * _FAR
        of_addend = ea - (a == 0) * _FAR
        exponent = np.maximum(of_product, of_addend)
        scale = _power_of_two(np.maximum(of_product - exponent, _NEGLIGIBLE))
        addend = ma * _power_of_two(np.maximum(of_addend - exponent, _NEGLIGIBLE))
        total, error = _sum_of_three(total * scale, error * scale, addend)
        unlike = negative ^ np.signbit(a)  # an exact zero keeps a common sign, else takes the direction's
        negative = np.where(unlike, rounding is Rounding.DOWNWARD, negative)
        special = np.where(finite, a, special + a)
        finite = finite & np.isfinite(a)

    # total + error as an integer: 53 bits, three more, the last of them sticky
    zero = total == 0
    bits = total.view(np.int64)
    binade = ((bits >> F64.fraction_bits) & 0x7FF) - F64.bias
    leading = (bits & ((1 << F64.fraction_bits) - 1)) | (1 << F64.fraction_bits)
    eighths = error * np.copysign(_power_of_two(F64.fraction_bits + 3 - binade), total)
    whole = np.floor(eighths)
    significand = (leading << 3) + whole.astype(np.int64)
    significand |= whole != eighths
    significand *= ~zero
    negative = (negative & zero) | (np.signbit(total) & ~zero)
    place = exponent + binade - (F64.fraction_bits + 3)
    encoded = round_significand(negative, significand.astype(np.uint64), place, F64, rounding)
    return encoded if finite.all() else np.where(finite, encoded, encode_special(special, F64))


def _sum_of_three(high: Reals, low: Reals, addend: Reals) -> tuple[Reals, Reals]:
    """Return ``high + low + addend`` rounded to nearest, and what is left, rounded to odd.

    `high` and `low` are a rounded product and its error.
    """
    top, tail = two_sum(addend, low)
    total, middle = two_sum(high, top)
    return two_sum(total, sum_to_odd(tail, middle))


def _power_of_two(exponent: Integers) -> Reals:
    return ((exponent + F64.bias) << F64.fraction_bits).view(np.float64)
