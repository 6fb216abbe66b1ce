"""Integer arithmetic on sizes and indices: Python integers, or arrays of them that broadcast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

import numpy as np

from ...spec.formats import FORMATS
from .tree import RELATIONS, Binary, Choice, Element, Extremum, Inverse, Name, Negative, Node, Number, Source

LARGEST = 1 << 62
"""All numbers are smaller, so that int64 arrays never overflow."""

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y,
        "//": lambda x, y: x // y, "%": lambda x, y: x % y, "&": lambda x, y: x & y,
        "<<": lambda x, y: x << y, ">>": lambda x, y: x >> y,
        "<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y,
        ">=": lambda x, y: x >= y, "==": lambda x, y: x == y, "!=": lambda x, y: x != y,
    }
)  # fmt: skip

_BOUNDS: Mapping[str, Callable[[int, int], int]] = MappingProxyType(
    {name: _OPERATORS[name] for name in ("+", "*", "<<")} | {"-": _OPERATORS["+"]}
)
"""The largest results that operands of given magnitudes can have."""

_SHIFTS = ("<<", ">>")
_DIVISIONS = ("//", "%")


@dataclass(frozen=True)
class IndexArithmetic:
    """Evaluates expressions in named numbers.

    Attributes
    ----------
    source : Source
        The text, for messages.
    names : mapping of str to int or int64 array
        What is known.
    elements : callable, optional
        Gives the numbers of an element of an array with given contents.
    """

    source: Source
    names: Mapping[str, Any]
    elements: Callable[[Element], Any] | None = None

    def numbers(self, node: Node) -> Any:
        """Return the value of an expression.

        Raises
        ------
        InputError
            If it has none: an unknown name, a division by 0, a number that is too large or not whole.
        """
        match node:
            case Number():
                if not node.whole:
                    raise self.source.error(node.at, f"expected an integer, not {float(node.value)}")
                return self._bounded(node, int(node.value))
            case Name():
                return self._named(node)
            case Negative():
                return -self.numbers(node.operand)
            case Binary() if node.operator in _OPERATORS and node.operator not in RELATIONS:
                return self._binary(node)
            case Extremum():
                choose = np.maximum if node.which == "max" else np.minimum
                return _plain(choose(self.numbers(node.left), self.numbers(node.right)))
            case Choice():
                then, otherwise = self.numbers(node.then), self.numbers(node.otherwise)
                return _plain(np.where(self.truths(node.condition), then, otherwise))
            case Element() if self.elements is not None:
                return self.elements(node)
        raise self.source.error(node.at, "expected an expression in sizes and indices")

    def truths(self, node: Node) -> Any:
        """Return where a condition holds; raises as `numbers`."""
        match node:
            case Inverse():
                return np.logical_not(self.truths(node.operand))
            case Binary(operator="and"):
                return np.logical_and(self.truths(node.left), self.truths(node.right))
            case Binary(operator="or"):
                return np.logical_or(self.truths(node.left), self.truths(node.right))
            case Binary() if node.operator in RELATIONS:
                return _OPERATORS[node.operator](self.numbers(node.left), self.numbers(node.right))
        raise self.source.error(node.at, "expected a condition")

    def _named(self, node: Name) -> Any:
        if node.name not in self.names:
            raise unknown_name(self.source, node, self.names)
        return self.names[node.name]

    def _binary(self, node: Binary) -> Any:
        left, right = self.numbers(node.left), self.numbers(node.right)
        if node.operator in _DIVISIONS and np.any(np.equal(right, 0)):
            raise self.source.error(node.at, f"the divisor of {node.operator} is 0")
        if node.operator in _SHIFTS and (np.any(np.less(right, 0)) or np.any(np.greater(right, 62))):
            raise self.source.error(node.at, "a shift by less than 0 or more than 62")
        # Bounds are computed on Python's integers, which don't overflow.
        if (bound := _BOUNDS.get(node.operator)) is not None:
            self._bounded(node, bound(_largest(left), _largest(right)))
        return _OPERATORS[node.operator](left, right)

    def _bounded(self, node: Node, value: int) -> int:
        if abs(value) >= LARGEST:
            raise self.source.error(node.at, "an integer of more than 62 bits")
        return value


def unknown_name(source: Source, node: Name | Element, names: Any) -> Exception:
    """Return the error of a name that is not among those known."""
    name = node.name if isinstance(node, Name) else node.array
    close = get_close_matches(name[:40], names, n=1)
    known = f"did you mean {close[0]}?" if close else f"known: {', '.join(names) or 'none'}"
    if name in FORMATS:
        return source.error(node.at, f"{name} needs arguments: it is a type, and no parameter has its name")
    return source.error(node.at, f"unknown name {name[:40]}; {known}")


def _plain(value: Any) -> Any:
    return value if np.ndim(value) else int(value)


def _largest(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return max(abs(int(value.max(initial=0))), abs(int(value.min(initial=0))))
    return abs(int(value))


@dataclass(frozen=True)
class Expression:
    """An integer expression in the sizes of a contract.

    Attributes
    ----------
    source : Source
        The text.
    node : Node
        What it says.
    """

    source: Source
    node: Node

    def value(self, sizes: Mapping[str, int], least: int | None = None, most: int | None = None) -> int:
        """Return its value at sizes.

        Raises
        ------
        InputError
            If it has none, or one that is not between `least` and `most`.
        """
        found = int(IndexArithmetic(self.source, sizes).numbers(self.node))
        if (least is not None and found < least) or (most is not None and found > most):
            allowed = f"at least {least}" if most is None else f"{least} to {most}"
            at = ", ".join(f"{name} = {size}" for name, size in sizes.items())
            told = f"{self.source.text} is {found} at {at}" if at else self.source.text
            raise self.source.error(0, f"{told}; allowed: {allowed}")
        return found
