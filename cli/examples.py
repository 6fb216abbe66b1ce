"""``mmaproof examples``: copy what ships to begin with."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from ..spec.errors import InputError
from . import files
from .exit_codes import ExitCode
from .output import say

GUIDE = "README.md"


def examples(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Target directory; created if missing.")],
) -> ExitCode:
    """Copy the examples: kernels with their contracts, tables, layouts, and how to run each.

    A file that is there already and differs is left alone, and nothing is copied.
    """
    shipped = list(_shipped(resources("mmaproof.examples"), Path()))
    for path, content in shipped:
        present = folder / path
        if present.exists() and (not present.is_file() or present.read_bytes() != content):
            raise InputError("already exists and differs from the example", str(present))
    for path, content in shipped:
        files.directory((folder / path).parent)
        with files.result_file(folder / path) as stream:
            stream.write(content)
    say(f"{len(shipped)} files; begin with {folder / GUIDE}")
    return ExitCode.HOLDS


def _shipped(at: Traversable, path: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the files under a directory of the package, in the order of their names."""
    for entry in sorted(at.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _shipped(entry, path / entry.name)
        elif entry.name != "__init__.py":
            yield path / entry.name, entry.read_bytes()
