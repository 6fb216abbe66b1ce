"""The grammar, and messages for texts that do not follow it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import MappingProxyType

from lark import Lark, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from ....spec.errors import InputError

_NAMES = MappingProxyType(
    {
        "NAME": "a name",
        "INTEGER": "an integer",
        "DECIMAL": "a number",
        "HEX_FLOAT": "a number",
        "VERSION_NUMBER": "a version such as 8.5",
        "STRING": "a string",
        "DOUBLE": "a number",
        "WARP_SIZE": "an integer",
        "OPERATOR": "an operator",
        "CAST": "a conversion",
        "MNEMONIC": "an instruction",
        "INSTRUCTION": "an instruction",
        "LABEL": "a label",
        "QUALIFIER": "a type",
        "FUNCTION_KIND": "'.entry' or '.func'",
        "STATE_SPACE": "a variable",
        "PARAMETER_SPACE": "'.param'",
        "LIMIT": "a limit such as '.maxntid'",
        "_ATTRIBUTE": "'.attribute'",
        "_GENERIC": "'generic'",
        "$END": "the end",
    }
)
_DIRECTIVES = frozenset(
    {
        "_VERSION",
        "_TARGET",
        "_ADDRESS_SIZE",
        "_ALIAS",
        "_FILE",
        "_LOC",
        "_PRAGMA",
        "_SECTION",
        "_REG",
        "TABLE",
    }
    | {"LINKAGE", "INLINE_ASSEMBLY"}
)
_OPERAND_STARTS = frozenset(
    {"NOT", "LPAR", "OPERATOR", "CAST", "LSQB", "LBRACE", "NAME", "INTEGER", "HEX_FLOAT", "DECIMAL", "DOUBLE"}
    | {"WARP_SIZE"}
)
_FOUND_LENGTH = 40
_WORD = re.compile(r"[\w.$%@]+|/[*/]|\S")


@cache
def grammar() -> Lark:
    """Return the parser; its starts are ``module`` and ``instruction``."""
    text = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", start=["module", "instruction"], maybe_placeholders=True)


@cache
def pattern(terminal: str) -> str:
    """Return a terminal of the grammar as a regular expression."""
    return grammar().get_terminal(terminal).pattern.to_regexp()


def syntax_error(error: UnexpectedInput, text: str, path: str, line: int = 1, column: int = 1) -> InputError:
    """Say what was found, what was expected, and where.

    Parameters
    ----------
    error : UnexpectedInput
        What the parser says of ``text``.
    text : str
        What it read.
    path, line, column
        Where the text begins.
    """
    if isinstance(error, UnexpectedToken):
        expected = error.accepts or error.expected
        offset = error.token.start_pos if error.token.type != "$END" else len(text.rstrip())
    elif isinstance(error, UnexpectedCharacters):
        expected, offset = error.allowed, error.pos_in_stream
    else:
        expected, offset = set(), error.pos_in_stream
    offset = min(offset or 0, len(text))
    lines = text.count("\n", 0, offset)
    inside = offset - text.rfind("\n", 0, offset) if lines else column + offset
    if "INSTRUCTION" in expected and text[offset:].lstrip()[:1] not in {"", "{", "}", "."}:
        return _instruction_error(text[offset:], path, line + lines, inside)
    message = f"expected {_listed(expected)}, not {_found(text[offset:])}"
    return InputError(message, f"{path}:{line + lines}:{inside}")


def _instruction_error(text: str, path: str, line: int, column: int) -> InputError:
    """Say why no instruction begins here: a module takes them whole, up to the semicolon."""
    try:
        grammar().parse(text, start="instruction")
    except UnexpectedInput as error:
        return syntax_error(error, text, path, line, column)
    return InputError(f"expected an instruction, not {_found(text)}", f"{path}:{line}:{column}")


def _listed(terminals: set[str]) -> str:
    names = {"a directive"} if terminals & _DIRECTIVES else set()
    if terminals >= _OPERAND_STARTS:
        names.add("an operand")
        terminals -= _OPERAND_STARTS
    names |= set(map(_describe, terminals - _DIRECTIVES))
    *most, last = sorted(names) or ["something else"]
    return f"{', '.join(most)} or {last}" if most else last


@cache
def _describe(terminal: str) -> str:
    if terminal in _NAMES:
        return _NAMES[terminal]
    value = grammar().get_terminal(terminal).pattern.value
    return repr(value.replace("\\.", ".").removesuffix("\\b"))


def _found(text: str) -> str:
    """Return the word or mark that a text begins with, quoted."""
    match = _WORD.search(text)
    if match is None:
        return "the end"
    word = match[0]
    return repr(word if len(word) <= _FOUND_LENGTH else f"{word[: _FOUND_LENGTH - 1]}…")
