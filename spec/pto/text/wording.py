"""Words of messages about a text: a quotation of it, a number with its noun."""

from __future__ import annotations


def quoted(text: str, length: int = 60) -> str:
    """Return text from outside as messages have it: in one line, and cut."""
    text = " ".join(text.split())
    return repr(text if len(text) <= length else text[: length - 1] + "…")


def count(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
