"""Fused dot-adds as exact bit-vector terms: fields, products, alignment by shifts, one rounding.

The rules are those of `spec.dot_add`; everything is an integer here, and nothing is shared with it but
the exponent of a zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import z3

from ..spec.algebra import Operand, Product
from ..spec.dot_add import EXPONENT_OF_ZERO
from ..spec.dot_add_model import DotAddModel
from ..spec.formats import FloatFormat
from ..spec.rounding import Rounding
from .float_terms import is_nan, magnitude_of

_EXPONENT_BITS = 12
"""Width of signed exponents: products of four factors of 8-bit exponents stay inside."""


@dataclass(frozen=True)
class _Number:
    """The number ``± significand * 2**(exponent - fraction_bits)``, unless NaN or infinite."""

    negative: Any
    significand: Any  # an unsigned term
    fraction_bits: int
    exponent: Any  # a signed term
    zero: Any
    infinite: Any
    nan: Any

    @property
    def as_factor(self) -> _Number:
        """The number, a zero with the exponent that a zero factor has."""
        return replace(self, exponent=self.alignment)

    def times(self, other: _Number) -> _Number:
        width = self.significand.size() + other.significand.size()
        return _Number(
            z3.Xor(self.negative, other.negative),
            _wide(self.significand, width) * _wide(other.significand, width),
            self.fraction_bits + other.fraction_bits,
            self.exponent + other.exponent,
            z3.Or(self.zero, other.zero),
            z3.Or(self.infinite, other.infinite),
            z3.Or(
                self.nan,
                other.nan,
                z3.And(self.infinite, other.zero),
                z3.And(self.zero, other.infinite),
            ),
        )

    @property
    def alignment(self) -> Any:
        """The exponent with which the number takes part in the largest one, unless zeros bring theirs."""
        return z3.If(self.zero, _exponent(EXPONENT_OF_ZERO), self.exponent)


def dot_add_term(
    result: FloatFormat,
    model: DotAddModel,
    left: Operand,
    right: Operand,
    addend: Operand,
    scales: Product | None = None,
) -> Any:
    """Return the encoding of one fused dot-add; see `Algebra.dot_add`.

    Parameters
    ----------
    result, model
        As there.
    left, right : Operand
        Factors (K,).
    addend : Operand
        One more term (1,).
    scales : pair of Operand, optional
        Scale factors (G,) of the left and of the right factors.
    """

    def factors_of(terms: Operand) -> list[_Number]:
        numbers = [_number(bits, terms.format) for bits in terms.bits]
        return [number.as_factor for number in numbers] if model.zero_terms else numbers

    columns = [factors_of(operand) for operand in (left, right)]
    terms = [_grouped(left.format, right.format, group) for group in _groups(model.group, *columns)]
    for scale in scales or ():
        factors = factors_of(scale)
        each = len(terms) // len(factors)
        terms = [term.times(factors[i // each]) for i, term in enumerate(terms)]
    terms.append(_number(addend.bits[0], addend.format))
    exponents = [term.exponent if model.zero_terms else term.alignment for term in terms[:-1]]
    largest = reduce(_maximum, exponents, terms[-1].alignment)
    aligned = [_aligned(term, largest, model.fraction_bits) for term in terms]
    width = max(part.size() for part in aligned) + len(terms).bit_length()
    total = reduce(lambda a, b: a + b, (z3.SignExt(width - part.size(), part) for part in aligned))
    finite = _encoded(total, largest, result, model)
    minus_zero = z3.BitVecVal(result.sign_mask, result.bits)
    if model.positive_underflow:
        zero = z3.BitVecVal(0, result.bits)
        finite = z3.If(z3.And(total != 0, finite == minus_zero), zero, finite)
    if model.signed_zeros:
        # a group of which nothing is left has no sign
        negative = z3.And(*(term.negative for term in terms))
        finite = z3.If(z3.And(total == 0, negative), minus_zero, finite)
    return _with_specials(finite, terms, result)


def _groups(
    group: int, left: Sequence[_Number], right: Sequence[_Number]
) -> list[list[tuple[_Number, _Number]]]:
    pairs = list(zip(left, right, strict=True))
    return [pairs[start : start + group] for start in range(0, len(pairs), group)]


def _grouped(left: FloatFormat, right: FloatFormat, pairs: Sequence[tuple[_Number, _Number]]) -> _Number:
    """Return a product, or the exact sum of several with the exponent 0."""
    products = [x.times(y) for x, y in pairs]
    if len(products) == 1:
        return products[0]
    least = left.minimum_exponent + right.minimum_exponent
    most = left.maximum_exponent + right.maximum_exponent
    first = products[0]
    width = first.significand.size() + most - least + len(products).bit_length()
    total = z3.BitVecVal(0, width)
    for product in products:
        distance = _resized(product.exponent - _exponent(least), width)
        total += _signed(product.negative, _wide(product.significand, width) << distance)
    negative = total < 0
    return _Number(
        negative,
        _signed(negative, total),
        first.fraction_bits - least,
        _exponent(0),
        total == 0,
        z3.BoolVal(False),
        z3.Or(*(product.nan for product in products)),
    )


def _number(bits: Any, fmt: FloatFormat) -> _Number:
    """Read the fields of an encoding."""
    magnitude = magnitude_of(bits, fmt)
    field = z3.Extract(fmt.magnitude_bits - 1, fmt.fraction_bits, magnitude)
    field = _wide(field, _EXPONENT_BITS)
    subnormal = field == 0 if fmt.subnormals else z3.BoolVal(False)
    implicit = z3.If(subnormal, z3.BitVecVal(0, 1), z3.BitVecVal(1, 1))
    significand = implicit
    if fmt.fraction_bits:
        significand = z3.Concat(implicit, z3.Extract(fmt.fraction_bits - 1, 0, magnitude))
    return _Number(
        bits & fmt.sign_mask != 0 if fmt.signed else z3.BoolVal(False),
        significand,
        fmt.fraction_bits,
        z3.If(subnormal, _exponent(1), field) - _exponent(fmt.bias),
        magnitude == 0 if fmt.subnormals else z3.BoolVal(False),
        z3.BoolVal(False) if fmt.infinity is None else magnitude == fmt.infinity,
        is_nan(bits, fmt),
    )


def _aligned(term: _Number, largest: Any, fraction_bits: int) -> Any:
    """Return a term truncated toward zero, as a signed integer in units of the last aligned place."""
    width = max(term.significand.size() + fraction_bits, _EXPONENT_BITS) + 1
    distance = _resized(largest - term.alignment, width) + term.fraction_bits
    magnitude = z3.LShR(_wide(term.significand, width) << fraction_bits, distance)
    return _signed(term.negative, magnitude)


def _encoded(total: Any, largest: Any, result: FloatFormat, model: DotAddModel) -> Any:
    """Round ``total * 2**(largest - F)``; what is too large is an infinity, exactly zero is +0."""
    kept = result.fraction_bits if model.result_fraction_bits is None else model.result_fraction_bits
    negative = total < 0
    # twice the magnitude in units of 2**(largest - F - kept): the last bit that leaves is the half
    width = total.size() + kept + 1
    doubled = _wide(_signed(negative, total), width) << (kept + 1)
    unit = largest - _exponent(model.fraction_bits)
    least = _exponent(result.minimum_exponent)
    exponent = _maximum(unit + _leading_place(total, negative), least)
    distance = _resized(exponent - unit, width)
    shifted = z3.LShR(doubled, distance)
    inexact = shifted << distance != doubled
    half, last = z3.Extract(0, 0, shifted) == 1, z3.Extract(1, 1, shifted) == 1
    away = {
        Rounding.NEAREST_EVEN: z3.And(half, z3.Or(inexact, last)),
        Rounding.TOWARD_ZERO: z3.BoolVal(False),
        Rounding.UPWARD: z3.And(z3.Or(half, inexact), z3.Not(negative)),
        Rounding.DOWNWARD: z3.And(z3.Or(half, inexact), negative),
    }[model.rounding]
    room = max(result.fraction_bits + _EXPONENT_BITS, width)
    units = _wide(z3.LShR(shifted, 1), room) + z3.If(away, z3.BitVecVal(1, room), z3.BitVecVal(0, room))
    binade = _resized(exponent - least, room) << result.fraction_bits
    magnitude = binade + (units << (result.fraction_bits - kept))
    infinity = z3.BitVecVal(result.infinity or 0, room)
    magnitude = z3.If(z3.UGT(magnitude, result.largest), infinity, magnitude)
    encoding = z3.Concat(
        z3.If(negative, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)),
        z3.Extract(result.magnitude_bits - 1, 0, magnitude),
    )
    return z3.If(total == 0, z3.BitVecVal(0, result.bits), encoding)


def _leading_place(total: Any, negative: Any) -> Any:
    """Return the place of the leading one of a magnitude, as an exponent."""
    magnitude = _signed(negative, total)
    place = _exponent(0)
    for bit in range(1, total.size()):
        place = z3.If(z3.Extract(bit, bit, magnitude) == 1, _exponent(bit), place)
    return place


def _with_specials(finite: Any, terms: Sequence[_Number], result: FloatFormat) -> Any:
    positive = z3.Or(*(z3.And(term.infinite, z3.Not(term.negative)) for term in terms))
    negative = z3.Or(*(z3.And(term.infinite, term.negative) for term in terms))
    nan = z3.Or(*(term.nan for term in terms), z3.And(positive, negative))
    infinity = result.infinity or 0
    value = z3.If(positive, z3.BitVecVal(infinity, result.bits), finite)
    value = z3.If(negative, z3.BitVecVal(infinity | result.sign_mask, result.bits), value)
    return z3.If(nan, z3.BitVecVal(result.sign_mask - 1, result.bits), value)


def _exponent(value: int) -> Any:
    return z3.BitVecVal(value, _EXPONENT_BITS)


def _maximum(left: Any, right: Any) -> Any:
    return z3.If(left >= right, left, right)


def _signed(negative: Any, magnitude: Any) -> Any:
    return z3.If(negative, -magnitude, magnitude)


def _wide(term: Any, width: int) -> Any:
    return z3.ZeroExt(width - term.size(), term) if width > term.size() else term


def _resized(exponent: Any, width: int) -> Any:
    """Return an exponent that is not negative in another width, which holds it."""
    return _wide(exponent, width) if width >= exponent.size() else z3.Extract(width - 1, 0, exponent)
