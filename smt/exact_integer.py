"""Exact integers as signed bit-vectors that grow so that no operation overflows."""

from __future__ import annotations

from typing import Any, Self

import z3


class ExactInteger:
    """A two's complement bit-vector term whose width always holds the exact value.

    Supports ``+``, ``-``, ``*`` with its own kind and with Python ints, so numpy object arrays of it
    add, multiply and sum.
    """

    __slots__ = ("term",)

    def __init__(self, term: Any) -> None:
        self.term = term

    @classmethod
    def of(cls, value: int) -> Self:
        """Return the constant `value`."""
        return cls(z3.BitVecVal(value, value.bit_length() + 1))

    @property
    def width(self) -> int:
        """Bits of the term."""
        return int(self.term.size())

    def extended(self, width: int) -> Any:
        """Return the term sign-extended to `width` bits."""
        return z3.SignExt(width - self.width, self.term) if width > self.width else self.term

    def _other(self, other: Self | int) -> Self:
        return self.of(other) if isinstance(other, int) else other

    def __add__(self, other: Self | int) -> Self:
        other = self._other(other)
        width = max(self.width, other.width) + 1
        return type(self)(self.extended(width) + other.extended(width))

    __radd__ = __add__

    def __neg__(self) -> Self:
        return type(self)(-self.extended(self.width + 1))

    def __sub__(self, other: Self | int) -> Self:
        other = self._other(other)
        width = max(self.width, other.width) + 1
        return type(self)(self.extended(width) - other.extended(width))

    def __mul__(self, other: Self | int) -> Self:
        other = self._other(other)
        width = self.width + other.width
        return type(self)(self.extended(width) * other.extended(width))

    __rmul__ = __mul__


class OpaqueInteger(ExactInteger):
    """An exact integer whose products are uninterpreted, but for ``0 * y = x * 0 = 0``.

    Multiplication is an instance of such a function, so what holds for all of them holds for it.
    """

    __slots__ = ()

    def __mul__(self, other: ExactInteger | int) -> OpaqueInteger:
        other = self.of(other) if isinstance(other, int) else other
        widths = (self.width, other.width, self.width + other.width)
        product = z3.Function(f"product_{self.width}_{other.width}", *map(z3.BitVecSort, widths))
        zero = z3.Or(self.term == 0, other.term == 0)
        return OpaqueInteger(z3.If(zero, z3.BitVecVal(0, widths[2]), product(self.term, other.term)))

    __rmul__ = __mul__
