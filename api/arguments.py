"""Arguments that Python programs give, one or several, refused in one line where of another type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..spec.errors import InputError


def text(value: object, name: str) -> str:
    """Return a text as it is.

    Parameters
    ----------
    value : object
        What a caller gives.
    name : str
        What it is given for.

    Raises
    ------
    InputError
        If it is no text.
    """
    if not isinstance(value, str):
        raise InputError(f"{name} must be a str, not {value!r} of type {type(value).__name__}")
    return value


def path(value: object, name: str) -> Path:
    """Return the path of a file; as `text`."""
    if not isinstance(value, str | Path):
        raise InputError(f"{name} must be a str or a Path, not {value!r} of type {type(value).__name__}")
    return Path(value)


def several(given: str | Path | Iterable[str | Path | Iterable[str | Path]]) -> Iterator[str | Path]:
    """Yield what is given by itself, in a sequence, or in sequences among others."""
    if isinstance(given, str | Path):
        yield given
        return
    if not isinstance(given, Iterable):
        raise InputError(f"expected a str, a Path or a sequence of them, not {given!r}")
    for each in given:
        yield from several(each)
