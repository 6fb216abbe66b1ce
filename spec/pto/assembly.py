"""PTO text to statements; ``str`` of a statement is the way back.

The three textual forms are read, and the files of ptoas around them. Reading judges no constraint of the
instructions: that is `legality`'s work.

Source: PTO IR manual; ptoas at a56b18c3.
"""

from __future__ import annotations

import difflib
import re

from ..errors import InputError
from .catalogue import OPERATIONS
from .text.module import Module, Other
from .text.statements import Argument, ConstantDefinition, InstructionStatement
from .text.syntax import Statement
from .text.wording import quoted

KNOWN = ", ".join(OPERATIONS)
"""The operations."""

WORDS = frozenset(
    {
        *(name.partition(".")[0] for name in OPERATIONS),
        *("pto", ".arg", ".const", "func", "module", "builtin", "!", "arith", "scf"),
    }
)
"""How statements and texts begin, up to a dot or an underscore."""

_COMMENTS = re.compile(r"(?:\s*(?://|[#;])[^\n]*\n)+")
_RESULTS = re.compile(r"\s*%[\w$.:#-]+(?:\s*,\s*%[\w$.:#-]+)*\s*=")
_FIRST_WORD = re.compile(r"\s*\"?(\.?[a-zA-Z0-9]+|!)")
"""What an operation begins with, quoted in the generic form."""


def first_word(text: str) -> str:
    """Return how the operation's name begins, behind comments and results, in lower case."""
    start = 0
    for skipped in (_COMMENTS, _RESULTS):
        if (found := skipped.match(text, start)) is not None:
            start = found.end()
    match = _FIRST_WORD.match(text, start)
    return match[1].lower() if match else ""


def parse(text: str) -> InstructionStatement:
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


def only_instruction(module: Module) -> InstructionStatement:
    """Return the one instruction of a text; directives may stand in front of it.

    Raises
    ------
    InputError
        If there is none, or something else besides.
    """
    statements = [
        statement
        for statement in module.body
        if not (
            isinstance(statement, Argument)
            or (isinstance(statement, ConstantDefinition) and statement.directive)
        )
    ]
    if not statements:
        raise InputError("expected an instruction such as 'pto.tmatmul', found none", "line 1, column 1")
    first, *rest = statements
    if not isinstance(first, InstructionStatement):
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
    from .text.reader import read  # with lark

    try:
        block = read(text)
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


def _described(statement: Statement) -> str:
    """Say what is no instruction, and which instruction it may be meant to be."""
    if not isinstance(statement, Other):
        return type(statement).__name__.lower()
    plain = statement.name.removeprefix("pto.").lower()
    close = difflib.get_close_matches(plain[:40], OPERATIONS, n=3, cutoff=0.75)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"operation {quoted(statement.name)}; {hint}known instructions: {KNOWN}"


def _place(statement: Statement) -> str:
    return f"line {statement.line}, column {statement.column}"
