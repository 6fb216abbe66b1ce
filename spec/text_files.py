"""Text files from outside: not too large, and UTF-8."""

from __future__ import annotations

from pathlib import Path

from .errors import InputError

LARGEST = 256 << 20
"""Bytes of the largest file that is read."""


def read_text(path: Path) -> str:
    """Read a text file, without a mark of byte order, and with the line ends of Unix.

    Raises
    ------
    InputError
        If it can't be read, is larger than `LARGEST`, or is not UTF-8.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)  # of a pipe or a device, nobody knows the size before
    except (OSError, ValueError) as reason:  # ValueError: a NUL in the name
        raise InputError(f"can't be read: {getattr(reason, 'strerror', None) or reason}", str(path)) from None
    if len(content) > LARGEST:
        raise InputError(f"more than {LARGEST} bytes; no larger file is read", str(path))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = content.count(b"\n", 0, reason.start) + 1
        byte = f"byte {reason.start} is {content[reason.start]:#04x}"
        raise InputError(f"not UTF-8: {byte}", f"{path}:{line}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def from_here(path: str) -> str:
    """Return a path relative to the working directory, if it is beneath it."""
    try:
        return Path(path).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path
