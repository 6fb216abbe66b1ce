"""One of something, or some: what callers give either way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..spec.errors import InputError


def several(given: str | Path | Iterable[str | Path | Iterable[str | Path]]) -> Iterator[str | Path]:
    """Yield what is given by itself, in a sequence, or in sequences among others."""
    if isinstance(given, str | Path):
        yield given
        return
    if not isinstance(given, Iterable):
        raise InputError(f"a str, a Path or several of them are expected, not {given!r}")
    for each in given:
        yield from several(each)
