"""Ranges of the integers in a formula, which decide how wide a word holds them exactly."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..spec.formats import S32, S64, U32, U64, IntegerFormat
from .formula import Binary, Cast, Choice, Element, Extremum, Name, Negative, Node, ReducedExtremum, Sum
from .formula_space import FormulaSpace, Scope
from .operations import signed


class Range(NamedTuple):
    """Least and greatest value."""

    low: int
    high: int

    def __add__(self, other: Range) -> Range:  # type: ignore[override]
        return Range(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low)

    def __mul__(self, other: Range) -> Range:  # type: ignore[override]
        corners = [x * y for x in self for y in other]
        return Range(min(corners), max(corners))

    def union(self, other: Range) -> Range:
        """Return the range of both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    def within(self, fmt: IntegerFormat) -> bool:
        """Tell whether a format has all of it."""
        return fmt.minimum <= self.low and self.high <= fmt.maximum

    def word(self) -> IntegerFormat | None:
        """Return the first of s32, u32, s64 and u64 that has all of it."""
        return next((fmt for fmt in (S32, U32, S64, U64) if self.within(fmt)), None)

    def narrowest(self) -> IntegerFormat:
        """Return the signed format of the fewest bits that has all of it."""
        return signed(max(self.low.bit_length(), (~self.low).bit_length(), self.high.bit_length()) + 1)


def range_of_format(fmt: IntegerFormat) -> Range:
    """Return the range of a format."""
    return Range(fmt.minimum, fmt.maximum)


def range_of(space: FormulaSpace, node: Node, scope: Scope) -> Range:
    """Return a range that holds all values of an integer part of a formula."""
    if space.kinds.is_concrete(node):
        numbers = space.numbers(node, scope)
        return Range(int(numbers.min()), int(numbers.max()))
    match node:
        case Element() | Name():
            fmt = space.kinds.format(node.array if isinstance(node, Element) else node.name)
            assert isinstance(fmt, IntegerFormat)
            return range_of_format(fmt)
        case Negative():
            return -range_of(space, node.operand, scope)
        case Binary():
            left, right = (range_of(space, each, scope) for each in node.operands)
            if node.operator == "*":
                return left * right
            return left + (right if node.operator == "+" else -right)
        case Sum():
            inside, axes = space.summed(node, scope)
            length = prod(axes.values())
            if length == 0:
                return Range(0, 0)
            return range_of(space, node.body, inside) * Range(length, length)
        case ReducedExtremum():
            return range_of(space, node.body, space.summed(node, scope)[0])
        case Choice():
            return range_of(space, node.then, scope).union(range_of(space, node.otherwise, scope))
        case Extremum():
            left, right = (range_of(space, each, scope) for each in node.operands)
            choose = max if node.which == "max" else min
            return Range(choose(left.low, right.low), choose(left.high, right.high))
        case Cast():
            fmt = node.format
            assert isinstance(fmt, IntegerFormat)
            if space.kinds.is_real(node.operand):
                return range_of_format(fmt)
            inner = range_of(space, node.operand, scope)
            return inner if inner.within(fmt) else range_of_format(fmt)
    raise AssertionError(node)
