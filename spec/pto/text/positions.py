"""Messages about a text, with the place of what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ...errors import InputError

if TYPE_CHECKING:
    from lark import Token


def within(token: Token, offset: int) -> str:
    """Return where a character of a token stands; of an alias, where that stands."""
    assert token.line is not None and token.column is not None
    assert token.start_pos is not None and token.end_pos is not None
    before = token[:offset] if token.end_pos - token.start_pos == len(token) else ""
    line = token.line + before.count("\n")
    column = len(before) - before.rfind("\n") if "\n" in before else token.column + len(before)
    return f"line {line}, column {column}"


def fail(message: str, token: Token) -> NoReturn:
    """Raise InputError with the place of a token."""
    raise InputError(message, f"line {token.line}, column {token.column}")
