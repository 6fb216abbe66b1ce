"""Operands other than those of matrix instructions (`mmaproof.spec.ptx.operands`).

``str`` of each spells it as PTX does.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import copysign, inf
from types import MappingProxyType

from ....spec.errors import InputError
from ....spec.ptx.operands import Address, Decimal, HexFloat, Negated, Register, Scalar, Vector
from ....spec.ptx.operands import Operand as SpecifiedOperand


@dataclass(frozen=True)
class SpecialRegister(Register):
    """A register that the machine sets, such as ``%tid.x``."""


@dataclass(frozen=True)
class Symbol(Register):
    """The name of a variable, parameter or function; as a value it is the address."""


@dataclass(frozen=True)
class Label(Register):
    """A place in the code."""


@dataclass(frozen=True)
class Displaced:
    """A symbol's address plus bytes, as a value: ``tile+16``."""

    base: Register
    offset: int

    def __str__(self) -> str:
        return f"{self.base}+{self.offset}"


@dataclass(frozen=True)
class GenericAddress:
    """``generic(symbol)`` of an initialiser: the address in the generic space, plus bytes."""

    base: Symbol
    offset: int = 0

    def __str__(self) -> str:
        return f"generic({self.base})" + (f"+{self.offset}" if self.offset else "")


@dataclass(frozen=True)
class Pair:
    """Two results: ``%p1|%p2`` of ``setp``, ``%r1|%p1`` of ``shfl``."""

    first: Scalar
    second: Scalar

    def __str__(self) -> str:
        return f"{self.first}|{self.second}"


@dataclass(frozen=True)
class TensorAddress:
    """An address with what stands beside it: ``[%rd1, {%r1, %r2}]``."""

    base: Address
    others: tuple[Scalar | Vector, ...]

    def __str__(self) -> str:
        return f"[{', '.join([str(self.base)[1:-1], *map(str, self.others)])}]"


@dataclass(frozen=True)
class Arguments:
    """Arguments or results of a call: ``(parameter0, parameter1)``."""

    elements: tuple[Scalar, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elements))})"


def register_names(operands: Iterable[object]) -> Iterator[str]:
    """Yield the names of the registers and symbols in operands."""
    for operand in operands:
        match operand:
            case Register():
                yield operand.name
            case Address() | Displaced():
                yield from register_names([operand.base])
            case TensorAddress():
                yield from register_names([operand.base, *operand.others])
            case Vector() | Arguments():
                yield from register_names(operand.elements)
            case Pair():
                yield from register_names([operand.first, operand.second])
            case Negated():
                yield operand.register.name
            case _:
                pass


Operand = SpecifiedOperand | Displaced | Pair | TensorAddress | Arguments
Initial = Scalar | Displaced | GenericAddress

_CODES = MappingProxyType({16: "<e", 32: "<f", 64: "<d"})


def float_encoding(literal: HexFloat | Decimal, width: int) -> int:
    """Return the bits of a literal as a float of 16, 32 or 64 bits; infinity where it is beyond them.

    So ptxas 13.0 does: ``mov.f32 %f, 1e40`` moves 0x7f800000. Source: PTX ISA 9.1 section 4.5.2.

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
