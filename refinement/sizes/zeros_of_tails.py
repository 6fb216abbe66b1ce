"""Zeros in place of elements behind the end of a sum: where a factor of a term stays a number.

A term such as ``x * f(y)`` is 0 for zeros only where f(0) is a number: ``0 * rsqrt(0)`` is a NaN. What else
f takes must not be data, with which it may overflow at zeros and nowhere else, as ``exp(0 - m)`` does for a
small m.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..formula.tree import (
    Binary,
    Cast,
    Choice,
    Element,
    Extremum,
    Function,
    Lookup,
    Name,
    Negative,
    Node,
    Number,
    walk,
)

_LARGEST = 1 << 14
"""What is a number in all formats of 16 bits and more, and may be multiplied by one that is not large."""

_NARROW = 16
"""Bits of integers that are small beside what floats may be."""

_FUNCTIONS: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {
        "exp2": lambda x: 2.0**x, "ex2": lambda x: 2.0**x,
        "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tanh": math.tanh, "erf": math.erf,
    }
)  # fmt: skip

_PLAIN = (Element, Name, Number, Negative, Cast, Extremum, Choice, Lookup)
"""What is a number wherever its parts are, beside sums and products."""


def has_zero(fmt: Format) -> bool:
    """Tell whether bits that are all 0 are the number 0."""
    return isinstance(fmt, IntegerFormat) or (isinstance(fmt, FloatFormat) and fmt.subnormals)


def factors(node: Node) -> list[Node]:
    """Return what is multiplied."""
    if isinstance(node, Binary) and node.operator == "*":
        return [*factors(node.left), *factors(node.right)]
    return [node]


def is_finite_product(parts: Sequence[Node], arrays: Collection[str], formats: Mapping[str, Format]) -> bool:
    """Tell whether factors and their products are numbers where elements of some arrays are 0.

    Data are taken to be numbers, but not products of data that no other term has: ``(x - m) * (x - m)`` is
    m * m at zeros.
    """
    if not all(is_finite_at_zeros(part, arrays) for part in parts):
        return False
    counts = [_data(part, arrays, formats) for part in parts]
    is_new = any(
        count and any(isinstance(each, Element) and each.array in arrays for each in walk(part))
        for count, part in zip(counts, parts, strict=True)
    )
    return not is_new or sum(counts) <= 1


def _data(node: Node, arrays: Collection[str], formats: Mapping[str, Format]) -> int:
    """Return how many data that may be large are multiplied in a part at zeros."""
    match node:
        case Element(array=array):
            fmt = formats[array]
            return int(array not in arrays and not (isinstance(fmt, IntegerFormat) and fmt.bits <= _NARROW))
        case Name():
            return 1
        case Number():
            return 0
        case Binary(operator="*", left=left, right=right):
            if any(isinstance(each, Element) and each.array in arrays for each in factors(node)):
                return 0
            return _data(left, arrays, formats) + _data(right, arrays, formats)
        case Function() | Binary(operator="/"):
            return int(_value(node, arrays) is None)
    return max((_data(part, arrays, formats) for part in node.operands), default=0)


def is_finite_at_zeros(node: Node, arrays: Collection[str]) -> bool:
    """Tell whether a factor is a number where elements of some arrays are 0, and others are numbers."""
    if not any(isinstance(part, Element) and part.array in arrays for part in walk(node)):
        return True  # whatever it is, it is so in other terms
    return _is_finite(node, arrays)


def _is_finite(node: Node, arrays: Collection[str], *, is_chosen: bool = False) -> bool:
    """Tell whether a part is a number at zeros, also where it may be in no other term."""
    is_chosen |= isinstance(node, Choice | Lookup)  # zeros may choose what no others do
    if isinstance(node, _PLAIN) or (isinstance(node, Binary) and node.operator != "/"):
        if is_chosen:
            return all(_is_finite(part, arrays, is_chosen=True) for part in node.operands)
        return all(is_finite_at_zeros(part, arrays) for part in node.operands)
    return _value(node, arrays) is not None


def _value(node: Node, arrays: Collection[str]) -> float | None:
    """Return what a part is at zeros; None if that is not known, or large."""
    match node:
        case Number(value=value):
            found = float(value)
        case Element(array=array):
            return 0.0 if array in arrays else None
        case Negative(operand=operand):
            number = _value(operand, arrays)
            return None if number is None else -number
        case Binary(operator="+" | "-" | "*" | "/" as operator, left=left, right=right):
            one, other = _value(left, arrays), _value(right, arrays)
            if one is None or other is None or (operator == "/" and not other):
                return None
            found = {
                "+": one + other,
                "-": one - other,
                "*": one * other,
                "/": one / (other or 1.0),
            }[operator]
        case Function(name=name, arguments=(argument,)) if name in _FUNCTIONS:
            number = _value(argument, arrays)
            if number is None or (name == "sqrt" and number < 0):
                return None
            found = _FUNCTIONS[name](min(number, 64.0))
        case _:
            return None
    return found if abs(found) < _LARGEST else None
