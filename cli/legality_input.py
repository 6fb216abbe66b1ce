"""What ``legal`` is asked about besides one instruction: a file, or what stands on standard input."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from ..spec.errors import InputError

LARGEST_TEXT = 64 << 20
"""Bytes of a text that is judged as a whole."""

_FILE = re.compile(r"\S.*\.(?:pto|ptx)", re.IGNORECASE)
"""A name that no instruction has."""

_SKIPPED = re.compile(rb"(?:\s|//.*|;.*|#(?!\s*[\w$.]+\s*=).*)*")
"""Space and comments up to the end of a line; ``#name =`` defines an attribute."""

_WHOLE = re.compile(
    rb"\s*(?:module\b(?!\.)|\"?builtin\.module\b|\"?func\.func\b|[#!][\w$.]+\s*="
    rb"|\.(?:version|target|visible|extern|weak|entry|func|reg|shared|global|const|local|param)\b|\{\s*\Z)"
)
"""How a text begins that is judged as a whole: a module or a function of PTO; a module, a function or a body
of PTX."""


def text_of_file(argument: str) -> str | None:
    """Return the text of the file that an argument of ``legal`` names, None where it is an instruction.

    Raises
    ------
    InputError
        If it names a file that can't be read, is too large, or is not UTF-8.
    """
    if "\n" in argument or _FILE.fullmatch(argument) is None:
        return None
    try:
        with Path(argument).open("rb") as stream:
            return _decoded([stream.read(LARGEST_TEXT + 1)], argument)
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", argument) from None


def is_ptx(text: str) -> bool:
    """Whether a text that is judged as a whole is PTX: it begins with a directive or a block."""
    return _opening(iter(text.encode().splitlines()))[1][:1] in (b".", b"{")


def is_comment(line: bytes) -> bool:
    """Whether nothing but comments stands on a line."""
    return not _opening(iter((line,)))[1]


def whole_text(lines: Iterable[bytes]) -> tuple[str | None, Iterator[bytes]]:
    """Return a text that is judged as a whole, or None and all its lines, hardly read.

    What first is neither blank nor a comment decides.

    Raises
    ------
    InputError
        If the whole text is too large, or not UTF-8.
    """
    rest = iter(lines)
    opening, statement = _opening(rest)
    everything = chain(opening, rest)
    if _WHOLE.match(statement) is None:
        return None, everything
    return _decoded(everything, "standard input"), iter(())


def _opening(lines: Iterator[bytes]) -> tuple[list[bytes], bytes]:
    """Read lines up to the first statement; return them, and what stands in the last from there on."""
    read: list[bytes] = []
    commented = False
    for line in lines:
        read.append(line if read else line.removeprefix(BOM_UTF8))
        rest = read[-1]
        while rest:
            if commented:
                _, closed, rest = rest.partition(b"*/")
                commented = not closed
                continue
            skipped = _SKIPPED.match(rest)
            rest = rest[skipped.end() :] if skipped else rest
            if not rest.startswith(b"/*"):
                break
            rest, commented = rest[2:], True
        if rest:
            return read, rest
    return read, b""


def _decoded(pieces: Iterable[bytes], name: str) -> str:
    text = bytearray()
    for piece in pieces:
        text += piece
        if len(text) > LARGEST_TEXT:
            raise InputError(f"the text has more than {LARGEST_TEXT >> 20} MiB", name)
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise InputError(f"line {line} is not UTF-8", name) from None
