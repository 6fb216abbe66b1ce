"""Messages about a text: quotations of it, numbers with their nouns, and the place of what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ...errors import InputError

if TYPE_CHECKING:
    from lark import Token


def quoted(text: str, length: int = 60) -> str:
    """Return text from outside as messages have it: in one line, and cut."""
    text = " ".join(text.split())
    return repr(text if len(text) <= length else text[: length - 1] + "…")


def count(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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
