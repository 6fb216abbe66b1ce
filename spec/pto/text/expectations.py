"""What a text that can't be read is told: what was found, and what was expected instead."""

from __future__ import annotations

from collections.abc import Mapping

from lark import Token, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from ...errors import InputError
from .wording import quoted

_HUMAN_NAMES = {
    "$END": "the end",
    "NEXT": "a statement",
    "_REGION": "a region",
    "PREFIXED": "an operation such as 'pto.tmatmul'",
    "PLAIN": "an operation such as 'tmatmul'",
    "QUOTED": "an operation such as '\"pto.tmatmul\"'",
    "ARITHMETIC": "an operation such as 'arith.addi'",
    "SSA": "a value such as '%a'",
    "SYMBOL": "a name such as '@f'",
    "WORD": "a word",
    "TYPE": "a type such as '!pto.tile_buf<…>'",
    "PARAMETERS": "'<…>'",
    "PARAMETRIC": "a type such as 'memref<…>'",
    "ATTRIBUTE": "an attribute such as '#pto<…>'",
    "STRING": "a string",
    "INTEGER": "an integer",
    "HEXADECIMAL": "a hexadecimal number",
    "FLOAT": "a decimal fraction",
}
_TYPE_NAMES = frozenset({"TYPE", "PARAMETERS", "PARAMETRIC", "WORD"})
_NUMBER_NAMES = frozenset({"INTEGER", "HEXADECIMAL", "FLOAT"})
_OPERAND_NAMES = frozenset({"SSA", "ATTRIBUTE", "STRING", *_NUMBER_NAMES})
_STATEMENT_WORDS = ("module", "return")


def explained(error: UnexpectedInput, text: str, patterns: Mapping[str, str]) -> InputError:
    """Return what a reader of the text can do something with.

    Parameters
    ----------
    error : UnexpectedInput
        What the parser objects to.
    text : str
        The text.
    patterns : mapping of str to str
        The patterns of the terminals by name.
    """
    if isinstance(error, UnexpectedToken):
        token = error.token
        found = _found(token)
        expected = _expected(error.accepts or error.expected, patterns)
        where = _end(text) if token.type == "$END" else f"line {token.line}, column {token.column}"
        return InputError(f"expected {expected}, found {found}", where)
    assert isinstance(error, UnexpectedCharacters)
    assert error.pos_in_stream is not None
    character = text[error.pos_in_stream]
    where = f"line {error.line}, column {error.column}"
    match character:
        case "<":
            return InputError("expected '>' for this '<' (at most five deep), found none", where)
        case '"':
            return InputError("expected '\"' at the end of this string, found the end of the line", where)
        case _:
            return InputError(f"found {character!r}, which begins nothing in PTO text", where)


def _found(token: Token) -> str:
    if token.type == "$END":
        return "the end"
    if token.type in ("NEXT", "_REGION"):
        return "the next statement" if token.type == "NEXT" else "a region"
    return quoted(token.value)


def _expected(terminals: set[str], patterns: Mapping[str, str]) -> str:
    """List terminals by names that readers know."""
    names = []
    rest = set(terminals)
    if "OTHER" in rest:
        names.append("a statement" if "SSA" in rest else "the name of an operation")
        rest -= {"SSA", "PREFIXED", "PLAIN", "QUOTED", "ARITHMETIC", "OTHER"}
        rest = {name for name in rest if "." not in patterns[name] and patterns[name] not in _STATEMENT_WORDS}
    if "SEMICOLON" in rest:
        rest -= {"SEMICOLON", "NEXT", "RBRACE", "$END"}
        names.append("the end of the statement")
    if rest >= _OPERAND_NAMES:
        rest -= _OPERAND_NAMES
        names.append("an operand such as '%a'")
    if rest >= _TYPE_NAMES:
        rest -= _TYPE_NAMES
        names.append("a type")
    if rest >= _NUMBER_NAMES:
        rest -= _NUMBER_NAMES
        names.append("a number")
    names += [_HUMAN_NAMES.get(name) or repr(patterns[name]) for name in rest]
    *most, last = sorted(names, key=lambda name: (name.startswith("'"), name))
    return f"{', '.join(most)} or {last}" if most else last


def _end(text: str) -> str:
    lines = text.rstrip().split("\n")
    return f"line {len(lines)}, column {len(lines[-1]) + 1}"
