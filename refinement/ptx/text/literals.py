"""Floating-point literals as encodings. Source: PTX ISA 9.1 section 4.5.2."""

from __future__ import annotations

import struct
from math import copysign, inf
from types import MappingProxyType

from ....spec.errors import InputError
from ....spec.ptx.operands import Decimal, HexFloat

_CODES = MappingProxyType({16: "<e", 32: "<f", 64: "<d"})


def float_encoding(literal: HexFloat | Decimal, width: int) -> int:
    """Return the bits of a literal as a float of 16, 32 or 64 bits; infinity where it is beyond them.

    So ptxas 13.0 does: ``mov.f32 %f, 1e40`` moves 0x7f800000.

    Raises
    ------
    InputError
        If there are no floats of that width.
    """
    if isinstance(literal, HexFloat) and literal.bits == width:
        return literal.encoding
    if width not in _CODES:
        raise InputError(f"{literal} can't be of {width} bits")
    if isinstance(literal, HexFloat):
        given = literal.encoding.to_bytes(literal.bits // 8, "little")
        number = struct.unpack(_CODES[literal.bits], given)[0]
    else:
        number = float(literal.text)
    try:
        packed = struct.pack(_CODES[width], number)
    except OverflowError:
        packed = struct.pack(_CODES[width], copysign(inf, number))
    return int.from_bytes(packed, "little")
