"""Zeros in place of elements behind the end of a sum: where a factor of a term stays a number.

A term such as ``x * f(y)`` is 0 for zeros only where f(0) is a number: ``0 * rsqrt(0)`` is a NaN. What else
f takes must not be data, with which it may overflow at zeros and nowhere else, as ``exp(0 - m)`` does for a
small m.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from ...spec.formats import Format, IntegerFormat
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

_FUNCTIONS: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {
        "exp2": lambda x: 2.0**x, "ex2": lambda x: 2.0**x,
        "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tanh": math.tanh, "erf": math.erf,
    }
)  # fmt: skip

_PLAIN = (Element, Name, Number, Negative, Cast, Extremum, Lookup)
"""What is a number wherever its parts are, beside sums and products."""


def has_zero(fmt: Format) -> bool:
    """Tell whether bits that are all 0 are the number 0."""
    return isinstance(fmt, IntegerFormat) or fmt.subnormals


def is_finite_at_zeros(node: Node, arrays: Collection[str]) -> bool:
    """Tell whether a factor is a number where elements of some arrays are 0, and others are numbers."""
    if not any(isinstance(part, Element) and part.array in arrays for part in walk(node)):
        return True  # whatever it is, it is so in other terms
    return _is_finite(node, arrays)


def _is_finite(node: Node, arrays: Collection[str]) -> bool:
    if isinstance(node, Choice):  # zeros may choose what no others do
        return all(_is_finite(part, arrays) for part in node.operands)
    if isinstance(node, _PLAIN) or (isinstance(node, Binary) and node.operator != "/"):
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
