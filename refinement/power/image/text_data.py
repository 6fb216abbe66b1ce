"""Directives of assembler text: data, and those without effect."""

from __future__ import annotations

import ast
import struct
from collections.abc import Callable, Sequence

from .text_expressions import ExpressionError

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
