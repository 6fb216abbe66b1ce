"""PTO text to statements; `printing` is the way back.

The grammar is `pto.lark`: the three textual forms, and the files of ptoas around them. Reading judges
no constraint of the instructions: that is `legality`'s work.

Source: reference section D; ptoas at a56b18c3.
"""

from __future__ import annotations

import difflib
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ..errors import InputError
from .catalogue import OPERATIONS
from .text.module import Argument, Block, Constant, Module, Other, Placed
from .text.positions import quoted
from .text.syntax import Instruction

if TYPE_CHECKING:
    from lark import Lark, Token, UnexpectedInput

_HUMAN_NAMES = {
    "$END": "the end",
    "_NEXT": "a statement",
    "REGION": "a region",
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


KNOWN = ", ".join(OPERATIONS)
"""The operations."""

WORDS = frozenset(
    {
        *(name.partition(".")[0] for name in OPERATIONS),
        *("pto", ".arg", ".const", "func", "module", "builtin", "!", "arith", "scf"),
    }
)
"""How statements and texts begin, up to a dot or an underscore."""

_COMMENTS = re.compile(r"\A(?:\s*(?://|[#;])[^\n]*\n)+")
_RESULTS = re.compile(r"\A\s*%[\w$.:#-]+(?:\s*,\s*%[\w$.:#-]+)*\s*=")
_FIRST_WORD = re.compile(r"\s*\"?(\.?[a-zA-Z0-9]+|!)")
"""What an operation begins with, quoted in the generic form."""


def first_word(text: str) -> str:
    """Return how the operation's name begins, behind comments and results, in lower case."""
    match = _FIRST_WORD.match(_RESULTS.sub("", _COMMENTS.sub("", text)))
    return match[1].lower() if match else ""


def parse(text: str) -> Instruction:
    """Read one matrix instruction or move, in any form; directives may stand in front of it.

    Parameters
    ----------
    text : str
        The statement, with its comments.

    Raises
    ------
    InputError
        If it is none; the message says where, what was found and what was expected.
    """
    return only_instruction(parse_module(text))


def only_instruction(module: Module) -> Instruction:
    """Return the one instruction of a text; directives may stand in front of it.

    Raises
    ------
    InputError
        If there is none, or something else besides.
    """
    statements = [
        statement
        for statement in module.body
        if not (isinstance(statement, Argument) or (isinstance(statement, Constant) and statement.directive))
    ]
    if not statements:
        raise InputError("expected an instruction such as 'pto.tmatmul', found none", "line 1, column 1")
    first, *rest = statements
    if not isinstance(first, Instruction):
        raise InputError(f"expected an instruction, found {_described(first)}", _place(first))
    if rest:
        raise InputError("expected the end, found a second statement", _place(rest[0]))
    return first


def parse_module(text: str, path: str | None = None) -> Module:
    """Read a file, or a listing of statements.

    Parameters
    ----------
    text : str
        What stands in it.
    path : str, optional
        Where it stands, for messages.

    Raises
    ------
    InputError
        If it can't be read; the message says where, what was found and what was expected.
    """
    try:
        block = _read(text)
    except InputError as error:
        raise InputError(str(error), path) from None
    match block.statements:
        case (Module() as module,):
            return Module(
                body=module.body, attributes=module.attributes, name=module.name, path=path,
                line=module.line, column=module.column,
            )  # fmt: skip
        case _:
            return Module(body=block, explicit=False, path=path)


def _read(text: str) -> Block:
    from lark import UnexpectedInput

    from .text.tokens import without_comments

    text = without_comments(text)
    try:
        block = _parser().parse(text)
    except UnexpectedInput as error:
        raise _explained(error, text) from None
    assert isinstance(block, Block)
    return block


@cache
def _parser() -> Lark:
    """Return the parser: built at first use, and once."""
    from lark import Lark

    from .text.semantic_actions import construction
    from .text.tokens import Statements

    return Lark(
        files(f"{__package__}.text").joinpath("pto.lark").read_text(encoding="utf-8"),
        start="file",
        parser="lalr",
        lexer="basic",
        postlex=Statements(),
        transformer=construction(),
    )


def _explained(error: UnexpectedInput, text: str) -> InputError:
    """Return what a reader of the text can do something with."""
    from lark import UnexpectedCharacters, UnexpectedToken

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
    if token.type in ("_NEXT", "REGION"):
        return "the next statement" if token.type == "_NEXT" else "a region"
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
        rest -= {"SEMICOLON", "_NEXT", "RBRACE", "$END"}
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


def _described(statement: Placed) -> str:
    """Say what is no instruction, and which instruction it may be meant to be."""
    if not isinstance(statement, Other):
        return type(statement).__name__.lower()
    plain = statement.name.removeprefix("pto.").lower()
    close = difflib.get_close_matches(plain[:40], OPERATIONS, n=3, cutoff=0.75)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"operation {quoted(statement.name)}; {hint}known instructions: {KNOWN}"


def _place(statement: Placed | Instruction) -> str:
    return f"line {statement.line}, column {statement.column}"
