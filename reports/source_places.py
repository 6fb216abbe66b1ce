"""Places in source files that findings name, for those who annotate lines."""

from __future__ import annotations

import re
from pathlib import Path

from ..spec.text_files import from_here

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>[1-9]\d*)(?=, |$)")


def source_place(source: str, kernel: str) -> tuple[str, int] | None:
    """Return the file and line of a source, if the file is there to be annotated.

    Parameters
    ----------
    source : str
        What a compiler says: ``file:line``, of object code with an address and a function behind.
    kernel : str
        The kernel's file, beside which a source is looked for, too.

    Returns
    -------
    (str, int), optional
        The file, relative to the working directory where it is beneath it, and the line, from 1.
    """
    if (place := _PLACE.match(source)) is None:
        return None
    named = Path(place["file"])
    path = next((each for each in (named, Path(kernel).parent / named) if each.is_file()), None)
    return None if path is None else (from_here(str(path)), int(place["line"]))
