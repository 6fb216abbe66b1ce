"""Fused dot-adds of matrix units on numpy arrays of encodings: aligned, truncated, summed, rounded once.

Products are kept exact and not normalised, with the sum of their factors' exponents; a subnormal has
its format's least exponent. Every term is truncated toward zero to `DotAddModel.fraction_bits` bits
below the largest exponent, then all are summed exactly and the sum is rounded once. An addend that is
zero has the exponent -126. A result too large for its format is an infinity, toward zero too. Infinities
and NaNs behave as IEEE 754 says, and the NaN result has every magnitude bit set. These rules are those of
MMA-Sim (arXiv 2511.10909), which was compared with hardware bit for bit.

What zero terms bring to the largest exponent, and which zero is left of terms that are all cut off, is
known of no hardware, nor whether a sum that rounds to zero keeps its sign: `DotAddModel` has a reading
for each.

All of this is exact in float64: values stay far inside its range, and aligned terms are integers whose
sum is below 2**53.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from .algebra import Operand, Product
from .dot_add_model import DotAddModel
from .errors import UnsupportedError
from .float_encoding import Integers, Reals, Truths, decode
from .formats import F16, F32, F64, Bits, FloatFormat, numpy_type
from .rounding import Rounding

EXPONENT_OF_ZERO = -126
"""What a zero brings to the largest exponent: the least exponent of f32."""

NO_EXPONENT = -(1 << 12)
"""Exponent of a zero factor: below `EXPONENT_OF_ZERO`, whatever three others are added to it."""

_BLOCK = 1 << 17
"""Products computed at a time: they stay in a core's cache."""

_TO_INTEGER = MappingProxyType(
    {
        Rounding.NEAREST_EVEN: "rint",
        Rounding.TOWARD_ZERO: "trunc",
        Rounding.UPWARD: "ceil",
        Rounding.DOWNWARD: "floor",
    }
)
"""NumPy's functions, by name."""


class Terms(NamedTuple):
    """Numbers, and the int16 exponents that align them."""

    values: Reals
    exponents: Integers

    def times(self, other: Terms) -> Terms:
        """Return products, not normalised."""
        return Terms(self.values * other.values, self.exponents + other.exponents)


class Alignment(NamedTuple):
    """The terms of dot-adds, and what they are cut to.

    Attributes
    ----------
    terms : Terms (T, …)
        Products, or groups of them.
    addend : Terms (…)
        The last term.
    weight : array (…)
        ``2**(F - Emax)``: times it, a term is cut to an integer.
    """

    terms: Terms
    addend: Terms
    weight: Reals


def dot_add(
    result: FloatFormat,
    model: DotAddModel,
    left: Operand,
    right: Operand,
    addend: Operand,
    scales: Product | None = None,
) -> Bits:
    """Add K products and an addend; see `Algebra.dot_add`.

    Raises
    ------
    UnsupportedError
        For a result other than f16 and f32, and for formats whose aligned terms float64 can't sum.
    """
    operands = [left, right, *(scales or ())]
    count = max(left.bits.shape[-1], right.bits.shape[-1])
    require_exact_sum(result, model, count, tuple(operand.format for operand in operands))
    operands.append(Operand(np.asarray(addend.bits)[..., None], addend.format))
    shape = np.broadcast(*(operand.bits[..., 0] for operand in operands)).shape
    sums = np.empty(shape or (1,), dtype=result.storage)
    longest = max(sums.shape)
    others = [axis for axis in range(sums.ndim) if axis != (along := sums.shape.index(longest))]
    operands = [_aligned(operand, (sums.ndim, *others, along)) for operand in operands]
    rows = max(1, _BLOCK * longest // max(1, sums.size * count))
    transposed = sums.transpose(*others, along)
    with np.errstate(all="ignore"):
        for start in range(0, longest, rows):
            block = slice(start, start + rows)
            cut = [Operand(bits[..., block] if bits.shape[-1] > 1 else bits, fmt) for bits, fmt in operands]
            *factors, final = _decoded_operands(model, cut)
            transposed[..., block] = _rounded(truncated_sum(model, factors, final), result, model)
    return sums.reshape(shape)


def aligned_terms(model: DotAddModel, factors: Sequence[Operand], addend: Operand) -> Alignment:
    """Return the terms of one dot-add.

    Parameters
    ----------
    model : DotAddModel
        How they are aligned.
    factors : sequence of Operand (K,) or (G,)
        The left and the right factors, and their scale factors if there are any.
    addend : Operand ()
        The last term.
    """
    operands = [*factors, Operand(np.asarray(addend.bits)[None], addend.format)]
    *read, final = _decoded_operands(model, [Operand(bits[..., None], fmt) for bits, fmt in operands])
    with np.errstate(all="ignore"):
        terms, last, weight = _alignment(model, read, final)
    return Alignment(_alone(terms), _alone(last), weight[0])


def _alone(terms: Terms) -> Terms:
    """Drop an axis of extent 1."""
    return Terms(terms.values[..., 0], terms.exponents[..., 0])


def _decoded_operands(model: DotAddModel, operands: Sequence[Operand]) -> list[Terms]:
    """Decode factors (K, …), scale factors (G, …) and last the addend (1, …), whose axis is dropped."""
    *factors, (last, fmt) = operands
    of_zero = EXPONENT_OF_ZERO if model.zero_terms else NO_EXPONENT
    return [*(_terms(*factor, of_zero) for factor in factors), _terms(last[0], fmt, EXPONENT_OF_ZERO)]


@cache
def require_exact_sum(
    result: FloatFormat, model: DotAddModel, count: int, factors: tuple[FloatFormat, ...]
) -> None:
    """Refuse what float64 would not compute exactly.

    Parameters
    ----------
    result, model
        As in `dot_add`.
    count : int
        K.
    factors : tuple of FloatFormat
        Formats of the left and right factors and, if any, of their scale factors.

    Raises
    ------
    UnsupportedError
        From the formats alone, whatever the values.
    """
    if result not in (F16, F32):
        raise UnsupportedError(f"a fused dot-add has an f16 or f32 result, not {result}")
    terms = count // model.group
    greatest = Fraction(2 ** len(factors))  # of a term's significand
    if model.group > 1:
        left, right = factors[:2]
        largest = left.largest_number * right.largest_number * model.group
        unit = Fraction(2) ** (left.quantum + right.quantum)
        greatest *= largest
        exact = largest / unit <= 2**F64.precision
    else:
        exact = sum(fmt.precision for fmt in factors) <= F64.precision
    if not exact or (terms + 1) * greatest * 2**model.fraction_bits > 2**F64.precision:
        names = " * ".join(map(str, factors))
        raise UnsupportedError(f"{model} of {count} terms {names} is more than float64 can sum")


def _aligned(operand: Operand, axes: tuple[int, ...]) -> Operand:
    """Put the terms' axis first and the longest of the others last: numpy loops along it."""
    bits = operand.bits
    return Operand(bits.reshape((1,) * (len(axes) - bits.ndim) + bits.shape).transpose(axes), operand.format)


def _terms(bits: Bits, fmt: FloatFormat, of_zero: int) -> Terms:
    """Decode encodings; a zero has the exponent `of_zero`."""
    if fmt.bits <= 16:
        table = _table(fmt, of_zero)
        return Terms(table.values.take(bits), table.exponents.take(bits))
    return _decoded(np.ascontiguousarray(bits), fmt, of_zero)


@cache
def _table(fmt: FloatFormat, of_zero: int) -> Terms:
    return _decoded(np.arange(1 << fmt.bits, dtype=fmt.storage), fmt, of_zero)


def _decoded(bits: Bits, fmt: FloatFormat, of_zero: int) -> Terms:
    fields = (bits >> (fmt.fraction_bits + fmt.padding_bits)) & ((1 << fmt.exponent_bits) - 1)
    return numbers(decode(bits, fmt), fields.astype(np.int16), fmt, of_zero)


def numbers(values: Reals, fields: Integers, fmt: FloatFormat, of_zero: int) -> Terms:
    """Return numbers of a format with the exponents that align them, from their exponent fields (int16)."""
    exponents = np.maximum(fields, int(fmt.subnormals)) - fmt.bias
    if of_zero != fmt.minimum_exponent:
        exponents = np.where(values == 0, np.int16(of_zero), exponents)
    return Terms(values, exponents)


def truncated_sum(model: DotAddModel, factors: Sequence[Terms], addend: Terms) -> Reals:
    """Return the exact sum of the truncated terms."""
    terms, addend, weight = _alignment(model, factors, addend)
    negative = _all_negative(terms, addend) if model.signed_zeros else None
    aligned = terms.values
    if aligned.shape[1:] == weight.shape:
        aligned *= weight
    else:  # the addend alone has a batch
        aligned = aligned * weight
    np.trunc(aligned, out=aligned)
    total = aligned.sum(axis=0, initial=0.0) + np.trunc(addend.values * weight)
    value: Reals = total / weight
    return value if negative is None else np.where(negative & (value == 0), -0.0, value)


def _alignment(model: DotAddModel, factors: Sequence[Terms], addend: Terms) -> Alignment:
    terms = _grouped(model, *factors) if model.group > 1 else _scaled_products(*factors)
    largest = np.maximum(terms.exponents.max(axis=0), addend.exponents)
    return Alignment(terms, addend, np.ldexp(1.0, model.fraction_bits - largest))


def _all_negative(terms: Terms, addend: Terms) -> Truths:
    """Tell where every term is negative or -0."""
    return np.signbit(terms.values).all(axis=0) & np.signbit(addend.values)


def _scaled_products(left: Terms, right: Terms, *scales: Terms) -> Terms:
    """Multiply pairwise; scale factors go to the factors, before these are broadcast."""
    if scales:
        count = max(len(left.values), len(right.values))
        left, right = (
            factor.times(_repeated(scale, count)) for factor, scale in zip((left, right), scales, strict=True)
        )
    return left.times(right)


def _grouped(model: DotAddModel, left: Terms, right: Terms, *scales: Terms) -> Terms:
    """Sum neighbouring products exactly, then scale: a group has its scale factors' exponent."""
    products = left.values * right.values
    groups = len(products) // model.group
    sums = products.reshape(groups, model.group, *products.shape[1:]).sum(axis=1)
    if model.signed_zeros:
        sums = sums + 0.0  # a group of which nothing is left is +0
    terms = Terms(sums, np.zeros_like(sums, dtype=np.int16))
    for scale in scales:
        terms = terms.times(_repeated(scale, len(sums)))
    if model.zero_terms:
        return terms
    return Terms(terms.values, np.where(terms.values == 0, np.int16(NO_EXPONENT), terms.exponents))


def _repeated(scale: Terms, count: int) -> Terms:
    """Give each of `count` terms its scale factor."""
    times = count // len(scale.values)
    return Terms(np.repeat(scale.values, times, axis=0), np.repeat(scale.exponents, times, axis=0))


def rounded_sum(value: Reals, result: FloatFormat, model: DotAddModel) -> Reals:
    """Return numbers rounded at the last place that the result keeps."""
    kept = result.fraction_bits if model.result_fraction_bits is None else model.result_fraction_bits
    _, above = np.frexp(value)  # the exponent of a power of two above
    last_place = np.ldexp(1.0, np.maximum(above, result.minimum_exponent + 1) - (kept + 1))
    to_integer = getattr(np, _TO_INTEGER[model.rounding])
    found: Reals = to_integer(value / last_place) * last_place
    return found


def _rounded(value: Reals, result: FloatFormat, model: DotAddModel) -> Bits:
    """Encode numbers, rounded as by `rounded_sum`."""
    rounded = rounded_sum(value, result, model)
    if model.positive_underflow:
        rounded = np.where((rounded == 0) & (value != 0), 0.0, rounded)
    bits: Bits = rounded.astype(numpy_type(result)).view(result.storage)
    nan = np.isnan(rounded)
    if nan.any():
        bits[nan] = result.sign_mask - 1
    return bits
