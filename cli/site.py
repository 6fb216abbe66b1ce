"""``mmaproof site``: a static reference of every instruction."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..spec.errors import InputError
from . import files
from .budget import doing
from .exit_codes import ExitCode
from .output import say
from .progress import progress


def site(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Output directory; created if missing.")],
) -> ExitCode:
    """Write a reference that any browser opens: instructions, layouts, rules, theorems, contradictions.

    It is made from the specification, and needs no server and no network. Files of an earlier one are
    replaced.
    """
    from ..reports import site as reference

    files.directory(folder)
    first = folder / "index.html"
    if first.exists() and reference.MARK not in first.read_text(encoding="utf-8", errors="replace"):
        raise InputError("is a foreign page that would be overwritten; choose another directory", str(first))
    count = 0
    with progress("pages", reference.count()) as advance:
        for page in reference.pages():
            doing(f"writing {page.path}")
            path = folder / page.path
            files.directory(path.parent)
            files.write_text(path, page.text)
            advance(page.path)
            count += 1
    say(f"{count} pages; open {folder / 'index.html'}")
    return ExitCode.HOLDS
