"""Result files: whole or not at all, and known to be writable before the work starts."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ..spec.errors import InputError
from .standard_output import STANDARD_OUTPUT, write_result

_partial: set[Path] = set()
"""Files that are being written, under the names that they have until they are whole."""


@contextmanager
def result_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only when the block ends without an error.

    The name ``-`` is that of standard output.

    Raises
    ------
    InputError
        If the file can't be written.
    """
    if path == STANDARD_OUTPUT:
        content = io.BytesIO()
        yield content
        write_result(content.getvalue())
        return
    target = path.resolve()
    if target.exists() and not target.is_file() and not target.is_dir():  # a pipe or a device
        with _reported(path), target.open("wb") as stream:
            yield stream
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    with _reported(path):
        if target.is_dir():
            raise IsADirectoryError(None, "it is a directory")
        if temporary in _partial:
            raise FileExistsError
    _partial.add(temporary)
    try:
        with _reported(path):
            stream = temporary.open("xb")
        with stream, _named(path):
            yield stream
            stream.flush()
        with _reported(path):
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
        _partial.discard(temporary)


def remove_partial() -> None:
    """Remove what is not whole yet, where the process ends without leaving the blocks of `result_file`."""
    for temporary in list(_partial):
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write(stream: IO[bytes], text: str) -> None:
    """Write text as UTF-8; of a name that is not UTF-8, the bytes that are not are escaped.

    A full disk is noticed here, before any other result file appears.
    """
    stream.write(text.encode("utf-8", "backslashreplace"))
    stream.flush()


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all.

    Raises
    ------
    InputError
        If the file can't be written.
    """
    with result_file(path) as stream:
        write(stream, text)


def directory(path: Path) -> Path:
    """Return a directory to write to, made if it does not exist.

    Raises
    ------
    InputError
        If it can't be made or written to.
    """
    with _reported(path):
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(None, "permission denied")
    return path


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Report an error that names no file as one of writing this one."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.strerror is None:
            raise
        raise InputError(f"can't be written: {error.strerror}", str(path)) from None


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise InputError("can't be written: something else is in the way", str(path)) from None
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror or error}", str(path)) from None
