"""Reading statements by the grammar of `pto.lark`, and saying what is wrong with what it does not read."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from lark import Lark, Token, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from ...errors import InputError
from .positions import quoted
from .semantic_actions import SEMANTIC_ACTIONS
from .syntax import Region
from .tokens import Statements, without_comments

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


def read(text: str) -> Region:
    """Read statements.

    Raises
    ------
    InputError
        If the text has no such grammar; the message says where, what was found and what was expected.
    """
    text = without_comments(text)
    try:
        block = _parser().parse(text)
    except UnexpectedInput as error:
        raise _explained(error, text) from None
    assert isinstance(block, Region)
    return block


@cache
def _parser() -> Lark:
    """Return the parser: built at first use, and once."""
    return Lark(
        files(__package__).joinpath("pto.lark").read_text(encoding="utf-8"),
        start="block",
        parser="lalr",
        lexer="basic",
        postlex=Statements(),
        transformer=SEMANTIC_ACTIONS,
    )


def _explained(error: UnexpectedInput, text: str) -> InputError:
    """Return what a reader of the text can do something with."""
    if isinstance(error, UnexpectedToken):
        token = error.token
        found = _found(token)
        expected = _expected(error.accepts or error.expected)
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


def _expected(terminals: set[str]) -> str:
    """List terminals by names that readers know."""
    patterns = {terminal.name: terminal.pattern.value for terminal in _parser().terminals}
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
