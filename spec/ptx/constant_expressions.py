"""Constant expressions: what may stand wherever an instruction, or an initial value, has a number.

Integers have 64 bits and are signed, unless they are written with ``U``, do not fit, or come from an
unsigned operand; the operators bind as in C. Numbers in ``0f`` stand alone.

Source: PTX ISA 9.1 section 4.5 (constants); the values are those of ptxas of CUDA 13.0, which was run on each
operator and on random expressions: of ``&``, ``|``, ``^`` and ``?:`` it keeps a sign, of ``%`` it does not,
and it shifts by the amount modulo 64.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ..errors import InputError
from .operands import Constant, Decimal, HexFloat, Integer

Evaluation = Callable[[Sequence[Constant]], Constant]
"""From the numbers of an expression, in the order of the text, to its value."""

WARP_SIZE = Integer(32)
"""What ``WARP_SZ`` stands for."""

OPERATOR = r"<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~<>?:]"
"""The operators, without ``!``, the parentheses and `CAST`, as a regular expression."""

CAST = r"\(\s*\.[su]64\s*\)"
"""A conversion to signed or unsigned, as a regular expression."""

_DEEPEST = 64
"""How deep operators and parentheses may be nested."""

_UNARY = ("+", "-", "!", "~")

_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip


def compiled(tokens: Sequence[str | None]) -> Evaluation:
    """Return what computes an expression.

    Parameters
    ----------
    tokens : sequence of str or None
        Operators, parentheses and casts as text; None for a number.

    Raises
    ------
    InputError
        If they make no expression.
    """
    if len(tokens) == 1 and tokens[0] is None:
        return operator.itemgetter(0)
    parser = _Parser(tokens)
    evaluate = parser.conditional(0)
    parser.end()
    return evaluate


class _Parser:
    def __init__(self, tokens: Sequence[str | None]) -> None:
        self._tokens = [token if token is None else "".join(token.split()) for token in tokens]
        self._at = 0
        self._numbers = 0

    def _peek(self) -> str | None:
        """Return the next operator; "" before a number, None at the end."""
        return (self._tokens[self._at] or "") if self._at < len(self._tokens) else None

    def _take(self, *names: str) -> str | None:
        found = self._peek()
        if not found or found not in names:
            return None
        self._at += 1
        return found

    def _expect(self, name: str) -> None:
        if not self._take(name):
            self._fail(f"{name!r}")

    def _fail(self, expected: str) -> None:
        found = self._peek()
        shown = "the end" if found is None else repr(found) if found else "a number"
        raise InputError(f"expected {expected} in a constant expression, not {shown}")

    def end(self) -> None:
        if self._at < len(self._tokens):
            self._fail("an operator")

    def conditional(self, depth: int) -> Evaluation:
        if depth > _DEEPEST:
            raise InputError(f"a constant expression is nested at most {_DEEPEST} deep")
        condition = self._binary(1, depth)
        if not self._take("?"):
            return condition
        yes = self.conditional(depth + 1)
        self._expect(":")
        no = self.conditional(depth + 1)
        return lambda numbers: _chosen(condition(numbers), yes(numbers), no(numbers))

    def _binary(self, level: int, depth: int) -> Evaluation:
        if level > len(_LEVELS):
            return self._unary(depth)
        left = self._binary(level + 1, depth)
        while name := self._take(*_LEVELS[level - 1]):
            left = _applied(name, left, self._binary(level + 1, depth))
        return left

    def _unary(self, depth: int) -> Evaluation:
        if depth > _DEEPEST:
            raise InputError(f"a constant expression is nested at most {_DEEPEST} deep")
        if name := self._take(*_UNARY, "(.s64)", "(.u64)"):
            return _applied_to_one(name, self._unary(depth + 1))
        if self._take("("):
            inside = self.conditional(depth + 1)
            self._expect(")")
            return inside
        if self._peek() != "":
            self._fail("a number")
        self._at += 1
        self._numbers += 1
        return operator.itemgetter(self._numbers - 1)


def _applied_to_one(name: str, of: Evaluation) -> Evaluation:
    return lambda numbers: _unary(name, of(numbers))


def _applied(name: str, left: Evaluation, right: Evaluation) -> Evaluation:
    return lambda numbers: _binary(name, left(numbers), right(numbers))


def _wrapped(value: int, unsigned: bool) -> Integer:
    """Return 64 bits as a signed or an unsigned number."""
    bits = value & ((1 << 64) - 1)
    return Integer(bits - (1 << 64) if bits >> 63 and not unsigned else bits, unsigned)


def _unary(name: str, of: Constant) -> Constant:
    match name, of:
        case "+", Integer() | Decimal() | HexFloat(bits=64):
            return of
        case "-", Integer():
            return _wrapped(-of.value, of.unsigned)
        case "-", Decimal():
            return Decimal(of.text[1:] if of.text.startswith("-") else f"-{of.text}")
        case "-", HexFloat(bits=64):
            return HexFloat(of.encoding ^ 1 << 63, 64)
        case "!", Integer():
            return Integer(int(of.value == 0))
        case "~" | "(.u64)" | "(.s64)", Integer():
            return _wrapped(~of.value if name == "~" else of.value, name != "(.s64)")
    raise InputError(f"{name} takes an integer{' or a number' * (name in '+-')}, not {of}")


_INTEGERS: Mapping[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_,
        "^": operator.xor,
        "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    }
)  # fmt: skip
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {
        "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
        ">=": operator.ge,
    }
)  # fmt: skip
_FLOATS: Mapping[str, Callable[[float, float], float]] = MappingProxyType(
    {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
)


def _binary(name: str, left: Constant, right: Constant) -> Constant:
    if isinstance(left, Integer) and isinstance(right, Integer):
        return _of_integers(name, left, right)
    if isinstance(left, Integer) or isinstance(right, Integer):
        raise InputError(f"{left} {name} {right} mixes an integer with a floating-point number")
    return _of_floats(name, _float(left), _float(right))


def _of_integers(name: str, left: Integer, right: Integer) -> Integer:
    if name in ("/", "%") and right.value == 0:
        raise InputError(f"{left} {name} {right} divides by zero")
    match name:
        case "<<":
            return _wrapped(left.value << (right.value & 63), left.unsigned)
        case ">>":
            return _wrapped(left.value >> (right.value & 63), left.unsigned)
        case "&&":
            return Integer(int(left.value != 0 and right.value != 0))
        case "||":
            return Integer(int(left.value != 0 or right.value != 0))
    unsigned = left.unsigned or right.unsigned or name == "%"
    a, b = _wrapped(left.value, unsigned).value, _wrapped(right.value, unsigned).value
    if name == "%":
        return _wrapped(a % b, unsigned)
    if name in _COMPARISONS:
        return Integer(int(_COMPARISONS[name](a, b)))
    return _wrapped(_INTEGERS[name](a, b), unsigned)


def _of_floats(name: str, left: float, right: float) -> Constant:
    if name in _COMPARISONS:
        return Integer(int(_COMPARISONS[name](left, right)))
    if name not in _FLOATS:
        raise InputError(f"{name} takes integers, not {left} and {right}")
    if name == "/" and right == 0:
        raise InputError(f"{left} / {right} divides by zero")
    value = _FLOATS[name](left, right)
    if not math.isfinite(value):
        raise InputError(f"{left} {name} {right} is no finite number")
    return Decimal(repr(value))


def _float(number: Constant) -> float:
    match number:
        case Decimal(text):
            return float(text)
        case HexFloat(encoding, 64):
            value: float = struct.unpack("<d", encoding.to_bytes(8, "little"))[0]
            return value
    raise InputError(f"{number} stands alone: it has no place in an expression")


def _chosen(condition: Constant, yes: Constant, no: Constant) -> Constant:
    if not all(isinstance(each, Integer) for each in (condition, yes, no)):
        raise InputError(f"{condition} ? {yes} : {no}: all three must be integers")
    return yes if condition != Integer(0) else no
