"""Operands of assembler text: expressions with symbols and registers, and the data of directives."""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Callable, Sequence
from functools import partial

from ....spec.assembler_expressions import Symbols
from ....spec.assembler_expressions import evaluate as of_symbols
from ....spec.errors import InputError

_REGISTER = re.compile(r"(?:vs|cr|r|f|v|a|acc)(\d+)")
_BITS = {"lt": 0, "gt": 1, "eq": 2, "so": 3, "un": 3}


def evaluate(text: str, symbols: Symbols) -> int:
    """Return an expression's value; registers are their numbers, ``.`` and other names are symbols.

    Raises
    ------
    InputError
        If it is none, or a symbol is not known.
    """
    return of_symbols(text, partial(_named, symbols))


def _named(symbols: Symbols, name: str) -> int:
    if name in _BITS:
        return _BITS[name]
    register = _REGISTER.fullmatch(name)
    return int(register[1]) if register else symbols(name)


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
.file .loc .ident .size .machine .abiversion .gnu_attribute .previous .hidden .local .comm .lcomm
.addrsig .internal .protected .uleb128 .sleb128
"""
IGNORED = frozenset(_SAYING_NOTHING.split())
"""Directives that say nothing of what the program does."""


def data_bytes(directive: str, operands: Sequence[str], value: Callable[[str], int]) -> bytes:
    """Return the bytes of a directive.

    Raises
    ------
    InputError
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
            raise InputError(f"{operands[0]!r} is no number of bytes") from None
        if not 0 <= count <= _MOST:
            raise InputError(f"{count} bytes; at most {_MOST}")
        return bytes(count)
    found = b""
    for operand in operands:
        try:
            found += ast.literal_eval("b" + operand)
        except (ValueError, SyntaxError):
            raise InputError(f"{operand!r} is not a string") from None
        found += b"" if directive == ".ascii" else b"\0"
    return found


def _float(text: str, kind: str) -> bytes:
    try:
        return struct.pack(kind, float(text))
    except (ValueError, OverflowError):
        raise InputError(f"{text!r} is no number") from None
