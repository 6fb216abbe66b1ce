"""Floating-point terms with one rounding, in sorts that every solver has.

Only Float16, Float32 and Float64 are used (solvers differ on others). Narrower formats are decoded
to Float64 with bit-vector operations and one exact multiplication; a sum whose operands don't fit the
result's own sort is rounded to odd in Float64 first, which loses nothing that a later rounding needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import z3

from ..spec.errors import UnsupportedError
from ..spec.float_arithmetic import require_exact_terms
from ..spec.formats import F16, F32, F64, FloatFormat, Special
from ..spec.rounding import Rounding
from .float_narrowing import narrowed

_DOUBLE = z3.Float64()


@dataclass(frozen=True)
class SymbolicRounding:
    """A rounding direction as a 2-bit term, coded as FPSCR.RN."""

    term: Any

    @property
    def mirrored(self) -> SymbolicRounding:
        """The term of `Rounding.mirrored`."""
        return SymbolicRounding(z3.If(z3.Extract(1, 1, self.term) == 1, self.term ^ 1, self.term))


Direction = Rounding | SymbolicRounding


def rounding_bits(rounding: Direction) -> Any:
    """Return a direction as a 2-bit term."""
    return z3.BitVecVal(rounding.value, 2) if isinstance(rounding, Rounding) else rounding.term


def rounding_mode(rounding: Direction) -> Any:
    """Return a direction as a term of the floating-point theory's sort."""
    modes = (z3.RNE(), z3.RTZ(), z3.RTP(), z3.RTN())
    if isinstance(rounding, Rounding):
        return modes[rounding.value]
    term = rounding.term
    return z3.If(term == 0, modes[0], z3.If(term == 1, modes[1], z3.If(term == 2, modes[2], modes[3])))


def native_sort(fmt: FloatFormat) -> Any:
    """Return the solver's sort of a format, None when solvers don't agree to have one."""
    return {F16: z3.Float16, F32: z3.Float32, F64: z3.Float64}.get(fmt, lambda: None)()


def holds_exactly(wide: FloatFormat, *factors: FloatFormat) -> bool:
    """Tell whether every value of a format, or product of values of several, is a value of `wide`."""
    wider = [fmt.precision for fmt in factors if fmt.precision > 1]  # a significand of one bit is 1
    carry = max(0, len(wider) - 1)  # a product of significands is below 2**len(wider)
    return (
        max(1, sum(wider)) <= wide.precision
        and sum(fmt.quantum for fmt in factors) >= wide.quantum
        and sum(fmt.maximum_exponent for fmt in factors) + carry <= wide.maximum_exponent
    )


def decoded(bits: Any, fmt: FloatFormat, sort: Any) -> Any:
    """Return the value of an encoding in a sort that holds it exactly."""
    if (native := native_sort(fmt)) is not None:
        value = z3.fpBVToFP(bits, native)
    elif fmt.exponent_bits == F64.exponent_bits:
        value = z3.fpBVToFP(z3.Concat(bits, z3.BitVecVal(0, F64.bits - fmt.bits)), _DOUBLE)
    elif fmt.exponent_bits == F32.exponent_bits and fmt.special is Special.IEEE:
        kept = z3.Extract(fmt.bits - 1, fmt.padding_bits, bits)
        value = z3.fpBVToFP(z3.Concat(kept, z3.BitVecVal(0, F32.bits - kept.size())), z3.Float32())
    else:
        value = _rescaled(bits, fmt)
    return value if value.sort() == sort else z3.fpFPToFP(z3.RNE(), value, sort)


def _rescaled(bits: Any, fmt: FloatFormat) -> Any:
    """Decode through Float64: the fields in Float64's place, times the difference of the biases."""
    magnitude = z3.Extract(fmt.magnitude_bits - 1, 0, bits)
    sign = z3.If(bits & fmt.sign_mask != 0, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))
    exponent_gap = z3.BitVecVal(0, F64.exponent_bits - fmt.exponent_bits)
    fraction_gap = z3.BitVecVal(0, F64.fraction_bits - fmt.fraction_bits)
    placed = z3.fpBVToFP(z3.Concat(sign, exponent_gap, magnitude, fraction_gap), _DOUBLE)
    value = z3.fpMul(z3.RNE(), placed, z3.FPVal(2.0 ** (F64.bias - fmt.bias), _DOUBLE))
    if not fmt.subnormals:
        lowest = z3.FPVal(2.0**fmt.minimum_exponent, _DOUBLE)
        value = z3.If(magnitude == 0, lowest, value)
    if fmt.infinity is not None:
        infinite = z3.If(sign == 1, z3.fpMinusInfinity(_DOUBLE), z3.fpPlusInfinity(_DOUBLE))
        value = z3.If(magnitude == fmt.infinity, infinite, value)
    return z3.If(is_nan(bits, fmt), z3.fpNaN(_DOUBLE), value)


def is_nan(bits: Any, fmt: FloatFormat) -> Any:
    """Return the condition that an encoding is a NaN."""
    match fmt.special:
        case Special.FINITE:
            return z3.BoolVal(False)
        case Special.FNUZ:
            return bits == fmt.default_nan
        case _:
            above = fmt.largest if fmt.infinity is None else fmt.infinity
            return z3.UGT(magnitude_of(bits, fmt), above)


def magnitude_of(bits: Any, fmt: FloatFormat) -> Any:
    """Return the exponent and fraction of an encoding."""
    return z3.Extract(fmt.padding_bits + fmt.magnitude_bits - 1, fmt.padding_bits, bits)


def fused_term(
    result: FloatFormat,
    rounding: Direction,
    products: int,
    formats: Sequence[FloatFormat],
    bits: Sequence[Any],
) -> Any:
    """Return the encoding of a fused sum of one or two terms (see `Algebra.fused`).

    Parameters
    ----------
    result : FloatFormat
        Target format.
    rounding : Rounding or SymbolicRounding
        Direction.
    products : int
        How many terms are products; their factors come first, two operands each.
    formats, bits : sequence
        Operand formats and bit-vector terms.

    Raises
    ------
    UnsupportedError
        If no exact encoding in Float16/32/64 is known for the combination.
    """
    direction = rounding_mode(rounding)
    sort = native_sort(result)
    if sort is not None and all(holds_exactly(result, fmt) for fmt in formats):
        operands = [decoded(b, fmt, sort) for b, fmt in zip(bits, formats, strict=True)]
        if (products, len(operands)) in ((0, 1), (0, 2), (1, 2), (1, 3)):
            return _encoded(_native(direction, products, operands), result)
    if (
        sort is None
        and (products, len(formats)) == (0, 1)
        and _is_short_single(result)
        and (holds_exactly(F32, formats[0]))
    ):
        return _cut(decoded(bits[0], formats[0], z3.Float32()), F32, result, direction)
    factor_formats = formats[: 2 * products]
    pairs = tuple(zip(factor_formats[::2], factor_formats[1::2], strict=True))
    require_exact_terms(result, pairs, tuple(formats[2 * products :]))
    operands = [decoded(b, fmt, _DOUBLE) for b, fmt in zip(bits, formats, strict=True)]
    factors, addends = operands[: 2 * products], operands[2 * products :]
    terms = [z3.fpMul(z3.RNE(), x, y) for x, y in zip(factors[::2], factors[1::2], strict=True)] + addends
    if len(terms) > 2:
        raise UnsupportedError(f"a fused sum takes one or two terms, not {len(terms)}")
    total = terms[0] if len(terms) == 1 else _sum_to_odd(direction, *terms)
    if len(terms) == 1 and sort is None and _is_short(result) and holds_exactly(result, *formats):
        return _narrowed(total, result)
    return _rounded(total, result, direction)


def _is_short_single(fmt: FloatFormat) -> bool:
    """Tell whether a format is Float32's with a shorter fraction and nothing else different: bf16."""
    same = fmt.exponent_bits == F32.exponent_bits and fmt.special is Special.IEEE and not fmt.padding_bits
    return same and F32.fraction_bits >= fmt.fraction_bits + 2


def _is_short(fmt: FloatFormat) -> bool:
    """Tell whether a format is Float64's with shorter fields and nothing else different."""
    return fmt.special is Special.IEEE and fmt.exponent_bits < F64.exponent_bits and not fmt.padding_bits


def _narrowed(value: Any, fmt: FloatFormat) -> Any:
    """Encode a Float64 value that `fmt` holds: times the difference of the biases its fields are in place."""
    moved = z3.fpToIEEEBV(z3.fpMul(z3.RNE(), value, z3.FPVal(2.0 ** (fmt.bias - F64.bias), _DOUBLE)))
    low = F64.fraction_bits - fmt.fraction_bits
    sign = z3.Extract(F64.bits - 1, F64.bits - 1, moved)
    magnitude = z3.Extract(low + fmt.magnitude_bits - 1, low, moved)
    infinity = z3.BitVecVal(fmt.infinity or 0, fmt.magnitude_bits)
    bits = z3.Concat(sign, z3.If(z3.fpIsInf(value), infinity, magnitude))
    return z3.If(z3.fpIsNaN(value), z3.BitVecVal(fmt.default_nan or 0, fmt.bits), bits)


def _native(direction: Any, products: int, operands: list[Any]) -> Any:
    if products:
        return z3.fpFMA(direction, *operands) if len(operands) == 3 else z3.fpMul(direction, *operands)
    return z3.fpAdd(direction, *operands) if len(operands) == 2 else operands[0]


def _encoded(value: Any, fmt: FloatFormat) -> Any:
    return z3.If(z3.fpIsNaN(value), z3.BitVecVal(fmt.default_nan or 0, fmt.bits), z3.fpToIEEEBV(value))


def _sum_to_odd(direction: Any, left: Any, right: Any) -> Any:
    """Return a Float64 sum with its last bit set when inexact; exact zeros signed by the direction."""
    down, up = z3.fpAdd(z3.RTN(), left, right), z3.fpAdd(z3.RTP(), left, right)
    last = z3.Extract(0, 0, z3.fpToIEEEBV(down))
    odd = z3.If(last == 1, down, up)
    exact_zero = z3.If(direction == z3.RTN(), down, up)
    exact = z3.If(z3.And(z3.fpIsZero(down), z3.fpIsZero(up)), exact_zero, down)
    return z3.If(z3.Or(z3.fpEQ(down, up), z3.fpIsNaN(down)), exact, odd)


def _rounded(value: Any, fmt: FloatFormat, direction: Any) -> Any:
    """Round a Float64 value."""
    if (sort := native_sort(fmt)) is not None:
        return _encoded(z3.fpFPToFP(direction, value, sort), fmt)
    if fmt.exponent_bits == F64.exponent_bits:
        return _cut(value, F64, fmt, direction)
    if _is_short_single(fmt):
        return _cut(_single_to_odd(value), F32, fmt, direction)
    return narrowed(value, fmt, direction)


def _single_to_odd(value: Any) -> Any:
    """Return a Float64 value as Float32, with its last bit set when that is inexact."""
    down, up = (z3.fpFPToFP(way, value, z3.Float32()) for way in (z3.RTN(), z3.RTP()))
    last = z3.Extract(0, 0, z3.fpToIEEEBV(down))
    return z3.If(z3.Or(z3.fpEQ(down, up), last == 1), down, up)


def _cut(value: Any, wide: FloatFormat, fmt: FloatFormat, direction: Any) -> Any:
    """Round a value to a format with as many bits of exponent as the one that it is of."""
    dropped = wide.fraction_bits - fmt.fraction_bits
    bits = z3.fpToIEEEBV(value)
    kept = z3.Extract(wide.bits - 1, dropped, bits)
    remainder = z3.Extract(dropped - 1, 0, bits)
    half = z3.BitVecVal(1 << (dropped - 1), dropped)
    negative = z3.Extract(wide.bits - 1, wide.bits - 1, bits) == 1
    to_nearest = z3.Or(z3.UGT(remainder, half), z3.And(remainder == half, z3.Extract(0, 0, kept) == 1))
    increase = z3.If(
        direction == z3.RNE(),
        to_nearest,
        z3.And(
            remainder != 0,
            z3.Or(z3.And(direction == z3.RTP(), z3.Not(negative)), z3.And(direction == z3.RTN(), negative)),
        ),
    )
    rounded = kept + z3.If(increase, z3.BitVecVal(1, fmt.bits), z3.BitVecVal(0, fmt.bits))
    return z3.If(z3.fpIsNaN(value), z3.BitVecVal(fmt.default_nan or 0, fmt.bits), rounded)
