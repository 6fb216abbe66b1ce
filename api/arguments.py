"""Arguments that Python programs give, refused in one line where they are of another type."""

from __future__ import annotations

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
