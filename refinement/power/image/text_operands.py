"""Operands of assembler text: expressions (numbers, symbols, registers, sums), and the data of directives."""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Callable, Sequence

_TOKEN = re.compile(r"\s*(0[xX][0-9a-fA-F]+|\d+|[.$A-Za-z_][\w.$]*|<<|[-+*()~|&])")
_REGISTER = re.compile(r"%?(?:vs|cr|r|f|v|a|acc)(\d+)")
_BITS = {"lt": 0, "gt": 1, "eq": 2, "so": 3, "un": 3}

Symbols = Callable[[str], int]
"""From a symbol's name to its value; raises `KeyError`."""


class ExpressionError(ValueError):
    """Text that does not parse as an expression."""


def evaluate(text: str, symbols: Symbols) -> int:
    """Return an expression's value; ``.`` and names are symbols.

    Raises
    ------
    ExpressionError
        If it is none, or a symbol is not known.
    """
    match = _REGISTER.fullmatch(text.strip())
    if match:
        return int(match[1])
    tokens = _tokens(text)
    value, rest = _sum(tokens, 0, symbols)
    if rest != len(tokens):
        raise ExpressionError(f"{text.strip()!r} is not an expression")
    return value


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    text = text.rstrip().replace("%", "")
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ExpressionError(f"{text.strip()!r} is not an expression")
        found.append(match[1])
        at = match.end()
    return found


def _sum(tokens: list[str], at: int, symbols: Symbols) -> tuple[int, int]:
    value, at = _product(tokens, at, symbols)
    while at < len(tokens) and tokens[at] in "+-|&":
        sign = tokens[at]
        other, at = _product(tokens, at + 1, symbols)
        match sign:
            case "+":
                value += other
            case "-":
                value -= other
            case "|":
                value |= other
            case _:
                value &= other
    return value, at


def _product(tokens: list[str], at: int, symbols: Symbols) -> tuple[int, int]:
    value, at = _atom(tokens, at, symbols)
    while at < len(tokens) and tokens[at] in ("*", "<<"):
        sign = tokens[at]
        other, at = _atom(tokens, at + 1, symbols)
        if sign == "<<" and not 0 <= other < 64:
            raise ExpressionError(f"a shift by {other}")
        value = value * other if sign == "*" else value << other
    return value, at


def _atom(tokens: list[str], at: int, symbols: Symbols) -> tuple[int, int]:
    if at >= len(tokens):
        raise ExpressionError("an expression ends too early")
    token = tokens[at]
    if token == "(":
        value, at = _sum(tokens, at + 1, symbols)
        if at >= len(tokens) or tokens[at] != ")":
            raise ExpressionError("a parenthesis is not closed")
        return value, at + 1
    if token in "-~+":
        value, at = _atom(tokens, at + 1, symbols)
        return (-value if token == "-" else ~value if token == "~" else value), at
    if token[0].isdigit():
        return int(
            token, 16 if token[:2].lower() == "0x" else 8 if token[0] == "0" and len(token) > 1 else 10
        ), at + 1
    if token in _BITS:
        return _BITS[token], at + 1
    if match := _REGISTER.fullmatch(token):
        return int(match[1]), at + 1
    try:
        return symbols(token), at + 1
    except KeyError:
        raise ExpressionError(f"symbol {token} is not known") from None


_SIZES = {
    ".byte": 1, ".short": 2, ".2byte": 2, ".value": 2, ".long": 4, ".4byte": 4, ".int": 4, ".quad": 8,
    ".8byte": 8,
}  # fmt: skip
_FLOATS = {".float": "<f", ".double": "<d"}
_TEXTS = (".string", ".ascii", ".asciz")
_SPACES = (".zero", ".space", ".skip")
_MOST = 1 << 24

DATA = frozenset({*_SIZES, *_FLOATS, *_TEXTS, *_SPACES})
"""Directives that make data."""

_SAYING_NOTHING = """
.file .loc .ident .size .machine .abiversion .localentry .gnu_attribute .previous .hidden .local .comm .lcomm
.addrsig .internal .protected .uleb128 .sleb128
"""
IGNORED = frozenset(_SAYING_NOTHING.split())
"""Directives that say nothing of what the program does."""


def data_bytes(directive: str, operands: Sequence[str], value: Callable[[str], int]) -> bytes:
    """Return the bytes of a directive.

    Raises
    ------
    ExpressionError
        If an operand is not understood.
    """
    if directive in _SIZES:
        size = _SIZES[directive]
        mask = (1 << 8 * size) - 1
        return b"".join((value(operand) & mask).to_bytes(size, "little") for operand in operands)
    if directive in _FLOATS:
        return b"".join(_float(operand, _FLOATS[directive]) for operand in operands)
    if directive in _SPACES:
        try:
            count = int(operands[0], 0)
        except ValueError:
            raise ExpressionError(f"{operands[0]!r} is no number of bytes") from None
        if not 0 <= count <= _MOST:
            raise ExpressionError(f"{count} bytes; at most {_MOST}")
        return bytes(count)
    found = b""
    for operand in operands:
        try:
            found += ast.literal_eval("b" + operand)
        except (ValueError, SyntaxError):
            raise ExpressionError(f"{operand!r} is not a string") from None
        found += b"" if directive == ".ascii" else b"\0"
    return found


def _float(text: str, kind: str) -> bytes:
    try:
        return struct.pack(kind, float(text))
    except (ValueError, OverflowError):
        raise ExpressionError(f"{text!r} is no number") from None
