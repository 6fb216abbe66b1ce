"""Rounding Float64 terms to formats of a few bits, which solvers don't have: fields and one addition.

A normal number's magnitude, as an encoding, is cut and incremented as the direction says, and rebiased; a
carry runs into the exponent as it should. Below the least normal number, adding a power of two whose last
place is the format's smallest number leaves the multiple of that number in the low bits, rounded once.
"""

from __future__ import annotations

from typing import Any

import z3

from ..spec.errors import UnsupportedError
from ..spec.float_encoding import default_nan
from ..spec.formats import F64, FloatFormat, Special

_DOUBLE = z3.Float64()


def narrowed(value: Any, fmt: FloatFormat, direction: Any) -> Any:
    """Return the encoding of a Float64 term, exact or rounded to odd, in a shorter format.

    Parameters
    ----------
    value : z3 term
        Of sort Float64.
    fmt : FloatFormat
        With a sign, subnormal numbers, and fields shorter than Float64's by at least two bits.
    direction : z3 term
        A rounding mode.

    Raises
    ------
    UnsupportedError
        For a format without a sign or without subnormal numbers.
    """
    if not (fmt.signed and fmt.subnormals):
        lacks = "no subnormal numbers" if fmt.signed else "no sign"
        raise UnsupportedError(f"rounding to {fmt}, which has {lacks}, has no symbolic encoding")
    bits = z3.fpToIEEEBV(value)
    negative = z3.Extract(F64.bits - 1, F64.bits - 1, bits) == 1
    away, toward = z3.If(negative, z3.RTZ(), z3.RTP()), z3.If(negative, z3.RTP(), z3.RTZ())
    of_magnitude = z3.If(direction == z3.RTP(), away, z3.If(direction == z3.RTN(), toward, direction))
    magnitude = z3.Extract(F64.magnitude_bits - 1, 0, bits)
    normal = z3.UGE(magnitude, (fmt.minimum_exponent + F64.bias) << F64.fraction_bits)
    found = z3.If(normal, _cut(magnitude, fmt, of_magnitude), _multiple(z3.fpAbs(value), fmt, of_magnitude))
    beyond = default_nan(fmt) >> fmt.padding_bits if fmt.infinity is None else fmt.infinity
    outward = z3.Or(of_magnitude == z3.RNE(), of_magnitude == z3.RTP(), z3.fpIsInf(value))
    limit = z3.If(outward, z3.BitVecVal(beyond, found.size()), z3.BitVecVal(fmt.largest, found.size()))
    found = z3.If(z3.UGT(found, fmt.largest), limit, found)
    signed = z3.And(negative, found != 0) if fmt.special is Special.FNUZ else negative
    code = z3.Extract(fmt.bits - 1, 0, z3.ZeroExt(fmt.bits, found)) << fmt.padding_bits
    code |= z3.If(signed, z3.BitVecVal(fmt.sign_mask, fmt.bits), z3.BitVecVal(0, fmt.bits))
    return z3.If(z3.fpIsNaN(value), z3.BitVecVal(default_nan(fmt), fmt.bits), code)


def _cut(magnitude: Any, fmt: FloatFormat, direction: Any) -> Any:
    """Return the magnitude of a normal number, without a limit: the fraction cut, the exponent rebiased."""
    dropped = F64.fraction_bits - fmt.fraction_bits
    kept = z3.LShR(magnitude, dropped)
    rest = z3.Extract(dropped - 1, 0, magnitude)
    half = z3.BitVecVal(1 << dropped - 1, dropped)
    to_nearest = z3.Or(z3.UGT(rest, half), z3.And(rest == half, z3.Extract(0, 0, kept) == 1))
    up = z3.Or(z3.And(direction == z3.RNE(), to_nearest), z3.And(direction == z3.RTP(), rest != 0))
    increment = z3.If(up, z3.BitVecVal(1, kept.size()), z3.BitVecVal(0, kept.size()))
    return kept + increment - ((F64.bias - fmt.bias) << fmt.fraction_bits)


def _multiple(value: Any, fmt: FloatFormat, direction: Any) -> Any:
    """Return by how much a small positive number is a multiple of the format's smallest, rounded."""
    anchor = z3.FPVal(2.0 ** (fmt.quantum + F64.fraction_bits), _DOUBLE)
    total = z3.fpToIEEEBV(z3.fpAdd(direction, value, anchor))
    return z3.ZeroExt(F64.magnitude_bits - F64.fraction_bits, z3.Extract(F64.fraction_bits - 1, 0, total))
