"""Expressions in assembler text, as GNU as and llvm-mc evaluate them: by their own precedences.

``4 + 3 & 1`` is 5 and ``2 << 1 + 1`` is 5: bitwise operators bind tighter than sums, shifts as products do.
Values have 64 bits, ``>>`` shifts zeros in, ``a ! b`` is ``a | ~b``, a comparison that holds is -1, and
``012`` is octal.

Source: Using as, section 6.2 (infix and prefix operators); GNU as 2.40, for Power, and llvm-mc 19, for Power
and AMD GPUs, give the values of ``tests/spec/test_assembler_expressions.py``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from .errors import InputError

Symbols = Callable[[str], int]
"""From a name, ``.`` among them, to its value; raises `KeyError`."""

_LEVELS = (
    ("||",), ("&&",), ("==", "!=", "<>", "<", "<=", ">", ">="), ("+", "-"), ("|", "&", "^", "!"),
    ("*", "/", "%", "<<", ">>"),
)  # fmt: skip
"""Infix operators, from those that bind loosest; those of one level are applied from the left."""

_INFIX = re.compile(r"\s*(<<|>>|<=|>=|<>|==|!=|&&|\|\||[-+*/%|&^!<>])")
_PREFIX = re.compile(r"\s*([-+~!(])")
_ATOM = re.compile(r"\s*(?:(0x[0-9a-f]+|0b[01]+|[0-9]+)(?![\w.$])|(%?[.$a-z_][\w.$]*))", re.IGNORECASE)
_CLOSED = re.compile(r"\s*\)")

_BITS = 64
_LONGEST = 2 + _BITS
"""Characters of a number that are read."""
_DEEPEST = 64
"""How deep operators and parentheses may be nested."""


def _truncated(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _truth(holds: Callable[[int, int], bool], true: int) -> Callable[[int, int], int]:
    return lambda left, right: true if holds(left, right) else 0


_OPERATIONS: Mapping[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "*": operator.mul, "/": _truncated, "%": lambda left, right: left - right * _truncated(left, right),
        "<<": operator.lshift, ">>": lambda left, right: (left & (1 << _BITS) - 1) >> right,
        "|": operator.or_, "&": operator.and_, "^": operator.xor, "!": lambda left, right: left | ~right,
        "+": operator.add, "-": operator.sub,
        "==": _truth(operator.eq, -1), "!=": _truth(operator.ne, -1), "<>": _truth(operator.ne, -1),
        "<": _truth(operator.lt, -1), "<=": _truth(operator.le, -1), ">": _truth(operator.gt, -1),
        ">=": _truth(operator.ge, -1),
        "&&": _truth(lambda left, right: bool(left and right), 1),
        "||": _truth(lambda left, right: bool(left or right), 1),
    }
)  # fmt: skip


def no_symbols(name: str) -> int:
    """Return the value of no symbol."""
    raise KeyError(name)


def evaluate(text: str, symbols: Symbols = no_symbols) -> int:
    """Return an expression's value, signed.

    Raises
    ------
    InputError
        If the text is no expression, or a symbol is not known.
    """
    value, end = evaluated(text, 0, symbols)
    if text[end:].strip():
        raise _no_expression(text)
    return value


def evaluated(text: str, at: int = 0, symbols: Symbols = no_symbols) -> tuple[int, int]:
    """Return the value of the longest expression that begins at a place, and where it ends.

    Raises
    ------
    InputError
        If none begins there, or a symbol is not known.
    """
    return _Reader(text, symbols).infix(0, at, 0)


def _no_expression(text: str) -> InputError:
    return InputError(f"{text.strip()[:_LONGEST]!r} is no number, nor an expression")


class _Reader:
    def __init__(self, text: str, symbols: Symbols) -> None:
        self._text, self._symbols = text, symbols

    def infix(self, level: int, at: int, depth: int) -> tuple[int, int]:
        if level == len(_LEVELS):
            return self._prefix(at, depth)
        value, at = self.infix(level + 1, at, depth)
        while (found := _INFIX.match(self._text, at)) and found[1] in _LEVELS[level]:
            right, at = self.infix(level + 1, found.end(), depth)
            value = _applied(found[1], value, right)
        return value, at

    def _prefix(self, at: int, depth: int) -> tuple[int, int]:
        if depth > _DEEPEST:
            raise InputError(f"an expression is nested at most {_DEEPEST} deep")
        found = _PREFIX.match(self._text, at)
        if found is None:
            return self._atom(at)
        if found[1] == "(":
            value, at = self.infix(0, found.end(), depth + 1)
            closed = _CLOSED.match(self._text, at)
            if closed is None:
                raise InputError(f"{self._text.strip()[:_LONGEST]!r}: a parenthesis is not closed")
            return value, closed.end()
        value, at = self._prefix(found.end(), depth + 1)
        return {"-": -value, "+": value, "~": ~value, "!": int(value == 0)}[found[1]], at

    def _atom(self, at: int) -> tuple[int, int]:
        found = _ATOM.match(self._text, at)
        if found is None or len(found[1] or "") > _LONGEST:
            raise _no_expression(self._text)
        try:
            return _number(found[1]) if found[1] else self._symbols(found[2].lstrip("%")), found.end()
        except KeyError:
            raise InputError(f"symbol {found[2]} is not known") from None
        except ValueError:  # 09, or more than 64 bits
            raise _no_expression(self._text) from None


def _number(digits: str) -> int:
    base = 0 if digits[:2].lower() in ("0x", "0b") else 8 if digits[0] == "0" else 10
    value = int(digits, base)
    if value >> _BITS:
        raise ValueError
    return value


def _applied(name: str, left: int, right: int) -> int:
    if name in ("/", "%") and right == 0:
        raise InputError(f"{left} {name} {right} divides by zero")
    if name in ("<<", ">>") and not 0 <= right < _BITS:
        raise InputError(f"{left} {name} {right} does not shift by 0 to {_BITS - 1}")
    found = _OPERATIONS[name](left, right) & (1 << _BITS) - 1
    return found - (found >> _BITS - 1 << _BITS)
