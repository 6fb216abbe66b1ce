"""Exact integers as signed bit-vectors that grow so that no operation overflows."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any, Self

import z3

from .bit_fields import applied, function


class ExactInteger:
    """A two's complement bit-vector term whose width always holds the exact value.

    Supports ``+``, ``-``, ``*`` with its own kind and with Python ints, so numpy object arrays of it
    add, multiply and sum.
    """

    __slots__ = ("_body",)

    def __init__(self, body: Any) -> None:
        self._body = body

    @classmethod
    def of(cls, value: int) -> Self:
        """Return the constant `value`."""
        return cls(z3.BitVecVal(value, value.bit_length() + 1))

    @classmethod
    def decode(cls, bits: Any, signed: bool) -> Self:
        """Return what an encoding stands for."""
        return cls(bits if signed else z3.ZeroExt(1, bits))

    @property
    def term(self) -> Any:
        """The bit-vector term."""
        return self._body

    @property
    def width(self) -> int:
        """Bits of the term."""
        return int(self.term.size())

    def extended(self, width: int) -> Any:
        """Return the term sign-extended to `width` bits."""
        return z3.SignExt(width - self.width, self.term) if width > self.width else self.term

    def chosen(self, condition: Any, otherwise: Self) -> Self:
        """Return this where the condition holds, else `otherwise`."""
        width = max(self.width, otherwise.width)
        return type(self)(z3.If(condition, self.extended(width), otherwise.extended(width)))

    def _other(self, other: object) -> Self | None:
        """Return an operand of this kind; None leaves arrays to numpy."""
        if isinstance(other, int):
            return self.of(other)
        return other if isinstance(other, type(self)) else None

    def __add__(self, other: object) -> Self:
        if (addend := self._other(other)) is None:
            return NotImplemented
        width = max(self.width, addend.width) + 1
        return type(self)(self.extended(width) + addend.extended(width))

    __radd__ = __add__

    def __neg__(self) -> Self:
        return type(self)(-self.extended(self.width + 1))

    def __sub__(self, other: object) -> Self:
        subtrahend = self._other(other)
        return NotImplemented if subtrahend is None else self + -subtrahend

    def __mul__(self, other: object) -> Self:
        factor = self._other(other)
        return NotImplemented if factor is None else self._product(factor)

    def _product(self, factor: Self) -> Self:
        width = self.width + factor.width
        return type(self)(self.extended(width) * factor.extended(width))

    __rmul__ = __mul__


Summand = tuple[Any, Any]
"""A term, and the condition under which it counts (None: always)."""


class OpaqueInteger(ExactInteger):
    """An exact integer whose products are uninterpreted, but for ``0 * y = x * 0 = 0``.

    Multiplication is an instance of such a function, so what holds for all of them holds for it. A
    value is kept as a sum of summands "``guard ? body : 0``": a product takes the guards of its
    factors, and a sum forgets the order of its summands, so that masking factors or products, and
    summing them in any order, give the same term.
    """

    __slots__ = ("_total", "summands")

    least_sum_width = 40
    """Sums at least this wide are congruent modulo 2**32 summand by summand, which rewriting sees."""

    def __init__(self, body: Any) -> None:
        self.summands: tuple[Summand, ...] = ((body, None),)
        self._total: Any = body

    @classmethod
    def _sum(cls, summands: tuple[Summand, ...]) -> Self:
        """Return a sum; its term is built when it is asked for, so partial sums cost none."""
        total = cls.__new__(cls)
        total.summands, total._total = summands, None
        return total

    @property
    def term(self) -> Any:
        """The bit-vector term."""
        if self._total is None:
            self._total = _total(self.summands, self.least_sum_width)
        return self._total

    @classmethod
    def decode(cls, bits: Any, signed: bool) -> Self:
        """Return what an encoding stands for; ``If(guard, bits, 0)`` is taken apart."""
        guard = None
        if z3.is_app_of(bits, z3.Z3_OP_ITE) and _is_zero(bits.arg(2)):
            guard, bits = bits.arg(0), bits.arg(1)
        return cls._sum(((bits if signed else z3.ZeroExt(1, bits), guard),))

    def chosen(self, condition: Any, otherwise: Self) -> Self:
        """Return this where the condition holds, else `otherwise`; a zero only adds to the guards."""
        if _is_zero(otherwise.term):
            return self._sum(tuple((body, _both(guard, condition)) for body, guard in self.summands))
        return super().chosen(condition, otherwise)

    def __add__(self, other: object) -> Self:
        addend = self._other(other)
        return NotImplemented if addend is None else self._sum(self.summands + addend.summands)

    __radd__ = __add__

    def _product(self, factor: Self) -> Self:
        (left, left_guard), (right, right_guard) = self._single(), factor._single()
        widths = left.size(), right.size()
        product = applied(function("product_{}_{}".format(*widths), *widths, sum(widths)), left, right)
        return self._sum(((product, _both(left_guard, right_guard)),))

    def _single(self) -> Summand:
        return self.summands[0] if len(self.summands) == 1 else (self.term, None)


def _total(summands: tuple[Summand, ...], least_width: int) -> Any:
    width = max(body.size() for body, _ in summands) + (len(summands) - 1).bit_length()
    if len(summands) > 1:
        width = max(width, least_width)
    terms = []
    for body, guard in summands:
        wide = z3.SignExt(width - body.size(), body) if width > body.size() else body
        terms.append(wide if guard is None else z3.If(guard, wide, z3.BitVecVal(0, width)))
    terms.sort(key=lambda term: int(term.get_id()))
    return reduce(add, terms)


def _is_zero(term: Any) -> bool:
    return bool(z3.is_bv_value(term)) and term.as_long() == 0


def _both(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return left if right is None else right
    return left if left.eq(right) else z3.And(left, right)
