"""Standard output as a result file: ``--json -`` leaves it to the result, and tells the rest elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TextIO

from ..spec.errors import InputError

STANDARD_OUTPUT = Path("-")
"""The name of standard output where a result file is asked for."""

RESULTS = ("json", "junit", "sarif", "html", "out", "certificate")
"""The options that name result files."""

_kept: list[TextIO] = []


@contextmanager
def kept_for_results(options: Mapping[str, object]) -> Iterator[None]:
    """Keep standard output for the result that is to go there; what is said meanwhile goes to standard error.

    Parameters
    ----------
    options : mapping of str to object
        What the options of a command are.

    Raises
    ------
    InputError
        If two results are to go there.
    """
    asked = [f"--{name}" for name in RESULTS if options.get(name) == STANDARD_OUTPUT]
    if len(asked) > 1:
        raise InputError(f"one result can be written to standard output, not {' and '.join(asked)}")
    if not asked:
        yield
        return
    _kept.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _kept.pop()


def write_result(content: bytes) -> None:
    """Write a result to standard output."""
    stream = _kept[-1] if _kept else sys.stdout
    if hasattr(stream, "buffer"):
        stream.flush()
        stream.buffer.write(content)
    else:
        stream.write(content.decode("utf-8", "backslashreplace"))
    stream.flush()
